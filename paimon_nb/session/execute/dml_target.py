"""The target table of UPDATE, DELETE and MERGE: its rows in Spark, and the user's expressions over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from paimon_nb.base.errors import InvalidName, SqlAnalysisError
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.session.query.char_columns import with_chars
from paimon_nb.session.query.flink_casts import implicit_cast, is_checked
from paimon_nb.session.query.flink_numeric import with_flink_numerics, with_values_as_select
from paimon_nb.session.query.projection import column_named
from paimon_nb.session.query.run_query import borrowed_views, column_names, temporary_names_of_tables
from paimon_nb.statements import Delete
from paimon_nb.table.write.dml_checks import deletes_from_files

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType as SparkType

    from paimon_nb.format.types import DataType
    from paimon_nb.session.core.statement_context import StatementContext
    from paimon_nb.spark.scan.located_rows import LocatedRows
    from paimon_nb.statements import Assignment, RowChange, Span
    from paimon_nb.table.tables.table import Table


class RenderExpression(Protocol):
    """Renders a user's expression as Spark SQL."""

    def __call__(self, span: Span, bare: tuple[Collection[str], str] = ((), "")) -> str:
        """`bare`: column names to qualify, and the table alias to qualify them with."""
        ...


@dataclass(frozen=True, slots=True)
class Target:
    """A target table; reads rows on request."""

    context: StatementContext
    statement: RowChange
    table: Table

    @property
    def alias(self) -> str:
        """The name that expressions use for the table."""
        assert self.statement.target is not None
        return self.statement.target.alias or self.statement.target.parts[-1]

    @property
    def deletes_from_files(self) -> bool:
        """Whether the statement is a DELETE of Spark's dialect that rewrites files of a primary-key table."""
        is_sparks_delete = isinstance(self.statement, Delete) and not self.context.session.flink_semantics
        return is_sparks_delete and deletes_from_files(self.table.store)

    def rows(self, *, located: bool = False) -> tuple[DataFrame, LocatedRows | None]:
        """The rows that may match the condition, with all columns and the metadata columns that the statement names;
        without a primary key, or if `located`, also with row positions.

        Raises:
            UnsupportedOperation: `located`, and rows of a primary-key table wait to be merged.
        """
        from paimon_nb.spark.scan.located_rows import locate_rows
        from paimon_nb.spark.scan.metadata_columns import add_metadata_columns, with_metadata_columns
        from paimon_nb.spark.scan.table_scan import read_table
        from paimon_nb.sql.grammar.query import ROW_TRACKING_COLUMNS
        from paimon_nb.table.read.split.inline_blobs import AS_STORED
        from paimon_nb.table.write.row_rewrite import check_compacted

        assert self.statement.target is not None
        spark = self.context.session.spark
        filter = self.statement.target.filter
        metadata = [p for p in self.statement.target.metadata_columns if p not in ROW_TRACKING_COLUMNS]
        merged = self.table.store.has_keys and not located
        if merged:  # whole rows are written again: BLOB columns that take only references keep theirs
            table = self.table.copy(AS_STORED) if self.table.store.referring_blobs else self.table
            if metadata:
                return self._with_chars(with_metadata_columns(spark, table, filter, metadata)), None
            return self._with_chars(read_table(spark, table, filter=filter)), None
        source = locate_rows(spark, self.table, filter)
        if located:
            check_compacted(source.plan)
        if metadata:
            source = add_metadata_columns(spark, self.table, source, metadata)
        return self._with_chars(source.frame), source

    def _with_chars(self, frame: DataFrame) -> DataFrame:
        return with_chars(self.context.session, frame, self.table)

    def _column_names(self) -> list[str]:
        """The columns that the user's expressions may name."""
        return list(
            dict.fromkeys([*self.table.schema.names, *column_names(self.context.session, self.statement.tables)])
        )

    def run_sql(self, frames: Sequence[DataFrame], make: Callable[[RenderExpression, Sequence[str]], str]) -> DataFrame:
        """Run SQL that contains the user's expressions.

        Args:
            frames: DataFrames that the SQL reads.
            make: builds the SQL from a renderer of expressions and a view name for each DataFrame.
        """
        from paimon_nb.spark.errors import spark_errors
        from paimon_nb.spark.runtime.flink_json import register_flink_json
        from paimon_nb.sql.qualify import qualify_bare_columns
        from paimon_nb.sql.render import replace_spans

        context, statement = self.context, self.statement
        with (
            temporary_names_of_tables(context.session, statement.tables, context.text) as names,
            borrowed_views(context.session, frames) as views,
        ):

            def rendered_text(span: Span, bare: tuple[Collection[str], str] = ((), "")) -> str:
                inside = [(s, t) for s, t in names.items() if span.start <= s.start and s.stop <= span.stop]
                scoped = qualify_bare_columns(context.text, span, *bare) if bare[0] else []
                # A line comment at its end must not hide the following text.
                flink = statement.flink_edits if context.session.flink_semantics else ()
                return replace_spans(context.text, span, [*inside, *flink, *statement.edits, *scoped]) + "\n"

            with spark_errors(context.text, statement.span, self._column_names):
                text, values = make(rendered_text, views), self.values()
                register_flink_json(context.session.spark, text)
                if not context.session.flink_semantics:
                    return context.session.spark.sql(text, args=values)
                text = with_values_as_select(text)
                frame = context.session.spark.sql(text, args=values)
                return with_flink_numerics(context.session.spark, text, frame, values)

    def values(self) -> dict[str, object] | None:
        """Values of the statement's `:name` markers."""
        return {k: self.context.params[k] for k in self.statement.parameters} or None

    def resolved_assignments(self, assignments: Iterable[Assignment]) -> list[tuple[str, tuple[str, ...], Span]]:
        """(column, path inside it, span of the expression) of `a = ..`, `t.a = ..`, `t.a.field = ..`.

        Raises: ColumnNotFound. SqlAnalysisError: a column is assigned twice.
        """
        out: list[tuple[str, tuple[str, ...], Span]] = []
        seen: set[tuple[str, ...]] = set()
        for name, value in assignments:
            column, *path = self._without_qualifier(name)
            column = column_named(column, list(self.table.schema.names), self.table)
            whole = (column, *path)
            if any(whole[: len(s)] == s or s[: len(whole)] == whole for s in seen):
                raise SqlAnalysisError(f"column {'.'.join(whole)!r} is assigned twice", hint="leave one of them out")
            seen.add(whole)
            out.append((column, tuple(path), value))
        return out

    def _without_qualifier(self, name: tuple[str, ...]) -> tuple[str, ...]:
        """The name without the table's qualifier."""
        assert self.statement.target is not None
        columns = {n.lower() for n in self.table.schema.names}
        parts = self.statement.target.parts
        own = [(self.alias,)] if self.statement.target.alias else [parts[i:] for i in range(len(parts))]
        for prefix in own:
            if (
                len(name) > len(prefix)
                and _same_ignoring_case(name[: len(prefix)], prefix)
                and name[len(prefix)].lower() in columns
            ):
                return name[len(prefix) :]
        return name

    def with_nested_fields_matched(
        self,
        value: Column,
        source: SparkType,
        path: tuple[str, ...],
        *,
        fill: bool = False,
        current: Column | None = None,
    ) -> Column:
        """A value for a column, or for a field inside it, with nested fields in the table's order, see `match_fields`."""
        from paimon_nb.spark.types import spark_type
        from paimon_nb.spark.write.nested_fields import match_fields

        target_type = spark_type(self.table.schema.field(path[0]).type)
        for name in path[1:]:
            fields = {f.name.lower(): f.dataType for f in getattr(target_type, "fields", ())}
            if name.lower() not in fields:
                return value  # Spark says what is wrong
            target_type = fields[name.lower()]
        return match_fields(value, source, target_type, ".".join(path), fill=fill, current=current, or_position=True)

    def columns(self, frame: DataFrame, values: Mapping[str, Column], first: int) -> list[Column]:
        """The table's columns, cast to its types: from `values`, else from `frame`, starting at position `first`.

        Flink casts only the assigned ones: a CHAR without padding, as files of ORC hold it, stays so.
        """
        from pyspark.sql import functions as F

        from paimon_nb.spark.types import spark_type

        def cast_to_stored_type(value: Column, t: DataType) -> Column:
            if not self.context.session.flink_semantics or not is_checked(t):
                return value.cast(spark_type(t))
            return implicit_cast(value, frame.select(value).schema.fields[0].dataType, t)

        return [
            (
                cast_to_stored_type(values[f.name], f.type) if f.name in values else F.col(frame.columns[first + i])
            ).alias(f.name)
            for i, f in enumerate(self.table.schema.fields)
        ]


