"""Odd tables that pypaimon 2.1.0, pypaimon-rust 0.4.0 and we write in turn: after each step all of us read the same rows."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from peer_cases import EVOLVES, shown
from peer_kit import Peers

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow  # other processes, in a venv that the first test makes

BOTH, PYPAIMON = ("pypaimon", "rust"), ("pypaimon",)


class Both:
    """One warehouse, and the rows that its tables should have."""

    def __init__(self, root) -> None:
        self.peers, self.root = Peers(root), root
        self.wb = paimon_nb.connect(str(root))

    def table(self, name: str) -> paimon_nb.Table:
        """With the schema and the options of now."""
        return paimon_nb.connect(str(self.root)).table(name)

    def check(self, step: str, name: str, rows: list[dict[str, Any]], schema: pa.Schema, readers=BOTH, **options: str):
        wanted = shown(pa.Table.from_pylist(rows, schema=schema))
        table = self.table(name)
        assert shown((table.copy(options) if options else table).to_arrow(columns=schema.names)) == wanted, step
        for reader in readers:
            assert shown(self.peers.read(reader, name, schema.names, **options)) == wanted, (step, reader)


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> Iterator[Both]:
    made = Both(tmp_path_factory.mktemp("odd"))
    yield made
    made.peers.close()


LARGE = pa.schema(
    [("id", pa.int32()), ("v", pa.list_(pa.float32(), 3)), ("x", pa.large_binary()), ("d", pa.date32()), ("c", pa.string())]
)  # fmt: skip


def by_row_id(row_id: int, column: str, value: Any) -> pa.Table:
    return pa.table({"_ROW_ID": pa.array([row_id], pa.int64()), column: pa.array([value], LARGE.field(column).type)})


@pytest.mark.parametrize("file_format", ["parquet", pytest.param("orc", marks=pytest.mark.nightly)])
def test_vectors_blobs_and_deleted_rows_of_evolving_partitions(both, file_format):
    name, peers = f"large_{file_format}", both.peers
    options = {**EVOLVES, "vector.file.format": "parquet", "file.format": file_format}
    peers.create(name, LARGE, [], ["d"], options)
    days = [dt.date(1969, 12, 30), dt.date(2024, 2, 29)]
    rows = {
        i: {"id": i, "v": [i, i / 2, -i], "x": b"blob%d" % i if i % 3 else None, "d": days[i // 6], "c": f"c{i}"}
        for i in range(12)
    }
    peers.write("pypaimon", name, pa.Table.from_pylist(list(rows.values()), schema=LARGE))

    def check(step: str) -> None:
        # rust cannot read the schema: 'unknown field `nullable`' of a VECTOR, which pypaimon writes and Java does not.
        both.check(step, name, list(rows.values()), LARGE, PYPAIMON)

    def value(row_id: int, column: str, new: Any) -> None:
        rows[row_id][column] = new

    check("written")
    peers.delete(name, [1, 5, 7])
    for i in (1, 5, 7):
        rows.pop(i)
    check("deleted there")
    for row_id, column, new in ((0, "c", "new"), (3, "x", b"new blob"), (4, "v", [9.0, 9.0, 9.0])):
        peers.update(name, by_row_id(row_id, column, new))
        value(row_id, column, new)
        check(f"{column} updated there")
    both.table(name).append(
        pa.Table.from_pylist([{**rows[8], "id": 100, "x": b"ours"}, {**rows[0], "id": 101}], schema=LARGE)
    )
    rows |= {100: {**rows[8], "id": 100, "x": b"ours"}, 101: {**rows[0], "id": 101}}
    check("appended here")
    for row_id, column, new in ((6, "x", b"our blob"), (0, "v", [8.0, 8.0, 8.0]), (2, "c", None)):
        both.table(name).update_by_row_id(by_row_id(row_id, column, new))
        value(row_id, column, new)
        check(f"{column} updated here")
    both.table(name).delete(where="id = 10")
    rows.pop(10)
    check("deleted here")
    for call in ("compact(`table` => '{}')", "reassign_row_id('{}')", "materialize_deletion_vectors('{}')"):
        both.wb.run(f"CALL sys.{call.format(name)}")
        check(call)


PARTITIONS = {
    "i": (pa.int32(), [1, -5, None], BOTH),
    "s": (pa.string(), ["a/b=c%20 é", "x", None], BOTH),
    "b": (pa.bool_(), [True, False, None], BOTH),
    "day": (pa.date32(), [dt.date(1960, 1, 1), dt.date(2024, 2, 29), None], BOTH),
    "dec": (pa.decimal128(10, 2), [Decimal("1.50"), Decimal("-0.01"), None], BOTH),
    "us": (pa.timestamp("us"), [dt.datetime(2024, 1, 2, 3, 4, 5, 678901), dt.datetime(1969, 1, 1), None], BOTH),
    "f": (pa.float64(), [1e300, 0.1, None], PYPAIMON),  # rust: 'type is not supported as partition key'
}


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("name", PARTITIONS)
def test_types_of_partitions(both, name, keyed):
    t, values, readers = PARTITIONS[name]
    schema = pa.schema([("id", pa.int32()), ("p", t), ("c", pa.string())])
    values = [v for v in values if v is not None or not keyed]
    table = f"by_{name}_{'keyed' if keyed else 'plain'}"
    both.peers.create(table, schema, ["id", "p"] if keyed else [], ["p"], {"bucket": "1" if keyed else "-1"})
    rows = [{"id": i, "p": v, "c": f"c{i}"} for i, v in enumerate(values * 2)]
    both.peers.write("pypaimon", table, pa.Table.from_pylist(rows, schema=schema))
    both.check("theirs", table, rows, schema, readers)
    more = [{**r, "id": r["id"] + 100} for r in rows]
    both.table(table).append(pa.Table.from_pylist(more, schema=schema))
    both.check("ours, too", table, rows + more, schema, readers)


def test_rows_that_wait_for_a_bucket(both):
    schema = pa.schema([("id", pa.int32()), ("c", pa.string())])

    def batch(first: int, end: int, c: str) -> pa.Table:
        return pa.Table.from_pylist([{"id": i, "c": c} for i in range(first, end)], schema=schema)

    both.peers.create("waiting", schema, ["id"], [], {"bucket": "-2", "postpone.batch-write-fixed-bucket": "false"})
    rows: dict[int, str] = {}
    for turn, writer in enumerate(("pypaimon", "rust", "us")):
        table = batch(turn * 3, turn * 3 + 6, writer)
        both.table("waiting").append(table) if writer == "us" else both.peers.write(writer, "waiting", table)
        both.check(f"{writer} waits", "waiting", [{"id": i, "c": c} for i, c in rows.items()], schema)
        both.table("waiting").compact()
        rows |= {r["id"]: r["c"] for r in table.to_pylist()}
        both.check(f"{writer} has a bucket", "waiting", [{"id": i, "c": c} for i, c in rows.items()], schema)


@pytest.mark.parametrize("keyed", [False, True])
def test_branches_and_tags(both, keyed):
    name, schema = f"branched_{'keyed' if keyed else 'plain'}", pa.schema([("id", pa.int32()), ("c", pa.string())])
    rows = [{"id": i, "c": f"c{i}"} for i in range(6)]

    def batch(*ids: int) -> pa.Table:
        return pa.Table.from_pylist([rows[i] for i in ids], schema=schema)

    peers, branch = both.peers, f"{name}$branch_b"
    peers.create(name, schema, ["id"] if keyed else [], [], {"bucket": "1" if keyed else "-1"})
    peers.write("pypaimon", name, batch(0, 1))
    peers.ask("pypaimon", "tag", table=name, name="t1", snapshot=1)
    both.table(name).append(batch(2))
    both.wb.run(f"CALL sys.create_branch('{name}', 'b', 't1')")
    peers.write("pypaimon", branch, batch(3))
    both.table(branch).append(batch(4))
    both.check("branch", branch, [rows[i] for i in (0, 1, 3, 4)], schema, PYPAIMON)
    both.check("main", name, rows[:3], schema)
    both.wb.run(f"CALL sys.create_tag('{name}', 'ours', 2); CALL sys.expire_snapshots('{name}', 1)")
    both.check("their tag", name, rows[:2], schema, PYPAIMON, **{"scan.tag-name": "t1"})
    both.check("our tag", name, rows[:3], schema, PYPAIMON, **{"scan.tag-name": "ours"})
    both.wb.run(f"CALL sys.fast_forward('{name}', 'b')")
    both.check("fast forward", name, [rows[i] for i in (0, 1, 3, 4)], schema)


def test_partitions_that_are_overwritten(both):
    schema = pa.schema([("id", pa.int32()), ("p", pa.string())])

    def batch(*rows: tuple[int, str | None]) -> list[dict[str, Any]]:
        return [{"id": i, "p": p} for i, p in rows]

    def overwrite(rows: list[dict[str, Any]], partition: dict[str, str]) -> None:
        path = both.peers._file(pa.Table.from_pylist(rows, schema=schema))
        both.peers.ask("pypaimon", "write", table="over", rows=path, overwrite=partition)

    both.peers.create("over", schema, [], ["p"], {"bucket": "-1"})
    both.peers.write("pypaimon", "over", pa.Table.from_pylist(batch((1, "a"), (2, "b"), (3, None)), schema=schema))
    overwrite(batch((4, "a")), {"p": "a"})
    both.check("one partition", "over", batch((4, "a"), (2, "b"), (3, None)), schema)
    overwrite(batch((5, "b")), {})
    both.check("those of the rows", "over", batch((4, "a"), (5, "b"), (3, None)), schema)
    both.table("over").overwrite(pa.Table.from_pylist(batch((6, None)), schema=schema))
    both.check("all of them", "over", batch((6, None)), schema)


def test_both_list_the_same_indexes(both):
    schema = pa.schema([("id", pa.int32()), ("c", pa.string())])
    both.peers.create("listed", schema, [], [], EVOLVES)
    both.peers.write("pypaimon", "listed", pa.Table.from_pylist([{"id": i, "c": f"c{i}"} for i in range(9)], schema=schema))  # fmt: skip
    both.peers.delete("listed", [3])
    both.peers.create_global_index("listed", "id", "btree")
    both.wb.run("CALL sys.create_global_index('listed', 'c', 'bitmap')")
    columns = ["index_type", "file_name", "file_size", "row_count", "row_range_start", "row_range_end", "index_field_id", "index_field_name"]  # fmt: skip
    ours = both.table("listed").system("table_indexes").select(columns)
    assert ours.num_rows == 3
    assert shown(both.peers.read("pypaimon", "listed$table_indexes", columns)) == shown(ours)
