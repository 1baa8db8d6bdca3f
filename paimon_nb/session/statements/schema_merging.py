"""Schema merging on write: columns that the rows have and the table has not come into it, and types may widen.

Source: Paimon `SchemaMergingUtils.java`; Spark's options `write.merge-schema` and those below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.catalog.type_promotion import may_change
from paimon_nb.format.types import Array, DataField, DataType, Map, Row
from paimon_nb.options.write import (
    WRITE_MERGE_SCHEMA,
    WRITE_MERGE_SCHEMA_EXPLICIT_CAST,
    WRITE_MERGE_SCHEMA_TYPE_WIDENING,
)
from paimon_nb.plan import AddColumn, AlterColumn, Change

if TYPE_CHECKING:
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.session.core.session import Session
    from paimon_nb.table.table import Table

SPARK_PREFIX = "spark.paimon."
"""In front of the options when they are set for a whole session."""
KEYS = (WRITE_MERGE_SCHEMA.key, WRITE_MERGE_SCHEMA_TYPE_WIDENING.key, WRITE_MERGE_SCHEMA_EXPLICIT_CAST.key)
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Merging:
    """How far a table may be changed by a write."""

    widen: bool = False
    """Types may become wider."""
    explicit: bool = False
    """Types may also change where stored values could be cut."""


def merging(session: Session, options: Mapping[str, str]) -> Merging | None:
    """What a write's options, else the session's settings, say; None: the table's columns are fixed."""

    def on(key: str) -> bool:
        given = options.get(key, session.settings.get(SPARK_PREFIX + key))
        if given is None and session.spark_started:
            given = session.spark.conf.get(SPARK_PREFIX + key, None)
        return str(given).lower() == "true"

    merge, widen, explicit = map(on, KEYS)
    return Merging(widen or explicit, explicit) if merge else None


def changes(schema: TableSchema, fields: Sequence[DataField], how: Merging) -> list[Change]:
    """The ALTERs that make room for rows with these columns, found by name.

    Raises: SchemaMismatch: a type that the table's cannot become, nor be cast to.
    """
    return list(_row((), schema.fields, fields, how))


def _row(path: Path, own: Sequence[DataField], new: Sequence[DataField], how: Merging) -> Iterator[Change]:
    known = {f.name.lower(): f for f in own}
    for field in new:
        present = known.get(field.name.lower())
        if present is None:
            yield AddColumn((*path, field.name), str(field.type.with_nullable(True)), field.description)
        else:
            yield from _type((*path, present.name), present.type, field.type, how)


def _type(path: Path, own: DataType, new: DataType, how: Merging) -> Iterator[Change]:
    match own, new:
        case Row(), Row():
            yield from _row(path, own.fields, new.fields, how)
        case Array(), Array():
            yield from _type((*path, "element"), own.element, new.element, how)
        case Map(), Map():
            yield from _type((*path, "value"), own.value, new.value, how)
        case _:
            if may_change(new, own, allow_explicit=False):
                return  # the rows are cast to the column's type, and lose nothing
            if how.widen and may_change(own, new, allow_explicit=how.explicit):
                yield AlterColumn(path, type=new.bare())
            elif not may_change(new, own):
                raise SchemaMismatch(
                    f"column {'.'.join(path)!r} is {own.bare()}, the rows have {new.bare()}",
                    hint=f"cast it, or allow the change with {KEYS[1]!r}" if not how.widen else "cast it in the source",
                    column=".".join(path),
                )


def evolved(session: Session, target: Path | str, table: Table, fields: Sequence[DataField], how: Merging) -> Table:
    """The table after its schema took these columns in. Nothing is changed when they fit already.

    Args:
        target: the table's written name, or its path as text.
    """
    wanted = changes(table.schema, fields, how)
    if not wanted:
        return table
    if isinstance(target, tuple):
        found = session.find(target)
        found.catalog.alter_table(found.name, wanted)
        return session.table(target)
    from paimon_nb.base import clock
    from paimon_nb.catalog.alter import apply_changes
    from paimon_nb.table.open import open_table

    schemas = table.store.schemas
    schemas.create(apply_changes(schemas.latest() or table.schema, wanted, has_data=True, now_ms=clock.now_ms()))
    return open_table(target)
