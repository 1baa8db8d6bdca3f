"""What readers of CSV and JSON share: columns are expressions of the embedded engine over one relation."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from paimon_nb.files.engine import reading_engine, sql_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.base.errors import PaimonError
    from paimon_nb.files.column_types import Decision
    from paimon_nb.files.engine import Engine


class EngineReader:
    """Reads the columns of a relation. A subclass finds the relation, and sets `schema` with `_schema_of_columns`."""

    schema: pa.Schema
    how: str

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.guess: Mapping[str, str] = {}
        self._relation = ""
        """What a FROM clause of the engine names."""
        self._names: list[str] = []
        self._decisions: list[Decision] = []
        """How each column is read, in the order of the names."""

    def _error(self, error: Exception) -> PaimonError:
        """An error of the engine as one of ours."""
        raise NotImplementedError

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        """The engine for a block, whose errors are ours."""
        import duckdb

        try:
            with reading_engine() as engine:
                yield engine
        except duckdb.Error as error:
            raise self._error(error) from None

    def _select(self, positions: Sequence[int], source: str = "") -> str:
        parts = [f"{self._decisions[p].sql} AS {sql_name(self._names[p])}" for p in positions]
        return f"SELECT {', '.join(parts)} FROM {source or self._relation}"

    def _schema_of_columns(self, engine: Engine) -> pa.Schema:
        return engine.table(f"{self._select(range(len(self._names)))} LIMIT 0").schema

    def read(self, columns: Sequence[int]) -> pa.Table:
        """These columns, by position."""
        with self._engine() as engine:
            return engine.table(self._select(columns))

    def count(self) -> int:
        """The number of rows."""
        with self._engine() as engine:
            return int(engine.rows(f"SELECT count(*) FROM {self._relation}")[0][0])
