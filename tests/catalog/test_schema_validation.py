"""CREATE TABLE refuses what real Paimon 1.3 refuses: each rule of its schema validation, told by the option that is wrong."""

import re

import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, PaimonError, UnsupportedOperation

KEY = "k INT, p STRING, a INT, n ARRAY<INT>, PRIMARY KEY (k) NOT ENFORCED"
KEYS = "k INT, p STRING, a INT, n ARRAY<INT>, PRIMARY KEY (k, p) NOT ENFORCED"
PLAIN = "k INT, p STRING, a INT, n ARRAY<INT>"

REFUSED = [
    # columns, partition, options, the option that the error names
    (PLAIN, "", {"bucket": "2"}, "bucket"),
    (PLAIN, "", {"bucket": "0", "bucket-key": "k"}, "bucket"),
    (PLAIN, "", {"bucket": "-2"}, "bucket"),
    (PLAIN, "", {"manifest-sort.enabled": "true"}, "manifest-sort.enabled"),
    (
        PLAIN,
        "k",
        {"manifest-sort.enabled": "true", "manifest-sort.partition-field": "x"},
        "manifest-sort.partition-field",
    ),
    (KEY, "", {"bucket": "0"}, "bucket"),
    (KEY, "", {"bucket": "-3"}, "bucket"),
    (PLAIN, "", {"bucket-key": "k"}, "bucket-key"),
    (KEY, "", {"bucket-key": "k"}, "bucket-key"),
    (PLAIN, "", {"bucket": "2", "bucket-key": "x"}, "bucket-key"),
    (PLAIN, "p", {"bucket": "2", "bucket-key": "p"}, "bucket-key"),
    (KEY, "", {"bucket": "2", "bucket-key": "a"}, "bucket-key"),
    (PLAIN, "", {"bucket": "2", "bucket-key": "n"}, "bucket-key"),
    (PLAIN, "", {"full-compaction.delta-commits": "3"}, "full-compaction.delta-commits"),
    (PLAIN, "", {"changelog-producer": "input"}, "changelog-producer"),
    (PLAIN, "", {"streaming-read-overwrite": "true"}, "streaming-read-overwrite"),
    (KEY, "", {"streaming-read-overwrite": "true", "changelog-producer": "lookup"}, "streaming-read-overwrite"),
    (KEY, "", {"auto-create": "true"}, "auto-create"),
    (KEY, "", {"upsert-key": "a"}, "upsert-key"),
    (PLAIN, "", {"upsert-key": "x"}, "upsert-key"),
    (PLAIN, "", {"upsert-key": "n"}, "upsert-key"),
    (PLAIN, "", {"fields.x.aggregate-function": "sum"}, "fields.x.aggregate-function"),
    (PLAIN, "", {"fields.x.default-value": "1"}, "fields.x.default-value"),
    (KEY, "", {"merge-engine": "aggregation", "fields.a.aggregate-function": "summ"}, "fields.a.aggregate-function"),
    (KEY, "", {"sequence.field": "x"}, "sequence.field"),
    (KEY, "", {"sequence.field": "a,a"}, "sequence.field"),
    (KEY, "", {"sequence.field": "a", "merge-engine": "first-row"}, "sequence.field"),
    (
        KEY,
        "",
        {"sequence.field": "a", "merge-engine": "aggregation", "fields.a.aggregate-function": "sum"},
        "sequence.field",
    ),
    (KEY, "p", {"sequence.field": "a"}, "sequence.field"),
    (
        KEY,
        "",
        {
            "merge-engine": "aggregation",
            "aggregation.remove-record-on-delete": "true",
            "fields.a.ignore-retract": "true",
        },
        "fields.a.ignore-retract",
    ),
    (
        KEY,
        "",
        {"merge-engine": "partial-update", "fields.a.sequence-group": "p", "fields.a.aggregate-function": "max"},
        "fields.a.sequence-group",
    ),
    (KEY, "", {"merge-engine": "first-row", "changelog-producer": "input"}, "changelog-producer"),
    (KEY, "", {"merge-engine": "first-row", "deletion-vectors.enabled": "true"}, "deletion-vectors.enabled"),
    (
        KEY,
        "",
        {"changelog-producer": "full-compaction", "deletion-vectors.enabled": "true"},
        "deletion-vectors.enabled",
    ),
    (KEY, "", {"rowkind.field": "x"}, "rowkind.field"),
    (PLAIN, "", {"partition.expiration-time": "1 d"}, "partition.expiration-time"),
    (KEY, "", {"record-level.expire-time": "1 h", "record-level.time-field": "x"}, "record-level.time-field"),
    (KEY, "", {"record-level.expire-time": "1 h", "record-level.time-field": "p"}, "record-level.time-field"),
    (KEY, "", {"row-tracking.enabled": "true"}, "row-tracking.enabled"),
    (PLAIN, "", {"row-tracking.enabled": "true", "bucket": "2", "bucket-key": "k"}, "row-tracking.enabled"),
    (PLAIN, "", {"data-evolution.enabled": "true"}, "data-evolution.enabled"),
    (
        PLAIN,
        "",
        {"data-evolution.enabled": "true", "row-tracking.enabled": "true", "clustering.incremental": "true"},
        "data-evolution.enabled",
    ),
    (KEY, "", {"clustering.incremental": "true"}, "clustering.incremental"),
    (PLAIN, "", {"clustering.incremental": "true", "bucket": "2", "bucket-key": "k"}, "clustering.incremental"),
    (
        PLAIN,
        "",
        {
            "clustering.incremental": "true",
            "bucket": "2",
            "bucket-key": "k",
            "bucket-append-ordered": "false",
            "deletion-vectors.enabled": "true",
        },
        "clustering.incremental",
    ),
    (KEY, "", {"snapshot.num-retained.min": "0"}, "snapshot.num-retained.min"),
    (KEY, "", {"snapshot.num-retained.min": "5", "snapshot.num-retained.max": "4"}, "snapshot.num-retained.min"),
    ("k INT, t TIMESTAMP(7)", "", {"file.format": "avro"}, "file.format"),
    ("k INT, t MAP<INT, ARRAY<TIMESTAMP_LTZ(9)>>", "", {"file.format": "avro"}, "file.format"),
    (KEY, "", {"scan.mode": "from-timestamp"}, "scan.mode"),
    (KEY, "", {"scan.mode": "latest", "scan.snapshot-id": "1"}, "scan.snapshot-id"),
    (KEY, "", {"scan.snapshot-id": "1", "scan.timestamp-millis": "1"}, "scan.timestamp-millis"),
    (KEY, "", {"primary-key": "k"}, "primary-key"),
    (PLAIN, "p", {"partition": "p"}, "partition"),
]
REFUSED_TYPES = [
    ("max", "ARRAY<INT>"),
    ("min", "MAP<INT, INT>"),
    ("sum", "STRING"),
    ("bool_or", "INT"),
    ("listagg", "INT"),
]
BAD_SHAPES = [
    ("k INT, p STRING, PRIMARY KEY (p) NOT ENFORCED", "p"),
    ("k INT, p STRING, PRIMARY KEY (p) NOT ENFORCED", "p, k"),
    ("k INT, n ARRAY<INT>, PRIMARY KEY (n) NOT ENFORCED", ""),
    ("k INT, n MAP<INT, INT>", "n"),
    ("k INT, rowkind STRING", ""),
    ("k INT, _SEQUENCE_NUMBER BIGINT", ""),
    ("k INT, _ROW_ID BIGINT", ""),
    ("k INT, _KEY_a INT", ""),
]
FINE = [
    (KEYS, "p", {"sequence.field": "a", "bucket": "2", "bucket-key": "k"}),
    (PLAIN, "p", {"partition.expiration-time": "1 d", "upsert-key": "k"}),
    (KEY, "p", {"record-level.expire-time": "1 h", "record-level.time-field": "a", "rowkind.field": "p"}),
    (KEY, "", {"merge-engine": "aggregation", "fields.default-aggregate-function": "last_value", "bucket": "-2"}),
    (KEY, "", {"full-compaction.delta-commits": "3"}),
    (
        PLAIN,
        "",
        {"clustering.incremental": "true", "bucket": "2", "bucket-key": "k", "bucket-append-ordered": "false"},
    ),
    (PLAIN, "", {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}),
    (PLAIN, "", {"row-tracking.enabled": "true", "data-evolution.enabled": "true", "deletion-vectors.enabled": "true"}),
]


