"""Real Java Paimon reads what is written here: one warehouse of many tables, one JVM, row by row.

The expected rows never come from reading the table: they are the rows that were written, folded by plain Python.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from write_kit import arrow, compact_all, make_table, put, rows_of

from paimon_nb.format.data import read_data_file
from paimon_nb.format.schema import SchemaDirectory
from paimon_nb.fs import LocalFileIO
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.write.maintenance import (
    ExpireLimits,
    create_branch,
    create_tag,
    expire_snapshots,
    rollback_to_snapshot,
)
from paimon_nb.table.write.publish.overwrite import Overwrite

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.java
COLUMNS = {"id": "INT", "name": "STRING", "price": "DECIMAL(10, 2)", "at": "TIMESTAMP(3)", "day": "DATE"}


def row(i: int, turn: int = 0) -> dict[str, Any]:
    return {
        "id": i,
        "name": None if i % 7 == 0 else f"name {i} é {turn}",
        "price": Decimal(i * 100 + turn) / 100,
        "at": datetime(2024, 1, 1 + i % 28, 12, 30, turn % 60, 123000),
        "day": date(2024, 1 + i % 12, 1 + i % 28),
    }


def text(value: Any) -> Any:
    """A value as the oracle's JSON lines have it."""
    match value:
        case Decimal():
            return str(value)
        case bytes():
            return value.hex()
        case datetime():
            return value.strftime("%Y-%m-%d %H:%M:%S.%f")
        case date() | time():
            return str(value)
        case dict():
            return {k: text(v) for k, v in value.items()}
        case list():
            return [text(v) for v in value]
    return value


