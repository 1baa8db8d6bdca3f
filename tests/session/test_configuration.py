"""YAML that people have: definitions of catalogs and Flink's configuration. Each key works, is Spark's, or is told as without effect."""

import re

import pytest

from paimon_nb.base.errors import BadOptionValue, ConfigError, MissingFile, PaimonError, SourceUnavailable


@pytest.fixture
def wb(wb, monkeypatch):
    monkeypatch.setattr(type(wb.session), "spark", property(lambda _self: pytest.fail("Spark was started")))
    return wb


def told(result) -> dict[str, str]:
    return {row["key"]: row["effect"] for row in result.arrow.to_pylist()}


def blocks(shared) -> list[str]:
    found = [p.read_text() for p in sorted((shared / "documents").glob("*.txt"))]
    return [b for text in found for b in re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)]


def test_every_block_of_the_documents(wb, shared, tmp_path):
    outcomes = []
    for block in blocks(shared):
        local = block.replace("s3://bucket/warehouse", f"{tmp_path}/three").replace(
            "hdfs:///warehouse", f"{tmp_path}/two"
        )
        try:
            outcomes.append(told(wb.configure(local)))
        except PaimonError as error:
            outcomes.append((type(error), error.hint))
    flink = {
        "execution.checkpointing.interval": "time between the commits of a streaming INSERT",
        "execution.checkpointing.mode": "no effect here: every snapshot is committed exactly once",
        "state.backend": "no effect here: Spark keeps the state of a stream, in its own way",
        "state.backend.incremental": "no effect here: Spark keeps the state of a stream, in its own way",
    }
    parallel = {"parallelism.default": "Spark's spark.sql.shuffle.partitions: tasks of a shuffle"}
    filesystem, hive, jdbc, *rest = outcomes
    assert filesystem == {"type": "catalog paimon", "warehouse": "catalog paimon"}
    assert hive[0] is SourceUnavailable  # nobody answers there
    assert jdbc == (BadOptionValue, "add a line: 'warehouse: /path/to/tables'")
    assert rest == [flink, parallel, {**flink, **parallel, "execution.runtime-mode": "batch or streaming"}]


def test_a_definition_makes_the_catalog_that_is_used(wb, tmp_path):
    text = f"name: lake\ntype: paimon\nwarehouse: {tmp_path}/lake\ns3.secret-key: xyz\ntable-default.file.format: orc\nwarehose: x\n"
    result = wb.configure(text)
    assert [tuple(row.values()) for row in result.arrow.to_pylist()] == [
        ("type", "paimon", "catalog lake"),
        ("warehouse", f"{tmp_path}/lake", "catalog lake"),
        ("s3.secret-key", "***", "catalog lake"),
        ("table-default.file.format", "orc", "catalog lake"),
        ("warehose", "x", "stored with catalog lake, has no effect; did you mean 'warehouse'?"),
    ]
    wb.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1)")
    assert wb.table("lake.default.t").schema.options["file.format"] == "orc"
    wb.configure(text)  # once more is no error
    assert wb.table("t").to_arrow().num_rows == 1


def test_nested_keys_lists_of_catalogs_files_and_mappings(wb, tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        f"catalogs:\n  - name: one\n    type: paimon\n    warehouse: {tmp_path}/1\n  - {{name: two, warehouse: {tmp_path}/2}}\n"
        "execution:\n  runtime-mode: batch  # or streaming\n  checkpointing: {interval: 10 s}\n"
    )
    result = wb.configure(path)
    assert told(wb.configure(str(path))) == told(result)
    assert wb.run("SHOW CATALOGS").arrow.to_pydict() == {"catalog name": ["one", "paimon", "two"]}
    assert wb.session.settings == {"execution.runtime-mode": "batch", "execution.checkpointing.interval": "10 s"}
    assert wb.session.current_catalog == "two"
    assert told(wb.configure({"pipeline.name": "x", "rest.port": 8081, "spark.paimon.write.merge-schema": True})) == {
        "pipeline.name": "name of the jobs that follow",
        "rest.port": "no effect here: no Flink process runs",
        "spark.paimon.write.merge-schema": "Spark's own",
    }
    assert wb.session.settings["spark.paimon.write.merge-schema"] == "true"


def test_settings_of_spark_wait_for_its_start(wb):
    wb.configure("parallelism.default: 16\ntable.local-time-zone: Asia/Tokyo")
    assert wb.session.spark_setting("spark.sql.shuffle.partitions") == "16"
    assert wb.session.spark_setting("spark.sql.session.timeZone") == "Asia/Tokyo"
    wb.run("RESET 'parallelism.default'")
    assert wb.session.spark_setting("spark.sql.shuffle.partitions") is None
    assert wb.run("SHOW TABLES").arrow.num_rows == 0


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("a: b: c", ConfigError, "line 1"),
        ("- a\n- b", ConfigError, "no keys"),
        ("catalogs:\n  - type: paimon", ConfigError, "no name"),
        ("execution.runtime-mode: btch", BadOptionValue, "btch"),
        ("parallelism.default: many", BadOptionValue, "many"),
        ("nowhere.yaml", MissingFile, "nowhere.yaml"),
    ],
)
def test_refused(wb, text, kind, words):
    with pytest.raises(kind, match=words):
        wb.configure(text)
    assert wb.session.settings == {}


@pytest.mark.spark
def test_what_spark_was_told_comes_back_after_reset(swb, spark):
    before = spark.conf.get("spark.sql.shuffle.partitions")
    swb.run(
        "SET 'parallelism.default' = '3'; SET 'table.local-time-zone' = 'Asia/Tokyo'; SET spark.sql.shuffle.partitions = 5"
    )
    assert spark.conf.get("spark.sql.shuffle.partitions") == "5"
    assert swb.run("SELECT current_timezone()").frame.first()[0] == "Asia/Tokyo"
    swb.run("RESET")
    assert spark.conf.get("spark.sql.shuffle.partitions") == before
    assert swb.run("SELECT current_timezone()").frame.first()[0] != "Asia/Tokyo"
