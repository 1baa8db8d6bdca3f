"""What SET says of tables holds for reading and writing them, and never becomes part of a definition."""

import pytest

from paimon_nb.base.errors import SchemaMismatch

PATTERN = "paimon.*.*.t.scan.snapshot-id"


@pytest.fixture
def scene(wb):
    wb.run("CREATE TABLE t (id INT, v STRING, dt STRING) PARTITIONED BY (dt) WITH ('file.format' = 'orc')")
    wb.run("INSERT INTO t VALUES (1, 'a', 'x'); INSERT INTO t VALUES (2, 'b', 'x')")
    return wb


def test_a_copied_or_shown_definition_has_none_of_them(scene):
    scene.run(f"SET '{PATTERN}' = '1'")
    assert scene.run("SELECT id FROM t").arrow.to_pylist() == [{"id": 1}]
    scene.run("CREATE TABLE twin LIKE t")
    stored = {"file.format": "orc"}
    assert dict(scene.session.stored(("twin",)).schema.options) == stored
    assert {r["key"]: r["value"] for r in scene.run("SHOW TBLPROPERTIES t").arrow.to_pylist()} == stored
    for text in ("SHOW CREATE TABLE t", "DESCRIBE EXTENDED t", "SHOW TABLE EXTENDED LIKE 't'"):
        assert "scan.snapshot-id" not in str(scene.run(text).arrow.to_pylist())


def test_an_unknown_one_is_told(scene):
    notes = scene.run("SET 'paimon.*.*.t.scan.snapshot-idd' = '1'").notes
    assert notes == ["unknown option 'scan.snapshot-idd'; did you mean 'scan.snapshot-id'?"]
    assert scene.run(f"SET '{PATTERN}' = '1'").notes == []


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO t (id, id, dt) VALUES (1, 2, 'z')",
        "INSERT INTO t (id, ID, dt) SELECT 1, 2, 'z'",
        "INSERT INTO t BY NAME SELECT 1 AS id, 2 AS id, 'x' AS dt",
        "INSERT INTO t PARTITION (dt = 'x') (dt, id) VALUES ('y', 1)",
    ],
)
@pytest.mark.spark
def test_a_column_that_gets_two_values_is_refused(scene, text):
    with pytest.raises(SchemaMismatch, match="duplicate column"):
        scene.run(text)
    assert scene.table("t").to_arrow().num_rows == 2


@pytest.mark.spark
def test_hidden_columns_say_which_tables_have_them(scene):
    from paimon_nb.base.errors import SqlAnalysisError

    scene.run("CREATE TABLE k (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('write-only' = 'true')")
    scene.run("INSERT INTO k VALUES (1); INSERT INTO k VALUES (1)")
    for text in ("SELECT __paimon_bucket FROM k", "SELECT __paimon_file_pth FROM t"):
        with pytest.raises(SqlAnalysisError) as caught:
            scene.run(text)
        assert "metadata columns are __paimon_file_path" in caught.value.hint
