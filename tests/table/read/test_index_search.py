"""Vector and full-text indexes of our own: what they find, rows that they do not cover, changes of the rows, and what is refused."""

from __future__ import annotations

import json
import sys

import numpy as np
import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb import BadOptionValue, ColumnNotFound, CorruptFile, MissingFile, UnsupportedOperation
from paimon_nb.base.errors import EnvironmentError_, SchemaMismatch, SqlAnalysisError
from paimon_nb.format.index.global_index import IndexFileSource
from paimon_nb.format.index.global_index.index_library import call_library
from paimon_nb.table.read.live_files import index_entries

DIMENSION, ROWS = 6, 400
HOW = b"paimon_nb.search"
KINDS = ("ivf-flat", "ivf-pq", "ivf-sq", "ivf-rq", "diskann")
QUERY = np.random.default_rng(3).normal(size=DIMENSION)
WORDS = np.array(["lake", "house", "paimon", "format", "vector", "search"])


def rows(begin: int, count: int) -> pa.Table:
    """Vectors and texts that depend on the id only; every tenth row has neither."""
    vectors, texts = [], []
    for i in range(begin, begin + count):
        dice = np.random.default_rng(i)
        vectors.append(None if i % 10 == 9 else dice.normal(size=DIMENSION).tolist())
        texts.append(None if i % 10 == 9 else f"{' '.join(dice.choice(WORDS, 3))} n{i}")
    ids = pa.array(range(begin, begin + count), pa.int32())
    return pa.table({
        "id": ids, "v": pa.array(vectors, pa.list_(pa.float32(), DIMENSION)), "s": texts,
        "c": [f"c{i % 3}" for i in range(begin, begin + count)],
    })  # fmt: skip


@pytest.fixture
def wb(tmp_path):
    """Table `t` of two files with 400 rows, in index files of 150 rows."""
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(f"""CREATE TABLE t (id INT, v VECTOR<FLOAT, {DIMENSION}>, s STRING, c STRING) WITH (
        'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true', 'deletion-vectors.enabled' = 'true',
        'global-index.row-count-per-shard' = '150', 'fields.v.metric' = 'l2')""")
    for begin in (0, 200):
        wb.table("t").append(rows(begin, 200))
    return wb


def index(wb, column="v", kind="ivf-flat", options="") -> None:
    wb.run(f"CALL sys.create_global_index('t', '{column}', '{kind}', '', '{options}')")


def search(wb, k=10, **arguments):
    """(ids with scores, how)."""
    found = wb.table("t").search(QUERY, k, columns=["id"], **arguments)
    return found.to_pylist(), found.schema.metadata[HOW].decode()


def exact(wb, k=10, **arguments):
    return (
        wb.table("t").copy({"global-index.enabled": "false"}).search(QUERY, k, columns=["id"], **arguments).to_pylist()
    )


def texts(wb, query, k=1000, **arguments):
    """(ids, how)."""
    found = wb.table("t").full_text_search(query, k, column="s", columns=["id"], **arguments)
    return sorted(found.column("id").to_pylist()), found.schema.metadata[HOW].decode()


def ids_with(wb, *words, where=None):
    found = wb.table("t").to_arrow(["id", "s"], where=where).to_pylist()
    return sorted(r["id"] for r in found if r["s"] and set(words) & set(r["s"].split()))


def entries(wb):
    store = wb.table("t").store
    return [e for e in index_entries(store, store.latest()) if e.global_index is not None]


@pytest.mark.parametrize("kind", KINDS)
def test_the_nearest_rows_by_an_index(wb, kind):
    index(wb, kind=kind)
    assert [e.row_count for e in entries(wb)] == [150, 150, 100]
    found, how = search(wb, options={"ivf.nprobe": 100, "ivf.refine_factor": "4"})
    assert (found, how) == (exact(wb), f"index {kind} of v for 400 of 400 rows: 120 candidates")


def test_a_search_without_options_finds_rows_with_exact_scores(wb):
    index(wb, kind="ivf-pq")
    every = {r["id"]: r["__paimon_search_score"] for r in exact(wb, 400)}
    found, how = search(wb)
    assert how == "index ivf-pq of v for 400 of 400 rows: 30 candidates"
    assert len(found) == 10
    assert [every[r["id"]] for r in found] == [r["__paimon_search_score"] for r in found]


