"""Indexes of primary-key tables: built by compactions and writes, used by reads and searches, right after changes, and what is refused."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb import BadOptionValue, MissingFile
from paimon_nb.base.errors import SchemaChangeError, UnsupportedFormat
from paimon_nb.format.index.global_index import SourceFiles
from paimon_nb.format.types.arrow_builders import arrow_schema
from paimon_nb.table.read.key_index import sources_of
from paimon_nb.table.read.live_files import index_entries

HOW = b"paimon_nb.search"
SORTED = """'pk-btree.index.columns' = 'score', 'pk-bitmap.index.columns' = 'category',
    'fields.score.pk-btree.index.options' = '{"block-size":"4 kb"}',
    'fields.category.pk-bitmap.index.options' = '{"dictionary-block-size":"8 kb"}'"""
VECTORS = """'pk-vector.index.columns' = 'v', 'fields.v.pk-vector.index.type' = 'ivf-flat',
    'fields.v.pk-vector.distance.metric' = 'l2', 'fields.v.pk-vector.index.options' = '{"nlist":"2"}'"""
TEXTS = "'pk-full-text.index.columns' = 'content'"
FORCED = "'compaction.force-rewrite-all-files' = 'true'"


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path))


def create(wb, columns, options, bucket=1, keys="id", partitions="", vectors=True) -> None:
    deletion = "'deletion-vectors.enabled' = 'true', " if vectors else ""
    wb.run(f"""CREATE TABLE t ({columns}, PRIMARY KEY ({keys}) NOT ENFORCED) {partitions}
        WITH ('bucket' = '{bucket}', {deletion}{options})""")


def indexes(wb):
    """(type, rows, level) of each live index file of data files, in order."""
    store = wb.table("t").store
    found = [(e, sources_of(e)) for e in index_entries(store, store.latest())]
    return sorted((e.index_type, e.row_count, s.level) for e, s in found if s is not None)


def plan_of(wb, where):
    return wb.table("t").scan(where).plan


def rows(wb, where, *columns):
    """The rows by the key, with and without indexes; both are equal."""
    table = wb.table("t")
    order = lambda found: sorted(found.to_pylist(), key=lambda r: r["id"])  # noqa: E731
    found = order(table.to_arrow(columns or None, where=where))
    assert found == order(table.copy({"global-index.enabled": "false"}).to_arrow(columns or None, where=where))
    return found


def ids(found):
    return [r["id"] for r in found]


def put(wb, *values: tuple) -> None:
    """Write rows with the columns of the table."""
    fields = arrow_schema(wb.table("t").schema.fields, nullable=True)
    columns = zip(*values, strict=True)
    wb.table("t").append(
        pa.table([pa.array(c, f.type) for c, f in zip(columns, fields, strict=True)], names=fields.names)
    )


def near(wb, vector, k, **arguments):
    found = wb.table("t").search(vector, k, columns=["id"], **arguments)
    return found.column("id").to_pylist(), found.schema.metadata[HOW].decode()


def texts(wb, query, column="content", **arguments):
    found = wb.table("t").full_text_search(query, 10, column=column, columns=["id"], **arguments)
    return sorted(found.column("id").to_pylist()), found.schema.metadata[HOW].decode()


def test_sorted_indexes_with_updates_and_deletes(wb):
    create(wb, "id INT, score INT, category STRING, note STRING", SORTED)
    wb.run("INSERT INTO t VALUES (1, 10, 'red', 'keep'), (2, 20, 'blue', 'drop')")
    wb.run("INSERT INTO t VALUES (3, 30, 'red', 'keep'), (4, 40, 'green', 'keep')")
    wb.run("CALL sys.compact('default.t')")
    assert indexes(wb) == [("bitmap", 4, 5), ("btree", 4, 5)]
    wb.run("INSERT INTO t VALUES (2, 25, 'red', 'keep')")
    wb.table("t").delete(where="id = 3")
    wb.run("INSERT INTO t VALUES (5, 35, 'yellow', 'keep')")
    assert ids(rows(wb, "score = 10")) == [1]
    assert ids(rows(wb, "score >= 20 AND score < 40")) == [2, 5]
    assert ids(rows(wb, "score >= 10 AND category = 'red'")) == [1, 2]
    assert ids(rows(wb, "score = 40 OR category = 'red'")) == [1, 2, 4]
    assert ids(rows(wb, "note = 'keep'")) == [1, 2, 4, 5]
    assert ids(rows(wb, "score IS NULL OR category NOT IN ('red', 'green')")) == [5]


def test_an_index_excludes_rows_and_whole_files(wb):
    create(wb, "id INT, score INT, category STRING", SORTED + ", 'target-file-size' = '1 kb'")
    wb.table("t").append(pa.table({
        "id": pa.array(range(4000), pa.int32()), "score": pa.array([i * 7 % 4000 for i in range(4000)], pa.int32()),
        "category": [f"c{i % 2}" for i in range(4000)],
    }))  # fmt: skip
    wb.run("CALL sys.compact('default.t')")
    wb.table("t").copy({"compaction.force-rewrite-all-files": "true"}).compact()
    assert [kind for kind, _, _ in indexes(wb)] == ["bitmap", "btree"]
    plan = plan_of(wb, "score IN (7, 14)")
    assert "2 of 4000 rows by index of score" in str(plan.skipped)
    assert sum(len(s.row_ids) for s in plan.splits) == 2
    assert ids(rows(wb, "score IN (7, 14)", "id")) == [1, 2]
    assert plan_of(wb, "category = 'c7'").splits == ()


def test_each_level_has_its_own_index(wb):
    create(wb, "id INT, score INT, category STRING", SORTED + f", {FORCED}, 'num-levels' = '4'")
    for i in range(12):
        wb.run(f"INSERT INTO t VALUES ({i}, {i * 10}, 'c{i % 3}'), ({i + 100}, {i}, 'x')")
        files = wb.table("t").system("files").to_pylist()
        compacted = {f["level"] for f in files if f["level"] > 0}
        assert {level for _, _, level in indexes(wb)} <= compacted
        assert ids(rows(wb, f"score = {i * 10}")) == ([0, 100] if i == 0 else [i])
    wb.run("CALL sys.compact('default.t')")
    assert indexes(wb) == [("bitmap", 24, 3), ("btree", 24, 3)]


def test_an_option_set_later_is_built_by_compact(wb):
    create(wb, "id INT, score INT, category STRING", FORCED)
    wb.run("INSERT INTO t VALUES (1, 10, 'red')")
    wb.run("CALL sys.compact('default.t')")
    assert indexes(wb) == []
    wb.run("ALTER TABLE t SET ('pk-btree.index.columns' = 'score')")
    wb.run("ALTER TABLE t RESET ('compaction.force-rewrite-all-files')")
    wb.run("CALL sys.compact('default.t')")
    assert indexes(wb) == [("btree", 1, 5)]
    assert ids(rows(wb, "score = 10")) == [1]
    wb.run("ALTER TABLE t RESET ('pk-btree.index.columns')")
    wb.run("CALL sys.compact('default.t')")
    assert indexes(wb) == []


def test_overwrite_truncate_and_rollback(wb):
    create(wb, "id INT, score INT, category STRING, dt STRING", SORTED + f", {FORCED}", keys="id, dt",
           partitions="PARTITIONED BY (dt)")  # fmt: skip
    wb.run("INSERT INTO t VALUES (1, 10, 'red', 'a'), (2, 20, 'red', 'b')")
    wb.run("CALL sys.compact('default.t')")
    before = wb.table("t").store.snapshots.latest_id()
    assert indexes(wb) == [("bitmap", 1, 5), ("bitmap", 1, 5), ("btree", 1, 5), ("btree", 1, 5)]
    blue = {"id": pa.array([3], pa.int32()), "score": pa.array([30], pa.int32()), "category": ["blue"], "dt": ["a"]}
    wb.table("t").overwrite(pa.table(blue), {"dt": "a"})
    assert ids(rows(wb, "score >= 10")) == [2, 3]
    wb.run("CALL sys.compact('default.t')")
    assert ids(rows(wb, "category = 'blue'")) == [3]
    wb.run("ALTER TABLE t DROP PARTITION (dt = 'b')")
    assert ids(rows(wb, "score >= 10")) == [3]
    wb.run("TRUNCATE TABLE t")
    assert (rows(wb, "score >= 10"), indexes(wb)) == ([], [])
    wb.run(f"CALL sys.rollback_to(`table` => 'default.t', snapshot_id => {before})")
    assert ids(rows(wb, "score >= 10")) == [1, 2]
    assert len(indexes(wb)) == 4


def test_time_travel_uses_the_indexes_of_the_snapshot(wb):
    create(wb, "id INT, score INT, category STRING", SORTED + f", {FORCED}")
    wb.run("INSERT INTO t VALUES (1, 10, 'red')")
    old = wb.table("t").store.snapshots.latest_id()
    wb.run("INSERT INTO t VALUES (1, 20, 'red'), (2, 10, 'red')")
    assert ids(rows(wb, "score = 10")) == [2]
    assert wb.table("t").to_arrow(["id"], where="score = 10", snapshot=old).to_pylist() == [{"id": 1}]


def test_random_changes_with_every_index(wb):
    rng = np.random.default_rng(5)
    create(wb, "id INT, score INT, category STRING, tags ARRAY<STRING>, content STRING, v VECTOR<FLOAT, 2>",
           f"{SORTED}, {VECTORS}, {TEXTS}, 'pk-multivalue.index.columns' = 'tags'", bucket=2)  # fmt: skip
    expected: dict[int, tuple] = {}
    for step in range(10):
        for i in rng.integers(0, 60, 12).tolist():
            x = int(rng.integers(0, 50))
            expected[i] = (x, f"c{x % 4}", f"w{x % 5}", (float(x), float(i)))
        table = pa.table({
            "id": pa.array(expected, pa.int32()),
            "score": pa.array([r[0] for r in expected.values()], pa.int32()),
            "category": [r[1] for r in expected.values()],
            "tags": [[r[1], r[2], r[2]] for r in expected.values()],
            "content": [f"lake {r[2]}" for r in expected.values()],
            "v": pa.array([r[3] for r in expected.values()], pa.list_(pa.float32(), 2)),
        })  # fmt: skip
        wb.table("t").append(table.take(rng.integers(0, len(expected), 8)) if step % 3 else table)
        if step % 4 == 3:
            gone = int(rng.choice(list(expected)))
            wb.table("t").delete(where=f"id = {gone}")
            del expected[gone]
        if step % 3 == 1:
            wb.table("t").append(table.filter(pa.compute.is_in(table["id"], pa.array(list(expected), pa.int32()))))
        if step % 5 == 4:
            wb.run("CALL sys.compact('default.t')")
        if step % 3:
            continue
        assert ids(rows(wb, "score < 20", "id")) == sorted(i for i, r in expected.items() if r[0] < 20)
        assert ids(rows(wb, "category = 'c1'", "id")) == sorted(i for i, r in expected.items() if r[1] == "c1")
        words = wb.table("t").full_text_search("w2", 100, column="content", columns=["id"]).column("id").to_pylist()
        assert sorted(words) == sorted(i for i, r in expected.items() if r[2] == "w2")
        nearest = wb.table("t").search([0, 0], 3, columns=["id"]).column("id").to_pylist()
        lengths = {i: r[3][0] ** 2 + r[3][1] ** 2 for i, r in expected.items()}
        assert [lengths[i] for i in nearest] == sorted(lengths.values())[:3]
    assert {kind for kind, _, _ in indexes(wb)} == {"btree", "bitmap", "multivalue", "full-text", "ivf-flat"}


def test_vectors_after_one_write_updates_and_deletes(wb):
    create(wb, "id INT, payload STRING, v VECTOR<FLOAT, 2>", VECTORS)
    put(wb, (1, "keep", [3.0, 0.0]), (2, "drop", [1.0, 0.0]), (3, "keep", [2.0, 0.0]))
    assert indexes(wb) == [("ivf-flat", 3, 5)]
    assert near(wb, [0, 0], 2) == ([2, 3], "index ivf-flat of v for 3 of 3 rows: 2 candidates")
    assert near(wb, [0, 0], 1, where="payload = 'keep'")[0] == [3]
    put(wb, (1, "keep", [0.5, 0.0]))
    assert near(wb, [0, 0], 1)[0] == [1]
    wb.table("t").delete(where="id = 1")
    assert near(wb, [0, 0], 3)[0] == [2, 3]
    wb.run("CALL sys.compact('default.t')")
    assert near(wb, [0, 0], 3)[0] == [2, 3]


def test_the_metric_is_that_of_the_index(wb):
    options = VECTORS.replace("'fields.v.pk-vector.distance.metric' = 'l2', ", "")
    create(wb, "id INT, v VECTOR<FLOAT, 2>", options)
    assert near(wb, [1, 0], 1)[0] == []
    put(wb, (1, [1.0, 0.0]), (2, [9.0, 0.0]))
    assert near(wb, [1, 0], 1)[0] == [2]  # inner_product
    assert near(wb, [1, 0], 1, metric="l2")[0] == [1]


def test_rows_without_vectors_have_an_empty_index(wb):
    create(wb, "id INT, v VECTOR<FLOAT, 2>", VECTORS)
    put(wb, (1, None))
    assert indexes(wb) == [("ivf-flat", 0, 5)]
    assert near(wb, [0, 0], 3)[0] == []
    put(wb, (2, [1.0, 0.0]))
    assert near(wb, [0, 0], 3)[0] == [2]


@pytest.mark.parametrize("engine", ["partial-update", "aggregation", "first-row"])
def test_vectors_of_merged_rows(wb, engine):
    create(wb, "id INT, payload STRING, v VECTOR<FLOAT, 2>", f"{VECTORS}, {TEXTS.replace('content', 'payload')}, "
           f"'merge-engine' = '{engine}'" + (", 'fields.default-aggregate-function' = 'last_non_null_value'"
           if engine == "aggregation" else ""), vectors=engine != "first-row")  # fmt: skip
    put(wb, (1, "keep", [3.0, 0.0]), (2, "other", [1.0, 0.0]))
    put(wb, (1, None, [0.5, 0.0]))
    wb.run("CALL sys.compact('default.t')")
    first = engine == "first-row"
    found = wb.table("t").search([0, 0], 1, columns=["id", "payload"])
    assert found.select(["id", "payload"]).to_pylist() == [{"id": 2, "payload": "other"} if first else {"id": 1, "payload": "keep"}]  # fmt: skip
    assert texts(wb, "keep", "payload")[0] == [1]
    assert [kind for kind, _, _ in indexes(wb)] == ["full-text", "ivf-flat"]


def test_texts_of_partitions_and_deleted_rows(wb):
    create(
        wb, "id INT, content STRING, dt STRING", f"{TEXTS}, {FORCED}", keys="id, dt", partitions="PARTITIONED BY (dt)"
    )
    wb.run("INSERT INTO t VALUES (0, 'lake format', 'a'), (1, 'paimon full text', 'a')")
    put(wb, (2, "apache paimon storage", "b"), (3, None, "b"))
    wb.run("CALL sys.compact('default.t')")
    found, how = texts(wb, "paimon")
    assert found == [1, 2]
    assert how == "index full-text of content for 4 of 4 rows"
    assert texts(wb, '{"match":{"column":"content","terms":"paimon"}}')[0] == [1, 2]
    assert texts(wb, "paimon", where="dt = 'b'")[0] == [2]
    wb.run("INSERT INTO t VALUES (1, 'nothing', 'a')")
    wb.table("t").delete(where="id = 0")
    assert (texts(wb, "paimon")[0], texts(wb, "lake")[0], texts(wb, "nothing")[0]) == ([2], [], [1])


def test_postponed_rows_are_indexed_when_they_get_buckets(wb):
    create(wb, "id INT, score INT, category STRING", f"{SORTED}, {FORCED}, 'compaction.force-up-level-0' = 'true', "
           "'postpone.batch-write-fixed-bucket' = 'false'", bucket=-2)  # fmt: skip
    wb.run("INSERT INTO t VALUES (1, 10, 'red'), (2, 20, 'blue'), (3, 30, 'red')")
    assert rows(wb, "score > 0") == []
    wb.run("CALL sys.compact('default.t')")
    assert [kind for kind, _, _ in indexes(wb)] == ["bitmap", "btree"]
    assert ids(rows(wb, "score >= 20 AND category = 'red'")) == [3]
    assert "by index of category, score" in str(plan_of(wb, "score >= 20 AND category = 'red'").skipped)


def test_expiry_removes_the_index_files_that_no_snapshot_has(wb, tmp_path):
    create(wb, "id INT, score INT, category STRING", SORTED + f", {FORCED}")
    for i in range(3):
        wb.run(f"INSERT INTO t VALUES ({i}, 10, 'red')")
        wb.run("CALL sys.compact('default.t')")
    wb.run("CALL sys.expire_snapshots(`table` => 'default.t', retain_max => 1, older_than => '2999-01-01 00:00:00')")
    assert len(list(tmp_path.glob("default.db/t/index/*"))) == len(indexes(wb)) == 2
    assert ids(rows(wb, "score = 10")) == [0, 1, 2]


def test_a_lost_index_file_is_named(wb, tmp_path):
    create(wb, "id INT, score INT, category STRING", SORTED + f", {FORCED}")
    wb.run("INSERT INTO t VALUES (1, 10, 'red')")
    wb.run("CALL sys.compact('default.t')")
    for file in tmp_path.glob("default.db/t/index/*"):
        file.unlink()
    with pytest.raises(MissingFile, match="index-"):
        wb.table("t").to_arrow(where="score = 10")


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ("p STRING", "'pk-btree.index.columns' = 'p', 'pk-bitmap.index.columns' = 'p'", "at most one primary-key index"),
        ("p STRING", "'pk-bitmap.index.columns' = 'p,p'", "duplicate"),
        ("p STRING", "'pk-bitmap.index.columns' = 'q'", "must reference an existing column"),
        ("p ARRAY<INT>", "'pk-btree.index.columns' = 'p'", "ARRAY<INT> is not supported by global index"),
        ("p STRING", "'pk-multivalue.index.columns' = 'p'", "requires an ARRAY column"),
        ("p STRING", "'pk-btree.index.columns' = 'p', 'deletion-vectors.enabled' = 'false'", "deletion-vectors.enabled = true"),
        ("p STRING", "'pk-btree.index.columns' = 'p', 'deletion-vectors.merge-on-read' = 'true'", "merge-on-read = false"),
        ("p STRING", "'pk-btree.index.columns' = 'p', 'bucket' = '-1'", "fixed or postpone bucket mode"),
        ("p STRING", "'pk-btree.index.columns' = 'p', 'fields.p.pk-btree.index.options' = 'x'", "JSON object"),
        ("p VECTOR<FLOAT, 2>", "'pk-vector.index.columns' = 'p'", "fields.p.pk-vector.index.type must be configured"),
        ("p VECTOR<FLOAT, 2>", "'pk-vector.index.columns' = 'p,id', 'fields.p.pk-vector.index.type' = 'ivf-pq'", "exactly one column"),
        ("p STRING", "'pk-vector.index.columns' = 'p', 'fields.p.pk-vector.index.type' = 'ivf-pq'", "must reference a VECTOR column"),
        ("p VECTOR<DOUBLE, 2>", "'pk-vector.index.columns' = 'p', 'fields.p.pk-vector.index.type' = 'ivf-pq'", "must use FLOAT elements"),
        ("p VECTOR<FLOAT, 2>", "'pk-vector.index.columns' = 'p', 'fields.p.pk-vector.index.type' = 'ivf-pq', "
         "'fields.p.pk-vector.distance.metric' = 'manhattan'", "l2, cosine, inner_product"),
        ("p INT", "'pk-full-text.index.columns' = 'p'", "CHAR/VARCHAR/STRING"),
        ("p STRING, q STRING", "'pk-full-text.index.columns' = 'p,q'", "exactly one column"),
    ],
)  # fmt: skip
def test_refused_definitions(wb, columns, options, message):
    given = "".join(
        f"'{k}' = '{v}', " for k, v in (("bucket", 1), ("deletion-vectors.enabled", "true")) if f"'{k}'" not in options
    )
    with pytest.raises(BadOptionValue) as refused:
        wb.run(f"CREATE TABLE t (id INT, {columns}, PRIMARY KEY (id) NOT ENFORCED) WITH ({given}{options})")
    assert message in str(refused.value)


def test_a_table_without_keys_cannot_have_such_indexes(wb):
    with pytest.raises(BadOptionValue, match="primary-key table"):
        wb.run("CREATE TABLE t (id INT) WITH ('deletion-vectors.enabled' = 'true', 'pk-btree.index.columns' = 'id')")


def test_an_indexed_column_stays_as_it_is(wb):
    create(wb, "id INT, score INT, category STRING", SORTED)
    for change, operation in (
        ("RENAME score TO points", "rename"),
        ("DROP score", "drop"),
        ("MODIFY score BIGINT", "update type of"),
    ):
        with pytest.raises(SchemaChangeError, match=rf"Cannot {operation} primary-key index column: \[score\]"):
            wb.run(f"ALTER TABLE t {change}")
    wb.run("ALTER TABLE t ADD (extra INT)")
    assert wb.table("t").schema.names == ("id", "score", "category", "extra")


def test_an_index_of_a_library_that_is_not_public_is_refused_by_name(wb):
    create(wb, "id INT, v VECTOR<FLOAT, 2>", VECTORS.replace("ivf-flat", "lumina"))
    with pytest.raises(UnsupportedFormat, match=r"'pk-vector.index.columns' = 'v' is not supported"):
        put(wb, (1, [1.0, 0.0]))
    wb.run("ALTER TABLE t SET ('write-only' = 'true')")
    put(wb, (1, [1.0, 0.0]))


def test_source_files_as_bytes():
    sources = SourceFiles(5, (("data-ä.parquet", 3), ("data-b.parquet", 2**40)))
    data = sources.to_bytes()
    assert (SourceFiles.parse(data), sources.row_count) == (sources, 2**40 + 3)
    for broken in (None, b"", data[:-1], data + b"\0", b"\0\0\0\2" + data[4:], data[:4] + b"\0\0\0\0" + data[8:]):
        assert SourceFiles.parse(broken) is None
