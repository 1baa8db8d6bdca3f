"""Searches in FROM: `vector_search`, `full_text_search` and `hybrid_search`. They run in this process.

Source: Paimon 2.1 `PaimonTableValuedFunctions`.
"""

from __future__ import annotations

from dataclasses import field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SqlAnalysisError
from paimon_nb.base.identifier import quote, split_name
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.schema import readable_fields
from paimon_nb.format.types import Atomic, DataField
from paimon_nb.sql.table_references import SEARCH_FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import OuterVector, TableFunction, TableRef
    from paimon_nb.table.read import Predicate
    from paimon_nb.table.read.numbered_search import ScoredRows
    from paimon_nb.table.read.plan.snapshot_scan import ScanPlan
    from paimon_nb.table.tables.table import Table

_ARGUMENTS = {
    "vector_search": ("table", "column", "vector", "top_k", "options"),
    "full_text_search": ("table", "column", "query", "limit"),
    "hybrid_search": ("table", "vector_routes", "full_text_routes", "limit", "ranker"),
}
_EXAMPLES = {
    "vector_search": "vector_search('t', 'embedding', ARRAY(0.1, 0.2, 0.3), 5)",
    "full_text_search": "full_text_search('t', 'content', 'lake format', 5)",
    "hybrid_search": "hybrid_search('t', ARRAY(NAMED_STRUCT('field', 'v', 'query_vector', ARRAY(0.1, 0.2))), "
    "ARRAY(NAMED_STRUCT('column', 'content', 'query', 'lake')), 5, 'rrf')",
}
_MAX_ROWS = (1 << 31) - 1
"""Of a search: an INT in Java."""
OUTER_VECTOR = "__outer_vector"
_FOUND = "__found_"
"""Begins the names of columns there, so that the expression of the vector means no column of the searched table."""
SCORE_NAME = "__paimon_search_score"
ROW_NUMBER = "_row_id"
"""The number of a found row: its `_ROW_ID` in a table with data evolution."""


def is_search(function: TableFunction) -> bool:
    """Whether it is `vector_search('t', 'column', ARRAY(1.0, 2.0), 5)`, `full_text_search('t', 'column', 'words', 5)` or `hybrid_search(...)`."""
    return function.name[-1].lower() in SEARCH_FUNCTIONS


def search_rows(
    session: Session, ref: TableRef, columns: Sequence[str] | None, filter: Predicate | None
) -> tuple[pa.Table, tuple[DataField, ...]]:
    """The rows of a search, and their fields. `SELECT *` leaves out the score, as in Spark.

    Args:
        columns: names that the query uses; None: all columns of the table.
        filter: only rows that match are searched.

    Raises: SqlAnalysisError: wrong arguments. SchemaMismatch, ColumnNotFound, BadOptionValue: as in `Table.search`
        and `Table.full_text_search`. UnsupportedOperation: the rows have no numbers, which the search needs.
    """
    from paimon_nb.table.read.vector_search import SCORE

    search = _search_of(session, ref)
    names = {c.lower() for c in columns or ()}
    fields = tuple(f for f in readable_fields(search.table.schema) if columns is None or f.name.lower() in names)
    return search.rows(fields, filter, with_number=ROW_NUMBER in names, with_score=SCORE in names)


def explain_search(session: Session, ref: TableRef) -> str:
    """The Paimon part of EXPLAIN for a search: which rows an index answers for. Reads metadata only."""
    from paimon_nb.table.read.index_search import with_numbered_rows

    search = _search_of(session, ref)
    plan = with_numbered_rows(search.table.scan(ref.filter).plan)
    lines = [f"== Paimon: {ref.function.name[-1].lower() if ref.function else ''} in {search.table.name} =="]
    lines.append(f"filter before the search: {plan.predicate}" if plan.predicate is not None else "filter: none")
    return "\n".join([*lines, *(f"search: {route.how(plan)}" for route in search.routes)])


# -- a search for each row of other tables


def vectors_of_left(outer: OuterVector) -> str:
    """The query of the vectors that the tables to the left have."""
    prefix = f"WITH {outer.definitions} " if outer.definitions else ""
    return f"{prefix}SELECT DISTINCT {outer.expression} AS {quote(OUTER_VECTOR)} FROM {outer.left}"


