"""Functions with lambdas in the engine's SQL: TRANSFORM, FILTER, AGGREGATE and the like. The engine's lambdas count elements from 1."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from paimon_nb.format.types import Array, Map
from paimon_nb.session.query.local.nested import array_type, has_null_sql, map_type
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.values import BOOLEAN, INT, NULL, Value, is_floating
from paimon_nb.syntax.tree import Lambda, without_brackets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.session.query.local.values import Build
    from paimon_nb.syntax.tree import Call, Node


class Scope(Protocol):
    """What the names of an expression mean."""

    def value(self, e: Node) -> Value: ...
    def inside_lambda(self, parameters: Mapping[str, Value]) -> Scope: ...
    def apply(self, operator: str, build: Build, operands: Sequence[Value]) -> Value: ...


_Body: TypeAlias = "Callable[..., Value]"
"""The value of a lambda's body for its parameters."""


def higher_order(e: Call, scope: Scope, arguments: Sequence[Node]) -> Value:
    """The value of a call whose arguments have lambdas. Raises NotLocal."""
    build = _HIGHER_ORDER.get(e.function)
    nodes = [without_brackets(a) for a in arguments]
    values = [scope.value(n) for n in nodes if not isinstance(n, Lambda)]
    lambdas = [n for n in nodes if isinstance(n, Lambda)]
    if build is None or nodes != [*nodes[: len(values)], *lambdas] or e.distinct or e.condition is not None:
        raise NotLocal(f"{e.function} with a lambda is left to Spark")
    raised: list[bool] = []

    def body(node: Lambda, parameters: Sequence[Value]) -> Value:
        if len(node.parameters) != len(parameters):
            raise NotLocal(f"{e.function} with such a lambda is left to Spark")
        names = (name.lower() for name in node.parameters)
        found = scope.inside_lambda(dict(zip(names, parameters, strict=True))).value(node.body)
        raised.append(found.raises)
        if found.type == NULL:
            raise NotLocal(f"a lambda of {e.function} is NULL")
        return found

    found = scope.apply(e.function, lambda _flink, operands: build(operands, lambdas, body), values)
    return replace(found, raises=found.raises or any(raised), is_constant=False, name=None)


def _only(lambdas: Sequence[Lambda], values: Sequence[Value], count: int = 1) -> Lambda:
    if len(lambdas) != 1 or len(values) != count:
        raise NotLocal("a function with these lambdas is left to Spark")
    return lambdas[0]


def _names(node: Lambda) -> list[str]:
    """The engine's names of a lambda's parameters: no other lambda of the text has them."""
    return [f"p{node.span.start}_{i}" for i in range(len(node.parameters))]


def _over_elements(array: Value, function: str, node: Lambda, body: _Body) -> tuple[str, Value]:
    """The lambda `e -> ...` or `(e, i) -> ...` in the engine, and the value of its body. The engine counts from 1."""
    names = _names(node)
    parameters = [Value(names[0], array_type(array, function).element)]
    parameters += [Value(f"CAST(({name} - 1) AS INTEGER)", INT) for name in names[1:]]
    if len(parameters) > 2:
        raise NotLocal(f"{function} with such a lambda is left to Spark")
    found = body(node, parameters)
    return f"lambda {', '.join(names)}: {found.sql}", found


def _transform(values: Sequence[Value], lambdas: Sequence[Lambda], body: _Body) -> Value:
    text, found = _over_elements(values[0], "TRANSFORM", _only(lambdas, values), body)
    return Value(f"list_transform({values[0].sql}, {text})", Array(found.type))


def _require_condition(found: Value, function: str) -> None:
    if found.type != BOOLEAN:
        raise NotLocal(f"a lambda of {function} is {found.type.bare()}")


def _filter(values: Sequence[Value], lambdas: Sequence[Lambda], body: _Body) -> Value:
    text, found = _over_elements(values[0], "FILTER", _only(lambdas, values), body)
    _require_condition(found, "FILTER")
    return Value(f"list_filter({values[0].sql}, {text})", values[0].type)