def create(columns: str, partition: str, options: dict[str, str]) -> str:
    by = f" PARTITIONED BY ({partition})" if partition else ""
    inputs = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
    return f"CREATE TABLE t ({columns}){by} WITH ({inputs})"


@pytest.fixture(scope="module")
def wb() -> paimon_nb.Workbench:
    return paimon_nb.connect("memory:/rules")


@pytest.mark.parametrize("kind", ["object-table", "lance-table", "iceberg-table"])
@pytest.mark.parametrize("columns", ["", "(k INT)"])
def test_kinds_of_tables_that_a_catalog_does_not_make(tmp_path, kind, columns):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    with pytest.raises(UnsupportedOperation, match=kind):
        wb.run(f"CREATE TABLE t {columns} WITH ('type' = '{kind}')")
    with pytest.raises(BadOptionValue, match="type"):
        wb.run("CREATE TABLE t (k INT) WITH ('type' = 'objekt-table')")
    assert wb.tables() == []


@pytest.mark.parametrize(("columns", "partition", "options", "named"), REFUSED, ids=lambda v: str(v)[:60])
def test_options_that_java_refuses(wb, columns, partition, options, named):
    with pytest.raises(BadOptionValue, match=re.escape(named)) as refused:
        wb.run(create(columns, partition, options))
    assert refused.value.hint
    assert wb.run("SHOW TABLES").arrow.num_rows == 0


