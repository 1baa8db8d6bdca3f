"""COPY INTO in Spark: which rows and files are loaded, what is remembered, and what is written to files."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from paimon_nb.base.errors import (
    AlreadyExists,
    ColumnNotFound,
    SchemaMismatch,
    SourceUnavailable,
    SqlAnalysisError,
    UnsupportedOperation,
)


def copied(wb, text: str) -> list[tuple]:
    return [tuple(row.values()) for row in wb.run(text).arrow.to_pylist()]


def rows(wb, table: str) -> list[dict]:
    return sorted(wb.table(table).to_arrow().to_pylist(), key=repr)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


@pytest.mark.spark
def test_bad_rows_stop_the_load_or_leave_out_files_or_rows(swb, source):
    (source / "good 1.csv").write_text("1|Ann\n2|\n")
    (source / "mixed[1].csv").write_text("3|Bob\nx|Eve\n4\n")
    (source / "no.txt").write_text("5|Kim\n")
    swb.run("CREATE TABLE t (id INT, name STRING, n INT DEFAULT 7)")
    load = f"COPY INTO t (ID, name) FROM '{source}' FILE_FORMAT = (TYPE = CSV, FIELD_DELIMITER = '|') PATTERN = 'csv$'"
    with pytest.raises(
        SchemaMismatch, match=r"2 of 3 rows of mixed\[1\].csv do not fit: Malformed record: 4"
    ) as caught:
        swb.run(load)
    assert load[caught.value.facts["start"] : caught.value.facts["stop"]] == f"'{source}'"
    good, bad = "good 1.csv", ("mixed[1].csv", "LOAD_FAILED", 0, 3, 2, "Malformed record: 4")
    assert copied(swb, f"{load} ON_ERROR = SKIP_FILE") == [(good, "LOADED", 2, 2, 0, None), bad]
    assert rows(swb, "t") == [{"id": 1, "name": "Ann", "n": 7}, {"id": 2, "name": None, "n": 7}]
    skipped = (good, "SKIPPED", 0, 0, 0, None)
    result = swb.run(f"{load} ON_ERROR = CONTINUE")
    assert [tuple(r.values()) for r in result.arrow.to_pylist()] == [
        ("mixed[1].csv", "PARTIALLY_LOADED", 1, 3, 2, "Malformed record: 4"),
        skipped,
    ]
    assert result.snapshots == [("default.t", 2)]
    assert [r["id"] for r in rows(swb, "t")] == [1, 2, 3]
    assert copied(swb, load) == [skipped, ("mixed[1].csv", "SKIPPED", 0, 0, 0, None)]
    [record] = [
        r
        for p in Path(swb.table("t").store.root, "copy-into", "history").iterdir()
        if (r := json.loads(p.read_text()))["filePath"] == f"file:{source}/{good}"
    ]
    assert (record["fileSize"], record["snapshotId"], record["rowsLoaded"]) == (9, 1, 2)
    (source / good).write_text("9|New\n")
    assert copied(swb, load)[0] == (good, "LOADED", 1, 1, 0, None)


@pytest.mark.spark
def test_json_and_parquet_are_matched_by_name(swb, source):
    swb.run("CREATE TABLE t (id INT, name STRING, at TIMESTAMP(3), d DECIMAL(4, 1)) WITH ('upsert-key' = 'id')")
    (source / "a.json").write_text(
        '{"d": "1.5", "id": 1, "name": "N/A", "at": "2024-01-02T03:04:05", "x": 1}\n{"id": "z"}\n{'
    )
    into = f"COPY INTO t FROM '{source}' FILE_FORMAT ="
    error = "Malformed record: {"
    load = f"{into} (TYPE = JSON, NULL_IF = ('N/A')) ON_ERROR = CONTINUE FORCE = TRUE"
    assert copied(swb, load) == [("a.json", "PARTIALLY_LOADED", 1, 3, 2, error)]
    (source / "a.json").unlink()
    table = pa.table({"NAME": ["one", "two", "no"], "id": pa.array([1, 2, 1 << 40], pa.int64()), "more": [0, 0, 0]})
    parquet.write_table(table, source / "b.parquet")
    failed = "Cast failure in column 'id'. Source data contains values that cannot be converted to the target type."
    load = f"{into} (TYPE = PARQUET)"
    with pytest.raises(SchemaMismatch, match=r"1 of 3 rows of b\.parquet do not fit: Cast failure in column 'id'"):
        swb.run(load)
    assert copied(swb, f"{load} ON_ERROR = CONTINUE") == [("b.parquet", "PARTIALLY_LOADED", 2, 3, 1, failed)]
    assert [(r["id"], r["name"], r["at"]) for r in rows(swb, "t")] == [(1, "one", None), (2, "two", None)]


@pytest.mark.spark
def test_rows_of_a_table_or_a_query_are_written_to_files(swb, tmp_path):
    swb.run("CREATE TABLE t (id INT, name STRING); INSERT INTO t VALUES (1, 'Ann'), (2, 'Bob')")
    out = tmp_path / "out"
    to_csv = f"COPY INTO '{out}' FROM t FILE_FORMAT = (TYPE = CSV, HEADER = TRUE)"
    [(path, files, written)] = copied(swb, to_csv)
    assert (path, written) == (str(out), 2)
    parts = sorted(out.glob("part-*.csv"))
    assert len(parts) == files
    assert sorted(line for p in parts for line in p.read_text().splitlines() if line != "id,name") == ["1,Ann", "2,Bob"]
    with pytest.raises(AlreadyExists, match="exists") as caught:
        swb.run(to_csv)
    assert to_csv[caught.value.facts["start"] : caught.value.facts["stop"]] == f"'{out}'"
    query = "SELECT name, id * :n AS n FROM t WHERE id IN (2)"
    swb.sql(
        f"COPY INTO '{out}' FROM ({query}) FILE_FORMAT = (TYPE = PARQUET, COMPRESSION = GZIP) OVERWRITE = TRUE", n=3
    )
    [part] = out.glob("part-*")
    assert part.name.endswith(".gz.parquet")
    assert parquet.read_table(part).to_pylist() == [{"name": "Bob", "n": 6}]


@pytest.mark.spark
def test_what_cannot_be_loaded_is_refused_by_name(swb, source):
    swb.run("CREATE TABLE t (id INT NOT NULL, name STRING, tags ARRAY<STRING>); CREATE TABLE f (id INT) USING csv")
    csv = "FILE_FORMAT = (TYPE = CSV)"
    (source / "a.csv").write_text("1\n")
    for text, error, said in [
        (f"COPY INTO f FROM '{source}' {csv}", UnsupportedOperation, "f is a format table"),
        (
            f"COPY INTO t (name) FROM '{source}' {csv}",
            SchemaMismatch,
            "'id' of default.t is NOT NULL without a default",
        ),
        (f"COPY INTO t (id, x) FROM '{source}' {csv}", ColumnNotFound, "no column 'x'"),
        (f"COPY INTO t (id, tags) FROM '{source}' {csv}", SchemaMismatch, "'tags' is ARRAY<STRING>: there is no cast"),
        (f"COPY INTO t FROM '{source}/b' {csv}", SourceUnavailable, "/b' does not exist"),
        (f"COPY INTO t FROM '{source}' {csv} PATTERN = '('", SqlAnalysisError, "not a regular expression"),
        (f"COPY INTO '{source.parent}' FROM t {csv} OVERWRITE = TRUE", UnsupportedOperation, "would delete files of t"),
    ]:
        with pytest.raises(error, match=said):
            swb.run(text)
    load = f"COPY INTO t FROM '{source}' {csv} PATTERN = 'none'"
    assert copied(swb, f"EXPLAIN {load}") == [(f"Spark reads the files of {source}; their rows are appended to t",)]
    assert copied(swb, load) == []
    out = f"EXPLAIN COPY INTO '{source}/out' FROM t {csv}"
    assert copied(swb, out) == [(f"Spark writes the rows of t to {source}/out",)]
    assert rows(swb, "t") == []


@pytest.mark.spark
def test_options_of_files_in_from_are_options_of_a_load(swb, source):
    (source / "eu.csv").write_bytes("# 2026\nname;amount;day\nMüller;1.234,5;31.12.2025\nBo;-;01.01.2026\nEd;x;1.1.26\n".encode("latin-1"))  # fmt: skip
    swb.run("CREATE TABLE t (name STRING, amount DECIMAL(8, 2), d DATE, n INT DEFAULT 7)")
    load = f"""COPY INTO t (name, amount, d) FROM '{source}' FILE_FORMAT = (TYPE = CSV, COMMENT = '#', SKIP_HEADER = 1, DELIM = ';',
        DECIMAL_SEPARATOR = ',', THOUSANDS = '.', DATEFORMAT = '%d.%m.%Y', ENCODING = 'latin-1', NULL_IF = ('-'))"""
    first = "row 3, column 'amount': 'x' is not a DECIMAL(8, 2)"
    with pytest.raises(SchemaMismatch, match=r"1 of 3 rows of eu.csv do not fit: row 3, column 'amount': 'x'"):
        swb.run(load)
    assert copied(swb, f"{load} ON_ERROR = CONTINUE") == [("eu.csv", "PARTIALLY_LOADED", 2, 3, 1, first)]
    values = [(r["name"], str(r["amount"]), str(r["d"]), r["n"]) for r in rows(swb, "t")]
    assert values == [("Bo", "None", "2026-01-01", 7), ("Müller", "1234.50", "2025-12-31", 7)]
    (source / "two.csv").write_text("a\nb\nBo;2,5;01.01.2026\n")
    two = load.replace("SKIP_HEADER = 1", "SKIP_HEADER = 2")
    assert copied(swb, two)[0] == ("two.csv", "LOADED", 1, 1, 0, None)
    with pytest.raises(SchemaMismatch, match=r"two.csv has 3 columns, and 2 are loaded: name, amount"):
        swb.run(two.replace("(name, amount, d)", "(name, amount)") + " PATTERN = 'two' FORCE = TRUE")
    (source / "a.json").write_text('{"D": "05.06.2026", "name": "J", "x": 1}\n')
    json_load = f"COPY INTO t FROM '{source}' FILE_FORMAT = (TYPE = JSON, DATEFORMAT = '%d.%m.%Y') PATTERN = 'json'"
    assert copied(swb, json_load) == [("a.json", "LOADED", 1, 1, 0, None)]
    assert [str(r["d"]) for r in rows(swb, "t") if r["name"] == "J"] == ["2026-06-05"]


@pytest.mark.nightly
def test_printed_partitions_are_loaded_into_their_partitions(swb, tmp_path):
    """As `tests/table/tables/test_partition_doors.py`, for COPY INTO."""
    kinds = {
        "BOOLEAN": ["true"], "BIGINT": ["-9223372036854775808"], "DOUBLE": ["1.0E300", "-Infinity"], "DECIMAL(10, 2)": ["-0.05"],
        "STRING": ["a/b=c %41", "2024-01-01", "01"], "DATE": ["0001-01-01", "1969-12-31"], "TIMESTAMP(6)": ["1969-12-31 23:59:59.000001"],
    }  # fmt: skip
    for sql_type, texts in kinds.items():
        swb.sql(f"CREATE OR REPLACE TABLE loaded (id INT, p {sql_type}) PARTITIONED BY (p)")
        file = tmp_path / "in.csv"
        file.write_text("".join(f'{i},"{text}"\n' for i, text in enumerate(texts)))
        swb.sql(f"COPY INTO loaded FROM '{file}' FILE_FORMAT = (TYPE = CSV)")
        shown = swb.run("SELECT `partition` FROM `loaded$partitions`").to_arrow()["partition"].to_pylist()
        assert sorted(shown) == sorted(f"p={text}" for text in texts), sql_type
