"""Values of a source that their column cannot hold: the rule of the sync decides, each is counted, and none ends the sync."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, BadSourceValue
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog import open_catalog
from paimon_nb.connectors.api import ConnectorTable
from paimon_nb.connectors.cdc.changelog_rows import changelog_batches
from paimon_nb.connectors.cdc.events import parse_event
from paimon_nb.connectors.cdc.mysql_types import MySqlType, to_column
from paimon_nb.connectors.cdc.mysql_types import paimon_type as mysql_type
from paimon_nb.connectors.cdc.postgres_types import PostgresType, arrow_column_of_texts
from paimon_nb.connectors.cdc.postgres_types import paimon_type as postgres_type
from paimon_nb.connectors.cdc.target import SourceSchema, Target, TargetOptions, open_target
from paimon_nb.connectors.cdc.values import OnValueError, fitting_column
from paimon_nb.connectors.postgres_cdc.connector import PostgresCdc
from paimon_nb.format.types import DataField, parse_type

if TYPE_CHECKING:
    import pyarrow as pa


def of_postgres(source: PostgresType, *texts: str | None) -> tuple[list[Any], dict[int, str]]:
    kind = postgres_type(source)
    column, misfits = fitting_column(texts, lambda part: arrow_column_of_texts(part, kind, source))
    return column.to_pylist(), {i: m.reason for i, m in misfits.items()}


def of_mysql(text: str, *values: Any) -> tuple[list[Any], dict[int, str]]:
    source = MySqlType.parse(text)
    column, misfits = fitting_column(values, lambda part: to_column(part, mysql_type(source), source))
    return column.to_pylist(), {i: m.reason for i, m in misfits.items()}


def test_every_millisecond_of_a_time_is_exact():
    millis = [*range(1100), *range(86_398_900, 86_400_000), *range(0, 86_400_000, 9_973)]
    times = [(dt.datetime.min + dt.timedelta(milliseconds=m)).time() for m in millis]
    assert of_postgres(PostgresType("time", 3), *(t.isoformat("milliseconds") for t in times)) == (times, {})
    assert of_mysql("time(3)", *(dt.timedelta(milliseconds=m) for m in millis)) == (times, {})
    fields = {"t": "io.debezium.time.Time", "u": "io.debezium.time.MicroTime"}
    schema = {
        "fields": [{"field": "after", "fields": [{"field": n, "type": "int64", "name": k} for n, k in fields.items()]}]
    }
    for m in millis[::50]:
        payload = {"op": "c", "after": {"t": m, "u": m * 1000}}
        event = parse_event("debezium-json", json.dumps({"schema": schema, "payload": payload}).encode(), None, ())
        assert event is not None
        ((_, row),) = event.changes
        expected = (dt.datetime.min + dt.timedelta(milliseconds=m)).time()
        assert [to_column([row[n]], event.columns[n], None).to_pylist() for n in fields] == [[expected], [expected]]


def test_times_of_day_outside_of_a_day_wrap_as_in_java():
    found, reasons = of_mysql(
        "time", dt.timedelta(hours=838, minutes=59, seconds=59), dt.timedelta(hours=-1), dt.timedelta(hours=100), None
    )
    assert (found, sorted(reasons)) == ([dt.time(22, 59, 59), dt.time(23), dt.time(4), None], [0, 1, 2])
    assert of_postgres(PostgresType("time"), "24:00:00", "23:59:59.999999") == (
        [dt.time(0), dt.time(23, 59, 59, 999000)],
        {0: "a time of day is less than 24 hours"},
    )


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        (PostgresType("numeric"), "123456789012345678901234567890.5", None),
        (PostgresType("numeric"), "NaN", None),
        (PostgresType("numeric"), "-Infinity", None),
        (PostgresType("numeric"), "0." + "1" * 30, Decimal("0." + "1" * 18)),
        (PostgresType("numeric"), "0.0000000000000000005", Decimal("1E-18")),
        (PostgresType("date"), "infinity", None),
        (PostgresType("date"), "0044-03-15 BC", None),
        (PostgresType("date"), "10000-01-01", None),
        (PostgresType("timestamp"), "294276-12-31 23:59:59.999999", None),
        (PostgresType("timestamptz"), "-infinity", None),
        (PostgresType("_int4"), "{{1,2},{3,4}}", None),
    ],
    ids=lambda v: v if isinstance(v, str) else None,
)  # fmt: skip
def test_a_value_of_postgres_that_does_not_fit_harms_no_other(source, text, expected):
    fits = {"numeric": "1.5", "date": "2026-02-28", "timestamp": "2026-02-28 01:02:03", "timestamptz": "2026-02-28 01:02:03+00", "_int4": "{1,NULL}"}[source.name]  # fmt: skip
    plain, none = of_postgres(source, fits)
    found, reasons = of_postgres(source, fits, text, fits, None)
    assert (found, sorted(reasons), none) == ([*plain, expected, *plain, None], [1], {})


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("date", "0000-00-00"),
        ("datetime(6)", "0000-00-00 00:00:00"),
        ("timestamp", "0000-00-00"),
        ("datetime", "2024-00-15 00:00:00"),
    ],
)
def test_zero_dates_are_null_and_counted(source, value):
    found, reasons = of_mysql(source, value, None)
    assert (found, reasons) == ([None, None], {0: "it is not a date of the years 1 to 9999"})


def test_bytes_that_are_no_text_are_replaced_and_counted():
    found, reasons = of_mysql("text", b"ok", b"\xffx")
    assert (found, reasons) == (["ok", "\ufffdx"], {1: "the bytes are not UTF-8"})


COLUMNS = {
    "id": (parse_type("INT NOT NULL"), None),
    "n": (parse_type("DECIMAL(5, 2)"), None),
    "d": (parse_type("DATE NOT NULL"), None),
}


def target(tmp_path, rule: str, *skip: str) -> Target:
    catalog = open_catalog("here", {"warehouse": str(tmp_path)})
    options = TargetOptions(options={"bucket": "1"}, on_value_error=OnValueError.of(rule), skip_records=frozenset(skip))
    return open_target(catalog, Identifier("d", "t"), "cdc-me", SourceSchema(COLUMNS, ("id",)), options)


def convert(_name: str, values, kind) -> pa.Array:
    return to_column(values, kind, None)


DAY = dt.date(2026, 1, 2)
CHANGES = (
    ("+I", {"id": 1, "n": "1.25", "d": DAY}, "5/s.t"),
    ("+I", {"id": 2, "n": "12345.5", "d": DAY}, "6/s.t"),
    ("-U", {"id": 1, "n": "1.25", "d": DAY}, "7/s.t"),
    ("+U", {"id": 1, "n": "NaN", "d": DAY}, "7/s.t"),
    ("+I", {"id": 3, "n": "3", "d": DAY}, "8/s.t"),
)


def put(target: Target, changes=CHANGES, position: str = "end") -> list[tuple]:
    for kind, row, at in changes:
        target.buffer_change(kind, row, convert, at)
    target.commit(position)
    return stored(target)


def stored(target: Target) -> list[tuple]:
    return sorted(tuple(r.values()) for r in target.table.refresh().to_arrow().to_pylist())


def test_as_java_by_default(tmp_path):
    made = target(tmp_path, "java")
    assert put(made) == [(1, None, DAY), (2, None, DAY), (3, Decimal("3.00"), DAY)]
    assert made.checked.changed == Counter({("n", "DECIMAL(5, 2) has no NaN"): 1, ("n", "DECIMAL(5, 2) has 3 digits before the point"): 1})  # fmt: skip


def test_null_instead_of_java_s_values(tmp_path):
    made = target(tmp_path, "null")
    rows = put(made, (("+I", {"id": 1, "n": "1.005", "d": DAY}, "5/s.t"),))
    assert (rows, sum(made.checked.changed.values())) == ([(1, None, DAY)], 1)


def test_texts_in_a_column_of_their_own(tmp_path):
    made = target(tmp_path, "text")
    assert [*made.table.schema.names] == ["id", "n", "d", "value_errors"]
    assert put(made) == [(1, None, DAY, '{"n": "NaN"}'), (2, None, DAY, '{"n": "12345.5"}'), (3, Decimal("3.00"), DAY, None)]  # fmt: skip


def test_dead_letters_keep_the_row_that_was_there(tmp_path):
    made = target(tmp_path, "dead-letter")
    assert put(made) == [(1, Decimal("1.25"), DAY), (3, Decimal("3.00"), DAY)]
    assert put(made) == [(1, Decimal("1.25"), DAY), (3, Decimal("3.00"), DAY)]  # read again after a crash
    letters = made.catalog.table(Identifier("d", "t_dead_letter")).to_arrow().to_pylist()
    found = sorted((r["record"], r["column_name"], r["kind"], r["value"], json.loads(r["source_row"])["d"]) for r in letters)  # fmt: skip
    assert found == [("6/s.t/id=2", "n", "+I", "12345.5", "2026-01-02"), ("7/s.t/id=1", "n", "+U", "NaN", "2026-01-02")]


def test_a_sync_that_stops_says_where_and_can_step_over_one_record(tmp_path):
    made = target(tmp_path, "fail")
    for kind, row, at in CHANGES:
        made.buffer_change(kind, row, convert, at)
    with pytest.raises(BadSourceValue) as stopped:
        made.commit("end")
    error = stopped.value
    assert (error.table, error.column, error.key, error.value, error.position) == (
        "d.t",
        "n",
        "id=2",
        "12345.5",
        "6/s.t",
    )
    assert "skip_record => '6/s.t/id=2'" in error.hint
    made.abort()
    with pytest.raises(BadSourceValue) as stopped:
        put(target(tmp_path, "fail", error.record))
    assert stopped.value.record == "7/s.t/id=1"
    again = target(tmp_path, "fail", error.record, stopped.value.record)
    assert (put(again), again.checked.skipped) == ([(1, Decimal("1.25"), DAY), (3, Decimal("3.00"), DAY)], 2)


def test_a_zero_date_in_a_not_null_column_is_the_epoch_as_in_java(tmp_path):
    zero = (("+I", {"id": 1, "n": None, "d": "0000-00-00"}, "5/s.t"), ("+I", {"id": 2, "n": None, "d": None}, "6/s.t"))
    made = target(tmp_path, "java")
    assert put(made, zero) == [(1, None, dt.date(1970, 1, 1)), (2, None, dt.date(1970, 1, 1))]
    with pytest.raises(BadSourceValue, match="dead-letter") as stopped:
        put(target(tmp_path, "null"), zero)
    assert "'text'" not in stopped.value.hint


def test_a_key_that_does_not_fit_stops_the_sync_or_becomes_a_dead_letter(tmp_path):
    bad = (("+I", {"id": 1 << 40, "n": None, "d": DAY}, "5/s.t"), ("-D", {"id": 1 << 40, "n": None, "d": DAY}, "6/s.t"))
    with pytest.raises(BadSourceValue, match="key id=1099511627776"):
        put(target(tmp_path, "java"), bad)
    assert put(target(tmp_path, "dead-letter"), bad) == []


def test_a_computed_column_of_a_value_that_does_not_fit_is_null(tmp_path):
    catalog = open_catalog("here", {"warehouse": str(tmp_path)})
    options = TargetOptions(computed=("y=year(d)",), options={"bucket": "1"})
    made = open_target(catalog, Identifier("d", "t"), "cdc-me", SourceSchema(COLUMNS, ("id",)), options)
    zero = (("+I", {"id": 1, "n": None, "d": "0000-00-00"}, "5/s.t"), ("+I", {"id": 2, "n": None, "d": DAY}, "6/s.t"))
    assert put(made, zero) == [(1, None, dt.date(1970, 1, 1), None), (2, None, DAY, 2026)]


def test_a_text_longer_than_its_column_is_cut_and_counted_or_handled_by_the_rule(tmp_path):
    """A target can have shorter columns than its source. Java's sync does not look at lengths."""
    columns = {"id": (parse_type("INT NOT NULL"), None), "c": (parse_type("VARCHAR(3)"), None), "b": (parse_type("BINARY(2)"), None)}  # fmt: skip
    changes = [
        ("+I", {"id": i, "c": c, "b": b"xy" if c == "ab" else b"xyz"}, f"{i}/s.t") for i, c in enumerate(("ab", "äöü€"))
    ]

    def target_of(rule: str) -> Target:
        catalog = open_catalog("here", {"warehouse": str(tmp_path / rule)})
        options = TargetOptions(options={"bucket": "1"}, on_value_error=OnValueError.of(rule))
        return open_target(catalog, Identifier("d", "t"), "cdc-me", SourceSchema(columns, ("id",)), options)

    made = target_of("java")
    assert put(made, changes) == [(0, "ab", b"xy"), (1, "äöü", b"xy")]
    assert made.checked.changed == Counter(
        {("c", "VARCHAR(3) holds 3 characters"): 1, ("b", "BINARY(2) holds 2 bytes"): 1}
    )
    assert put(target_of("null"), changes) == [(0, "ab", b"xy"), (1, None, None)]
    assert put(target_of("dead-letter"), changes) == [(0, "ab", b"xy")]
    with pytest.raises(BadSourceValue, match=r"VARCHAR\(3\) holds 3 characters"):
        put(target_of("fail"), changes)