@pytest.mark.parametrize("where", ["c = 'c1' AND id < 320", "id IN (5, 6, 7, 399)", "id < 0", "id >= 150"])
def test_a_condition_chooses_rows_before_the_search(wb, where):
    index(wb)
    wb.table("t").delete("id = 4 OR id = 7")
    found, how = search(wb, where=where, options={"ivf.nprobe": 100})
    assert found == exact(wb, where=where)
    assert how.startswith("index ivf-flat of v for") or not found


def test_another_index_serves_the_condition(wb):
    index(wb)
    index(wb, "id", "btree")
    assert search(wb, where="id IN (5, 6, 399)")[0] == exact(wb, where="id IN (5, 6, 399)")


def test_deleted_rows_are_not_found(wb):
    index(wb)
    index(wb, "s", "full-text")
    nearest = search(wb, 1)[0][0]["id"]
    wb.table("t").delete(f"id = {nearest}")
    assert nearest not in [r["id"] for r in search(wb)[0]]
    assert nearest not in texts(wb, f"n{nearest}")[0]


def test_rows_after_the_index_are_found_and_indexed_by_the_next_call(wb):
    index(wb)
    index(wb, "s", "full-text")
    wb.table("t").append(rows(400, 50))
    found, how = search(wb, options={"ivf.nprobe": 100})
    assert (found, how) == (
        exact(wb),
        "index ivf-flat of v for 400 of 450 rows, 50 are searched without it: 30 candidates",
    )
    assert texts(wb, "n401 n3") == ([3, 401], "index full-text of s for 400 of 450 rows, 50 are searched without it")
    index(wb)
    index(wb, "s", "full-text")
    assert search(wb)[1] == "index ivf-flat of v for 450 of 450 rows: 40 candidates"
    assert texts(wb, "n401 n3") == ([3, 401], "index full-text of s for 450 of 450 rows")


def test_an_update_of_the_column_is_refused_or_drops_the_index(wb):
    index(wb)
    index(wb, "s", "full-text")
    with pytest.raises(UnsupportedOperation, match=r"column v has a global index \(ivf-flat\)"):
        wb.table("t").update({"v": QUERY.tolist()}, where="id = 3")
    with pytest.raises(UnsupportedOperation, match=r"column s has a global index \(full-text\)"):
        wb.table("t").update({"s": "x"}, where="id = 3")
    wb.table("t").update({"c": "new"}, where="id = 3")
    assert len(entries(wb)) == 6
    drops = wb.table("t").copy({"global-index.column-update-action": "DROP_PARTITION_INDEX"})
    drops.update({"v": QUERY.tolist()}, where="id = 3")
    assert {e.index_type for e in entries(wb)} == {"full-text"}
    assert search(wb, 1)[0] == [{"id": 3, "__paimon_search_score": pytest.approx(1.0)}]


def test_updated_values_under_an_index_are_found_and_indexed_again(wb):
    index(wb)
    index(wb, "s", "full-text")
    keeps = wb.table("t").copy({"global-index.column-update-action": "IGNORE"})
    keeps.update({"v": QUERY.tolist(), "s": "quite new words"}, where="id = 3")
    found, how = search(wb, options={"ivf.nprobe": 100})
    assert found == exact(wb)
    assert found[0]["id"] == 3
    assert how.startswith("index ivf-flat of v for 200 of 400 rows, 200 are searched without it")
    assert texts(wb, "new n3 n4")[0] == [3, 4]
    index(wb)
    index(wb, "s", "full-text")
    assert search(wb, 1)[0][0]["id"] == 3
    assert texts(wb, "new n3 n4") == ([3, 4], "index full-text of s for 400 of 400 rows")


def test_a_compaction_keeps_the_index_and_an_overwrite_drops_it(wb):
    index(wb)
    wb.run("CALL sys.compact('t', '', '', '', 'compaction.min.file-num=2')")
    assert search(wb, options={"ivf.nprobe": 100})[0] == exact(wb)
    wb.table("t").overwrite(rows(0, 30))
    assert search(wb) == (exact(wb), "no index of v: all rows are searched without one")


def test_an_older_snapshot_has_its_own_index(wb):
    before = wb.table("t").store.snapshots.latest_id()
    index(wb)
    wb.table("t").delete("id < 300")
    assert search(wb, snapshot=before) == (
        exact(wb, snapshot=before),
        "no index of v: all rows are searched without one",
    )
    assert search(wb, snapshot=before + 1, options={"ivf.nprobe": 100})[0] == exact(wb, snapshot=before)


