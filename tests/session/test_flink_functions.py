"""Flink's built-in functions answer as real Flink answered them, and what it has no answer for is not asked."""

import datetime as dt
import json
import math
import re
from decimal import Decimal

import pytest
from flink_functions import ALL, ANSWERS, OTHERWISE, OVER, PREPARE, QUERIES, ROWS
from sampling import sampled

FLINK = json.loads(ANSWERS.read_text())


def moment(text):
    """A time has milliseconds, whatever its type says."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?Z?", text):
        return text
    whole, _, fraction = text.removesuffix("Z").partition(".")
    return f"{whole}.{fraction:0<3}"


def plain(value):
    """As the oracle writes values; the names of a ROW's fields are not compared."""
    match value:
        case str():
            return moment(value)
        case dt.datetime():
            return value.isoformat(" ", "milliseconds")
        case dt.date() | dt.time():
            return value.isoformat()
        case Decimal():
            return str(value)
        case bytes() | bytearray():
            return value.hex()
        case tuple() | list():
            return [plain(v) for v in value]
        case dict():
            return sorted([plain(k), plain(v)] for k, v in value.items())
        case float() if not math.isfinite(value):
            return str(value)
        case float():
            return float(f"{value:.12g}")
    return value


def flink(value):
    match value:
        case str():
            return moment(value)
        case dict():
            return [flink(v) for v in value.values()]
        case list():
            return [flink(v) for v in value]
        case float():
            return float(f"{value:.12g}")
    return value


def rows(wb, query):
    return sorted(([plain(v) for v in row] for row in wb.run(query).frame.collect()), key=repr)


@pytest.fixture(scope="module")
def asked(spark, tmp_path_factory):
    """The table, in Flink's mode."""
    import paimon_nb

    wb = paimon_nb.connect(str(tmp_path_factory.mktemp("flink")), spark=spark)
    wb.run("SET 'execution.runtime-mode' = 'batch';" + PREPARE)
    return wb


def test_flink_was_asked_all_of_them():
    assert list(FLINK) == [*ROWS, *ALL, *OVER, *QUERIES]
    assert len(FLINK) > 450


def together(wb, expressions, first):
    """Answers by expression: one query for all of them. `first`: whether rows are told apart by their id."""
    listed = ", ".join(f"{e} AS c{i}" for i, e in enumerate(expressions))
    found = rows(wb, f"SELECT {'id, ' * first}{listed} FROM f")
    return {e: [[*r[:first], r[i + first]] for r in found] for i, e in enumerate(expressions)}


@pytest.mark.spark
@pytest.mark.parametrize(
    "some",
    [*sampled([ROWS[i : i + 40] for i in range(0, len(ROWS), 40)], 4), OVER, ALL],
    ids=lambda some: some[0],
)
def test_functions(asked, some):
    ours = together(asked, some, first=some[0] not in ALL)
    assert {e: ours[e] for e in some if ours[e] != flink(FLINK[e])} == {e: OTHERWISE[e] for e in some if e in OTHERWISE}


@pytest.mark.spark
@pytest.mark.parametrize(
    "query", [q if i % 3 == 0 else pytest.param(q, marks=pytest.mark.nightly) for i, q in enumerate(QUERIES)]
)
def test_queries(asked, query):
    assert rows(asked, query) == sorted(flink(FLINK[query]), key=repr)


