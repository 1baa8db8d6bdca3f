"""Searches as procedures, as in Flink: vector_search and full_text_search. Each row of the result is JSON.

Source: Paimon 2.1 `VectorSearchProcedure`, `FullTextSearchProcedure`.
"""

from __future__ import annotations

import base64
import json
import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.format.row import cast_to_string, from_scalar, to_scalar
from paimon_nb.format.schema import readable_fields
from paimon_nb.format.types import Array, Atomic, DataField, Map, Multiset, Row
from paimon_nb.options import parse_names
from paimon_nb.options.table import QUERY_AUTH_ENABLED
from paimon_nb.procedures.procedure import (
    Argument,
    Context,
    Procedure,
    named_partitions,
    parse_options,
    table_argument,
)
from paimon_nb.table.read.partition_spec import in_row_spec
from paimon_nb.table.read.predicate.parser import parse_predicate

if TYPE_CHECKING:
    from paimon_nb.format.types import DataType
    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.tables.table import Table

_MAX_ROWS = 10_000


def _vector_search(
    context: Context,
    table: str,
    vector_column: str,
    query_vector: str,
    top_k: int,
    projection: str | None,
    options: str | None,
    where: str | None,
    partitions: str | None,
) -> pa.Table:
    values = _search_options("vector_search", options)
    target = context.table(table, values)
    try:
        vector = [float(part) for part in query_vector.strip().strip("[]").split(",")]
    except ValueError:
        raise BadOptionValue(
            f"vector_search: query_vector cannot be {query_vector!r}",
            hint="write '0.1,0.2,0.3'",
            argument="query_vector",
        ) from None
    if not all(map(math.isfinite, vector)):
        raise BadOptionValue(
            f"vector_search: query_vector cannot be {query_vector!r}",
            hint="write finite numbers",
            argument="query_vector",
        )
    names, condition = _columns_of(target, projection), _condition(context, target, where, partitions)
    found = target.search(
        vector, _checked_k("vector_search", top_k), column=vector_column, where=condition, columns=names,
        metric=values.get("metric"), options=values,
    )  # fmt: skip
    return _as_json(context, target, found, projection)


def _full_text_search(
    context: Context, table: str, column: str, query: str, top_k: int, projection: str | None, options: str | None
) -> pa.Table:
    target = context.table(table, _search_options("full_text_search", options))
    k, names = _checked_k("full_text_search", top_k), _columns_of(target, projection)
    return _as_json(context, target, target.full_text_search(query, k, column=column, columns=names), projection)


def _search_options(procedure: str, text: str | None) -> dict[str, str]:
    """Raises: BadOptionValue: the text changes who may read the table."""
    options = parse_options(text)
    if QUERY_AUTH_ENABLED.key in options:
        raise BadOptionValue(
            f"{procedure}: {QUERY_AUTH_ENABLED.key!r} cannot be set for one search", hint="leave it out", option=QUERY_AUTH_ENABLED.key
        )  # fmt: skip
    return options


def _checked_k(procedure: str, k: int) -> int:
    if not 1 <= k <= _MAX_ROWS:
        raise BadOptionValue(f"{procedure}: top_k cannot be {k}", hint=f"use 1 to {_MAX_ROWS:,}", argument="top_k")
    return k


def _columns_of(table: Table, projection: str | None) -> list[str]:
    """Names of the table's columns in the result, without the score."""
    from paimon_nb.table.read.vector_search import SCORE

    if projection is None:
        return [f.name for f in readable_fields(table.schema)]
    names = list(parse_names(projection))
    if twice := [n for n in names if names.count(n) > 1]:
        raise BadOptionValue(
            f"projection names {twice[0]!r} twice", hint="name each column once", argument="projection"
        )
    return [table.schema.column_name(n) for n in names if n != SCORE]