def test_the_metric_is_that_of_the_index_unless_another_is_named(wb):
    index(wb, options="fields.v.metric=cosine")
    found, how = search(wb, options={"ivf.nprobe": 100})
    assert found == exact(wb, metric="cosine") == exact(wb)
    assert "for 400 of 400 rows" in how
    found, how = search(wb, metric="l2")
    assert found == exact(wb, metric="l2")
    assert how == (
        "the index of v is not used: it is of metric cosine and dimension 6; all rows are searched without an index"
    )


def test_an_index_of_an_array_column(wb):
    wb.run("ALTER TABLE t ADD COLUMN a ARRAY<FLOAT>")
    arrays = pa.array([[float(i), 1.0] for i in range(20)], pa.list_(pa.float32()))
    wb.table("t").append(rows(400, 20).append_column("a", arrays))
    with pytest.raises(SchemaMismatch, match="vector of 2 elements, which a vector index of dimension 128 cannot hold"):
        index(wb, "a")
    index(wb, "a", options="ivf-flat.dimension=2,ivf-flat.metric=l2")
    found = wb.table("t").search([7, 1], 1, column="a", columns=["id"])
    assert found.to_pylist() == [{"id": 407, "__paimon_search_score": 1.0}]
    assert found.schema.metadata[HOW] == (
        b"index ivf-flat of a for 120 of 420 rows, 300 are searched without it: 1 candidates"
    )


def test_partitions_have_indexes_of_their_own(tmp_path):
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(f"""CREATE TABLE t (id INT, v VECTOR<FLOAT, {DIMENSION}>, s STRING, c STRING) PARTITIONED BY (c) WITH (
        'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true')""")
    wb.table("t").append(rows(0, 90))
    wb.run("CALL sys.create_global_index('t', 'v', 'ivf-flat', 'c=c1')")
    assert [e.row_count for e in entries(wb)] == [30]
    found, how = search(wb, options={"ivf.nprobe": 100})
    assert (found, how) == (
        exact(wb),
        "index ivf-flat of v for 30 of 90 rows, 60 are searched without it: 10 candidates",
    )
    assert found == exact(wb, metric="inner_product")
    assert search(wb, where="c = 'c2'") == (
        exact(wb, where="c = 'c2'", metric="inner_product"),
        "no index of v: all rows are searched without one",
    )


@pytest.mark.parametrize("indexed", [False, True])
def test_words(wb, indexed):
    if indexed:
        index(wb, "s", "full-text")
    wb.table("t").delete("id = 11")
    assert texts(wb, "house")[0] == ids_with(wb, "house")
    assert texts(wb, "houses n5")[0] == ids_with(wb, "house", "n5")
    assert texts(wb, "house", where="id < 230 AND c = 'c1'")[0] == ids_with(wb, "house", where="id < 230 AND c = 'c1'")
    both = set(ids_with(wb, "house")) & set(ids_with(wb, "lake"))
    assert texts(wb, {"match": {"query": "house lake", "operator": "And"}})[0] == sorted(both)
    phrase = texts(wb, '{"match_phrase": {"query": "house lake"}}')[0]
    assert set(phrase) < both
    assert texts(wb, "nothing")[0] == []
    best = wb.table("t").full_text_search("n5 n6 n5", 1, column="s").to_pylist()
    assert [(r["id"], list(r)) for r in best] == [(5, ["id", "v", "s", "c", "__paimon_search_score"])]


def test_words_in_tables_that_have_no_index(wb):
    wb.run("CREATE TABLE k (id INT, s STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')")
    wb.run("INSERT INTO k VALUES (1, 'old lake'), (2, 'house'), (3, 'lakes')")
    wb.run("INSERT INTO k VALUES (1, 'sea')")
    assert wb.table("k").full_text_search("lake", columns=["id"]).column("id").to_pylist() == [3]
    wb.run("CREATE TABLE e (id INT, s STRING)")
    assert wb.table("e").full_text_search("lake").column_names == ["id", "s", "__paimon_search_score"]


