"""COPY INTO from text: its clauses, its literals, and the place of each error."""

import pytest

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.sql import parse
from paimon_nb.statements import CopyFormat, CopyIntoLocation, CopyIntoTable

CSV = "FILE_FORMAT = (TYPE = CSV)"


def test_every_clause_of_a_load():
    [s] = parse(r"""
        COPY INTO db.t (id, `na me`) FROM '/data/in'
        FILE_FORMAT = (type = csv, field_delimiter = '\t', SKIP_HEADER = 1, NULL_IF = ('', '\\N', '\N'), EMPTY_FIELD_AS_NULL = TRUE)
        ON_ERROR = SKIP_FILE PATTERN = '.*\.csv' FORCE = TRUE
    """)
    assert isinstance(s, CopyIntoTable)
    assert (s.target.parts, s.columns, s.path) == (("db", "t"), ("id", "na me"), "/data/in")
    options = {"FIELD_DELIMITER": "\t", "SKIP_HEADER": "1", "EMPTY_FIELD_AS_NULL": "TRUE"}
    assert s.format == CopyFormat("csv", options, ("", r"\N", r"\N"))
    assert (s.pattern, s.force, s.on_error) == (r".*\.csv", True, "SKIP_FILE")


def test_what_is_left_out_has_a_default():
    [load, table, query] = parse(
        f"""COPY INTO t FROM "it''s" {CSV};
        COPY INTO '/out' FROM db.t FILE_FORMAT = (TYPE = PARQUET, COMPRESSION = GZIP);
        COPY INTO '/out' FROM (SELECT * FROM t WHERE id IN (:a, (2))) FILE_FORMAT = (TYPE = JSON) OVERWRITE = TRUE"""
    )
    assert isinstance(load, CopyIntoTable)
    assert (load.columns, load.pattern, load.force, load.on_error) == (None, None, False, "ABORT_STATEMENT")
    assert load.path == "it''s"
    assert isinstance(table, CopyIntoLocation)
    assert table.table is not None
    assert (table.table.parts, table.query, table.overwrite) == (("db", "t"), None, False)
    assert isinstance(query, CopyIntoLocation)
    assert query.query is not None
    assert (query.table, query.query.tables[0].parts, query.parameters, query.overwrite) == (None, ("t",), ("a",), True)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("COPY t FROM '/x'", "t"),
        ("COPY INTO t FROM (SELECT 1) " + CSV, "("),
        ("COPY INTO t FROM x " + CSV, "x"),
        ("COPY INTO t FROM '/x' FILES = ('a.csv')", "FILES"),
        ("COPY INTO t FROM '/x' FORCE = 1", "1"),
        (f"COPY INTO t FROM '/x' {CSV} FORCE = TRUE FORCE = FALSE", "FORCE"),
        (f"COPY INTO t FROM '/x' {CSV} ON_ERROR = SKIP_FILE_10", "SKIP_FILE_10"),
        (f"COPY INTO t FROM '/x' {CSV} OVERWRITE = TRUE", "OVERWRITE"),
        ("COPY INTO t FROM '/x' FILE_FORMAT = (QUOTE = '|')", "(QUOTE = '|')"),
        ("COPY INTO t FROM '/x' FILE_FORMAT = (TYPE = ORC)", "ORC"),
        ("COPY INTO t FROM '/x' FILE_FORMAT = (TYPE = CSV, type = CSV)", "type"),
        ("COPY INTO t FROM '/x' FILE_FORMAT = (TYPE = CSV, MODE = FAILFAST)", "MODE"),
        ("COPY INTO t FROM '/x' FILE_FORMAT = (TYPE = JSON, QUOTE = '|')", "QUOTE"),
        ("COPY INTO t FROM '/x' FILE_FORMAT = (TYPE = CSV, HEADER = maybe)", "maybe"),
        ("COPY INTO t FROM '/x' FILE_FORMAT = (TYPE = CSV, SKIP_HEADER = two)", "two"),
        ("COPY INTO t FROM '/x' FILE_FORMAT = (TYPE = JSON, DELIM = ';')", "DELIM"),
        ("COPY INTO t FROM '/x' FILE_FORMAT = (TYPE = CSV, QUOTE = ('a', 'b'))", "('a', 'b')"),
        ("COPY INTO '/x' FROM t FILE_FORMAT = (TYPE = CSV, SKIP_HEADER = 1)", "SKIP_HEADER"),
        ("COPY INTO '/x' FROM () " + CSV, ")"),
        ("COPY INTO '/x' FROM (DROP TABLE t) " + CSV, "DROP TABLE t"),
        ("COPY INTO '/x' FROM (WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a) " + CSV, "WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a"),
    ],
)  # fmt: skip
def test_an_error_is_where_the_statement_is_wrong(text, at):
    with pytest.raises(SqlSyntaxError) as caught:
        parse(text)
    start = text.index(at) if at in "()" else text.rindex(at)
    assert (caught.value.facts["start"], caught.value.facts["stop"]) == (start, start + len(at))


def test_files_have_a_format():
    with pytest.raises(SqlSyntaxError, match="expected FILE_FORMAT"):
        parse("COPY INTO t FROM '/x'")