@pytest.mark.spark
def test_what_flink_asks_of_streams_only(asked):
    """SESSION as a window table, and UNNEST of a table's column WITH ORDINALITY, which 1.20 does not do in batch."""
    asked.run("""CREATE TABLE s (k INT, ts TIMESTAMP(3), n INT); INSERT INTO s VALUES (1, TIMESTAMP '2024-01-01 10:00:01', 1),
        (1, TIMESTAMP '2024-01-01 10:05:01', 2), (2, TIMESTAMP '2024-01-01 10:06:00', 3), (1, TIMESTAMP '2024-01-01 10:10:02', 4)""")
    sessions = """SELECT k, window_start, window_end, window_time, SUM(n) FROM TABLE(SESSION(TABLE s PARTITION BY k, DESCRIPTOR(ts),
        INTERVAL '5' MINUTES)) GROUP BY k, window_start, window_end, window_time"""
    day = "2024-01-01 10"
    assert rows(asked, sessions) == [
        [1, f"{day}:00:01.000", f"{day}:10:01.000", f"{day}:10:00.999", 3],
        [1, f"{day}:10:02.000", f"{day}:15:02.000", f"{day}:15:01.999", 4],
        [2, f"{day}:06:00.000", f"{day}:11:00.000", f"{day}:10:59.999", 3],
    ]
    places = "SELECT id, e, o FROM f CROSS JOIN UNNEST(sa) WITH ORDINALITY AS t(e, o)"
    assert rows(asked, places) == [[1, "y", 2], [1, "z", 1], [2, "q", 1]]


@pytest.mark.spark
def test_json_is_made_in_the_order_it_is_written_in(asked):
    """As Flink's documentation of these functions says; a JSON null does not exist, as real Flink 1.20 answers."""
    said = """SELECT JSON_OBJECT('z' VALUE id, 'a' VALUE JSON_ARRAY(JSON_OBJECT('y' VALUE 1, 'b' VALUE NULL), 'x')), JSON_STRING(r),
        JSON_EXISTS('{"n":null}', '$.n'), JSON_VALUE(js, '$["a"]["b"][0]'), JSON_ARRAY(ra) FROM f WHERE id = 1"""
    nested = '{"z":1,"a":[{"y":1,"b":null},"x"]}'
    rows_ = '[[{"p":1,"q":"one"},{"p":2,"q":"two"}]]'
    assert rows(asked, said) == [[nested, '{"p":1,"q":"one"}', False, "1", rows_]]


@pytest.mark.nightly
@pytest.mark.spark
def test_patterns_and_separators_of_any_text(asked):
    """Flink's answers: a pattern may be empty or invalid."""
    asked.run(r"""
        CREATE TABLE patterns (id INT, s STRING, p STRING, r STRING);
        INSERT INTO patterns VALUES (1, 'abc', '[', 'x'), (2, 'abc', '', 'x'), (3, '', 'b', 'x'), (4, CAST(NULL AS STRING), 'b', 'x'),
            (5, 'a b', '', '$1'), (6, 'abc', '(b)(x)?', '\$1'), (7, 'a.b', '.', 'z'), (8, 'abc', CAST(NULL AS STRING), 'y'), (9, '', '', 'q')
    """)
    extracts = ", ".join(f"REGEXP_EXTRACT(s, p, {group})" for group in (0, 1, 2, -1))
    texts = "REGEXP_REPLACE(s, p, r), REPLACE(s, p, r), SPLIT_INDEX(s, p, 0), SPLIT_INDEX(s, p, 1)"
    assert rows(asked, f"SELECT id, REGEXP(s, p), {extracts}, {texts} FROM patterns") == [
        [1, False, None, None, None, None, None, "abc", "abc", None],
        [2, False, "", None, None, None, "xaxbxcx", "xaxbxcx", "abc", None],
        [3, False, None, None, None, None, "", "", None, None],
        [4, *[None] * 9],
        [5, False, "", None, None, None, "$1a$1 $1b$1", "$1a$1 $1b$1", "a", "b"],
        [6, True, "b", "b", None, None, r"a\$1c", "abc", "abc", None],
        [7, True, "a", None, None, None, "zzz", "azb", "a", "b"],
        [8, *[None] * 9],
        [9, False, "", None, None, None, "q", "q", None, None],
    ]
    constants = r"""SELECT REGEXP(s, ''), REGEXP_REPLACE(s, '', '-'), REGEXP_EXTRACT(s, '', 0), REGEXP_REPLACE('a1b2', '[0-9]', '$0'),
        SPLIT_INDEX('a b', '', 1), SPLIT_INDEX('aXbXc', 88, 1), SPLIT_INDEX(CAST(NULL AS STRING), ',', 0),
        REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 2), REGEXP_EXTRACT('ab', '(a)|(x)', 2), REGEXP_EXTRACT('ab', '{', 0),
        REGEXP('ab', '(?P<x>a)'), REGEXP_EXTRACT('abc', '(b)', 5), REGEXP_EXTRACT(s, '*', 0), REGEXP_REPLACE(s, '[', '-'),
        REGEXP_REPLACE(s, 'b', '\') FROM patterns WHERE id = 1"""
    assert rows(asked, constants) == [
        [False, "-a-b-c-", "", "a$0b$0", "b", "b", None, "bar", None, None, False, None, None, None, "a\\c"]
    ]