def lateral_rows(session: Session, ref: TableRef, text: str, vectors: pa.Array) -> pa.Table:
    """The rows of the searches for some vectors, for `lateral_reference`.

    Args:
        text: of the whole statement; a column that it does not name is not computed.
        vectors: without NULL.

    Raises: SqlAnalysisError: wrong arguments. As `search_rows`.
    """
    import pyarrow as pa

    search = _search_of(session, ref, [0.0])
    named = text.lower()
    fields = tuple(
        f for f in readable_fields(search.table.schema) if ref.columns is None or f.name.lower() in map(str.lower, ref.columns)
    )  # fmt: skip
    number, score = ROW_NUMBER in named, SCORE_NAME in named
    tables = []
    for i, vector in enumerate(vectors.to_pylist()):
        one = replace(search, routes=(replace(search.routes[0], vector=vector),))
        rows, _ = one.rows(fields, ref.filter, with_number=number, with_score=score)
        tables.append(rows.append_column(OUTER_VECTOR, vectors.take(pa.array([i] * rows.num_rows, pa.int64()))))
    if not tables:
        from paimon_nb.format.types.arrow_builders import arrow_schema

        schema = arrow_schema(_with_computed(fields, with_number=number, with_score=score), nullable=True)
        tables.append(schema.append(pa.field(OUTER_VECTOR, vectors.type)).empty_table())
    found = pa.concat_tables(tables)
    return found.rename_columns([c if c == OUTER_VECTOR else _FOUND + c for c in found.column_names])


def lateral_reference(view: str, ref: TableRef, columns: Sequence[str]) -> str:
    """The SQL text that replaces such a search: the rows for the vector of a row to the left."""
    assert ref.function is not None
    outer = ref.function.outer
    assert outer is not None
    names = ", ".join(f"{quote(c)} AS {quote(c.removeprefix(_FOUND))}" for c in columns if c != OUTER_VECTOR)
    subquery = f"(SELECT {names} FROM {quote(view)} WHERE {quote(OUTER_VECTOR)} = {outer.expression})"
    return subquery if ref.alias else f"{subquery} AS {quote(ref.function.name[-1])}"


@dataclass(frozen=True, slots=True)
class Route:
    """One search: by a vector, or by words."""

    column: str | None
    vector: list[float] | None
    """None for a full-text search."""
    query: str
    k: int
    weight: float = 1.0
    options: Mapping[str, str] = field(default_factory=dict)

    def found(self, plan: ScanPlan) -> ScoredRows:
        """The best rows. `plan`: of `with_row_numbers`."""
        from paimon_nb.table.read.numbered_search import best_text_numbers, nearest_numbers
        from paimon_nb.table.read.text_search import text_column
        from paimon_nb.table.read.vector_search import vector_column

        if self.vector is None:
            return best_text_numbers(plan, text_column(plan.schema, self.column), self.query, self.k)
        of = vector_column(plan.schema, self.column)
        return nearest_numbers(plan, of, self.vector, self.k, self.options.get("metric"), self.options)

    def how(self, plan: ScanPlan) -> str:
        """How the rows will be found."""
        from paimon_nb.format.index.global_index.text_file import FULL_TEXT_KIND
        from paimon_nb.table.read.index_search import rows_by_index
        from paimon_nb.table.read.text_search import text_column
        from paimon_nb.table.read.vector_search import metric_for_search, searched_rows, vector_column

        if self.vector is None:
            return rows_by_index(plan, text_column(plan.schema, self.column), (FULL_TEXT_KIND,)).how
        of = vector_column(plan.schema, self.column)
        metric = metric_for_search(plan, of, self.options.get("metric"))
        return searched_rows(plan, of, metric, len(self.vector)).how


@dataclass(frozen=True, slots=True)
class Search:
    """The arguments of a search."""

    table: Table
    routes: tuple[Route, ...]
    ranker: str | None
    """None: a single search, which keeps its scores."""
    k: int

    def rows(
        self, fields: Sequence[DataField], filter: Predicate | None, *, with_number: bool, with_score: bool
    ) -> tuple[pa.Table, tuple[DataField, ...]]:
        """The rows that are found, the best first, and their fields."""
        from paimon_nb.table.read.vector_search import SCORE

        read = [f.name for f in fields]
        if with_number or self.ranker is not None:
            rows = self._numbered_rows(read, filter).rename_columns([*read, ROW_NUMBER, SCORE])
        elif self.routes[0].vector is None:
            route = self.routes[0]
            rows = self.table.full_text_search(route.query, self.k, column=route.column, where=filter, columns=read)
        else:
            route = self.routes[0]
            assert route.vector is not None
            rows = self.table.search(
                route.vector, self.k, column=route.column, where=filter, columns=read,
                metric=route.options.get("metric"), options=route.options,
            )  # fmt: skip
        all_fields = _with_computed(fields, with_number=with_number, with_score=with_score)
        return rows.select([f.name for f in all_fields]), all_fields

    def _numbered_rows(self, columns: Sequence[str], filter: Predicate | None) -> pa.Table:
        from paimon_nb.table.read.numbered_search import ranked_together, rows_of_numbers, with_row_numbers

        plan = with_row_numbers(self.table.scan(filter).plan)
        found = [(route.found(plan), route.weight) for route in self.routes]
        best = found[0][0] if self.ranker is None else ranked_together(found, self.ranker, self.k)
        return rows_of_numbers(plan, best, columns)