def open_target(context: StatementContext, statement: RowChange) -> Target:
    """The statement's target table. Raises TableNotFound, InvalidName."""
    session, ref = context.session, statement.target
    assert ref is not None
    if len(ref.parts) == 1 and ref.parts[0] in session.temporary:
        from paimon_nb.session.query.temporary_tables import target_table

        return Target(context, statement, target_table(session, session.temporary[ref.parts[0]]))
    if session.find(ref.parts).name.system is not None:
        raise InvalidName(f"{'.'.join(ref.parts)} is a system table", hint="change the table itself")
    table = session.table(ref.parts, ref.options)
    table.store.check_not_materialized(type(statement).__name__.upper())
    table.store.check_has_snapshots("UPDATE, DELETE and MERGE")
    return Target(context, statement, table)


def with_nested_value(current: Column, path: Sequence[str], value: Column) -> Column:
    """The column with one nested field replaced; the value itself if `path` is empty."""
    return current.withField(".".join(map(quote, path)), value) if path else value


def with_positional_names(frame: DataFrame) -> DataFrame:
    """The DataFrame with columns named by position, since names may be duplicate."""
    return frame.toDF(*[f"__c{i}" for i in range(len(frame.columns))])


def _same_ignoring_case(a: Sequence[str], b: Sequence[str]) -> bool:
    return [x.lower() for x in a] == [x.lower() for x in b]