def test_texts_become_words_as_the_options_say(wb):
    index(wb, "s", "full-text", "full-text.tokenizer=ngram,full-text.ngram.min-gram=2,full-text.ngram.max-gram=3")
    wb.table("t").append(rows(400, 10))  # without an index: its words are those of the index
    assert texts(wb, {"match": {"query": "rma", "operator": "And"}})[0] == ids_with(wb, "format")


def test_searches_in_sql(wb):
    index(wb)
    index(wb, "s", "full-text")
    vector = ", ".join(map(str, QUERY))
    nearest = exact(wb, 3, where="c = 'c1'")
    text = f"SELECT id, __paimon_search_score FROM vector_search('t', 'v', ARRAY({vector}), 3, MAP('ivf.nprobe', '100')) WHERE c = 'c1'"
    assert wb.run(text).arrow.to_pylist() == nearest
    assert sorted(
        wb.run("SELECT id FROM full_text_search('t', 's', 'n5 n7', 9) WHERE id > 2").arrow[0].to_pylist()
    ) == [5, 7]


@pytest.mark.spark
def test_wrong_arguments_of_a_search_in_sql_are_said(wb, spark, tmp_path):  # noqa: ARG001  the tables
    of_spark = paimon_nb.connect(str(tmp_path), spark=spark)
    for arguments in ("ARRAY(0.1, NULL), 5", "ARRAY('x'), 5", "ARRAY(0.1), TRUE", "7, 5"):
        with pytest.raises(SqlAnalysisError, match="vector_search needs a table, a column, a vector and a number"):
            of_spark.run(f"SELECT id FROM vector_search('t', 'v', {arguments})")
    with pytest.raises(SqlAnalysisError, match="full_text_search needs a table, a column, a query and a number of row"):
        of_spark.run("SELECT id FROM full_text_search('t', 's', 7)")


@pytest.mark.parametrize("indexed", [False, True])
def test_more_rows_can_be_asked_for_than_there_are(wb, indexed):
    if indexed:
        index(wb, "s", "full-text")
    assert texts(wb, "n5 n7", k=4_000_000_000)[0] == [5, 7]


@pytest.mark.spark
def test_explain_names_the_metric_as_the_search_does(wb, spark, tmp_path):
    index(wb)
    of_spark = paimon_nb.connect(str(tmp_path), spark=spark)
    vector = ", ".join(map(str, QUERY))
    for metric, used in (("L2", True), ("COSINE", False)):
        query = f"vector_search('t', 'v', ARRAY({vector}), 3, MAP('metric', '{metric}'))"
        plan = of_spark.run(f"EXPLAIN SELECT id FROM {query}").arrow[0].to_pylist()[0]
        assert ("index ivf-flat of v for 400 of 400 rows" in plan, "is not used" in plan) == (used, not used)


def test_an_index_file_cannot_ask_for_more_bytes_than_it_has(wb):
    index(wb)
    store = wb.table("t").store
    entry = next(iter(entries(wb)))
    source = IndexFileSource(store.fs, store.index_path(entry), entry.file_size)
    with pytest.raises(CorruptFile, match="it has no 1099511627776 bytes at 0"):
        call_library(source, lambda opened: opened.pread(0, 1 << 40))


def test_a_search_by_call_answers_as_flink_does(wb):
    index(wb)
    index(wb, "s", "full-text")
    result = wb.run(
        f"CALL sys.vector_search('t', 'v', '{','.join(map(str, QUERY))}', 1, 'id,__paimon_search_score', 'ivf.nprobe=100', 'id > 9')"
    )
    (best,) = exact(wb, 1, where="id > 9")
    (row,) = map(json.loads, result.arrow.column("result").to_pylist())
    assert (row["id"], float(row["__paimon_search_score"])) == (
        str(best["id"]),  # Java writes numbers as texts
        pytest.approx(best["__paimon_search_score"]),
    )
    assert result.notes == ["index ivf-flat of v for 400 of 400 rows: 3 candidates"]
    result = wb.run("CALL sys.full_text_search('t', 's', 'n5', 3, 'id,c')")
    assert result.arrow.to_pylist() == [{"result": '{"id":"5","c":"c2"}'}]
    with pytest.raises(BadOptionValue, match="top_k cannot be 10001"):
        wb.run("CALL sys.full_text_search('t', 's', 'n5', 10001)")
    with pytest.raises(BadOptionValue, match="query_vector cannot be 'x'"):
        wb.run("CALL sys.vector_search('t', 'v', 'x', 1)")


