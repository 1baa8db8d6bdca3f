"""Level 4: statements as frozen data. `sql` creates them, `session` runs them; this package knows neither."""

from paimon_nb.plan.admin import (
    Analyze,
    Call,
    Describe,
    Explain,
    NothingToDo,
    ResetOption,
    SetOption,
    Show,
    ShowCreate,
    SparkCommand,
    StopJob,
    Use,
)
from paimon_nb.plan.ddl import (
    AddColumn,
    AddPartition,
    AlterColumn,
    AlterDatabase,
    AlterTable,
    AlterView,
    Change,
    ColumnDef,
    CreateCatalog,
    CreateDatabase,
    CreateTable,
    CreateTag,
    CreateView,
    DeleteTag,
    DropCatalog,
    DropColumn,
    DropDatabase,
    DropPartition,
    DropTable,
    DropView,
    RenameColumn,
    RenameTable,
    RenameTag,
    ResetOptions,
    SetComment,
    SetComputed,
    SetOptions,
    SetWatermark,
    TableDef,
    Truncate,
    Undrop,
    Watermark,
)
from paimon_nb.plan.dml import Assignment, Constant, Delete, Insert, Merge, MergeClause, RowChange, StatementSet, Update
from paimon_nb.plan.query import Query, TableFunction, TableRef, TimestampAsOf, VersionAsOf
from paimon_nb.plan.statement import Span, Statement

__all__ = [
    "AddColumn", "AddPartition", "AlterColumn", "AlterDatabase", "AlterTable", "AlterView", "Analyze", "Assignment", "Call", "Change", "ColumnDef",
    "Constant", "CreateCatalog", "CreateDatabase", "CreateTable", "CreateTag", "CreateView", "Delete", "DeleteTag", "Describe",
    "DropCatalog", "DropColumn", "DropDatabase", "DropPartition", "DropTable", "DropView", "Explain", "Insert", "Merge",
    "MergeClause", "NothingToDo", "Query", "RenameColumn", "RenameTable", "RenameTag", "ResetOption", "ResetOptions", "RowChange", "SetComment",
    "SetComputed", "SetOption", "SetOptions", "SetWatermark", "Show", "ShowCreate", "Span", "SparkCommand", "Statement", "StatementSet", "StopJob", "TableDef",
    "TableFunction", "TableRef", "TimestampAsOf", "Truncate", "Undrop", "Update", "Use", "VersionAsOf", "Watermark",
]  # fmt: skip