def test_all_rows_of_a_snapshot_may_be_dead_letters(tmp_path):
    made = target(tmp_path, "dead-letter")
    made.buffer_change("+I", {"id": 1, "n": "NaN", "d": DAY}, convert, "snapshot/s.t")
    made.store_start_position("start")
    assert (stored(made), target(tmp_path, "dead-letter").position) == ([], "start")


def test_a_value_that_does_not_fit_ends_no_stream_of_a_connector_table():
    fields = (DataField(0, "id", parse_type("INT")), DataField(1, "n", parse_type("DECIMAL(5, 2)")))
    definition = ConnectorTable("t", fields, {"connector": "postgres-cdc"})
    changes = [("+I", {}, 0, {"id": 1, "n": "1.25"}), ("+I", {}, 0, {"id": 2, "n": "NaN"})]
    (batch,) = changelog_batches(definition, changes, convert)
    assert [tuple(r.values())[:2] for r in batch.to_pylist()] == [(1, Decimal("1.25")), (2, None)]
    (batch,) = changelog_batches(
        replace(definition, options={**definition.options, "on-value-error": "null"}),
        [("+I", {}, 0, {"id": 1, "n": "1.005"})],
        convert,
    )
    assert [tuple(r.values())[:2] for r in batch.to_pylist()] == [(1, None)]


