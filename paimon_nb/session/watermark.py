"""A table's watermark, kept in its options as Flink keeps it, so that each of both knows what the other was told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from paimon_nb.base.errors import ColumnNotFound, SchemaChangeError
from paimon_nb.base.registry import did_you_mean
from paimon_nb.plan import Change, DropColumn, RenameColumn, ResetOptions, SetOptions, SetWatermark, Watermark

if TYPE_CHECKING:
    from paimon_nb.format.schema import TableSchema

PREFIX = "schema.watermark.0."
COLUMN, EXPRESSION, TYPE = (PREFIX + k for k in ("rowtime", "strategy.expr", "strategy.data-type"))
"""Source: Flink `FlinkCatalogPropertiesUtil`; there is one watermark at most."""


def watermark_options(watermark: Watermark, types: Mapping[str, str]) -> dict[str, str]:
    """The options that say it. types: text of a column's type by its name. Raises ColumnNotFound."""
    if watermark.column not in types:
        raise ColumnNotFound(
            f"the watermark's column {watermark.column!r} is none of the table",
            hint=did_you_mean(watermark.column, types) or "name a column of type TIMESTAMP(3)",
            column=watermark.column,
        )
    kind = types[watermark.column].removesuffix(" NOT NULL")
    return {COLUMN: watermark.column, EXPRESSION: watermark.expression, TYPE: kind}


def as_option_changes(
    changes: Sequence[Change], schema: TableSchema, computed: Mapping[str, str] | None = None
) -> list[Change]:
    """`changes` with those of a watermark said as changes of options. computed: types of computed columns, by name.

    Raises: SchemaChangeError: a second watermark, or none where one is changed.
    """
    out: list[Change] = []
    there = COLUMN in schema.options
    for change in changes:
        if not isinstance(change, SetWatermark):
            out.append(change)
            continue
        if there == (change.how == "add"):
            raise SchemaChangeError(
                "the table has a watermark already" if there else "the table has no watermark",
                hint="ALTER TABLE ... MODIFY WATERMARK FOR ..." if there else "ALTER TABLE ... ADD WATERMARK FOR ...",
            )
        if change.watermark is None:
            out.append(ResetOptions((COLUMN, EXPRESSION, TYPE)))
        else:
            types = {**{f.name: str(f.type) for f in schema.fields}, **(computed or {})}
            out.append(SetOptions(watermark_options(change.watermark, types)))
    return out


def refuse_to_lose_its_column(changes: Sequence[Change], schema: TableSchema) -> None:
    """Raise `SchemaChangeError` if the watermark's column is dropped or renamed."""
    of = schema.options.get(COLUMN)
    if of is None or any(isinstance(c, SetWatermark) for c in changes):
        return
    if any(isinstance(c, DropColumn | RenameColumn) and c.path == (of,) for c in changes):
        raise SchemaChangeError(f"the watermark is told by column {of!r}", hint="ALTER TABLE ... DROP WATERMARK first")
