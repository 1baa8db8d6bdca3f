"""Keys that move from partition to partition, in a table whose compactions mark old rows instead of rewriting them."""

from itertools import permutations

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import UnsupportedOperation


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_a_key_that_moved_is_taken_from_where_it_was_last(tmp_path, vectors):
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(
        "CREATE TABLE t (id INT, p STRING, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (p) WITH"
        f" ('bucket' = '-1', 'deletion-vectors.enabled' = '{vectors}', 'num-sorted-run.compaction-trigger' = '3')"
    )
    routes = list(permutations(("p0", "p1", "p2", "p3"), 3))
    for step in range(3):
        rows = pa.table({"id": pa.array(range(len(routes)), pa.int32()), "p": [route[step] for route in routes]})
        wb.table("t").upsert(rows)
    found = wb.table("t").to_arrow().sort_by("id").to_pylist()
    assert found == [{"id": i, "p": route[2]} for i, route in enumerate(routes)]


@pytest.mark.parametrize(
    ("engine", "again"),
    [
        ({"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}, (1, "p0", 12)),
        ({"merge-engine": "partial-update", "fields.g.sequence-group": "v"}, (1, "p0", 5)),
        (
            {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum", "aggregation.remove-record-on-delete": "true"},
            (1, "p1", 5),
        ),
        ({}, (1, "p1", 5)),
    ],
    ids=["taken off", "one group emptied", "removed", "deleted"],
)  # fmt: skip
def test_a_key_stays_where_a_retraction_left_its_row(tmp_path, engine, again):
    wb = paimon_nb.connect(str(tmp_path))
    options = ", ".join(f"'{k}' = '{v}'" for k, v in ({"bucket": "-1"} | engine).items())
    wb.run(
        f"CREATE TABLE t (id INT, p STRING, v INT, g INT, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (p) WITH ({options})"
    )
    table = wb.table("t")
    for step, (partition, value, kind) in enumerate([("p0", 10, "+I"), ("p0", 3, "-D"), ("p1", 5, "+I")]):
        row = pa.table(
            {
                "id": pa.array([1], pa.int32()),
                "p": [partition],
                "v": pa.array([value], pa.int32()),
                "g": pa.array([step], pa.int32()),
            }
        )
        with table.write() as write:
            write.write(row, pa.array([kind]))
            table.commit().commit(write.prepare_commit())
    assert [tuple(r.values())[:3] for r in table.to_arrow().to_pylist()] == [again]


@pytest.mark.parametrize(
    ("engine", "expected"),
    [
        ({}, [(1, "p1", 0, 0), (2, "p0", 0, 0)]),
        ({"merge-engine": "first-row"}, [(1, "p0", 0, 1), (2, "p0", 0, 1)]),
        ({"merge-engine": "partial-update"}, [(1, "p0", 1, 2), (2, "p0", 1, 2)]),
    ],
    ids=str,
)  # fmt: skip
def test_the_first_rows_of_a_batch_are_written_in_the_order_of_their_keys(tmp_path, engine, expected):
    """Rows with the sequence numbers of their files, as in Java: a key that moves leaves no deletion behind."""
    wb = paimon_nb.connect(str(tmp_path))
    options = ", ".join(f"'{k}' = '{v}'" for k, v in ({"bucket": "-1", "write-only": "true"} | engine).items())
    wb.run(f"CREATE TABLE t (id INT PRIMARY KEY NOT ENFORCED, p STRING) PARTITIONED BY (p) WITH ({options})")
    wb.run("INSERT INTO t VALUES (2, 'p0'), (1, 'p0'), (1, 'p1')")
    numbers = {}
    for file in wb.table("t").files().to_pylist():
        assert file["deleteRowCount"] == 0
        numbers[file["partition"].strip("{}")] = file["min_sequence_number"], file["max_sequence_number"]
    wb.run("CALL sys.compact('t')")
    found = [(r["id"], r["p"], *numbers[r["p"]]) for r in wb.table("t").to_arrow().sort_by("id").to_pylist()]
    assert found == expected


def test_an_overwrite_brings_no_key_that_lies_in_a_partition_that_stays(tmp_path):
    wb = paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE t (id INT, p STRING, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (p) WITH ('bucket' = '-1')")
    table = wb.table("t")

    def rows(*pairs):
        return pa.table({"id": pa.array([i for i, _ in pairs], pa.int32()), "p": [p for _, p in pairs]})

    def found():
        return sorted((r["id"], r["p"]) for r in table.to_arrow().to_pylist())

    table.upsert(rows((1, "a"), (2, "b"), (3, "b")))
    table.delete(rows((3, "b")).select(["id"]))
    for how in ({"partition": {"p": "a"}}, {"dynamic": True}):
        with pytest.raises(UnsupportedOperation, match=r"the overwrite has keys that exist in partition \('b',\)"):
            table.overwrite(rows((2, "a")), **how)
    assert found() == [(1, "a"), (2, "b")]
    table.overwrite(rows((3, "a"), (4, "a")), partition={"p": "a"})
    assert found() == [(2, "b"), (3, "a"), (4, "a")]
    table.overwrite(rows((2, "c"), (3, "c")))
    assert found() == [(2, "c"), (3, "c")]


def test_a_retraction_that_a_write_merges_keeps_its_partition(tmp_path):
    """The first row of a key takes off: merging sets the partition column to NULL in the file, and readers take the partition's value."""
    wb = paimon_nb.connect(str(tmp_path))
    wb.run("""
        CREATE TABLE t (id INT, v INT, p STRING, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (p)
        WITH ('bucket' = '-1', 'merge-engine' = 'aggregation', 'changelog-producer' = 'lookup', 'fields.v.aggregate-function' = 'sum')
    """)
    row = pa.table({"id": pa.array([1], pa.int32()), "v": pa.array([2], pa.int32()), "p": ["x=1"]})
    table = wb.table("t")
    with table.write() as write:
        write.write(row, pa.array(["-U"]))
        table.commit().commit(write.prepare_commit())
    assert table.to_arrow().to_pylist() == [{"id": 1, "v": -2, "p": "x=1"}]
