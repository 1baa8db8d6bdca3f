"""Two moments of a table side by side."""

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import TimeTravelError


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def put(table, *ids: int) -> None:
    columns = {f.name: pa.array(ids if f.name == "id" else ["x"] * len(ids), f.type) for f in table.schema.arrow}
    table.upsert(pa.table(columns))


def summary(compared) -> list[tuple]:
    return sorted((f.what, f.level_before, f.level_after, f.rows) for f in compared.files)


def test_files_born_gone_and_the_same(wb):
    wb.run(
        "CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')"
    )
    t = wb.table("t")
    put(t, 1, 2)
    put(t, 2, 3)
    t.compact()
    put(t, 9)
    first = t.inspect.compare(1, 2)
    assert (summary(first), first.same_files) == ([("added", None, 0, 2)], 1)
    compacted = t.inspect.compare(2, 3)
    assert summary(compacted) == [("added", None, 5, 3), ("removed", 0, None, 2), ("removed", 0, None, 2)]
    assert (compacted.rows_before, compacted.rows_after) == (4, 3)
    assert str(compacted).splitlines()[0] == "t: snapshot 2 -> 3"
    backwards = t.inspect.compare(3, 2)
    assert [f.what for f in backwards.only("added")] == ["added", "added"]
    assert (t.inspect.compare(4, 4).files, t.inspect.compare(4, 4).same_files) == ((), 2)


def test_an_upgrade_moves_a_file(wb):
    wb.run(
        "CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')"
    )
    t = wb.table("t")
    put(t, 1)
    t.compact()
    assert summary(t.inspect.compare(1, 2)) == [("moved", 0, 5, 1)]


def test_schema_and_options(wb):
    wb.run("CREATE TABLE t (id INT, v STRING, w STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    put(wb.table("t"), 1)
    wb.run("ALTER TABLE t RENAME COLUMN v TO u")
    wb.run("ALTER TABLE t DROP COLUMN w")
    wb.run("ALTER TABLE t ADD COLUMN n BIGINT")
    wb.run("ALTER TABLE t SET ('write-only' = 'true')")
    t = wb.table("t")
    t.upsert(pa.table({"id": pa.array([2], pa.int32()), "u": ["y"], "n": pa.array([1], pa.int64())}))
    t.tags.create("later")
    compared = t.inspect.compare(1, "later")
    assert compared.columns == ("v renamed to u", "n BIGINT added", "w dropped")
    assert compared.options == ("write-only: 'not set' -> 'true'",)


def test_a_moment_that_is_not_there(wb):
    wb.run("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    put(wb.table("t"), 1)
    with pytest.raises(TimeTravelError):
        wb.table("t").inspect.compare(1, 7)