def _condition(context: Context, table: Table, where: str | None, partitions: str | None) -> Predicate | None:
    """Both conditions as one."""
    from paimon_nb.table.read.predicate.model import And, Compare, IsNull, Or, conjunction_of

    def equals(column: str, value: Any) -> Predicate:
        if value is None:
            return IsNull(column)
        return Compare(column, "=", to_scalar(table.schema.field(column).type, value).as_py())

    parts = [parse_predicate(where, table.schema, session=table.store.sql)] if where else []
    if partitions and partitions.strip(" ;"):
        schema = table.schema
        specs = [in_row_spec(schema, spec) for spec in named_partitions(context, table, partitions)]
        keys = set(schema.partition_keys)
        if any(spec.keys() != keys for spec in specs) or any(
            not part.strip() for part in partitions.rstrip(";").split(";")
        ):
            raise BadOptionValue(
                f"partitions: {partitions!r} does not name each partition column",
                hint=f"name {', '.join(schema.partition_keys) or 'no partition: the table has none'}", argument="partitions",
            )  # fmt: skip
        parts.append(Or(tuple(And(tuple(equals(c, v) for c, v in spec.items())) for spec in specs)))
    return conjunction_of(parts) if parts else None


def _as_json(context: Context, table: Table, found: pa.Table, projection: str | None) -> pa.Table:
    """One JSON object per row, the best first; the score only where the projection names it. Values are texts, as in Java."""
    from paimon_nb.table.read.vector_search import HOW, SCORE, SCORE_ID

    context.notes.append((found.schema.metadata or {}).get(HOW, b"").decode())
    score = DataField(SCORE_ID, SCORE, Atomic("FLOAT"))
    names = _columns_of(table, None) if projection is None else list(parse_names(projection))
    fields = [score if n == SCORE else table.schema.field(table.schema.column_name(n)) for n in names]
    columns = [[_json_value(f.type, scalar) for scalar in found.column(f.name)] for f in fields]
    rows = [
        json.dumps(dict(zip(names, values, strict=True)), separators=(",", ":"), ensure_ascii=False)
        for values in (zip(*columns, strict=True) if columns else [()] * found.num_rows)
    ]
    return pa.table({"result": pa.array(rows, pa.string())})


def _json_value(t: DataType, scalar: pa.Scalar) -> Any:
    """A value as Java's JSON writer has it: lists and objects of texts."""
    if not scalar.is_valid:
        return None
    match t:
        case Array():
            return [_json_value(t.element, element) for element in scalar.values]
        case Map() | Multiset():
            value_type = t.value if isinstance(t, Map) else Atomic("INT")
            key_type = t.key if isinstance(t, Map) else t.element
            return {str(_json_value(key_type, e["key"])): _json_value(value_type, e["value"]) for e in scalar.values}
        case Row():
            return {f.name: _json_value(f.type, scalar[f.name]) for f in t.fields}
    if t.root in ("BINARY", "VARBINARY"):
        return base64.b64encode(scalar.as_py()).decode()
    return cast_to_string(t, from_scalar(t, scalar))


_TOP_K = Argument("top_k", "int", required=True, doc="maximum number of rows")
_PROJECTION = Argument("projection", doc="'id,name,__paimon_search_score'; default: all columns, without the score")
VECTOR_SEARCH = Procedure(
    "vector_search",
    "The rows whose vectors are nearest to a vector, the nearest first, each as JSON.",
    (
        table_argument(),
        Argument("vector_column", required=True, doc="the VECTOR or ARRAY column"),
        Argument("query_vector", required=True, doc="'0.1,0.2,0.3'"),
        _TOP_K,
        _PROJECTION,
        Argument("options", doc="'ivf.nprobe=32,metric=cosine', and dynamic table options"),
        Argument("where", doc="only rows that match are searched"),
        Argument("partitions", doc="'a=1,b=2;a=3'"),
    ),
    _vector_search,
)
FULL_TEXT_SEARCH = Procedure(
    "full_text_search",
    "The rows whose texts match words best, the best first, each as JSON.",
    (
        table_argument(),
        Argument("column", required=True, doc="the text column"),
        Argument("query", required=True, doc='words, or JSON such as \'{"match_phrase": {"query": "lake format"}}\''),
        _TOP_K,
        _PROJECTION,
        Argument("options", doc="'k=v,k2=v2', dynamic table options"),
    ),
    _full_text_search,
)