def test_drop(wb):
    index(wb, kind="ivf-sq")
    assert wb.run("CALL sys.drop_global_index('t', 'v', 'ivf-sq')").arrow.num_rows == 1
    assert search(wb) == (exact(wb), "no index of v: all rows are searched without one")


@pytest.mark.parametrize(
    ("column", "kind", "options", "error", "why"),
    [
        ("s", "ivf-flat", "", UnsupportedOperation, "s is STRING, which cannot have an index of type ivf-flat"),
        (
            "v",
            "full-text",
            "",
            UnsupportedOperation,
            "v is VECTOR<FLOAT, 6>, which cannot have an index of type full-text",
        ),
        ("v", "ivf-flat", "fields.v.metric=manhattan", BadOptionValue, "unknown metric 'manhattan'"),
        ("v", "ivf-flat", "ivf-flat.train.sample-ratio=2", BadOptionValue, "train.sample-ratio cannot be '2'"),
        ("s", "full-text", "full-text.tokenizer=x", BadOptionValue, "unsupported tokenizer 'x'"),
        ("v", "lumina", "", UnsupportedOperation, "indexes of type 'lumina' are not built here"),
    ],
)
def test_indexes_that_cannot_be_built(wb, column, kind, options, error, why):
    with pytest.raises(error, match=why):
        index(wb, column, kind, options)
    assert entries(wb) == []


@pytest.mark.parametrize(
    ("arguments", "error", "why"),
    [
        ({"query": "lake", "k": 0}, BadOptionValue, "k must be at least 1"),
        ({"query": " "}, BadOptionValue, "the query has no words"),
        ({"query": {"near": "lake"}}, BadOptionValue, "unknown variant `near`"),
        ({"query": "lake", "column": "v"}, SchemaMismatch, "not a text"),
        ({"query": "lake", "column": None}, ColumnNotFound, "2 text columns: s, c"),
    ],
)
def test_full_text_searches_that_cannot_be(wb, arguments, error, why):
    with pytest.raises(error, match=why):
        wb.table("t").full_text_search(**{"column": "s", **arguments})


@pytest.mark.parametrize(
    "options", [{"ivf.nprobe": "x"}, {"ivf.refine_factor": 0}, {"ivf.nprobe": 1, "diskann.l_search": 9}]
)
def test_search_options_that_cannot_be(wb, options):
    with pytest.raises(BadOptionValue, match="ivf"):
        search(wb, options=options)


@pytest.mark.parametrize(("column", "kind"), [("v", "ivf-flat"), ("v", "diskann"), ("s", "full-text")])
def test_a_broken_and_a_missing_index_file_are_named(wb, column, kind):
    index(wb, column, kind)
    run = (lambda: search(wb)) if column == "v" else (lambda: texts(wb, "lake"))
    store, (entry, *_) = wb.table("t").store, entries(wb)
    data = store.fs.read(store.index_path(entry))
    for broken in (b"x" * len(data), data[: len(data) // 2]):
        store.fs.delete(store.index_path(entry))
        store.fs.write(store.index_path(entry), broken)
        with pytest.raises(CorruptFile, match=entry.file_name):
            run()
    store.fs.delete(store.index_path(entry))
    with pytest.raises(MissingFile, match=entry.file_name):
        run()
    assert wb.table("t").copy({"global-index.enabled": "false"}).search(QUERY, 3).num_rows == 3


def test_without_the_packages_vectors_are_compared_and_texts_name_the_extra(wb, monkeypatch):
    index(wb, options="fields.v.metric=cosine")
    monkeypatch.setitem(sys.modules, "paimon_vindex", None)
    monkeypatch.setitem(sys.modules, "paimon_ftindex", None)
    found, how = search(wb)
    assert found == exact(wb, metric="cosine")
    assert how == (
        "the index of v is not used: pip install 'paimon-nb[vector]'; all rows are searched without an index"
    )
    with pytest.raises(EnvironmentError_) as missing:
        texts(wb, "lake")
    assert missing.value.hint == "pip install 'paimon-nb[fulltext]'"
    wb.run("CALL sys.drop_global_index('t', 'v', 'ivf-flat')")
    with pytest.raises(EnvironmentError_, match="building a vector index needs the package paimon-vindex"):
        index(wb)