def _with_computed(fields: Sequence[DataField], *, with_number: bool, with_score: bool) -> tuple[DataField, ...]:
    """The fields with those that a search computes."""
    from paimon_nb.format.data import ROW_ID_FIELD
    from paimon_nb.table.read.vector_search import SCORE, SCORE_ID

    found = list(fields)
    if with_number:
        found.append(DataField(ROW_ID_FIELD.id, ROW_NUMBER, Atomic("BIGINT")))
    if with_score:
        found.append(DataField(SCORE_ID, SCORE, Atomic("FLOAT")))
    return tuple(found)


def _search_of(session: Session, ref: TableRef, vector_of_row: list[float] | None = None) -> Search:
    """The search of a reference. `vector_of_row`: in place of a vector that differs from row to row."""
    assert ref.function is not None
    function, kind = ref.function, ref.function.name[-1].lower()
    names = _ARGUMENTS[kind]
    arguments = dict(zip(names, function.positional, strict=False))
    arguments |= {k.lower(): v for k, v in function.named.items()}
    table, k = arguments.get("table"), arguments.get(names[3])
    unknown = len(function.positional) > len(names) or not arguments.keys() <= set(names)
    if unknown or not isinstance(table, str) or not isinstance(k, int) or isinstance(k, bool):
        raise _wrong_arguments(kind)
    if k > _MAX_ROWS:
        raise SqlAnalysisError(f"{kind}: the number of rows must be at most {_MAX_ROWS}, not {k}", hint=_EXAMPLES[kind])
    found = session.find(split_name(table))
    opened = found.catalog.table(found.name, session.options_of(found)).copy(dict(ref.options))
    if kind == "hybrid_search":
        routes = (*_routes(opened, kind, arguments, names[1], k), *_routes(opened, kind, arguments, names[2], k))
        if not routes:
            raise SqlAnalysisError("Routes cannot be empty", hint=_EXAMPLES[kind])
        return Search(opened, routes, str(arguments.get("ranker") or "rrf"), k)
    of_text = kind == "full_text_search"
    column, value = arguments.get("column"), vector_of_row or arguments.get(names[2])
    if not (isinstance(value, str) if of_text else _is_vector(value)):
        raise _wrong_arguments(kind)
    vector = [float(v) for v in value] if isinstance(value, list) else None
    return Search(
        opened, (Route(_column(opened, column), vector, str(value), k, options=_options(arguments.get("options"))),), None, k
    )  # fmt: skip


def _routes(table: Table, kind: str, arguments: Mapping[str, object], name: str, limit: int) -> list[Route]:
    """The routes of `ARRAY(NAMED_STRUCT('field', 'v', 'query_vector', ARRAY(...), 'limit', 5, 'weight', 1.0, 'options', MAP()), ...)`."""
    structs = arguments.get(name, [])
    if not isinstance(structs, list) or not all(isinstance(s, dict) for s in structs):
        raise _wrong_arguments(kind)
    routes = []
    for struct in structs:
        values = {str(key).lower(): value for key, value in struct.items()}
        of_vector = name == "vector_routes"
        column = values.get("field") or values.get("vector_column") if of_vector else values.get("column")
        value = values.get("query_vector") if of_vector else values.get("query")
        k, weight = values.get("limit", limit), values.get("weight", 1.0)
        right = _is_vector(value) if of_vector else isinstance(value, str)
        if not isinstance(column, str) or not right or not isinstance(k, int) or not _is_number(weight):
            raise _wrong_arguments(kind)
        options = _options(values.get("options"))
        if options and not of_vector:
            raise SqlAnalysisError("full-text routes take no options", hint="'options', MAP()")
        vector = [float(v) for v in value] if isinstance(value, list) else None
        routes.append(Route(_column(table, column), vector, str(value), k, float(weight), options))
    return routes


def _column(table: Table, name: object) -> str | None:
    return None if name is None else table.schema.column_name(str(name))


def _options(value: object) -> dict[str, str]:
    """Options of a map, or of a text such as `ivf.nprobe=16;metric=l2`."""
    if isinstance(value, str):
        pairs = [part.partition("=") for part in value.split(";") if part.strip()]
        if not all(equals for _, equals, _ in pairs):
            raise SqlAnalysisError(f"Invalid option {value!r}", hint="use the format 'key=value;key2=value2'")
        return {key.strip(): v.strip() for key, _, v in pairs}
    return {str(key): str(v) for key, v in value.items()} if isinstance(value, dict) else {}


def _is_vector(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_number, value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _wrong_arguments(kind: str) -> SqlAnalysisError:
    needs = {
        "vector_search": "a table, a column, a vector and a number of rows",
        "full_text_search": "a table, a column, a query and a number of rows",
        "hybrid_search": "a table, an array of vector routes, an array of full-text routes and a number of rows",
    }
    return SqlAnalysisError(f"{kind} needs {needs[kind]}", hint=_EXAMPLES[kind])
