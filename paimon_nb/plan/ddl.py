"""DDL statements: catalogs, databases, tables, views, tags, and the changes of ALTER."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from paimon_nb.plan.query import Query
from paimon_nb.plan.statement import Parts, Statement


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


@dataclass(frozen=True, slots=True)
class CreateCatalog(Statement):
    name: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropCatalog(Statement):
    name: str = ""
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateDatabase(Statement):
    name: Parts = ()
    if_not_exists: bool = False
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AlterDatabase(Statement):
    name: Parts = ()
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DropDatabase(Statement):
    name: Parts = ()
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class CreateTable(Statement):
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
    name: Parts = ()
    query: Query | None = None
    columns: tuple[str, ...] = ()
    temporary: bool = False
    or_replace: bool = False
    if_not_exists: bool = False
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class AlterView(Statement):
    """ALTER VIEW: a new query or a new name."""

    name: Parts = ()
    view: CreateView | None = None
    """The new definition."""
    new_name: Parts = ()


@dataclass(frozen=True, slots=True)
class DropView(Statement):
    name: Parts = ()
    if_exists: bool = False
    temporary: bool = False


@dataclass(frozen=True, slots=True)
class Truncate(Statement):
    name: Parts = ()
    partition: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """Base of one change inside ALTER TABLE. Column paths are tuples: ('v', 'element', 'f3')."""


@dataclass(frozen=True, slots=True)
class AddColumn(Change):
    path: Parts
    type: str
    comment: str | None = None
    default: str | None = None
    first: bool = False
    after: str | None = None
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropColumn(Change):
    path: Parts
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class RenameColumn(Change):
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
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ResetOptions(Change):
    keys: tuple[str, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class SetComment(Change):
    comment: str | None


@dataclass(frozen=True, slots=True)
class SetWatermark(Change):
    """ADD or MODIFY WATERMARK FOR ts AS expression; DROP WATERMARK. `how`: 'add', 'modify', 'drop'."""

    how: str
    watermark: Watermark | None = None


@dataclass(frozen=True, slots=True)
class SetComputed(Change):
    """ADD or MODIFY c AS expression, or c TYPE METADATA: a column that no file has. `how`: 'add', 'modify'."""

    how: str
    column: ColumnDef
    first: bool = False
    after: str | None = None


@dataclass(frozen=True, slots=True)
class RenameTable(Change):
    new_name: Parts


@dataclass(frozen=True, slots=True)
class AddPartition(Change):
    partitions: tuple[Mapping[str, str | None], ...]
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropPartition(Change):
    partitions: tuple[Mapping[str, str | None], ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateTag(Change):
    name: str
    snapshot: int | None = None
    retain: str | None = None
    if_not_exists: bool = False
    or_replace: bool = False
    only_replace: bool = False


@dataclass(frozen=True, slots=True)
class DeleteTag(Change):
    names: tuple[str, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class RenameTag(Change):
    name: str
    new_name: str


@dataclass(frozen=True, slots=True)
class AlterTable(Statement):
    name: Parts = ()
    changes: tuple[Change, ...] = ()
    if_exists: bool = False
