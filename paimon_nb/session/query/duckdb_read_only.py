"""Which texts in DuckDB's dialect only read. DuckDB's own parser decides, so a comment or a quote cannot hide a part of the text.

An allow-list: a kind of statement, a kind of query and a table function that is not known to only read is refused.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedOperation

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
"""Settings of each connection that this package opens: nothing is downloaded, and no native code is loaded by itself."""

_QUERIES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE", "STATEMENT_NODE"})
"""Kinds of queries that only read. INSERT_QUERY_NODE is `WITH a AS (INSERT ... RETURNING *)`."""
_READING_FUNCTIONS = frozenset(
    {"arrow_scan", "arrow_scan_dumb", "duckdb_approx_database_count", "duckdb_available_metrics", "duckdb_columns",
     "duckdb_connection_count", "duckdb_constraints", "duckdb_coordinate_systems", "duckdb_databases", "duckdb_dependencies",
     "duckdb_dialects", "duckdb_eviction_queues", "duckdb_extension_repositories", "duckdb_extensions", "duckdb_external_file_cache",
     "duckdb_external_resource_types", "duckdb_external_resources", "duckdb_functions", "duckdb_grammar_extensions", "duckdb_indexes",
     "duckdb_keywords", "duckdb_live_query_metrics", "duckdb_log_contexts", "duckdb_logs", "duckdb_logs_parsed", "duckdb_memory",
     "duckdb_optimizers", "duckdb_prepared_statements", "duckdb_profiling_settings", "duckdb_schemas", "duckdb_secret_type_parameters",
     "duckdb_secret_types", "duckdb_secrets", "duckdb_sequences", "duckdb_settings", "duckdb_table_sample", "duckdb_tables",
     "duckdb_temporary_files", "duckdb_triggers", "duckdb_types", "duckdb_variables", "duckdb_views", "generate_series", "glob",
     "histogram", "histogram_values", "icu_calendar_names", "json_each", "json_tree", "pandas_scan", "parquet_bloom_probe",
     "parquet_file_metadata", "parquet_full_metadata", "parquet_kv_metadata", "parquet_metadata", "parquet_page_index", "parquet_scan",
     "parquet_schema", "pg_timezone_names", "pragma_collations", "pragma_database_size", "pragma_metadata_info", "pragma_platform",
     "pragma_show", "pragma_storage_info", "pragma_table_info", "pragma_user_agent", "pragma_version", "python_arrow_scan", "query_table",
     "range", "read_blob", "read_csv", "read_csv_auto", "read_json", "read_json_auto", "read_json_objects", "read_json_objects_auto",
     "read_ndjson", "read_ndjson_auto", "read_ndjson_objects", "read_parquet", "read_text", "repeat", "repeat_row", "seq_scan", "sniff_csv",
     "summary", "test_all_types", "test_vector_types", "unnest", "which_secret"}
)  # fmt: skip
"""Table functions that only read. `enable_logging` writes a file, `query` runs a text that is computed."""
_WRITING_WORDS = frozenset(
    {"ALTER", "ANALYZE", "ATTACH", "CALL", "CHECKPOINT", "COMMENT", "COPY", "CREATE", "DELETE", "DETACH", "DROP", "EXECUTE", "EXPORT", "IMPORT",
     "INSERT", "INSTALL", "LOAD", "MERGE", "PRAGMA", "PREPARE", "RESET", "SET", "TRUNCATE", "UPDATE", "UPDATING", "USE", "VACUUM"}
)  # fmt: skip
_HINT = "write with Paimon's SQL: wb.run('INSERT ...')"
_MAX_DEPTH = 3
"""EXPLAIN, its statement, and the text of `query('...')`."""


def check_statement_only_reads(connection: duckdb.DuckDBPyConnection, statement: Any, depth: int = 0) -> None:
    """Raises UnsupportedOperation: the statement writes, changes DuckDB, or is not known to only read.

    Args:
        connection: its parser is used; nothing of the statement runs.
        statement: of `connection.extract_statements`.
    """
    kind, text = statement.type.name, statement.query
    words = _words(text)
    first = words[0].upper() if words else ""
    if depth > _MAX_DEPTH:
        raise UnsupportedOperation("the statement is nested too deeply", hint="write the inner query itself")
    if kind == "EXPLAIN" or (kind == "MULTI" and first == "EXPLAIN"):
        _check_text_only_reads(connection, _explained(text), depth + 1)
    elif kind == "SELECT":
        _check_query(connection, text, depth)
    elif kind == "MULTI":  # PIVOT, whose columns DuckDB finds by a query of its own; it has no tree
        _check_words(words)
    else:
        raise UnsupportedOperation(f"DuckDB only reads here: {first or kind} is refused", hint=_HINT)


def _check_text_only_reads(connection: duckdb.DuckDBPyConnection, text: str, depth: int) -> None:
    for statement in connection.extract_statements(text):
        check_statement_only_reads(connection, statement, depth)


def _explained(text: str) -> str:
    """The statement after EXPLAIN [ANALYZE], EXPLAIN (ANALYZE, FORMAT json)."""
    found = _positions(text)
    at = 1
    if at < len(found) and found[at][1].startswith("("):
        depth = 0
        while at < len(found):
            depth += found[at][1].count("(") - found[at][1].count(")")
            at += 1
            if depth <= 0:
                break
    if at < len(found) and found[at][1].upper() in ("ANALYZE", "ANALYSE"):
        at += 1
    return text.encode()[found[at][0] :].decode() if at < len(found) else ""


def _check_query(connection: duckdb.DuckDBPyConnection, text: str, depth: int) -> None:
    # A connection of its own: inside a transaction of the caller's, an error would end that transaction.
    row = connection.cursor().execute("SELECT json_serialize_sql(?)", [text]).fetchone()
    tree = json.loads(row[0]) if row else {"error": True}
    if tree.get("error"):
        _check_words(_words(text))
        return
    for node in _nodes(tree):
        kind = node.get("type")
        if isinstance(kind, str) and kind.endswith("_NODE") and kind not in _QUERIES:
            raise UnsupportedOperation(
                f"DuckDB only reads here: {kind.removesuffix('_NODE').removesuffix('_QUERY')} inside a query is refused",
                hint=_HINT,
            )
        if kind == "TABLE_FUNCTION":
            function = node.get("function") or {}
            name = str(function.get("function_name", "")).lower()
            if name == "query":
                _check_text_only_reads(connection, _literal_argument(function), depth + 1)
            else:
                _check_function(name)


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            yield node
            todo += node.values()
        elif isinstance(node, list):
            todo += node


def _literal_argument(function: dict[str, Any]) -> str:
    """The text of `query('...')`. Raises UnsupportedOperation for a text that is computed."""
    arguments = function.get("arguments") or []
    values = [(a.get("expression") or {}) for a in arguments]
    literal = values[0].get("literal") if len(values) == 1 else None
    if not isinstance(literal, dict) or literal.get("kind") != "STRING" or not isinstance(literal.get("text"), str):
        raise UnsupportedOperation("the text of query(...) is computed", hint="write it as one literal")
    return str(literal["text"])


def _check_function(name: str) -> None:
    if name not in _READING_FUNCTIONS:
        raise UnsupportedOperation(
            f"the table function {name} is not known to only read, and is refused",
            hint="run it on a connection of your own: wb.duckdb().connection.sql(...)", function=name,
        )  # fmt: skip


def _check_words(words: list[str]) -> None:
    """A statement without a tree: no word of it may write, and nothing that is called may be a table function that writes."""
    writing = next((w.upper() for w in words if w.upper() in _WRITING_WORDS), None)
    if writing is not None:
        raise UnsupportedOperation(f"DuckDB only reads here: {writing} is refused", hint=_HINT)
    import duckdb

    called = {a.strip('"').lower() for a, b in pairwise(words) if b.startswith("(")}
    with duckdb.connect(config=SETTINGS) as fresh:
        functions = fresh.execute(
            "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE function_type IN ('table', 'table_macro', 'pragma')"
        ).fetchall()
    for name in sorted(called & {n for (n,) in functions}):
        _check_function(name)


def _words(text: str) -> list[str]:
    return [word for _, word in _positions(text)]


def _positions(text: str) -> list[tuple[int, str]]:
    """Position in bytes and text of each token, without comments; DuckDB's own tokens."""
    import duckdb

    whole = text.encode()
    found = duckdb.tokenize(text)
    ends = [start for start, _ in found[1:]] + [len(whole)]
    return [
        (start, whole[start:end].decode(errors="replace").strip())
        for (start, kind), end in zip(found, ends, strict=True)
        if kind != duckdb.token_type.comment
    ]
