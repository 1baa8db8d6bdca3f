"""`t$schemas`: one row per schema version."""

from __future__ import annotations

import json
from functools import reduce
from typing import TYPE_CHECKING, Any

from paimon_nb.base.redact import redact_options
from paimon_nb.table.tables.system.columns import local_wall_ms, system_table_with_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paimon_nb.table.read.store import TableStore

COLUMNS = {
    "schema_id": "BIGINT NOT NULL",
    "fields": "STRING NOT NULL",
    "partition_keys": "STRING NOT NULL",
    "primary_keys": "STRING NOT NULL",
    "options": "STRING NOT NULL",
    "comment": "STRING",
    "update_time": "TIMESTAMP(3) NOT NULL",
}


def _compact_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _in_javas_order(options: Mapping[str, str]) -> dict[str, str]:
    """The options in the order of the HashMap that Java reads a schema file into."""
    from paimon_nb.table.lsm.merge.aggregate.java_hash_order import java_hash_order

    keys = list(options)
    return {keys[i]: options[keys[i]] for i in java_hash_order([_string_hash(key) for key in keys])}


def _string_hash(text: str) -> int:
    """Java's `String.hashCode`, as an unsigned 32-bit number."""
    units = memoryview(text.encode("utf-16-le")).cast("H")
    return reduce(lambda code, unit: (31 * code + unit) & 0xFFFFFFFF, units, 0)


def _schema_rows(store: TableStore) -> Iterator[tuple[Any, ...]]:
    for s in store.schemas.all():
        yield (
            s.id, _compact_json([f.to_json() for f in s.fields]), _compact_json(list(s.partition_keys)), _compact_json(list(s.primary_keys)),
            _compact_json(_in_javas_order(redact_options(s.options))), s.comment, local_wall_ms(s.time_ms),
        )  # fmt: skip


SCHEMAS = system_table_with_columns(COLUMNS, _schema_rows)
