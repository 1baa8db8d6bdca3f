"""`where=` speaks the session's SQL: one answer through Python, SQL, procedures and panels."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, ColumnNotFound, PaimonError, SqlAnalysisError, SqlSyntaxError
from paimon_nb.table.tables.open import open_table

ROW = pa.struct({"b": pa.int32(), "c": pa.struct({"d": pa.string()})})


@pytest.fixture
def wb(tmp_path):
    made = paimon_nb.connect(str(tmp_path / "w"))
    made.run("CREATE TABLE t (id INT, s STRING, f FLOAT, n DECIMAL(10, 2), d DATE, r ROW<b INT, c ROW<d STRING>>)")
    made.table("t").append(
        pa.table(
            {
                "id": pa.array([1, 2, 3, None], pa.int32()), "s": ["a%", "a\\x", "A'long", None],
                "f": pa.array([1.1, 2, float("nan"), None], pa.float32()), "n": pa.array([Decimal(100), Decimal(250), None, Decimal(0)], pa.decimal128(10, 2)),
                "d": [dt.date(2024, 1, 5), dt.date(1969, 12, 31), None, None],
                "r": pa.array([{"b": 1, "c": {"d": "x"}}, None, {"b": None, "c": None}, {"b": 7, "c": {"d": "y"}}], ROW),
            }
        )
    )  # fmt: skip
    return made


def ids(wb, where: str) -> list:
    return wb.table("t").to_arrow(["id"], where=where)["id"].to_pylist()


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (r"s = 'a\\x'", [2]),
        (r"s = 'a\x'", []),
        (r"s LIKE 'a\\%'", [1]),
        (r"s = 'A\'long'", [3]),
        ("s = 'A''long'", [3]),
        (r"s = '\u0061%'", [1]),
        (r"s = r'a\x'", [2]),
        ("s LIKE 'a!%' ESCAPE '!'", [1]),
        ("s NOT LIKE 'a!%' ESCAPE '!'", [2, 3]),
        ("r.b = 1", [1]),
        ("R.C.D IN ('x', 'y')", [1, None]),
        ("r.b IS NULL", [2, 3]),
        ("r.b IS NOT NULL AND id = 1", [1]),
        ("NOT r.b = 1", [None]),
        ("r.b <=> NULL", [2, 3]),
        ("f = CAST(1.1 AS FLOAT)", [1]),
        ("f = 1.1F", [1]),
        ("f = 1.1", []),
        ("id = 1L OR n = 250BD", [1, 2]),
        ("id IN (1, 1 + 1)", [1, 2]),
        ("(id) = (2)", [2]),
    ],
)
def test_comparisons_need_no_engine(wb, where, expected):
    assert ids(wb, where) == expected
    assert not wb.session.spark_started


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("length(s) > 3", [3]),
        ("NOT (length(s) > 3)", [1, 2]),
        ("length(s) > 3 OR id = 1", [1, 3]),
        ("id + 1 = 2", [1]),
        ("id = r.b", [1]),
        ("r.b + id > 1 AND d IS NOT NULL", [1]),
        ("CASE WHEN id = 1 THEN TRUE ELSE FALSE END", [1]),
        ("coalesce(id, 9) = 9", [None]),
        ("upper(s) = 'A%'", [1]),
        ("NULL = length(s)", []),
    ],
)
def test_everything_else_is_computed_as_in_the_sessions_select(wb, where, expected):
    assert ids(wb, where) == expected
    assert wb.table("t").where(where).select("id").count() == len(expected)


@pytest.mark.parametrize(
    ("zone", "where", "expected"),
    [
        ("UTC", "t = '2024-01-02 03:04:05'", [1]),
        ("Europe/Berlin", "t = '2024-01-02 04:04:05'", [1]),
        ("Europe/Berlin", "t = TIMESTAMP '2024-01-02 04:04:05'", [1]),
        ("Europe/Berlin", "t = '2024-01-02T03:04:05Z'", [1]),
        ("Europe/Berlin", "t IN ('2024-01-02 04:04:05', '2024-07-02 05:04:05')", [1, 2]),
        ("Europe/Berlin", "t BETWEEN '2024-07-02 05:04:05' AND '2024-07-02 05:04:05'", [2]),
        (
            "Europe/Berlin",
            "t >= '2024-03-31 02:30:00' AND t < '2024-03-31 03:31:00'",
            [3],
        ),  # a time that the zone skips
        ("America/New_York", "t < DATE '2024-01-02'", [1]),
        ("+02:00", "NOT t <> '2024-01-02 05:04:05'", [1]),
    ],
)
def test_times_without_a_zone_are_in_the_sessions_zone(wb, zone, where, expected):
    wb.run("CREATE TABLE z (id INT, t TIMESTAMP_LTZ(6))")
    utc = [dt.datetime(2024, 1, 2, 3, 4, 5), dt.datetime(2024, 7, 2, 3, 4, 5), dt.datetime(2024, 3, 31, 1, 30)]
    wb.table("z").append(
        pa.table({"id": pa.array([1, 2, 3], pa.int32()), "t": pa.array(utc, pa.timestamp("us", "UTC"))})
    )
    wb.run(f"SET 'table.local-time-zone' = '{zone}'")
    assert wb.table("z").to_arrow(["id"], where=where)["id"].to_pylist() == expected
    assert not wb.session.spark_started


def test_updates_deletes_procedures_and_partitions_take_them(wb):
    table = wb.table("t")
    table.delete(where="length(s) = 6 OR r.b = 7")
    table.update({"s": "new"}, where="id * 2 = 2")
    assert table.to_arrow(["id", "s"]).to_pylist() == [{"id": 1, "s": "new"}, {"id": 2, "s": "a\\x"}] or sorted(
        table.to_arrow(["id", "s"]).to_pylist(), key=lambda r: r["id"]
    ) == [{"id": 1, "s": "new"}, {"id": 2, "s": "a\\x"}]
    wb.run("CREATE TABLE p (id INT, dt STRING) PARTITIONED BY (dt)")
    wb.run("INSERT INTO p VALUES (1, '2024-01-05'), (2, '2024-02-05')")
    called = wb.run("CALL sys.compact(`table` => 'p', `where` => 'substring(dt, 6, 2) = ''02''')")
    assert called.kind == "rows"


@pytest.mark.parametrize(
    ("where", "kind", "words"),
    [
        ("zz = 1", ColumnNotFound, "no column 'zz'"),
        ("length(s) > 3 AND zz + 1 = 2", ColumnNotFound, "no column 'zz'"),
        ("5", SqlSyntaxError, "5 is not a condition"),
        ("id", SqlSyntaxError, "expected a comparison after 'id'"),
        ("id = ", SqlSyntaxError, ""),
    ],
)
def test_mistakes(wb, where, kind, words):
    with pytest.raises(kind, match=words) as caught:
        ids(wb, where)
    assert caught.value.facts["sql"] == where


def test_without_a_session_a_hint_says_who_computes(wb):
    table = open_table(wb.table("t").path)
    assert table.to_arrow(["id"], where="r.c.d = 'x' AND s LIKE 'a!%' ESCAPE '!'")["id"].to_pylist() == [1]
    assert table.to_arrow(["id"], where=r"s = 'a\x'")["id"].to_pylist() == [2]
    for where in ("length(s) > 3", "id + 1 = 2", "s ILIKE 'A%'"):
        with pytest.raises((SqlSyntaxError, SqlAnalysisError)) as caught:
            table.to_arrow(where=where)
        assert "paimon_nb.connect" in str(caught.value.hint)


def test_near_misses_raise(wb):
    table = wb.table("t")
    with table.write() as writing:
        writing.write(pa.table({"id": pa.array([9], pa.int32())}))
        messages = writing.prepare_commit()
    for miss in (
        lambda: table.commit(messages),
        lambda: table.commit().commit(messages[0]),
        lambda: table.commit().commit(pa.table({"a": [1]})),
        lambda: table.to_arrow(where=["id = 1"]),
        lambda: table.to_arrow(where={"id": 1}),
        lambda: table.update({"s": "x"}, where=True),
        lambda: table.stream(where=1),
        lambda: table.to_arrow(options="scan.snapshot-id=1"),
        lambda: table.copy("scan.snapshot-id=1"),
        lambda: table.truncate({}),
        lambda: table.select(),
        lambda: table.to_batches(batch_rows=0),
        lambda: table.tags.create(1),
    ):
        with pytest.raises(PaimonError):
            miss()
    with pytest.raises(BadOptionValue, match="nothing is committed yet") as caught:
        table.commit(messages)
    assert caught.value.hint == "t.commit().commit(messages)"
    assert table.count() == 4