class Warehouse:
    """Tables with their expected rows beside them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def table(self, name: str, columns=COLUMNS, keys=(), partitions=(), **options: str) -> TableStore:
        (self.root / "w.db").mkdir(parents=True, exist_ok=True)
        return make_table(f"{self.root}/w.db/{name}", columns, keys, partitions, **options)

    def expect(self, store: TableStore, rows: Sequence[dict[str, Any]], query: str = "", **how: Any) -> None:
        beside = f"{store.root}{'.' + query if query else ''}.jsonl"
        Path(beside).write_text("".join(json.dumps(text(r), ensure_ascii=False) + "\n" for r in rows))
        if query:
            path = Path(f"{store.root}.queries.json")
            known = json.loads(path.read_text()) if path.exists() else []
            path.write_text(json.dumps([*known, {"query": query, **how}]))


def upserted(*batches: Sequence[dict[str, Any]], key: Sequence[str] = ("id",)) -> list[dict[str, Any]]:
    rows: dict[Any, dict[str, Any]] = {}
    for batch in batches:
        for r in batch:
            rows[tuple(r[k] for k in key)] = r
    return list(rows.values())


def append_tables(w: Warehouse) -> None:
    first, second = [row(i) for i in range(20)], [row(i) for i in range(20, 45)]
    for name, options in {
        "app_unaware": {"bucket": "-1"},
        "app_bucketed": {"bucket": "3", "bucket-key": "id"},
        "app_orc": {"bucket": "-1", "file.format": "orc"},
        "app_avro": {"bucket": "-1", "file.format": "avro"},
        "app_nostats": {"bucket": "-1", "metadata.stats-mode": "none"},
        "app_counts": {"bucket": "-1", "metadata.stats-mode": "counts"},
        "app_full": {"bucket": "-1", "metadata.stats-mode": "full"},
        "app_rolled": {"bucket": "-1", "target-file-size": "1 b"},
    }.items():
        store = w.table(name, **options)
        put(store, first)
        put(store, second)
        w.expect(store, first + second)
    store = w.table("app_compacted", bucket="-1")
    for i in range(12):
        put(store, [row(i)])
    compact_all(store)
    assert [len(live_entries(store, store.latest()))] == [1]
    w.expect(store, [row(i) for i in range(12)])


def key_tables(w: Warehouse) -> None:
    first, second = [row(i) for i in range(30)], [row(i, 1) for i in range(20, 45)]
    for name, options in {
        "pk_fixed": {"bucket": "2"},
        "pk_one": {"bucket": "1"},
        "pk_write_only": {"bucket": "1", "write-only": "true"},
        "pk_orc": {"bucket": "2", "file.format": "orc"},
        "pk_avro": {"bucket": "2", "file.format": "avro"},
        "pk_thin": {"bucket": "2", "data-file.thin-mode": "true"},
        "pk_lookup": {"bucket": "1", "changelog-producer": "lookup"},
        "pk_full_compaction": {"bucket": "1", "changelog-producer": "full-compaction"},
        "pk_input": {"bucket": "1", "changelog-producer": "input"},
        "pk_dv": {"bucket": "1", "deletion-vectors.enabled": "true"},
        "pk_dv64": {"bucket": "1", "deletion-vectors.enabled": "true", "deletion-vectors.bitmap64": "true"},
        "pk_dynamic": {"bucket": "-1", "dynamic-bucket.target-row-num": "10"},
        "pk_per_level": {
            "bucket": "1",
            "file.format.per.level": "0:avro,5:orc",
            "num-sorted-run.compaction-trigger": "2",
        },
    }.items():
        store = w.table(name, keys=["id"], **options)
        put(store, first)
        put(store, second)
        put(store, [row(3), row(40)], ["-D", "-D"])
        rows = [r for r in upserted(first, second) if r["id"] not in (3, 40)]
        w.expect(store, rows)
    for full in (True, False):
        store = w.table(
            f"pk_compacted_{full}".lower(), keys=["id"], bucket="1", **{"num-sorted-run.compaction-trigger": "3"}
        )
        batches = [[row(i % 9, i) for i in range(n, n + 5)] for n in range(12)]
        for batch in batches:
            put(store, batch)
        compact_all(store, full=full)
        w.expect(store, upserted(*batches))
    store = w.table("pk_first_row", keys=["id"], bucket="1", **{"merge-engine": "first-row"})
    for batch in (first, second):
        put(store, batch)
    w.expect(store, upserted(second, first))


def partitioned_tables(w: Warehouse) -> None:
    rows = [{**row(i), "dt": f"2024-01-{i % 3 + 1:02}", "h": i % 2} for i in range(24)]
    columns = {**COLUMNS, "dt": "STRING", "h": "INT"}
    for name, keys, options in [("part_app", [], {"bucket": "-1"}), ("part_pk", ["id", "dt", "h"], {"bucket": "2"})]:
        store = w.table(name, columns, keys, ["dt", "h"], **options)
        put(store, rows)
        w.expect(store, rows)
        store = w.table(name + "_static", columns, keys, ["dt", "h"], **options)
        put(store, rows)
        new = [{**row(i, 5), "dt": "2024-01-02", "h": 1} for i in range(3)]
        put(store, new, overwrite=Overwrite({"dt": "2024-01-02"}))
        w.expect(store, [r for r in rows if r["dt"] != "2024-01-02"] + new)
        store = w.table(name + "_dynamic", columns, keys, ["dt", "h"], **options)
        put(store, rows)
        put(store, new, overwrite=Overwrite(dynamic=True))
        w.expect(store, [r for r in rows if (r["dt"], r["h"]) != ("2024-01-02", 1)] + new)
    odd = [None, "", " ", "a/b", "50%", "x=y", "日本", "q'q", "tab\there"]
    store = w.table("part_odd", {"id": "INT", "dt": "STRING"}, [], ["dt"], bucket="-1")
    rows = [{"id": i, "dt": value} for i, value in enumerate(odd)]
    put(store, rows)
    w.expect(store, rows)
    store = w.table("part_date", {"id": "INT", "dt": "DATE", "n": "BIGINT"}, ["id", "dt", "n"], ["dt", "n"], bucket="1")
    rows = [{"id": i, "dt": date(2024, 2, 28 + i % 2), "n": -i} for i in range(4)]
    put(store, rows)
    w.expect(store, rows)


def histories(w: Warehouse) -> None:
    batches = [[row(i, turn) for i in range(turn, turn + 4)] for turn in range(8)]
    states = [upserted(*batches[: n + 1]) for n in range(8)]

    def filled(name: str, upto: int = 8) -> TableStore:
        store = w.table(name, keys=["id"], bucket="1", **{"num-sorted-run.compaction-trigger": "100"})
        for batch in batches[:upto]:
            put(store, batch)
        return store

    store = filled("overwritten")
    put(store, batches[0], overwrite=Overwrite())
    w.expect(store, states[0])
    store = filled("tagged", 3)
    create_tag(store, "three")
    for batch in batches[3:]:
        put(store, batch)
    compact_all(store)
    expire_snapshots(store, ExpireLimits(1, 2, 0, 100))
    w.expect(store, states[7])
    w.expect(store, states[2], "at_tag", options={"scan.tag-name": "three"})
    store = filled("back")
    rollback_to_snapshot(store, 4)
    put(store, batches[7])
    w.expect(store, upserted(*batches[:4], batches[7]))
    w.expect(store, states[1], "at_two", options={"scan.snapshot-id": "2"})
    store = filled("branching", 3)
    create_tag(store, "three")
    create_branch(store, "b", "three")
    put(store.on_branch("b"), batches[7])
    put(store, batches[3])
    w.expect(store, states[3])
    w.expect(store, upserted(*batches[:3], batches[7]), "on_b", branch="b")


def every_type(w: Warehouse, fixtures: Path) -> None:
    """The rows of a Java table with all types, read from its own file and written again."""
    source = fixtures / "warehouse" / "fx.db" / "at_parquet"
    fs = LocalFileIO()
    there = TableStore.open(fs, str(source))
    rows = pa.concat_tables(
        read_data_file(fs, there.data_path(e.partition, e.bucket, e.file), there.schema.fields)
        for e in live_entries(there, there.latest())
    )
    expected = (fixtures / "expected" / "at_parquet.all.jsonl").read_text()
    for name, options in {"types_app": {"bucket": "-1"}, "types_pk": {"bucket": "2"}}.items():
        keys = ["id"] if name == "types_pk" else []
        schema = there.schema
        root = f"{w.root}/w.db/{name}"
        from paimon_nb.format.schema import create_schema

        made = create_schema([(f.name, f.type, None, None) for f in schema.fields], [], keys, options, None)
        SchemaDirectory(fs, root).create(made)
        store = TableStore.open(fs, root)
        put(store, rows)
        Path(f"{root}.jsonl").write_text(expected)


KEYED_BY_JAVA = """
    pk_dedup pk_dedup_b4 compacted many_commits dv_pk dv_lookup dyn_bucket cl_lookup cl_full_compaction cl_input thin_mode
    at_pk_orc fmt_per_level part_pk cmp_avro_deflate cmp_orc_zlib cmp_parquet_zstd
