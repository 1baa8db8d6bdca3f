"""`paimon-nb mcp`: a server for assistants that speak the Model Context Protocol. Every tool only reads.

The tools are plain functions; the official `mcp` package (an extra) serves them over standard input and output.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import EnvironmentError_, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.sql.parse import parse
from paimon_nb.statements import Describe, Query, Show, ShowCreate
from paimon_nb.syntax.lexer import tokens

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_nb.workbench import Workbench

MAX_ROWS = 1_000
_MAX_TEXT = 2_000
"""Characters of one value."""
_READING = (Query, Show, ShowCreate, Describe)
_JAVA_CALLS = frozenset({"reflect", "java_method", "try_reflect"})
"""Functions of Spark that call any static method of Java."""


@dataclass(frozen=True, slots=True)
class ReadOnlyTools:
    """What an assistant can do with a workbench. Results are plain data, ready for JSON."""

    workbench: Workbench

    def list_tables(self, database: str | None = None) -> dict[str, list[str]]:
        """List the tables of one database, or of all databases.

        Args:
            database: its name; all databases if absent.
        """
        names = self.workbench.databases() if database is None else [database]
        return {name: self.workbench.tables(name) for name in names}

    def describe_table(self, table: str) -> dict[str, Any]:
        """Describe a table: columns with types and comments, keys, options, the latest snapshot.

        Args:
            table: `database.table`.
        """
        handle = self.workbench.table(table)
        last = handle.latest_snapshot()
        columns = [{"name": f.name, "type": str(f.type), "comment": f.description} for f in handle.schema.fields]
        return {
            "table": str(handle.name), "comment": handle.schema.comment, "columns": columns,
            "primary_keys": list(handle.primary_keys), "partition_keys": list(handle.partition_keys),
            "options": dict(handle.options.raw), "tags": handle.tags().column("tag_name").to_pylist(),
            "latest_snapshot": None if last is None else {"id": last.id, "time_ms": last.time_ms, "kind": last.commit_kind},
        }  # fmt: skip

    def sample(self, table: str, rows: int = 10, where: str | None = None) -> list[dict[str, Any]]:
        """Read some rows of a table.

        Args:
            table: `database.table`.
            rows: how many, at most.
            where: a condition such as `id > 7 AND state = 'new'`.
        """
        query = self.workbench.table(table).limit(max(0, min(rows, MAX_ROWS)))
        return plain_rows(query.where(where).to_arrow() if where else query.to_arrow())

    def query(self, sql: str, rows: int = 100) -> list[dict[str, Any]]:
        """Run one SELECT, SHOW or DESCRIBE in Flink's or Spark's dialect. Other statements are refused.

        Args:
            sql: the statement.
            rows: how many rows of the result, at most.
        """
        check_reads_only(sql)
        limit = max(0, min(rows, MAX_ROWS))
        result = self.workbench.run(sql)
        if result.arrow is not None:
            return plain_rows(result.arrow.slice(0, limit))
        assert result.frame is not None
        from paimon_nb.spark.runtime.arrow_interop import as_arrow

        return plain_rows(as_arrow(result.frame.limit(limit)))

    def why(self, table: str, key: dict[str, Any]) -> str:
        """Explain how the stored versions of a primary key merge into its row.

        Args:
            table: `database.table`.
            key: value by primary-key column.
        """
        return str(self.workbench.table(table).why(**key))

    def health(self, table: str) -> list[dict[str, Any]]:
        """Find problems of a table, each with the statement that fixes it.

        Args:
            table: `database.table`.
        """
        return [
            {"grade": f.grade, "what": f.what, "detail": f.detail, "fix": f.fix}
            for f in self.workbench.table(table).health()
        ]


def check_reads_only(sql: str) -> None:
    """Raises UnsupportedOperation for a text that is not one reading statement. SqlSyntaxError."""
    statements = parse(sql)
    if len(statements) != 1 or not isinstance(statements[0], _READING):
        what = " and ".join(type(s).__name__ for s in statements) or "nothing"
        raise UnsupportedOperation(
            f"only one SELECT, SHOW or DESCRIBE can be run here, not {what}", hint="use SQL in a notebook for changes"
        )
    called = {t.text.lower().strip("`") for t in tokens(sql)} & _JAVA_CALLS
    if called:
        raise UnsupportedOperation(f"function {min(called)} calls Java and is refused here", hint="leave it out")


def plain_rows(rows: pa.Table) -> list[dict[str, Any]]:
    """Rows with values that JSON has; long texts are cut."""
    return [{name: _json_value_of_answer(value) for name, value in row.items()} for row in rows.to_pylist()]


def _json_value_of_answer(value: Any) -> Any:
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if abs(value) < float("inf") else str(value)
        case dict():
            return {str(k): _json_value_of_answer(v) for k, v in value.items()}
        case list() | tuple():
            return [_json_value_of_answer(v) for v in value]
        case bytes():
            return value[: _MAX_TEXT // 2].hex()
    text = str(value)
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "…"


def create_server(workbench: Workbench) -> Any:
    """The server with all tools, of the `mcp` package.

    Raises: EnvironmentError_: the package is not installed.
    """
    try:
        served, types = import_module("mcp.server"), import_module("mcp_types")
    except ImportError as error:
        raise EnvironmentError_("mcp is not installed", hint="pip install 'paimon-nb[mcp]'", package="mcp") from error
    made = served.MCPServer("paimon-nb", instructions="Reads Apache Paimon tables. Nothing can be changed through it.")
    tools = ReadOnlyTools(workbench)
    for tool in (tools.list_tables, tools.describe_table, tools.sample, tools.query, tools.why, tools.health):
        made.add_tool(tool, annotations=types.ToolAnnotations(read_only_hint=True))
    return made
