"""DuckDB's own dialect over the tables of a session, read-only: a table that is named becomes a view of a dataset.

A text reads one snapshot of each table, also if it names the table twice and a commit lands meanwhile. DuckDB pushes the columns and conditions of a query into the dataset. `t AT (VERSION => 3)` and `t AT (TIMESTAMP => '...')` read earlier versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.batches import BATCH_ROWS
from paimon_nb.base.errors import (
    EnvironmentError_,
    PaimonError,
    SqlAnalysisError,
    SqlSyntaxError,
    TableNotFound,
)
from paimon_nb.session.core.result import Result
from paimon_nb.session.query.duckdb_read_only import SETTINGS, check_statement_only_reads
from paimon_nb.session.query.frames_and_files import is_frame, is_spark_frame
from paimon_nb.session.query.local.values import quote_name
from paimon_nb.syntax.lexer import tokens
from paimon_nb.table.read import Latest, parse_incremental, parse_travel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paimon_nb.base.identifier import Identifier
    from paimon_nb.session.core.session import Session
    from paimon_nb.syntax.lexer import Token
    from paimon_nb.table.tables.table import Table

MAX_ROWS = 1_000_000
"""Rows of a displayed result, at most."""
_VERSIONS = {"VERSION": ("number", "string"), "TIMESTAMP": ("string",)}
_BEFORE_TABLE = frozenset({"FROM", "JOIN", ","})
_NO_ALIAS = frozenset(
    {"AT", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "POSITIONAL",
     "ASOF", "ANTI", "SEMI", "ON", "USING", "UNION", "INTERSECT", "EXCEPT", "QUALIFY", "WINDOW", "SAMPLE", "TABLESAMPLE", "SELECT", "FROM",
     "PIVOT", "UNPIVOT"}
)  # fmt: skip
"""Words after a table that are not its alias."""


class DuckDbTables:
    """DuckDB over the tables of a workbench, read-only. Created by `Workbench.duckdb`.

    Attributes:
        connection: the `duckdb.DuckDBPyConnection`, in memory; frames and files of your own are registered there.
    """

    def __init__(self, session: Session) -> None:
        try:
            import duckdb
        except ImportError as error:
            raise EnvironmentError_(
                "duckdb is not installed", hint="pip install 'duckdb>=2.0,<2.1'", package="duckdb"
            ) from error
        self.connection = duckdb.connect(config=SETTINGS)
        # Names are looked up here, in the catalog and in the notebook, not in the Python functions that called.
        self.connection.execute("SET python_enable_replacements = false")
        self._session = session

    def sql(self, text: str, /, **params: object) -> Any:
        """Run one or several queries in DuckDB's dialect. `FROM t AT (VERSION => 3)` reads a snapshot or a tag.

        Args:
            text: SELECT, FROM, DESCRIBE, SUMMARIZE or EXPLAIN statements, separated by `;`.
            params: values of `$name` or `:name` markers.

        Returns:
            A `duckdb.DuckDBPyRelation` of the last statement. Its rows are read when it is executed, from the snapshots that
            were the latest at this call.

        Raises:
            UnsupportedOperation: a statement writes.
            SqlSyntaxError: DuckDB cannot parse the text.
            SqlAnalysisError: DuckDB does not find a table, a column or a function, or a parameter has no value.

        Examples:
            >>> wb.duckdb().sql("FROM orders SELECT max(price) WHERE state = 'new'").fetchall()
            [(35,)]
        """
        import duckdb

        words = tokens(text, flink=True)
        named = self._with_views_for_time_travel(text, words)
        try:
            statements = self.connection.extract_statements(named)
            for statement in statements:
                check_statement_only_reads(self.connection, statement)
            self._make_views_of_named_tables(words)
            found = None
            for statement in statements:
                used = {n: params[n] for n in statement.named_parameters if n in params}
                found = self.connection.sql(statement.query, params=used or None)
            if found is None:
                raise SqlSyntaxError("the text has no statement", sql=text)
            return found
        except duckdb.ParserException as error:
            raise SqlSyntaxError(_message(error), sql=text) from error
        except duckdb.Error as error:
            raise SqlAnalysisError(_message(error), sql=text) from error

    # -- names

    def _with_views_for_time_travel(self, text: str, words: Sequence[Token]) -> str:
        """The text with views in place of `t AT (VERSION => 3)`, and `$name` in place of `:name`."""
        parts, done = [], 0
        edits = [(w.start, w.stop, f"${w.text[1:]}") for w in words if w.kind == "param"]
        for first, last, names in _dotted_names(words):
            found = (
                _time_travel_clause_after(words, last) if first and words[first - 1].upper in _BEFORE_TABLE else None
            )
            if found is None:
                continue
            start, stop, kind, value, has_alias = found
            view = self._register_version_view(names, kind, value)
            edits.append((words[first].start, words[last].stop, quote_name(view)))
            edits.append((words[start].start, words[stop].stop, "" if has_alias else f"AS {quote_name(names[-1])}"))
        for start, stop, by in sorted(edits):
            parts += [text[done:start], by]
            done = stop
        return "".join(parts) + text[done:]

    def _register_version_view(self, names: tuple[str, ...], kind: str, value: Token) -> str:
        """The name of a view of an earlier version."""
        table = self._session.table(names)
        if kind == "TIMESTAMP":
            # A time in the future means the latest snapshot, and each scan would look for it again.
            found = table.scan(timestamp=value.value).plan.snapshot
            query = table.at(timestamp=value.value) if found is None else table.at(snapshot=found.id)
        elif value.kind == "number":
            query = table.at(snapshot=int(value.text))
        else:
            query = table.at(tag=value.value)
        name = f"{'.'.join(names)}@{value.value if value.kind == 'string' else value.text}"
        if query.schema.names:  # errors of time travel are raised here, not by DuckDB
            self.connection.register(name, query.to_dataset())
        return name

    def _make_views_of_named_tables(self, words: Sequence[Token]) -> None:
        """A view for each name in the text that is a table, a system table, or a frame of the notebook."""
        names = {names for _, _, names in _dotted_names(words)}
        if {w.upper for w in words} >= {"SHOW", "TABLES"}:
            names |= {(t,) for t in self._session.catalog.tables(self._session.current_database)}
        tables: dict[tuple[str, Identifier], Any] = {}
        for name in sorted(names):
            rows = self._rows_for_duckdb(name, tables)
            if rows is not None:
                self._make_view(name, rows)

    def _rows_for_duckdb(self, names: tuple[str, ...], tables: dict[tuple[str, Identifier], Any]) -> Any:
        """What a name means: rows for DuckDB, or None.

        Args:
            names: the parts of the name.
            tables: the rows of tables that the text names otherwise, by catalog and table; extended.
        """
        session = self._session
        try:
            found = session.find(names)
            known = found.catalog.tables(found.name.database)
            if found.name.table not in known:
                raise TableNotFound(f"no table {found.name}")
            if found.name.system is not None:
                return found.catalog.table(found.name, session.options_of(found)).system(found.name.system)
            key = (found.catalog.name, found.name)
            if key not in tables:
                table = session.table(names)
                has_snapshots = not table.store.is_format_table
                tables[key] = _rows_of_one_snapshot(table) if has_snapshots else table.to_dataset()
            return tables[key]
        except PaimonError:
            if len(names) > 1:
                return None
        value = session.frames(names[0])
        if value is None or not is_frame(value):
            return None
        if not is_spark_frame(value):
            return value
        from paimon_nb.spark.runtime.arrow_interop import as_arrow

        return as_arrow(value)

    def _make_view(self, names: tuple[str, ...], rows: Any) -> None:
        source = ".".join(names)
        self.connection.register(source, rows)
        if len(names) == 1:
            return
        if len(names) == 3:
            self.connection.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {quote_name(names[0])}")
        schema = ".".join(map(quote_name, names[:-1]))
        self.connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        view = ".".join(map(quote_name, names))
        self.connection.execute(f"CREATE OR REPLACE VIEW {view} AS FROM temp.main.{quote_name(source)}")


def _rows_of_one_snapshot(table: Table) -> Any:
    """A table's rows for all scans of a text: a dataset of the snapshot that is the latest now.

    An option that selects a snapshot or changes does so in each scan. Other branches have snapshots of their own, and each scan reads
    the latest.
    """
    store = table.store
    has_time_travel = parse_incremental(store.options) is not None or not isinstance(
        parse_travel(store.options), Latest
    )
    if has_time_travel or store.reads_other_branches:
        return table.to_dataset()
    latest = store.latest()
    if latest is None:
        return table.to_dataset().schema.empty_table()
    return table.copy({"scan.snapshot-id": latest.id, "scan.mode": "default"}).to_dataset()


def _dotted_names(words: Sequence[Token]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """The names `a`, `a.b` and `a.b.c` in a text: positions of the first and the last token, and the parts."""
    position = 0
    while position < len(words):
        first, names = position, []
        while position < len(words) and (name := _identifier_text(words[position])) is not None:
            names.append(name)
            if position + 1 < len(words) and words[position + 1].text == ".":
                position += 2
                continue
            break
        if 1 <= len(names) <= 3 and position < len(words) and _identifier_text(words[position]) is not None:
            yield first, position, tuple(names)
        position += 1


def _identifier_text(word: Token) -> str | None:
    if word.kind == "string" and word.text[0] == '"':
        return word.value
    return word.text if word.kind == "word" else None


def _time_travel_clause_after(words: Sequence[Token], last: int) -> tuple[int, int, str, Token, bool] | None:
    """`AT (VERSION => 3)` after a name and perhaps its alias: first and last token, the kind, the value, and whether an alias is there."""
    at = last + 1
    has_alias = False
    if at < len(words) and words[at].upper == "AS":
        at += 2
        has_alias = True
    elif at < len(words) and _identifier_text(words[at]) is not None and words[at].upper not in _NO_ALIAS:
        at += 1
        has_alias = True
    clause = words[at : at + 6]
    if (
        len(clause) < 6
        or [w.upper for w in clause[:2]] != ["AT", "("]
        or clause[3].text != "=>"
        or clause[5].text != ")"
    ):
        return None
    kind, value = clause[2].upper, clause[4]
    if value.kind not in _VERSIONS.get(kind, ()):
        return None
    if not has_alias and at + 6 < len(words):
        following = words[at + 6]
        has_alias = following.upper == "AS" or (
            _identifier_text(following) is not None and following.upper not in _NO_ALIAS
        )
    return at, at + 5, kind, value, has_alias


def _message(error: Exception) -> str:
    """DuckDB's message without its picture of the text."""
    lines = str(error).partition("\nLINE ")[0].splitlines()
    return " ".join(line.strip() for line in lines if line.strip()) or type(error).__name__


def run_in_duckdb(session: Session, text: str, params: Mapping[str, object]) -> Result:
    """A displayed query in DuckDB's dialect. Raises what `DuckDbTables.sql` raises."""
    import duckdb
    import pyarrow as pa

    tables = DuckDbTables(session)
    try:
        reader = tables.sql(text, **params).to_arrow_reader(BATCH_ROWS)
        batches, count = [], 0
        for batch in reader:
            batches.append(batch)
            count += batch.num_rows
            if count > MAX_ROWS:
                break
        rows = pa.Table.from_batches(batches, reader.schema).slice(0, MAX_ROWS)
    except duckdb.Error as error:
        raise SqlAnalysisError(_message(error), sql=text) from error
    finally:
        tables.connection.close()
    notes = [f"the first {MAX_ROWS:,} rows"] if count > MAX_ROWS else []
    return Result("rows", arrow=rows, is_query=True, notes=notes)