@pytest.mark.parametrize(("function", "column_type"), REFUSED_TYPES)
def test_an_aggregate_function_that_cannot_merge_its_column(wb, function, column_type):
    """Otherwise rows could be written that no query can read."""
    aggregated = {"merge-engine": "aggregation", "fields.v.aggregate-function": function}
    with pytest.raises(BadOptionValue, match=f"{function} does not support column 'v'") as refused:
        wb.run(create(f"k INT, v {column_type}, PRIMARY KEY (k) NOT ENFORCED", "", aggregated))
    assert refused.value.hint.startswith("supported types:")
    assert wb.run("SHOW TABLES").arrow.num_rows == 0


@pytest.mark.parametrize(("columns", "partition"), BAD_SHAPES)
def test_columns_that_java_refuses(wb, columns, partition):
    with pytest.raises(PaimonError):
        wb.run(create(columns, partition, {"bucket": "-1"}))
    assert wb.run("SHOW TABLES").arrow.num_rows == 0


@pytest.mark.parametrize(("columns", "partition", "options"), FINE, ids=lambda v: str(v)[:60])
def test_what_java_takes(wb, columns, partition, options):
    wb.run(create(columns, partition, options))
    wb.run("DROP TABLE t")


def test_fallback_and_primary_branch_exclude_each_other(wb):
    wb.run("CREATE TABLE t (a INT)")
    wb.run("CALL sys.create_branch('t', 'b')")
    for name in ("fallback", "primary"):
        with pytest.raises(BadOptionValue, match="has no branch 'x'"):
            wb.run(f"ALTER TABLE t SET ('scan.{name}-branch' = 'x')")
    with pytest.raises(BadOptionValue, match="cannot be set together"):
        wb.run("ALTER TABLE t SET ('scan.primary-branch' = 'b', 'scan.fallback-branch' = 'b')")
    wb.run("ALTER TABLE t SET ('scan.primary-branch' = 'b'); DROP TABLE t")


def test_a_fallback_branch_is_there(wb):
    wb.run(create(KEYS, "p", {"bucket": "1"}))
    with pytest.raises(BadOptionValue, match=r"'scan\.fallback-branch'"):
        wb.run("ALTER TABLE t SET ('scan.fallback-branch' = 'b')")
    wb.run("CALL sys.create_branch('default.t', 'b')")
    wb.run("ALTER TABLE t SET ('scan.fallback-branch' = 'b')")
    wb.run("DROP TABLE t")


def test_an_alter_is_checked_too(wb):
    wb.run(create(KEY, "", {"bucket": "1"}))
    with pytest.raises(BadOptionValue, match=r"'rowkind\.field'"):
        wb.run("ALTER TABLE t SET ('rowkind.field' = 'x')")
    wb.run("DROP TABLE t")
