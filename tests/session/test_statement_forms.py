"""Statements of Flink and Spark that are translated: quantified comparisons, COLLECT, UNKNOWN, EXECUTE IMMEDIATE, DESCRIBE QUERY, casts of '1.5'."""

from pathlib import Path

import pytest

from paimon_nb.base.errors import PaimonError, ReadError, SqlAnalysisError, SqlSyntaxError, UnsupportedOperation


@pytest.fixture
def rows(swb):
    swb.run("CREATE TABLE n (id INT, g STRING, s STRING)")
    swb.run("INSERT INTO n VALUES (1, 'a', '1.5'), (2, 'a', '2'), (3, 'b', 'x'), (CAST(NULL AS INT), 'c', CAST(NULL AS STRING))")  # fmt: skip
    yield lambda text: [tuple(r.values()) for r in swb.run(text).to_arrow().to_pylist()]
    swb.run("RESET 'execution.runtime-mode'")


def results(op: str, kind: str, x: int | None, values: list[int | None]) -> bool | None:
    """The comparison by the rules of SQL."""
    compare = {"=": int.__eq__, "<>": int.__ne__, "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__}
    found = [None if x is None or v is None else bool(compare[op](x, v)) for v in values]
    decisive = kind != "ALL"
    if decisive in found:
        return decisive
    return None if None in found else not decisive


@pytest.mark.nightly
@pytest.mark.spark
def test_quantified_comparisons_have_three_results(rows):
    sets = {"id < 3": [1, 2], "1 = 0": [], "TRUE": [1, 2, 3, None]}
    columns, expected = [], []
    for op, kind in ((">", "ALL"), ("<=", "ANY"), ("=", "ALL"), ("<>", "SOME")):
        for where, values in sets.items():
            columns.append(f"id {op} {kind} (SELECT id FROM n WHERE {where}) AS c{len(columns)}")
            expected.append((op, kind, values))
    found = {r[0]: r[1:] for r in rows(f"SELECT id, {', '.join(columns)} FROM n")}
    for x in (1, 2, 3, None):
        assert found[x] == tuple(results(op, kind, x, values) for op, kind, values in expected)
    assert rows("SELECT id FROM n WHERE NOT (id + 1 <= ALL (SELECT id FROM n WHERE g = 'a')) ORDER BY id") == [(1,), (2,), (3,)]  # fmt: skip
    assert rows("SELECT x.id FROM n x WHERE x.id >= ALL (SELECT y.id FROM n y WHERE y.g = x.g) ORDER BY id") == [(2,), (3,)]  # fmt: skip


@pytest.mark.spark
def test_words_of_flink(swb, rows):
    swb.run("SET 'execution.runtime-mode' = 'batch'")
    assert rows("SELECT COLLECT(g) c, COLLECT(DISTINCT g) d, COLLECT(id) FILTER (WHERE id > 2) f, COLLECT(s) n FROM n WHERE g <> 'c'") == [
        ([("a", 2), ("b", 1)], [("a", 1), ("b", 1)], [(3, 1)], [("1.5", 1), ("2", 1), ("x", 1)])
    ]  # fmt: skip
    assert rows("SELECT TRUE AND UNKNOWN, UNKNOWN OR TRUE, (id > 1) IS UNKNOWN FROM n ORDER BY g") == [
        (None, True, False), (None, True, False), (None, True, False), (None, True, True),
    ]  # fmt: skip
    assert rows("SELECT EXTRACT(ISOYEAR FROM DATE '2013-12-30') y, EXTRACT(MILLENNIUM FROM DATE '2000-12-30') m") == [
        (2014, 2)
    ]
    assert rows("SELECT TRY_CAST(s AS INT), TRY_CAST(TRIM(s) AS BIGINT) FROM n ORDER BY g, s") == [
        (1, 1), (2, 2), (None, None), (None, None),
    ]  # fmt: skip
    literals = "CAST('1.9' AS BIGINT), CAST('-0.5' AS TINYINT), TRY_CAST('128.1' AS TINYINT), TRY_CAST('1e3' AS INT), CAST(CAST('7.9' AS INT) AS STRING)"  # fmt: skip
    assert rows(f"SELECT {literals}") == [(1, 0, None, None, "7")]


@pytest.mark.spark
def test_describe_query_has_names_and_types(rows):
    expected = [("id", "int", None), ("t", "array<string>", None)]
    for text in ("DESCRIBE QUERY SELECT id, array(g) AS t FROM n", "DESC SELECT id, array(g) AS t FROM n"):
        assert rows(text) == expected
    assert rows("DESCRIBE QUERY TABLE n") == [("id", "int", None), ("g", "string", None), ("s", "string", None)]


@pytest.mark.spark
def test_execute_immediate_runs_a_text(rows):
    assert rows("EXECUTE IMMEDIATE 'SELECT id FROM n WHERE id > ? AND g = ? ORDER BY id' USING 1, concat('', 'a')") == [
        (2,)
    ]
    assert rows("EXECUTE IMMEDIATE 'SELECT :low + 1 AS a, ''?'' AS b' USING (2 AS low)") == [(3, "?")]
    rows("EXECUTE IMMEDIATE 'INSERT INTO n VALUES (?, ?, ?)' USING 9, 'z', CAST(NULL AS STRING)")
    assert rows("SELECT * FROM n WHERE g = 'z'") == [(9, "z", None)]


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("EXECUTE IMMEDIATE 'SELECT ?' USING 1, 2", SqlAnalysisError, r"has 1 \?, and USING has 2 values"),
        ("EXECUTE IMMEDIATE 'SELECT :a' USING 1 AS b", SqlAnalysisError, ":a has no value"),
        ("EXECUTE IMMEDIATE 'SELECT ?' USING 1 AS b", SqlAnalysisError, "the values have names"),
        ("EXECUTE IMMEDIATE 'SELECT 1; SELECT 2'", SqlSyntaxError, "runs one statement"),
        ("EXECUTE IMMEDIATE 'EXECUTE IMMEDIATE ''SELECT 1'''", SqlSyntaxError, "cannot run EXECUTE IMMEDIATE"),
        ("EXECUTE IMMEDIATE 'SELEC 1'", SqlSyntaxError, "unknown statement 'SELEC'"),
        ("EXECUTE IMMEDIATE text", SqlSyntaxError, "needs a text in quotes"),
        ("EXECUTE IMMEDIATE 'SELECT 1' INTO v", SqlSyntaxError, "INTO session variables"),
        ("EXECUTE IMMEDIATE 'SELECT 1' USING", SqlSyntaxError, "expected a value"),
    ],
)
def test_mistakes_of_execute_immediate(wb, text, kind, words):
    with pytest.raises(kind, match=words):
        wb.run(text)


def test_msck_and_analyze_of_a_format_table(wb):
    wb.run("CREATE TABLE f (id INT, p DATE) USING parquet PARTITIONED BY (p)")
    wb.run("INSERT INTO f VALUES (1, DATE '2024-01-01')")
    wb.run("ALTER TABLE f ADD PARTITION (p = '2024-02-02')")
    message = wb.run("MSCK REPAIR TABLE f").to_arrow()["result"].to_pylist()
    assert message == ["default.f has 2 partitions: its directories, so there is nothing to register"]
    with pytest.raises(UnsupportedOperation, match="f is a format table: it has no snapshot"):
        wb.run("ANALYZE TABLE f COMPUTE STATISTICS")
    with pytest.raises(PaimonError, match="already has partition"):
        wb.run("ALTER TABLE f ADD PARTITION (p = '2024-02-02')")
    (Path(wb.table("f").path) / "p=abc").mkdir()
    for read in (lambda: wb.run("MSCK REPAIR TABLE f"), lambda: wb.run("SHOW PARTITIONS f"), wb.table("f").to_arrow):
        with pytest.raises(ReadError, match="p=abc is not a partition"):
            read()