@pytest.mark.spark
@pytest.mark.parametrize("said", ["'2024-03-10 02:30:00'", "'10.03.2024 02:30', 'dd.MM.yyyy HH:mm'"])
def test_a_wall_time_that_the_session_zone_skips_stays(asked, said):
    """A TIMESTAMP has no zone, so New York's lost hour is an hour like others."""
    zone = asked.spark.conf.get("spark.sql.session.timeZone")
    asked.spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        assert rows(asked, f"SELECT TO_TIMESTAMP({said}), CAST(TO_TIMESTAMP({said}) AS STRING)") == [
            ["2024-03-10 02:30:00.000", "2024-03-10 02:30:00.000"]
        ]
    finally:
        asked.spark.conf.set("spark.sql.session.timeZone", zone)


MONTHS = [
    ("2024-01-31", "2024-02-29", 1, 0, 0, 0, 1),
    ("2024-01-31", "2024-02-28", 0, 0, 0, 0, 0),
    ("2024-01-31", "2024-03-01", 1, 0, 0, 1, 1),
    ("2024-01-31", "2024-03-30", 1, 0, 0, 1, 1),
    ("2024-02-29", "2024-01-31", -1, 0, 0, -1, -1),
    ("2024-03-31", "2024-02-29", -1, 0, 0, -2, -1),
    ("2024-02-29", "2025-02-28", 12, 1, 4, 11, 12),
    ("2024-02-29", "2024-03-29", 1, 0, 0, 0, 1),
    ("2024-02-28", "2024-01-31", 0, 0, 0, 0, 0),
    ("2024-01-15", "2024-02-14", 0, 0, 0, 0, 0),
    ("2024-01-15", "2024-02-15", 1, 0, 0, 0, 1),
    ("2024-02-14", "2024-01-15", 0, 0, 0, 0, 0),
    ("2023-12-31", "2024-06-30", 6, 0, 2, 5, 6),
    ("2024-02-29", "2028-02-28", 47, 3, 15, 47, 47),
    ("2024-05-31", "2024-04-30", -1, 0, 0, -2, -1),
    ("2025-02-28", "2024-02-29", -12, -1, -4, -12, -12),
    ("2024-03-30", "2024-01-31", -1, 0, 0, -1, -1),
]
"""Flink's answers: two days, months, years and quarters between them, months with 10:00 of the first, of the second day."""


@pytest.mark.nightly
@pytest.mark.spark
def test_months_end_with_the_last_day_of_a_shorter_one(swb):
    swb.run("SET 'execution.runtime-mode' = 'batch'")
    values = ", ".join(f"(DATE '{a}', DATE '{b}')" for a, b, *_ in MONTHS)
    at_ten = "CAST({0} AS TIMESTAMP(3)) + INTERVAL '10' HOUR"
    told = swb.sql(f"""
        SELECT CAST(a AS STRING), CAST(b AS STRING), TIMESTAMPDIFF(MONTH, a, b), TIMESTAMPDIFF(YEAR, a, b),
          TIMESTAMPDIFF(QUARTER, a, b), TIMESTAMPDIFF(MONTH, {at_ten.format("a")}, CAST(b AS TIMESTAMP(3))),
          TIMESTAMPDIFF(MONTH, CAST(a AS TIMESTAMP(3)), {at_ten.format("b")})
        FROM (VALUES {values}) AS t(a, b)""").collect()
    assert sorted(map(tuple, told)) == sorted(MONTHS)