"""
APPENDED_BY_JAVA = "app_unaware app_b4 app_compact at_parquet at_avro part_str part_date part_comp"


def mixed_histories(w: Warehouse, fixtures: Path) -> None:
    """Tables that Java began: we delete a key or append all rows again, compact, and Java reads on."""
    for name in [*KEYED_BY_JAVA.split(), *APPENDED_BY_JAVA.split()]:
        root = Path(f"{w.root}/w.db/java_{name}")
        shutil.copytree(fixtures / "warehouse" / "fx.db" / name, root)
        store = TableStore.open(LocalFileIO(), str(root))
        lines = (fixtures / "expected" / f"{name}.all.jsonl").read_text().splitlines()
        rows = rows_of(store)
        assert len(rows) == len(lines), name
        if not store.has_keys:
            put(store, arrow(store, rows))
            lines *= 2
        else:
            gone = json.loads(lines[0])
            same_key = [r for r in rows if all(text(r[k]) == gone[k] for k in store.schema.primary_keys)]
            put(store, arrow(store, same_key), ["-D"])
            lines = lines[1:]
            assert len(same_key) == 1, name
        if len(lines) % 2:
            compact_all(store)
        root.with_suffix(".jsonl").write_text("".join(line + "\n" for line in lines))


def sums_with_lookup(w: Warehouse) -> None:
    for producer in ("lookup", "none"):
        options = {"merge-engine": "aggregation", "fields.n.aggregate-function": "sum", "changelog-producer": producer}
        store = w.table(f"sums_{producer}", {"id": "INT", "n": "BIGINT"}, ["id"], bucket="1", **options)
        put(store, [{"id": i, "n": 0} for i in range(50)])
        for _ in range(3):
            put(store, [{"id": 1, "n": 1}, {"id": 2, "n": 10}])
        w.expect(store, [{"id": i, "n": {1: 3, 2: 30}.get(i, 0)} for i in range(50)])


@pytest.mark.nightly
def test_java_reads_everything(shared, tmp_path):
    w = Warehouse(tmp_path / "warehouse")
    append_tables(w)
    key_tables(w)
    partitioned_tables(w)
    histories(w)
    every_type(w, shared / "oracle" / "fixtures")
    mixed_histories(w, shared / "oracle" / "fixtures")
    sums_with_lookup(w)
    report = tmp_path / "report.json"
    checker = shared / "oracle" / "read_check.py"
    done = subprocess.run(
        [sys.executable, str(checker), str(w.root), "--json", str(report), "-q"], capture_output=True, text=True
    )
    assert report.exists(), done.stdout + done.stderr
    wrong = [entry for entry in json.loads(report.read_text()) if entry[1] != "equal"]
    assert wrong == []
