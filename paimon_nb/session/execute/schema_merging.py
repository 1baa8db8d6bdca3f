"""Schema merging on write: adds missing columns to the table, and may widen types.

Source: Paimon `SchemaMergingUtils.java`; Spark's options `write.merge-schema` and those below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.catalog.type_promotion import may_change_type
from paimon_nb.format.types import Array, DataField, DataType, Map, Row
from paimon_nb.options.write import (
    WRITE_MERGE_SCHEMA,
    WRITE_MERGE_SCHEMA_EXPLICIT_CAST,
    WRITE_MERGE_SCHEMA_TYPE_WIDENING,
)
from paimon_nb.statements import AddColumn, AlterColumn, Change

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.session.core.session import Session
    from paimon_nb.table.tables.table import Table

SPARK_PREFIX = "spark.paimon."
"""Prefix of the options as session settings."""
KEYS = (WRITE_MERGE_SCHEMA.key, WRITE_MERGE_SCHEMA_TYPE_WIDENING.key, WRITE_MERGE_SCHEMA_EXPLICIT_CAST.key)
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SchemaMerging:
    """The schema changes that a write may make."""

    widen: bool = False
    """Types may be widened."""
    explicit: bool = False
    """Types may also change if stored values can lose precision."""
    case_sensitive: bool = False
    """`ID` is another column than `id`."""

    def key(self, name: str) -> str:
        """Equal for the names of one column."""
        return name if self.case_sensitive else name.lower()


def merging_of(session: Session, options: Mapping[str, str]) -> SchemaMerging | None:
    """Schema merging by the write's options, else the session's settings; None: disabled."""

    merge, widen, explicit = (write_option(session, options, key) for key in KEYS)
    return SchemaMerging(widen or explicit, explicit, is_case_sensitive(session)) if merge else None


def is_case_sensitive(session: Session) -> bool:
    """Whether names that differ in case are those of different columns, as `spark.sql.caseSensitive` says."""
    return session.spark_setting("spark.sql.caseSensitive") == "true"


def write_option(session: Session, options: Mapping[str, str], key: str) -> bool:
    """Whether a write's options, else the session's settings, enable an option of Spark's writes."""
    return str(write_setting(session, options, key)).lower() == "true"


def write_setting(session: Session, options: Mapping[str, str], key: str) -> str | None:
    """The text of an option of Spark's writes, from the write's options or the session's settings; None: not set."""
    value = options.get(key, session.settings.get(SPARK_PREFIX + key))
    if value is None and session.spark_started:
        value = session.spark.conf.get(SPARK_PREFIX + key, None)
    return None if value is None else str(value)


def merging_changes(schema: TableSchema, fields: Sequence[DataField], merging_rules: SchemaMerging) -> list[Change]:
    """The schema changes for rows with these columns, matched by name.

    Raises:
        SchemaMismatch: a type can neither be widened nor cast.
    """
    return list(_row_changes((), schema.fields, fields, merging_rules))


def _row_changes(
    path: Path, current_fields: Sequence[DataField], new_fields: Sequence[DataField], merging_rules: SchemaMerging
) -> Iterator[Change]:
    known = {merging_rules.key(f.name): f for f in current_fields}
    for field in new_fields:
        present = known.get(merging_rules.key(field.name))
        if present is None:
            yield AddColumn((*path, field.name), str(field.type.with_nullable(True)), field.description)
        else:
            yield from _type_changes((*path, present.name), present.type, field.type, merging_rules)


def _type_changes(
    path: Path, current_type: DataType, new_type: DataType, merging_rules: SchemaMerging
) -> Iterator[Change]:
    match current_type, new_type:
        case Row(), Row():
            yield from _row_changes(path, current_type.fields, new_type.fields, merging_rules)
        case Array(), Array():
            yield from _part_changes((*path, "element"), current_type.element, new_type.element, merging_rules)
        case Map(), Map():
            yield from _part_changes((*path, "value"), current_type.value, new_type.value, merging_rules)
        case _:
            if may_change_type(new_type, current_type, allow_explicit=False):
                return  # the rows are cast to the column's type without loss
            if merging_rules.widen and may_change_type(current_type, new_type, allow_explicit=merging_rules.explicit):
                yield AlterColumn(path, type=new_type.bare())
            elif not may_change_type(new_type, current_type):
                raise SchemaMismatch(
                    f"column {'.'.join(path)!r} is {current_type.bare()}, the rows have {new_type.bare()}",
                    hint=f"cast it, or allow the change with {KEYS[1]!r}"
                    if not merging_rules.widen
                    else "cast it in the source",
                    column=".".join(path),
                )


def _part_changes(
    path: Path, current_type: DataType, new_type: DataType, merging_rules: SchemaMerging
) -> Iterator[Change]:
    """The changes of the elements of an ARRAY or the values of a MAP: new fields of a ROW, but no other type, as in Java.

    Raises: SchemaMismatch: the type itself would be widened.
    """
    for change in _type_changes(path, current_type, new_type, merging_rules):
        if isinstance(change, AlterColumn) and tuple(change.path) == path:
            raise SchemaMismatch(
                f"column {'.'.join(path)!r} is {current_type.bare()}, the rows have {new_type.bare()}: a write does not widen it",
                hint=f"cast it in the source, or ALTER TABLE ... ALTER COLUMN {'.'.join(path)} TYPE {new_type.bare()}",
                column=".".join(path),
            )
        yield change


def with_merged_schema(
    session: Session, target: Path | str, table: Table, fields: Sequence[DataField], merging_rules: SchemaMerging
) -> Table:
    """The table after merging these columns into its schema; unchanged if they fit.

    Args:
        target: the table's name parts, or its path as text.
    """
    needed = merging_changes(table.schema, fields, merging_rules)
    if not needed:
        return table
    if isinstance(target, tuple):
        found = session.find(target)
        found.catalog.alter_table(found.name, needed)
        return session.table(target)
    from paimon_nb.base import clock
    from paimon_nb.catalog.alter import apply_changes
    from paimon_nb.table.tables.open import open_table

    schemas = table.store.schemas
    schemas.create(apply_changes(schemas.latest() or table.schema, needed, has_data=True, now_ms=clock.now_ms()))
    return open_table(target)
