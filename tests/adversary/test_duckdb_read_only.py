"""DuckDB's dialect only reads, and loads or downloads nothing by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import PaimonError, SqlAnalysisError, SqlSyntaxError, UnsupportedOperation

if TYPE_CHECKING:
    from pathlib import Path

duckdb = pytest.importorskip("duckdb")


@pytest.fixture
def wb(tmp_path: Path) -> paimon_nb.Workbench:
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("CREATE TABLE t (id INT, v STRING); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    return wb


PIVOT = "PIVOT t ON v USING sum(id)"
WRITING = [
    "COPY (SELECT 1) TO '{out}'",
    "EXPLAIN ANALYZE COPY (SELECT 42 AS x) TO '{out}'",
    "EXPLAIN ANALYSE COPY (SELECT 42 AS x) TO '{out}'",
    "explain /* a */ analyze COPY (SELECT 42 AS x) TO '{out}'",
    "EXPLAIN (ANALYZE) COPY (SELECT 42 AS x) TO '{out}'",
    "EXPLAIN (ANALYZE, FORMAT json) COPY (SELECT 42 AS x) TO '{out}'",
    "EXPLAIN (FORMAT json) COPY (SELECT 42 AS x) TO '{out}'",
    "EXPLAIN COPY (SELECT 42 AS x) TO '{out}'",
    "EXPLAIN ANALYZE CREATE TABLE zz AS SELECT 1",
    "EXPLAIN ANALYZE INSERT INTO own SELECT 2",
    "EXPLAIN ANALYZE DELETE FROM own",
    "EXPLAIN ANALYZE DROP TABLE own",
    "EXPLAIN ANALYZE ATTACH '{out}' AS e",
    "EXPLAIN ANALYZE EXPORT DATABASE '{out}'",
    "EXPLAIN ANALYZE SET memory_limit = '1GB'",
    "EXPLAIN ANALYZE WITH q AS (INSERT INTO own VALUES (9) RETURNING *) FROM q",
    f"EXPLAIN ANALYZE COPY ({PIVOT}) TO '{{out}}'",
    f"COPY ({PIVOT}) TO '{{out}}'",
    f"CREATE TABLE zz AS {PIVOT}",
    f"/* /* */ */ CREATE TABLE zz AS {PIVOT}",
    f"INSERT INTO own {PIVOT}",
    f"WITH a AS (SELECT 1) INSERT INTO own {PIVOT}",
    f"WITH a AS (INSERT INTO own VALUES (9) RETURNING *) SELECT * FROM a, ({PIVOT})",
    f"SELECT * FROM enable_logging(storage = 'file', storage_path = '{{out}}'), ({PIVOT})",
    "WITH q AS (INSERT INTO own VALUES (9) RETURNING *) SELECT * FROM q",
    "WITH q AS (DELETE FROM own RETURNING *) SELECT * FROM q",
    "WITH q AS (UPDATE own SET a = 9 RETURNING *) SELECT * FROM q",
    "SELECT * FROM (WITH q AS (DELETE FROM own RETURNING *) FROM q)",
    "FROM enable_logging(storage = 'file', storage_path = '{out}')",
    "SELECT E'\\'', * FROM enable_logging(storage = 'file', storage_path = '{out}') --'",
    "SELECT (SELECT count(*) FROM enable_logging(storage = 'file', storage_path = '{out}'))",
    "DESCRIBE SELECT * FROM enable_logging()",
    "FROM enable_profiling(save_location = '{out}')",
    "FROM query('FROM enable_' || 'logging()')",
    "FROM query('FROM enable_logging()')",
    "FROM query('COPY (SELECT 1) TO ''{out}''')",
    "FROM json_execute_serialized_sql(json_serialize_sql('FROM enable_logging()'))",
    "FROM checkpoint()",
    "FROM truncate_duckdb_logs()",
    "FROM create_external_resource('a', 'b')",
    "FROM add_grammar_extension('a')",
    "FROM sqlite_scan('{out}', 'x')",
    "SELECT 1; COPY (SELECT 1) TO '{out}'",
    "PREPARE p AS INSERT INTO own VALUES (9)",
    "INSTALL httpfs", "LOAD httpfs", "PRAGMA database_list", "CALL duckdb_settings()", "SET enable_external_access = true", "RESET threads",
    "ATTACH '{out}' AS e", "EXPORT DATABASE '{out}'", "USE temp", "VACUUM", "CHECKPOINT", "BEGIN", "COMMENT ON TABLE own IS 'x'",
    "MERGE INTO own USING t ON own.a = t.id WHEN MATCHED THEN DELETE", "DELETE FROM own RETURNING *", "TRUNCATE own", "DROP TABLE own",
    "CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')", "CREATE MACRO f(x) AS x + 1", "ALTER TABLE own ADD COLUMN b INT",
]  # fmt: skip


@pytest.mark.parametrize("text", sampled(WRITING, 2))
def test_a_text_that_writes_is_refused_and_changes_nothing(wb: paimon_nb.Workbench, tmp_path: Path, text: str) -> None:
    tables = wb.duckdb()
    tables.connection.execute("CREATE TABLE own (a INT); INSERT INTO own VALUES (1)")
    out = tmp_path / "out"
    with pytest.raises(PaimonError) as raised:
        tables.sql(text.format(out=out)).fetchall()
    assert isinstance(raised.value, UnsupportedOperation | SqlAnalysisError | SqlSyntaxError), raised.value
    assert not out.exists()
    assert tables.connection.execute("FROM own").fetchall() == [(1,)]
    assert tables.connection.execute("SELECT current_setting('enable_logging')").fetchall() == [(False,)]
    assert tables.connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(1,)]


def test_a_displayed_text_is_refused_in_the_same_way(wb: paimon_nb.Workbench, tmp_path: Path) -> None:
    from paimon_nb.session.query.duckdb_tables import run_in_duckdb

    with pytest.raises(UnsupportedOperation, match="COPY is refused"):
        run_in_duckdb(wb.session, f"EXPLAIN ANALYZE COPY (SELECT 42) TO '{tmp_path / 'out'}'", {})
    assert not (tmp_path / "out").exists()


READING = {
    "EXPLAIN SELECT 1": 1,
    "EXPLAIN ANALYZE SELECT * FROM t": 1,
    "EXPLAIN (ANALYZE, FORMAT json) SELECT * FROM t": 1,
    f"EXPLAIN ANALYZE {PIVOT}": 1,
    PIVOT: 1,
    f"SELECT * FROM ({PIVOT}), range(2)": 2,
    "SELECT * FROM query('SELECT 1')": 1,
    "FROM generate_series(1, 3)": 3,
    "WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r WHERE a < 3) FROM r": 3,
    "SELECT id FROM t EXCEPT SELECT 1": 1,
    "SELECT unnest([1, 2])": 2,
    "SELECT 'COPY t TO ''x''' AS \"delete\", id AS \"update\" FROM t": 2,
    "SUMMARIZE t": 2,
    "DESCRIBE t": 2,
    "SELECT * FROM json_each('[1, 2]')": 2,
    "SELECT * FROM duckdb_settings() WHERE name = 'threads'": 1,
}


@pytest.mark.parametrize("text", READING)
def test_a_text_that_reads_is_answered(wb: paimon_nb.Workbench, text: str) -> None:
    assert len(wb.duckdb().sql(text).fetchall()) == READING[text]


def test_a_file_that_the_text_names_is_read(wb: paimon_nb.Workbench, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    assert wb.duckdb().sql(f"FROM '{tmp_path}/a.csv'").fetchall() == [(1,)]


def test_no_extension_is_downloaded_or_loaded_by_itself(wb: paimon_nb.Workbench) -> None:
    connection = wb.duckdb().connection
    names = "'autoinstall_known_extensions', 'autoload_known_extensions'"
    settings = connection.execute(f"SELECT name, value FROM duckdb_settings() WHERE name IN ({names})").fetchall()
    assert sorted(settings) == [("autoinstall_known_extensions", "false"), ("autoload_known_extensions", "false")]
    with pytest.raises(SqlAnalysisError, match=r"httpfs"):
        wb.duckdb().sql("SELECT * FROM 'http://127.0.0.1:9/x.parquet'")
