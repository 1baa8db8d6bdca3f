# ruff: noqa: N802  the names are Spark's
"""`df.mergeInto(table, condition)`: Spark's builder of a MERGE, said as the statement that it is. No rule lives here."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.identifier import quote, split_name
from paimon_nb.spark.runtime.jvm_bridge import analyzed_plan, logical_plan

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_counter = itertools.count()


class PaimonMerge:
    """What `mergeInto` returns. Clauses are tried in the order in which they were added; `merge()` runs them."""

    def __init__(self, frame: DataFrame, table: str, condition: Column, session: SparkSession) -> None:
        self._frame, self._table, self._session = frame, split_name(table), session
        self._alias = _alias(frame)
        self._both = session.table(table).alias(self._table[-1]).crossJoin(frame.alias(self._alias))
        self._condition, self._clauses, self._evolves = condition, list[str](), False

    def whenMatched(self, condition: Column | None = None) -> PaimonMerge.Clause:
        return self.Clause(self, "MATCHED", condition)

    def whenNotMatched(self, condition: Column | None = None) -> PaimonMerge.Clause:
        return self.Clause(self, "NOT MATCHED", condition)

    def whenNotMatchedBySource(self, condition: Column | None = None) -> PaimonMerge.Clause:
        return self.Clause(self, "NOT MATCHED BY SOURCE", condition)

    def withSchemaEvolution(self) -> PaimonMerge:
        self._evolves = True
        return self

    def merge(self) -> None:
        """Raises: UnsupportedOperation: no clause. What MERGE INTO raises."""
        if not self._clauses:
            raise UnsupportedOperation("mergeInto without a clause", hint=".whenMatched().updateAll(), for example")
        view = f"__paimon_merged_{next(_counter)}"
        self._frame.createOrReplaceTempView(view)
        try:
            evolving = "WITH SCHEMA EVOLUTION " if self._evolves else ""
            self._session.sql(
                f"MERGE {evolving}INTO {'.'.join(map(quote, self._table))} USING {quote(view)} AS {quote(self._alias)} "
                f"ON {self.render(self._condition)} {' '.join(self._clauses)}"
            )
        finally:
            self._session.catalog.dropTempView(view)

    def render(self, column: Column) -> str:
        """A column as SQL text: what Spark makes of it where it sees both sides. Raises what an unknown name raises."""
        made = analyzed_plan(self._both.select(column)).projectList().apply(0)
        return str((made.child() if made.getClass().getSimpleName() == "Alias" else made).sql())

    class Clause:
        """`WHEN ... THEN` before its action is said."""

        def __init__(self, merge: PaimonMerge, when: str, condition: Column | None) -> None:
            self._merge = merge
            self._when = f"WHEN {when}" + (f" AND {merge.render(condition)}" if condition is not None else "")

        def updateAll(self) -> PaimonMerge:
            return self._then("UPDATE SET *")

        def update(self, assignments: Mapping[str, Column]) -> PaimonMerge:
            render = ", ".join(f"{_column(c)} = {self._merge.render(v)}" for c, v in assignments.items())
            return self._then(f"UPDATE SET {render}")

        def delete(self) -> PaimonMerge:
            return self._then("DELETE")

        def insertAll(self) -> PaimonMerge:
            return self._then("INSERT *")

        def insert(self, assignments: Mapping[str, Column]) -> PaimonMerge:
            names = ", ".join(_column(c) for c in assignments)
            return self._then(f"INSERT ({names}) VALUES ({', '.join(map(self._merge.render, assignments.values()))})")

        def _then(self, action: str) -> PaimonMerge:
            self._merge._clauses.append(f"{self._when} THEN {action}")
            return self._merge


def _column(name: str) -> str:
    """`v`, `s.x` or `t.v` as SQL."""
    return ".".join(map(quote, split_name(name)))


def _alias(frame: DataFrame) -> str:
    """The name that `.alias(...)` gave the rows."""
    plan = logical_plan(frame)
    named = plan.getClass().getSimpleName() == "SubqueryAlias"
    return str(plan.alias()) if named else "source"