def test_a_stream_of_a_connector_table_can_stop_at_a_value_that_does_not_fit():
    fields = (DataField(0, "id", parse_type("INT")), DataField(1, "n", parse_type("DECIMAL(5, 2)")))
    definition = ConnectorTable("t", fields, {"connector": "postgres-cdc", "on-value-error": "fail"}, ("id",))
    names = {"database_name": "shop", "schema_name": "public", "table_name": "orders"}
    changes = [("+I", names, 0, {"id": 1, "n": "1.25"}), ("+U", names, 0, {"id": 2, "n": "NaN"})]
    with pytest.raises(
        BadSourceValue, match=r"t: column 'n' .* cannot hold 'NaN' of the row with id=2 \(\+U\) of shop.public.orders"
    ) as stopped:
        list(changelog_batches(definition, changes, convert))
    assert (stopped.value.column, stopped.value.key, stopped.value.value) == ("n", "id=2", "NaN")
    with pytest.raises(BadOptionValue, match="is for syncs"):
        PostgresCdc(
            replace(
                definition, options={"connector": "postgres-cdc", "table-name": "o", "on-value-error": "dead-letter"}
            )
        )


@pytest.mark.parametrize("key", ["O'Brien; and\\others\n", " a ", "a;b"])
def test_the_statement_of_the_error_steps_over_a_record_whatever_its_key(tmp_path, key):
    pytest.importorskip("confluent_kafka")
    from mock_broker import MockBroker

    broker = MockBroker()
    for k, n in ((key, "x"), ("last", "2")):
        row = {"k": k, "n": n}
        text = {"database": "d", "table": "t", "type": "INSERT", "isDdl": False, "pkNames": ["k"], "data": [row]}
        broker.send("t", [("0", json.dumps(text | {"mysqlType": {"k": "varchar(20)", "n": "int"}}))])
    wb = paimon_nb.connect(str(tmp_path))
    conf = f"properties.bootstrap.servers={broker.address},topic=t,value.format=canal-json,scan.startup.mode=earliest-offset,scan.bounded.mode=latest-offset"
    call = f"CALL sys.kafka_sync_table(`table` => 't', kafka_conf => '{conf}', on_value_error => 'fail'"

    def run(more: str) -> bool:
        (row,) = wb.run(f"{call}{more})").arrow.to_pylist()
        return wb.session.jobs.find(row["job"]).awaitTermination(60)

    with pytest.raises(BadSourceValue) as stopped:
        run("")
    (named,) = re.findall(r"skip_record => '[^']*'", stopped.value.hint or "")
    assert run(f", {named}")
    assert wb.table("t").to_arrow().to_pylist() == [{"k": "last", "n": 2}]


def test_half_a_character_does_not_harm_a_dead_letter(tmp_path):
    made = target(tmp_path, "dead-letter")
    odd = ("+I", {"id": 2, "n": "\ud800", "d": DAY}, "6/s.t")
    assert put(made, [CHANGES[0], odd]) == [(1, Decimal("1.25"), DAY)]
    (letter,) = made.catalog.table(Identifier("d", "t_dead_letter")).to_arrow().to_pylist()
    assert "?" in str(letter)
