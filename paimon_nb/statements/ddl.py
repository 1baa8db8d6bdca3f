"""DDL statements: catalogs, databases, tables, views, tags, and the changes of ALTER."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.statements.statement import Parts, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.statements.query import Query


@dataclass(frozen=True, slots=True)
class ColumnDef:
    """A column as written. `computed` is the expression of `c AS expr`; `metadata` the key of METADATA FROM."""

    name: str
    type: str | None
    """Type text, parsed with `format.types.parse_type`; None for computed columns."""
    comment: str | None = None
    default: str | None = None
    computed: str | None = None
    metadata: str | None = None
    virtual: bool = False

    @property
    def is_physical(self) -> bool:
        """The column is neither computed nor METADATA."""
        return self.computed is None and self.metadata is None


@dataclass(frozen=True, slots=True)
class Watermark:
    """WATERMARK FOR column AS expression."""

    column: str
    expression: str


@dataclass(frozen=True, slots=True)
class TableDef:
    """The definition in a CREATE TABLE of either dialect."""

    columns: tuple[ColumnDef, ...] = ()
    primary_keys: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    watermark: Watermark | None = None
    location: str | None = None
    provider: str | None = None
    """USING x."""
    external: bool = False
    """CREATE EXTERNAL TABLE: DROP TABLE keeps the files."""


@dataclass(frozen=True, slots=True)
class CreateCatalog(Statement):
    """CREATE CATALOG [IF NOT EXISTS] c WITH (...)."""

    name: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropCatalog(Statement):
    """DROP CATALOG [IF EXISTS] c."""

    name: str = ""
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateDatabase(Statement):
    """CREATE DATABASE [IF NOT EXISTS] db [COMMENT '...'] [WITH (...)]."""

    name: Parts = ()
    if_not_exists: bool = False
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AlterDatabase(Statement):
    """ALTER DATABASE db SET (...)."""

    name: Parts = ()
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DropDatabase(Statement):
    """DROP DATABASE [IF EXISTS] db [RESTRICT | CASCADE]."""

    name: Parts = ()
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class CreateTable(Statement):
    """CREATE [OR REPLACE] [TEMPORARY] TABLE [IF NOT EXISTS] t (...) | LIKE s | AS SELECT ..., and REPLACE TABLE."""

    name: Parts = ()
    definition: TableDef = TableDef()
    if_not_exists: bool = False
    or_replace: bool = False
    temporary: bool = False
    like: Parts | None = None
    like_excluding_options: bool = False
    query: Query | None = None
    """AS SELECT."""
    only_replace: bool = False
    """REPLACE TABLE: the table must exist."""


@dataclass(frozen=True, slots=True)
class DropTable(Statement):
    """DROP [TEMPORARY] TABLE [IF EXISTS] t [PURGE]."""

    name: Parts = ()
    if_exists: bool = False
    purge: bool = False
    temporary: bool = False


@dataclass(frozen=True, slots=True)
class Undrop(Statement):
    """UNDROP TABLE t: restores a table from the trash."""

    name: Parts = ()


@dataclass(frozen=True, slots=True)
class CreateView(Statement):
    """CREATE [OR REPLACE] [TEMPORARY] VIEW [IF NOT EXISTS] v [(columns)] AS SELECT ..."""

    name: Parts = ()
    query: Query | None = None
    columns: tuple[str, ...] = ()
    temporary: bool = False
    or_replace: bool = False
    if_not_exists: bool = False
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    """Its TBLPROPERTIES."""
    column_comments: tuple[str | None, ...] = ()
    """One for each of `columns`."""


@dataclass(frozen=True, slots=True)
class AlterView(Statement):
    """ALTER VIEW: a new query or a new name."""

    name: Parts = ()
    view: CreateView | None = None
    """The new definition."""
    new_name: Parts = ()


@dataclass(frozen=True, slots=True)
class DropView(Statement):
    """DROP [TEMPORARY] VIEW [IF EXISTS] v."""

    name: Parts = ()
    if_exists: bool = False
    temporary: bool = False


@dataclass(frozen=True, slots=True)
class CreateFunction(Statement):
    """CREATE [OR REPLACE] FUNCTION [IF NOT EXISTS] f (parameters) RETURNS type RETURN body, or f AS 'class'."""

    name: Parts = ()
    inputs: tuple[ColumnDef, ...] = ()
    """Its parameters."""
    returns: str = ""
    """The text of its type."""
    body: str = ""
    or_replace: bool = False
    if_not_exists: bool = False
    comment: str | None = None
    deterministic: bool = True
    is_java: bool = False
    """Whether it names a class."""


@dataclass(frozen=True, slots=True)
class DropFunction(Statement):
    """DROP FUNCTION [IF EXISTS] f."""

    name: Parts = ()
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class Truncate(Statement):
    """TRUNCATE TABLE t [PARTITION (...)]."""

    name: Parts = ()
    partition: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """Base of one change inside ALTER TABLE. Column paths are tuples: ('v', 'element', 'f3')."""


@dataclass(frozen=True, slots=True)
class AddColumn(Change):
    """ADD COLUMN path TYPE [FIRST | AFTER c]; `type` as text."""

    path: Parts
    type: str
    comment: str | None = None
    default: str | None = None
    first: bool = False
    after: str | None = None
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropColumn(Change):
    """DROP COLUMN [IF EXISTS] path."""

    path: Parts
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropPrimaryKey(Change):
    """DROP PRIMARY KEY, of a table without data."""


@dataclass(frozen=True, slots=True)
class RenameColumn(Change):
    """RENAME COLUMN path TO name."""

    path: Parts
    new_name: str


@dataclass(frozen=True, slots=True)
class AlterColumn(Change):
    """Only the specified aspects change. `comment`/`default` of '' remove; `nullable` None leaves as is."""

    path: Parts
    type: str | None = None
    comment: str | None = None
    default: str | None = None
    drop_default: bool = False
    nullable: bool | None = None
    first: bool = False
    after: str | None = None


@dataclass(frozen=True, slots=True)
class SetOptions(Change):
    """SET ('k' = 'v', ...) or SET TBLPROPERTIES (...)."""

    options: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ResetOptions(Change):
    """RESET ('k', ...) or UNSET TBLPROPERTIES [IF EXISTS] (...)."""

    keys: tuple[str, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class SetComment(Change):
    """The table's comment; None removes it."""

    comment: str | None


