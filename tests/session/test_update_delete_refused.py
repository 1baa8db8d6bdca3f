"""Which tables take UPDATE, DELETE and MERGE: refused where Java refuses, before a JVM is started and anything written."""

import pytest

from paimon_nb.base.errors import UnsupportedOperation

ENGINES = {
    "deduplicate": "'merge-engine' = 'deduplicate'",
    "partial-update": "'merge-engine' = 'partial-update'",
    "partial-update, deleting": "'merge-engine' = 'partial-update', 'partial-update.remove-record-on-delete' = 'true'",
    "partial-update, group": (
        "'merge-engine' = 'partial-update', 'fields.n.sequence-group' = 'v',"
        " 'partial-update.remove-record-on-sequence-group' = 'n'"
    ),
    "aggregation": "'merge-engine' = 'aggregation'",
    "aggregation, deleting": "'merge-engine' = 'aggregation', 'aggregation.remove-record-on-delete' = 'true'",
    "first-row": "'merge-engine' = 'first-row'",
}
UPDATE, DELETE = "UPDATE t SET v = 'x' WHERE n = 1", "DELETE FROM t WHERE n = 1"
UPSERT = "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'x'"
REMOVE = "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE"
ACCEPTED = {
    "deduplicate": {UPDATE, DELETE, UPSERT, REMOVE},
    "partial-update": {UPDATE, DELETE, UPSERT},
    "partial-update, deleting": {UPDATE, DELETE, UPSERT, REMOVE},
    "partial-update, group": {UPDATE, DELETE, UPSERT, REMOVE},
    "aggregation": {DELETE},
    "aggregation, deleting": {DELETE},
    "first-row": {DELETE},
}


class Started(Exception):
    """Spark was asked: the statement was not refused."""


@pytest.fixture
def run(wb, monkeypatch):
    def spark(_):
        raise Started

    monkeypatch.setattr(type(wb.session), "spark", property(spark))
    return wb.run


@pytest.mark.parametrize(
    "text", [UPDATE, DELETE, UPSERT, REMOVE], ids=["update", "delete", "merge-update", "merge-delete"]
)
@pytest.mark.parametrize("engine", ENGINES)
def test_by_merge_engine(run, engine, text):
    run("CREATE TABLE s (id INT)")
    run(
        f"CREATE TABLE t (id INT, v STRING, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', {ENGINES[engine]})"
    )
    if text in ACCEPTED[engine]:
        with pytest.raises(Started):
            run(text)
    else:
        with pytest.raises(UnsupportedOperation, match=engine.split(",")[0]) as caught:
            run(text)
        assert caught.value.hint


@pytest.mark.parametrize("text", ["UPDATE t SET id = 2", "UPDATE t AS x SET x.v = 'a', x.ID = x.id"])
def test_keys_stay(run, text):
    run("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)")
    with pytest.raises(UnsupportedOperation, match="primary key column 'id'"):
        run(text)


@pytest.mark.parametrize("text", [DELETE, REMOVE])
def test_rows_made_of_several_files_are_deleted_by_vectors_only(run, text):
    run("CREATE TABLE s (id INT)")
    run(
        "CREATE TABLE t (id INT, v STRING, n INT) WITH ('row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true')"
    )
    with pytest.raises(UnsupportedOperation, match="data-evolution") as refused:
        run(text)
    assert refused.value.hint == "ALTER TABLE ... SET ('deletion-vectors.enabled' = 'true')"


@pytest.mark.parametrize("text", [UPDATE, DELETE, UPSERT])
def test_a_past_moment_stays(run, text):
    run("CREATE TABLE s (id INT); CREATE TABLE t (id INT, v STRING, n INT)")
    run("SET 'paimon.*.*.t.scan.tag-name' = 'x'")
    with pytest.raises(UnsupportedOperation, match="tag-name"):
        run(text)


@pytest.mark.parametrize("text", ["UPDATE t$files SET v = 1", "DELETE FROM t$snapshots"])
def test_system_tables_stay(run, text):
    run("CREATE TABLE t (id INT, v STRING)")
    with pytest.raises(Exception, match="system table"):
        run(text)
