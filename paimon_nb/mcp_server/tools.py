"""The tools of the server: plain functions over a workbench. Results are plain data, ready for JSON."""

from __future__ import annotations

import json
import unicodedata
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import redact_options
from paimon_nb.mcp_server.limits import Limits, too_long_statement, too_many_bytes
from paimon_nb.mcp_server.statements import check_condition, check_file, check_reads_only

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import pyarrow as pa

    from paimon_nb.table.tables.table import Table
    from paimon_nb.workbench import Workbench

_MAX_TEXT = 2_000
"""Characters of one value."""
_CHANGES_DIRECTION = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
"""Characters that make a text look other than it is."""
_TAGS = range(0xE0000, 0xE0080)
"""Invisible letters of Unicode: texts that a person does not see and an assistant reads."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows for an assistant."""

    rows: list[dict[str, Any]]
    note: str | None = None
    """Why rows are left out."""


@dataclass(frozen=True, slots=True)
class ReadOnlyTools:
    """What an assistant can do with a workbench.

    Limits of rows, bytes and the length of statements hold here; those of time and memory need a process, see `ToolProcess`.
    """

    workbench: Workbench
    folders: tuple[Path, ...] = ()
    """Resolved folders whose data files a query may read."""
    limits: Limits = Limits()

    def list_tables(self, database: str | None = None) -> dict[str, list[str]]:
        """List the tables of one database, or of all databases.

        Args:
            database: its name; all databases if absent.
        """
        with self._only_reading():
            names = self.workbench.databases() if database is None else [database]
            return {name: self.workbench.tables(name) for name in names}

    def describe_table(self, table: str) -> dict[str, Any]:
        """Describe a table: columns with types and comments, keys, options, the latest snapshot. Secret options are masked.

        Args:
            table: `database.table`.
        """
        with self._only_reading():
            return self._description(self.workbench.table(table))

    @staticmethod
    def _description(handle: Table) -> dict[str, Any]:
        last = handle.latest_snapshot()
        columns = [{"name": f.name, "type": str(f.type), "comment": f.description} for f in handle.schema.fields]
        about = {
            "table": str(handle.name), "comment": handle.schema.comment, "columns": columns,
            "primary_keys": list(handle.primary_keys), "partition_keys": list(handle.partition_keys),
            "options": redact_options(handle.options.raw), "tags": handle.tags().column("tag_name").to_pylist(),
            "latest_snapshot": None if last is None else {"id": last.id, "time_ms": last.time_ms, "kind": last.commit_kind},
        }  # fmt: skip
        described: dict[str, Any] = _json_value_of_answer(about)
        return described

    def sample(self, table: str, rows: int = 10, where: str | None = None) -> list[dict[str, Any]]:
        """Read some rows of a table.

        Args:
            table: `database.table`.
            rows: how many, at most.
            where: a condition such as `id > 7 AND state = 'new'`.
        """
        return self.answer_sample(table, rows, where).rows

    def query(self, sql: str, rows: int = 100) -> list[dict[str, Any]]:
        """Run one SELECT, SHOW, DESCRIBE or EXPLAIN in Flink's or Spark's dialect. Other statements are refused.

        Args:
            sql: the statement.
            rows: how many rows of the result, at most.
        """
        return self.answer_query(sql, rows).rows

    def why(self, table: str, key: dict[str, Any]) -> str:
        """Explain how the stored versions of a primary key merge into its row.

        Args:
            table: `database.table`.
            key: value by primary-key column.
        """
        with self._only_reading():
            return str(_json_value_of_answer(str(self.workbench.table(table).why(**key)), self.limits.bytes))

    def health(self, table: str) -> list[dict[str, Any]]:
        """Find problems of a table, each with the statement that fixes it.

        Args:
            table: `database.table`.
        """
        with self._only_reading():
            found = self.workbench.table(table).health()
        problems = [{"grade": f.grade, "what": f.what, "detail": f.detail, "fix": f.fix} for f in found]
        plain: list[dict[str, Any]] = _json_value_of_answer(problems)
        return plain

    # -- rows, with the reason why some are left out

    def answer_sample(self, table: str, rows: int = 10, where: str | None = None) -> Answer:
        """`sample` with a note. Raises LimitReached."""
        limit, note = self._limit_of(rows)
        if where:
            self._check_length(where)
            check_condition(where, self.folders)
        with self._only_reading():
            query = self.workbench.table(table).limit(limit)
            return self._answer(query.where(where).to_arrow() if where else query.to_arrow(), limit, note)

    def answer_query(self, sql: str, rows: int = 100) -> Answer:
        """`query` with a note. Raises UnsupportedOperation: the statement does more than read. LimitReached."""
        from paimon_nb.spark.runtime.arrow_interop import as_arrow

        self._check_length(sql)
        check_reads_only(sql, self.folders)
        limit, note = self._limit_of(rows)
        with self._only_reading():
            result = self.workbench.run(sql)
            if result.arrow is not None:
                return self._answer(result.arrow, limit, note)
            assert result.frame is not None
            return self._answer(as_arrow(result.frame.limit(limit + 1)), limit, note)

    def _check_length(self, text: str) -> None:
        if len(text) > self.limits.statement:
            raise too_long_statement(self.limits, len(text))

    @contextmanager
    def _only_reading(self) -> Iterator[None]:
        """Queries and conditions inside the block are checked before Spark analyses them, as are files; no query is a stream."""
        from paimon_nb.session.streaming.stream_session import runtime_mode

        session = self.workbench.session
        before = session.only_reads, session.check_file
        session.only_reads, session.check_file = True, partial(check_file, folders=self.folders)
        try:
            if session.flink_semantics:
                with runtime_mode(session, "batch"):
                    yield
            else:
                yield
        finally:
            session.only_reads, session.check_file = before

    def _limit_of(self, rows: int) -> tuple[int, str | None]:
        """How many rows are returned, and a note if that is fewer than asked for."""
        max_rows = self.limits.rows
        note = f"at most {max_rows:,} rows are returned" if rows > max_rows else None
        return max(0, min(rows, max_rows)), note

    def _answer(self, found: pa.Table, limit: int, note: str | None) -> Answer:
        rows: list[dict[str, Any]] = []
        size = 0
        for row in _plain_rows(found.slice(0, limit)):
            size += len(json.dumps(row))
            if size > self.limits.bytes:
                if not rows:
                    raise too_many_bytes(self.limits)
                return Answer(
                    rows, f"the answer ends after {len(rows):,} rows: it has {self.limits.bytes:,} bytes at most"
                )
            rows.append(row)
        if found.num_rows > limit:
            note = note or f"the first {limit:,} rows; there are more"
        return Answer(rows, note)


def _plain_rows(rows: pa.Table) -> Iterable[dict[str, Any]]:
    """Rows with values that JSON has; long texts are cut."""
    for batch in rows.to_batches(max_chunksize=100):
        for row in batch.to_pylist():
            yield {str(_json_value_of_answer(name)): _json_value_of_answer(value) for name, value in row.items()}


def _json_value_of_answer(value: Any, longest: int = _MAX_TEXT) -> Any:
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if abs(value) < float("inf") else str(value)
        case dict():
            return {str(_json_value_of_answer(str(k))): _json_value_of_answer(v) for k, v in value.items()}
        case list() | tuple():
            return [_json_value_of_answer(v) for v in value]
        case bytes():
            return value[: longest // 2].hex()
    text = str(value)
    return visible_text(text if len(text) <= longest else text[:longest] + "…")


def visible_text(text: str) -> str:
    """The text with invisible characters as escapes: an assistant reads what a person would see."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"\\u{{{ord(c):x}}}" if _is_invisible(c) else c for c in text)


def _is_invisible(c: str) -> bool:
    return c in _CHANGES_DIRECTION or ord(c) in _TAGS or (unicodedata.category(c) == "Cc" and c not in "\n\r\t")