@dataclass(frozen=True, slots=True)
class SetWatermark(Change):
    """ADD or MODIFY WATERMARK FOR ts AS expression; DROP WATERMARK. `how`: 'add', 'modify', 'drop'."""

    how: str
    watermark: Watermark | None = None


@dataclass(frozen=True, slots=True)
class SetComputed(Change):
    """ADD or MODIFY c AS expression, or c TYPE METADATA: a column that is not stored in files. `how`: 'add', 'modify'."""

    how: str
    column: ColumnDef
    first: bool = False
    after: str | None = None


@dataclass(frozen=True, slots=True)
class RenameTable(Change):
    """RENAME TO name."""

    new_name: Parts


@dataclass(frozen=True, slots=True)
class AddPartition(Change):
    """ADD [IF NOT EXISTS] PARTITION (...) ..."""

    partitions: tuple[Mapping[str, str | None], ...]
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropPartition(Change):
    """DROP [IF EXISTS] PARTITION (...) ..."""

    partitions: tuple[Mapping[str, str | None], ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateTag(Change):
    """CREATE [OR REPLACE] TAG name or REPLACE TAG name [AS OF VERSION n] [RETAIN ...]. `snapshot` None: the latest."""

    name: str
    snapshot: int | None = None
    retain: str | None = None
    if_not_exists: bool = False
    or_replace: bool = False
    only_replace: bool = False


@dataclass(frozen=True, slots=True)
class DeleteTag(Change):
    """DELETE TAG [IF EXISTS] name, ..."""

    names: tuple[str, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class RenameTag(Change):
    """RENAME TAG name TO name."""

    name: str
    new_name: str


@dataclass(frozen=True, slots=True)
class AlterTable(Statement):
    """ALTER TABLE [IF EXISTS] t with one or more changes."""

    name: Parts = ()
    changes: tuple[Change, ...] = ()
    if_exists: bool = False
