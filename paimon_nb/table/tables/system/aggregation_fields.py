"""`t$aggregation_fields`: which aggregate each column has, from the `fields.<column>.*` options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.table.tables.system.columns import system_table_with_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.table.read.store import TableStore

COLUMNS = {
    "field_name": "STRING NOT NULL",
    "field_type": "STRING NOT NULL",
    "function": "STRING",
    "function_options": "STRING",
    "comment": "STRING",
}


def _aggregation_rows(store: TableStore) -> Iterator[tuple[Any, ...]]:
    latest = store.schemas.latest() or store.schema
    by_field: dict[str, list[tuple[str, str]]] = {}
    for key, value in latest.options.items():
        parts = key.split(".")
        if len(parts) > 2 and parts[0] == "fields":
            by_field.setdefault(parts[1], []).append((key, value))
    for f in latest.fields:
        found = by_field.get(f.name, [])
        yield (
            f.name,
            str(f.type),
            _bracketed_list(v for _, v in found),
            _bracketed_list(k for k, _ in found),
            f.description,
        )


def _bracketed_list(texts: Iterator[str]) -> str:
    return "[" + ", ".join(texts) + "]"


AGGREGATION_FIELDS = system_table_with_columns(COLUMNS, _aggregation_rows)