def _any_or_all(*, is_any: bool) -> Callable[[Sequence[Value], Sequence[Lambda], _Body], Value]:
    def any_or_all(values: Sequence[Value], lambdas: Sequence[Lambda], body: _Body) -> Value:
        node = _only(lambdas, values)
        if len(node.parameters) != 1:
            raise NotLocal("EXISTS with such a lambda is left to Spark")
        text, found = _over_elements(values[0], "EXISTS", node, body)
        _require_condition(found, "EXISTS")
        truths = f"list_transform({values[0].sql}, {text})"
        decisive, otherwise = ("TRUE", "FALSE") if is_any else ("FALSE", "TRUE")
        sql = (
            f"(CASE WHEN {values[0].sql} IS NULL THEN NULL WHEN list_contains({truths}, {decisive}) THEN {decisive} "
            f"WHEN {has_null_sql(truths)} THEN NULL ELSE {otherwise} END)"
        )
        return Value(sql, BOOLEAN)

    return any_or_all


def _aggregate(values: Sequence[Value], lambdas: Sequence[Lambda], body: _Body) -> Value:
    """AGGREGATE(a, start, (state, e) -> ...[, state -> ...])."""
    if len(values) != 2 or not 1 <= len(lambdas) <= 2:
        raise NotLocal("AGGREGATE with these arguments is left to Spark")
    array, start = values
    t = array_type(array, "AGGREGATE")
    state, e = _names(lambdas[0]) if len(lambdas[0].parameters) == 2 else ("", "")
    step = body(lambdas[0], [Value(state, start.type), Value(e, t.element)])
    if start.type == NULL or step.type != start.type:
        raise NotLocal("AGGREGATE whose state changes its type is left to Spark")
    reduced = f"list_reduce({array.sql}, lambda {state}, {e}: {step.sql}, {start.sql})"
    if len(lambdas) == 1:
        return Value(reduced, start.type)
    (last,) = _names(lambdas[1]) if len(lambdas[1].parameters) == 1 else ("",)
    finish = body(lambdas[1], [Value(last, start.type)])
    return Value(f"(list_transform([{reduced}], lambda {last}: {finish.sql}))[1]", finish.type)


def _over_entries(
    kind: str,
) -> Callable[[Sequence[Value], Sequence[Lambda], _Body], Value]:
    """MAP_FILTER, TRANSFORM_KEYS and TRANSFORM_VALUES."""

    def over_entries(values: Sequence[Value], lambdas: Sequence[Lambda], body: _Body) -> Value:
        node = _only(lambdas, values)
        m, t = values[0].sql, map_type(values[0], kind)
        if len(node.parameters) != 2:
            raise NotLocal(f"{kind} with such a lambda is left to Spark")
        entry = _names(node)[0]
        key, value = f"struct_extract({entry}, 'key')", f"struct_extract({entry}, 'value')"
        found = body(node, [Value(key, t.key), Value(value, t.value)])
        if kind == "MAP_FILTER":
            _require_condition(found, kind)
            filtered = f"list_filter(map_entries({m}), lambda {entry}: {found.sql})"
            return Value(f"map_from_entries({filtered})", t)
        if kind == "TRANSFORM_KEYS":
            if is_floating(found.type):
                raise NotLocal("TRANSFORM_KEYS to floating-point numbers is left to Spark")
            keys = f"list_transform(map_entries({m}), lambda {entry}: {found.sql})"
            return Value(
                f"(CASE WHEN {m} IS NOT NULL THEN map({keys}, map_values({m})) END)",
                Map(found.type, t.value),
                raises=True,
            )
        items = f"list_transform(map_entries({m}), lambda {entry}: {found.sql})"
        return Value(f"(CASE WHEN {m} IS NOT NULL THEN map(map_keys({m}), {items}) END)", Map(t.key, found.type))

    return over_entries


_HIGHER_ORDER: Mapping[str, Callable[[Sequence[Value], Sequence[Lambda], _Body], Value]] = {
    "TRANSFORM": _transform,
    "FILTER": _filter,
    "EXISTS": _any_or_all(is_any=True),
    "FORALL": _any_or_all(is_any=False),
    "AGGREGATE": _aggregate,
    "REDUCE": _aggregate,
    "MAP_FILTER": _over_entries("MAP_FILTER"),
    "TRANSFORM_KEYS": _over_entries("TRANSFORM_KEYS"),
    "TRANSFORM_VALUES": _over_entries("TRANSFORM_VALUES"),
}
