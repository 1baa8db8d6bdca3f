# ruff: noqa: N802  the names are Spark's
"""`df.mergeInto(table, condition)`: translates Spark's MERGE builder to a MERGE INTO statement."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.identifier import quote, split_name
from paimon_nb.spark.runtime.jvm_bridge import analyzed_plan, logical_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import Column, DataFrame, SparkSession

_counter = itertools.count()


class PaimonMerge:
    """The result of `mergeInto`. Clauses apply in the order in which they were added; `merge()` runs the statement."""

    def __init__(
        self,
        frame: DataFrame,
        alias: str,
        table: str,
        condition: Column,
        session: SparkSession,
        render: Callable[[Column], str],
    ) -> None:
        """A merge of a DataFrame.

        Args:
            frame: the source.
            alias: the source's name in the columns.
            table: the target.
            condition: when a target row matches a source row.
            session: the frame's Paimon session.
            render: a column of the target and the source as SQL text.
        """
        self._frame, self._alias, self._table, self._session = frame, alias, split_name(table), session
        self._condition, self._clauses, self._evolves_schema = condition, list[str](), False
        self.render = render

    def whenMatched(self, condition: Column | None = None) -> PaimonMerge.Clause:
        """A clause for target rows that match a source row."""
        return self.Clause(self, "MATCHED", condition)

    def whenNotMatched(self, condition: Column | None = None) -> PaimonMerge.Clause:
        """A clause for source rows that match no target row."""
        return self.Clause(self, "NOT MATCHED", condition)

    def whenNotMatchedBySource(self, condition: Column | None = None) -> PaimonMerge.Clause:
        """A clause for target rows that match no source row."""
        return self.Clause(self, "NOT MATCHED BY SOURCE", condition)

    def withSchemaEvolution(self) -> PaimonMerge:
        """Add columns of the source that the table lacks."""
        self._evolves_schema = True
        return self

    def merge(self) -> None:
        """Run the MERGE INTO statement.

        Raises:
            UnsupportedOperation: there is no clause.
        """
        if not self._clauses:
            raise UnsupportedOperation("mergeInto without a clause", hint=".whenMatched().updateAll(), for example")
        view = f"__paimon_merged_{next(_counter)}"
        self._frame.createOrReplaceTempView(view)
        try:
            evolving = "WITH SCHEMA EVOLUTION " if self._evolves_schema else ""
            self._session.sql(
                f"MERGE {evolving}INTO {'.'.join(map(quote, self._table))} USING {quote(view)} AS {quote(self._alias)} "
                f"ON {self.render(self._condition)} {' '.join(self._clauses)}"
            )
        finally:
            self._session.catalog.dropTempView(view)

    class Clause:
        """`WHEN ... THEN` without its action."""

        def __init__(self, merge: PaimonMerge, when: str, condition: Column | None) -> None:
            self._merge = merge
            self._when = f"WHEN {when}" + (f" AND {merge.render(condition)}" if condition is not None else "")

        def updateAll(self) -> PaimonMerge:
            """Set all columns to those of the source row."""
            return self._add_clause("UPDATE SET *")

        def update(self, assignments: Mapping[str, Column]) -> PaimonMerge:
            """Set some columns."""
            render = ", ".join(f"{_quote_column(c)} = {self._merge.render(v)}" for c, v in assignments.items())
            return self._add_clause(f"UPDATE SET {render}")

        def delete(self) -> PaimonMerge:
            """Delete the target row."""
            return self._add_clause("DELETE")

        def insertAll(self) -> PaimonMerge:
            """Insert the source row."""
            return self._add_clause("INSERT *")

        def insert(self, assignments: Mapping[str, Column]) -> PaimonMerge:
            """Insert a row with values of some columns."""
            names = ", ".join(_quote_column(c) for c in assignments)
            return self._add_clause(
                f"INSERT ({names}) VALUES ({', '.join(map(self._merge.render, assignments.values()))})"
            )

        def _add_clause(self, action: str) -> PaimonMerge:
            self._merge._clauses.append(f"{self._when} THEN {action}")
            return self._merge


def _quote_column(name: str) -> str:
    """`v`, `s.x` or `t.v` as SQL."""
    return ".".join(map(quote, split_name(name)))


def classic_merge(frame: DataFrame, table: str, condition: Column, session: SparkSession) -> PaimonMerge:
    """`mergeInto` of a classic session: Spark resolves the columns and renders them."""
    alias = _source_alias(frame)
    both = session.table(table).alias(split_name(table)[-1]).crossJoin(frame.alias(alias))

    def render(column: Column) -> str:
        resolved = analyzed_plan(both.select(column)).projectList().apply(0)
        return (resolved.child() if resolved.getClass().getSimpleName() == "Alias" else resolved).sql()

    return PaimonMerge(frame, alias, table, condition, session, render)


def _source_alias(frame: DataFrame) -> str:
    """The name from `.alias(...)`, else 'source'."""
    plan = logical_plan(frame)
    named = plan.getClass().getSimpleName() == "SubqueryAlias"
    return str(plan.alias()) if named else "source"
