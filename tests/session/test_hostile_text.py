"""Text that nobody should write: random statements, values that want to be SQL, names of every kind."""

import contextlib
import random
import string
import time

import pytest

import paimon_nb
from paimon_nb.base.errors import EngineError, PaimonError, SqlError
from paimon_nb.sql import parse

SEEDS = [
    "SELECT a, b FROM db.t /*+ OPTIONS('a'='b') */ WHERE x = 'y' AND z IN (1, 2) GROUP BY a HAVING count(*) > 1",
    "WITH w AS (SELECT 1 AS x) SELECT * FROM w JOIN LATERAL (SELECT 2) AS l ON true FOR SYSTEM_TIME AS OF ts",
    "CREATE TABLE t (a INT, b MAP<STRING, ARRAY<INT>>, PRIMARY KEY (a) NOT ENFORCED) PARTITIONED BY (a) WITH ('bucket' = '1')",
    "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED AND t.b > 1 THEN UPDATE SET a = 1 WHEN NOT MATCHED THEN INSERT *",
    "CALL sys.compact('t', partitions => 'a=1', options => map('a', 'b'))",
    "INSERT OVERWRITE t PARTITION (a = 1) SELECT * FROM x; INSERT INTO t VALUES (1, 'it''s', DATE '2024-01-01', NULL)",
    "ALTER TABLE t ADD COLUMNS (x ROW<a INT, b STRING> COMMENT 'c' AFTER a); ALTER TABLE t CREATE TAG x RETAIN 3 DAYS",
    "UPDATE t SET a.b = c + 1 WHERE d LIKE '%x'; DELETE FROM t WHERE a IS NOT NULL",
    "SHOW PARTITIONS t PARTITION (a = 1); DESCRIBE EXTENDED t; SET 'a.b' = 'c'; RESET; USE CATALOG c; EXPLAIN SELECT 1",
    "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END; ANALYZE TABLE t COMPUTE STATISTICS",
    "CREATE TEMPORARY VIEW v AS TABLE t; DROP VIEW IF EXISTS v; TRUNCATE TABLE t; CREATE DATABASE IF NOT EXISTS d",
]
PIECES = [*string.punctuation, "'", "''", "`", "/*", "*/", "/*+", "--", "\n", "\x00", "\ud800", "é", "名", "$", ":x", "??", "(", ")" * 9, "SELECT",
          "FROM", "1e999", "9" * 40, "CAST(", "AS", "::", "=>", "END", "NULL", "⁄", "\u202e", "\\"]  # fmt: skip


def broken(r: random.Random) -> str:
    """A statement with pieces of it taken out, doubled, moved, or replaced by something odd."""
    words = r.choice(SEEDS).split(" ") if r.random() < 0.7 else list(r.choice(SEEDS))
    for _ in range(r.randrange(1, 6)):
        at = r.randrange(len(words)) if words else 0
        match r.randrange(5):
            case 0:
                del words[at : at + r.randrange(1, 4)]
            case 1:
                words.insert(at, r.choice(PIECES))
            case 2:
                words[at:at] = words[at : at + r.randrange(1, 20)]
            case 3:
                words.insert(at, r.choice(SEEDS).split(" ")[0])
            case 4:
                r.shuffle(words)
    return (" " if r.random() < 0.7 else "").join(words)


def test_a_lateral_with_nothing_behind_it_is_spark_s_to_refuse():
    for text in ("SELECT * FROM LATERAL", "(SELECT 1 FROM t, LATERAL)", "SELECT * FROM t JOIN LATERAL WHERE x"):
        [query] = parse(text)
        assert [r.parts for r in query.tables] == ([("t",)] if " t" in text else [])


@pytest.mark.parametrize("count", [2_000, pytest.param(100_000, marks=pytest.mark.nightly)])
def test_random_text_is_read_or_refused(count):
    r = random.Random(count)
    slowest = 0.0
    read = 0
    for _ in range(count):
        text = broken(r)
        begun = time.process_time()
        with contextlib.suppress(SqlError):
            parse(text)
            read += 1
        slowest = max(slowest, time.process_time() - begun)
    assert slowest < 1
    assert count / 20 < read < count  # some of it is SQL, or nothing was tried


@pytest.mark.parametrize("count", [300, pytest.param(20_000, marks=pytest.mark.nightly)])
def test_random_statements_end_with_our_errors(wb, monkeypatch, count):
    def no_spark(_: object) -> None:
        raise EngineError("no Spark in this test", hint="none")

    monkeypatch.setattr(type(wb.session), "spark", property(no_spark))
    monkeypatch.setattr(type(wb.session), "spark_may_have_catalog_entries", property(lambda _self: False))
    r = random.Random(count)
    ended = 0
    for _ in range(count):
        with contextlib.suppress(PaimonError):
            wb.run(broken(r), x=1)
            ended += 1
    assert ended < count


