"""Tables written by real Java Paimon, read here without Spark: every query's rows must be Java's rows."""

from __future__ import annotations

import datetime as dt
import json
import re
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from requirements import shared_folder

from paimon_nb.fs import open_fs
from paimon_nb.table.read import plan_scan, read_split
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.table import Table

FIXTURES = (shared_folder() or Path("shared")) / "oracle" / "fixtures"
QUERIES = json.loads((FIXTURES / "queries.json").read_text()) if (FIXTURES / "queries.json").is_file() else []
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def moment(value: int, unit: str) -> str:
    seconds, rest = divmod(value, PER_SECOND[unit])
    at = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=seconds)
    return f"{at.year:04d}-{at:%m-%d %H:%M:%S}.{rest * (10**9 // PER_SECOND[unit]):09d}"


def plain(x: pa.Scalar) -> Any:
    """A value as the fixtures' JSON lines have it."""
    if not x.is_valid:
        return None
    t = x.type
    if pa.types.is_timestamp(t):
        return moment(x.value, t.unit)
    if pa.types.is_time(t):
        return moment(x.value, t.unit)[11:]
    if pa.types.is_map(t):
        return [[plain(k), plain(v)] for k, v in zip(x.values.field(0), x.values.field(1), strict=True)]
    if pa.types.is_list(t):
        return [plain(e) for e in x.values]
    if pa.types.is_struct(t):
        return {f.name: plain(x[f.name]) for f in t}
    value = x.as_py()
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, bool | int | float | str) else str(value)


def rows(table: pa.Table) -> list[dict[str, Any]]:
    return [{n: plain(table.column(n)[i]) for n in table.column_names} for i in range(table.num_rows)]


def answer(query: dict[str, Any], warehouse: Path) -> pa.Table:
    path = str(warehouse / f"{query['db']}.db" / query["table"])
    table = Table(TableStore.open(open_fs(path, {}), path, query["branch"] or "main"))
    if query.get("placement"):
        return placement(table)
    options = {k: str(v) for k, v in (query["options"] or {}).items()}
    if query["system"]:
        found = table.system(query["system"], options=options)
        if query["system"] == "partitions":
            found = found.set_column(
                0, "partition", pa.array(map(_text_of_1_3, found["partition"].to_pylist()), pa.string())
            )
        return found.select(query["columns"]) if query["columns"] else found
    if query["sql"] is None:  # the snapshot's own schema, as VERSION AS OF reads
        return table.to_arrow(query["columns"], snapshot=int(options["scan.snapshot-id"]))
    return table.to_arrow(query["columns"], options=options)


def _text_of_1_3(partition: str) -> str:
    """`a=1/b=2`, the text of release 2.1, as 1.3.1 writes it: `{1, 2}`."""
    values = [pair.partition("=")[2] for pair in re.split(r"/(?=\w+=)", partition)]
    return "{" + ", ".join("null" if v == "__DEFAULT_PARTITION__" else v for v in values) + "}"


def placement(table: Table) -> pa.Table:
    """The rows with the bucket that they lie in."""
    plan = plan_scan(table.store)
    parts = []
    for split in plan.splits:
        found = read_split(plan.store, split)
        parts.append(found.append_column("_bucket", pa.array([split.bucket] * found.num_rows, pa.int32())))
    return pa.concat_tables(parts)


@pytest.mark.needs("shared")
@pytest.mark.parametrize("query", QUERIES or [{"name": "all"}], ids=lambda q: q["name"])
def test_rows_are_javas(query: dict[str, Any]) -> None:
    sys.path.insert(0, str(FIXTURES.parent))
    import canon

    expected = FIXTURES / "expected" / query["name"]
    columns = json.loads(Path(f"{expected}.schema.json").read_text())
    unordered = query.get("unordered") or ()
    wanted = canon.canon_rows(canon.load(f"{expected}.jsonl"), columns, unordered)
    found = canon.canon_rows(rows(answer(query, FIXTURES / "warehouse")), columns, unordered)
    if query["system"] == "partitions":  # 2.1 sorts them by their text
        found, wanted = sorted(found), sorted(wanted)
    assert found == wanted
