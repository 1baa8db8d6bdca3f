"""What CALL answers in Paimon 2.1 where 1.3.1 answers otherwise, in Flink's form. No JVM."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, UnsupportedFormat, UnsupportedOperation

TRACKED = "'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true'"


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def results(wb, call):
    return wb.run(f"CALL sys.{call}").to_arrow()["result"].to_pylist()


DRY_RUNS = {
    "": "",
    ", manifest_sort_enabled => true": " Manifest sort level files: L0=0, L1=0, L2=0, L3=0, L4=0.",
    ", options => 'manifest.target-file-size=1 b', manifest_sort_enabled => true": " Manifest sort level files: L0=0, L1=0, L2=0, L3=1, L4=2.",
}
"""More arguments -> what is said of the levels. The third manifest spans 1 to 3, so the second overlaps it."""


@pytest.mark.parametrize("arguments", DRY_RUNS)
def test_a_dry_run_counts_manifests_in_javas_words(wb, arguments):
    wb.run("CREATE TABLE t (v INT, p INT) PARTITIONED BY (p)")
    for values in ("(1, 1)", "(2, 2)", "(3, 1), (4, 3)"):
        wb.run(f"INSERT INTO t VALUES {values}")
    (text,) = results(wb, f"compact_manifest(`table` => 'default.t', dry_run => true{arguments})")
    size = sum(wb.table("t").manifests().column("file_size").to_pylist())
    limit, small = ("1 bytes", 0) if "1 b" in arguments else ("8 mb", 3)
    head = (
        f"Dry run: 3 manifest files ({size} bytes), 0 deleted entries in 0 files, {small} undersized files (< {limit})."
    )
    assert text == head + DRY_RUNS[arguments]
    assert wb.table("t").manifests().num_rows == 3


def test_a_dry_run_of_an_empty_table(wb):
    wb.run("CREATE TABLE t (v INT)")
    assert results(wb, "compact_manifest(`table` => 't', dry_run => true)") == ["Dry run: no snapshot exists."]


def test_indexes_are_created_and_dropped_in_javas_words(wb):
    wb.run(f"CREATE TABLE t (id INT, name STRING) WITH ({TRACKED}); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    columns = "`table` => 'default.t', index_column => 'name', index_type => 'btree'"
    options = "btree-index.records-per-range=100;btree-index.build.max-parallelism=4"
    said = [
        results(wb, f"create_global_index({columns}, options => '{options}')"),
        results(wb, f"drop_global_index({columns}, dry_run => true)"),
        results(wb, f"drop_global_index({columns})"),
        results(wb, f"drop_global_index({columns})"),
    ]
    assert said == [
        ["BTree global index created successfully for table: t"],
        ["Dry run: 1 btree global index files would be dropped for columns 'name' on table 't'"],
        ["Dropped 1 btree global index files for columns 'name' on table 't'"],
        ["No btree global index found for columns 'name'"],
    ]


def test_compactions_keep_row_ids(wb):
    wb.run(f"CREATE TABLE t (id INT) WITH ({TRACKED})")
    with pytest.raises(UnsupportedFormat, match="materialize_deletion_vectors"):
        wb.run("CALL sys.compact(`table` => 't', options => 'data-evolution.compaction.rewrite-row-ids=true')")
    wb.run("CALL sys.compact(`table` => 't', options => 'data-evolution.compaction.rewrite-row-ids=false')")


REFUSED = {
    "query_vector => 'NaN,0'": "query_vector",
    "projection => 'id,id'": "twice",
    "options => 'query-auth.enabled=false'": "cannot be set for one search",
    "partitions => ';pt=a'": "does not name each partition column",
    "partitions => 'pt=a;;pt=b'": "does not name each partition column",
}
"""Arguments of a vector search -> what its refusal says."""


@pytest.mark.parametrize("arguments", REFUSED)
def test_searches_check_their_arguments(wb, arguments):
    wb.run(f"CREATE TABLE t (id INT, pt STRING, vec ARRAY<FLOAT>) PARTITIONED BY (pt) WITH ({TRACKED})")
    given = {"query_vector": "'0.0,0.0'", "projection": "'id'"} | dict([arguments.split(" => ", 1)])
    call = ", ".join(f"{name} => {value}" for name, value in given.items())
    with pytest.raises(BadOptionValue, match=re.escape(REFUSED[arguments])):
        results(wb, f"vector_search(`table` => 't', vector_column => 'vec', top_k => 1, {call})")


@pytest.mark.parametrize("partitions", ["   ", "pt=", ";", "pt=a;", "pt=a,pt=b"])
def test_partitions_of_a_search_that_do_not_exist_have_no_rows(wb, partitions):
    wb.run(f"CREATE TABLE t (id INT, pt STRING, vec ARRAY<FLOAT>) PARTITIONED BY (pt) WITH ({TRACKED})")
    call = f"vector_search(`table` => 't', vector_column => 'vec', query_vector => '0,0', top_k => 1, partitions => '{partitions}')"
    assert results(wb, call) == []


def test_a_multivalue_index_has_every_row_once(wb):
    wb.run(f"CREATE TABLE t (id INT, tags ARRAY<STRING>) WITH ({TRACKED})")
    tags = [["red", "blue"], ["blue"], [], None, [None], ["red", None]]
    wb.table("t").append(
        pa.table({"id": pa.array(range(6), pa.int32()), "tags": pa.array(tags, pa.list_(pa.string()))})
    )
    call = "create_global_index(`table` => 't', index_column => '{}', index_type => 'multivalue', options => 'sorted-index.records-per-range=2')"
    with pytest.raises(UnsupportedOperation, match="multivalue"):
        results(wb, call.format("id"))
    assert results(wb, call.format("tags")) == ["Multivalue global index created successfully for table: t"]
    entries = wb.table("t").system("table_indexes").to_pylist()
    assert [(e["index_type"], e["row_count"]) for e in entries] == [("multivalue", 2)] * 3
    assert sorted(wb.table("t").to_arrow(where="id > 3")["id"].to_pylist()) == [4, 5]
    assert results(wb, "drop_global_index(`table` => 't', index_column => 'tags', index_type => 'multivalue')") == [
        "Dropped 3 multivalue global index files for columns 'tags' on table 't'"
    ]