INJECTIONS = [
    "'", "''", "';", "' OR '1'='1", "' OR 1=1 --", "'; DROP TABLE t; --", "x'); DROP TABLE t; --", "x', 1); DELETE FROM t; --", "' UNION SELECT 1 --",
    "' UNION ALL SELECT * FROM t$options --", "\\", "\\'", "\\' OR 1=1 --", "\\\\'; DROP TABLE t; --", '"', '" OR ""="', '"; DROP TABLE t; --', "`", "`; DROP TABLE t; --",
    "``", "/*", "*/", "/* x */", "/*+ OPTIONS('scan.snapshot-id'='1') */", "*/ DROP TABLE t /*", "--", "-- x\n; DROP TABLE t", "\n; DROP TABLE t;\n", "\r\n'", "\x00", "\x00'; DROP TABLE t",
    ":v", ":x", "?", "{v}", "${v}", "%s", "%(v)s", "$1", "CAST(1 AS INT)", "(SELECT max(v) FROM t)", "NULL", "null'--", "1; SET 'a'='b'", "'; CALL sys.purge_files('t'); --",
    "';\u2028DROP TABLE t", "＇; DROP TABLE t", "ʼ OR 1=1", "%27%20OR%201=1", "&#39; OR 1=1", "0x27 OR 1=1", "'||(SELECT 1)||'",
]  # fmt: skip


@pytest.mark.spark
def test_a_value_never_becomes_sql(swb):
    assert len(INJECTIONS) >= 50
    swb.run("CREATE TABLE t (n INT, v STRING)")
    for n, evil in enumerate(INJECTIONS):
        result = swb.run("INSERT INTO t VALUES (:n, :v)", n=n, v=evil)
        assert [i for _, i in result.snapshots][:1] == [swb.table("t").snapshots().num_rows] or len(
            result.snapshots
        ) == 2
    assert sorted(swb.table("t").to_arrow().to_pylist(), key=lambda row: row["n"]) == [
        {"n": n, "v": v} for n, v in enumerate(INJECTIONS)
    ]
    wanted = ", ".join(f":v{n}" for n in range(len(INJECTIONS)))
    values = {f"v{n}": v for n, v in enumerate(INJECTIONS)}
    found = swb.sql(f"SELECT n FROM t WHERE v IN ({wanted})", **values).collect()
    assert sorted(r[0] for r in found) == list(range(len(INJECTIONS)))
    matches = [f"count_if(v = :v{n})" for n in range(len(INJECTIONS))]
    assert list(swb.sql(f"SELECT {', '.join(matches)} FROM t", **values).first()) == [1] * len(INJECTIONS)
    swb.run("DELETE FROM t WHERE v = :v7", v7=INJECTIONS[7])
    assert swb.table("t").to_arrow().num_rows == len(INJECTIONS) - 1
    assert swb.run("SHOW TABLES").arrow.num_rows == 1


def names(count: int) -> list[str]:
    """Identifiers with quotes, dots, keywords and letters of every alphabet; each one a file name that may be."""
    r = random.Random(count)
    known = ["it's", 'a"b', "дом 😀", "select", "timestamp", "a b", "x-y", "UPPER", "1st", "a.b", "😀`s", "表", "ß", "İ", "e\u0301", "a--b", "a;b", "(a)", "{a}", "a=b", "a,b",
             "order", "group", "table", "null", "true", "a%b", "a#b", "a@b", "a?b", "a*b", "~a", "a!", "^", "a+b", "a&b", "a|b", "<a>", "a:b", "[a]", "a`", "``", "'", '"']  # fmt: skip
    letters = "ab_xyz'\"`. -éß名😀дا0129()=,;%#"
    while len(known) < count:
        name = "".join(r.choice(letters) for _ in range(r.randrange(1, 12))).strip()
        if name.strip(". ") == name and name and name not in known:
            known.append(name)
    return known[:count]


def test_two_hundred_identifiers_come_back(wb: paimon_nb.Workbench):
    wanted = names(200)
    for name in wanted:
        quoted = "`" + name.replace("`", "``") + "`"
        wb.run(
            f"CREATE TABLE {quoted} ({quoted} INT) WITH ('bucket' = '-1'); INSERT INTO {quoted} ({quoted}) VALUES (7)"
        )
        assert wb.run(f"DESCRIBE {quoted}").arrow.column("col_name").to_pylist() == [name]
        assert wb.table(f"default.{quoted}").to_arrow().to_pylist() == [{name: 7}]
    assert sorted(wb.run("SHOW TABLES").arrow.column("tableName").to_pylist()) == sorted(wanted)


@pytest.mark.spark
def test_two_hundred_columns_are_found_by_name(swb):
    wanted = [n for n in dict.fromkeys(names(200)) if [m.lower() for m in names(200)].count(n.lower()) == 1]
    quoted = ["`" + n.replace("`", "``") + "`" for n in wanted]
    swb.run(f"CREATE TABLE t ({', '.join(f'{q} INT' for q in quoted)})")
    swb.run(
        f"INSERT INTO t ({', '.join(reversed(quoted))}) VALUES ({', '.join(str(i) for i in reversed(range(len(quoted))))})"
    )
    row = swb.sql(
        f"SELECT {', '.join(quoted)} FROM t WHERE {' AND '.join(f'{q} = {i}' for i, q in enumerate(quoted[:40]))}"
    ).first()
    assert (list(row.asDict()), list(row)) == (wanted, list(range(len(wanted))))
