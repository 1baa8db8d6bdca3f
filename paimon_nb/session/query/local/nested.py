"""Arrays, maps and rows in the engine's SQL: elements, fields, constructors and functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.format.types import Array, DataType, Map, Row
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.values import (
    BIGINT,
    BOOLEAN,
    INT,
    LEAVE,
    NULL,
    STRING,
    Build,
    Value,
    called,
    cast_to_common_type,
    common_type,
    engine_type,
    is_floating,
    is_integer,
    quote_name,
    quote_text,
    row_type,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# -- elements and fields


def element(_flink: bool, values: list[Value]) -> Value:
    """`a[0]` of an array or `m['k']` of a map, in Spark's dialect."""
    a, key = values
    name = None if a.name is None or key.name is None else f"{a.name}[{key.name}]"
    if isinstance(a.type, Map):
        return value_of_key(a, key, name)
    if not isinstance(a.type, Array) or not is_integer(key.type):
        raise NotLocal(f"an element of {a.type.bare()} is left to Spark")
    i = f"CAST({key.sql} AS BIGINT)"
    text = f"(CASE WHEN {i} < 0 OR {i} >= len({a.sql}) THEN {LEAVE} ELSE ({a.sql})[{i} + 1] END)"
    return Value(text, a.type.element, name, raises=True)


def element_in_flink(_flink: bool, values: list[Value]) -> Value:
    """`a[1]` or `m['k']` in Flink's dialect: NULL if the position is outside."""
    a, key = values
    if isinstance(a.type, Map):
        return value_of_key(a, key, None)
    return element_from_one(a, key, None)


def element_from_one(a: Value, position: Value, name: str | None) -> Value:
    """The element at a position from 1, or from the end if it is negative; NULL if there is none."""
    if not isinstance(a.type, Array) or not is_integer(position.type):
        raise NotLocal(f"an element of {a.type.bare()} is left to Spark")
    if position.literal:
        return Value(f"({a.sql})[{position.literal}]", a.type.element, name)
    text = f"(CASE WHEN {position.sql} = 0 THEN {LEAVE} ELSE ({a.sql})[{position.sql}] END)"
    return Value(text, a.type.element, name, raises=True)


def value_of_key(m: Value, key: Value, name: str | None) -> Value:
    """The value of a key of a map; NULL if it has no such key."""
    assert isinstance(m.type, Map)
    if is_floating(m.type.key) or key.type == NULL:
        raise NotLocal(f"a value of {m.type.bare()} is left to Spark")
    if common_type(Value("", m.type.key), key) != m.type.key:
        raise NotLocal(f"a key of another type than {m.type.key.bare()} is left to Spark")
    return Value(f"({m.sql})[{key.cast(m.type.key).sql}]", m.type.value, name)


def field_named(name: str) -> Build:
    """Builds `row.name`."""

    def field_sql(_flink: bool, values: list[Value]) -> Value:
        (row,) = values
        if not isinstance(row.type, Row):
            raise NotLocal(f"{name} of {row.type.bare()} is left to Spark")
        found = [f for f in row.type.fields if f.name.lower() == name.lower()]
        if len(found) != 1:
            raise NotLocal(f"{name} is not a field")
        return Value(f"struct_extract({row.sql}, {quote_text(found[0].name)})", found[0].type, name)

    return field_sql


# -- constructors


def array_of(_flink: bool, values: list[Value]) -> Value:
    """ARRAY(a, b) or ARRAY[a, b]."""
    if not values:
        raise NotLocal("an empty ARRAY is left to Spark")
    cast, t = cast_to_common_type(values)
    if t == NULL:
        raise NotLocal("an ARRAY of NULL is left to Spark")
    name = None if any(v.name is None for v in values) else f"array({', '.join(str(v.name) for v in values)})"
    return Value(f"[{', '.join(v.sql for v in cast)}]", Array(t), name)


def map_of(_flink: bool, values: list[Value]) -> Value:
    """MAP(k, v, k, v) or MAP[k, v]."""
    if not values or len(values) % 2:
        raise NotLocal("such a MAP is left to Spark")
    keys, key = cast_to_common_type(values[::2])
    items, item = cast_to_common_type(values[1::2])
    if NULL in (key, item) or is_floating(key):
        raise NotLocal("a MAP of such types is left to Spark")
    name = None if any(v.name is None for v in values) else f"map({', '.join(str(v.name) for v in values)})"
    text = f"map([{', '.join(v.sql for v in keys)}], [{', '.join(v.sql for v in items)}])"
    is_plain = len(values) == 2 and values[0].is_constant
    return Value(text, Map(key, item), name, raises=not is_plain)


def named_struct(_flink: bool, values: list[Value]) -> Value:
    """NAMED_STRUCT('a', 1, 'b', x)."""
    if not values or len(values) % 2 or any(not v.text for v in values[::2]):
        raise NotLocal("such a NAMED_STRUCT is left to Spark")
    return _row([str(v.text) for v in values[::2]], values[1::2])


def struct_of(_flink: bool, values: list[Value]) -> Value:
    """STRUCT(a, b): a column keeps its name, others are col1, col2, ..."""
    names = [
        v.name if v.name is not None and v.origin is None and not v.is_constant else f"col{i + 1}"
        for i, v in enumerate(values)
    ]
    return _row(names, values)


def _row(names: Sequence[str], values: Sequence[Value]) -> Value:
    if len({n.lower() for n in names}) < len(names) or any(v.type == NULL for v in values):
        raise NotLocal("a row with such fields is left to Spark")
    fields = ", ".join(f"{quote_name(n)} := {v.sql}" for n, v in zip(names, values, strict=True))
    return Value(f"struct_pack({fields})", row_type(zip(names, (v.type for v in values), strict=True)))


# -- functions of arrays and maps


def array_type(value: Value, function: str) -> Array:
    """The type of an array. Raises NotLocal: the value is another one."""
    if not isinstance(value.type, Array):
        raise NotLocal(f"{function} of {value.type.bare()} is left to Spark")
    return value.type


def map_type(value: Value, function: str) -> Map:
    """The type of a map. Raises NotLocal: the value is another one."""
    if not isinstance(value.type, Map):
        raise NotLocal(f"{function} of {value.type.bare()} is left to Spark")
    return value.type


def _exact_array(value: Value, function: str) -> Array:
    """The type of an array whose elements are equal in both engines if they are in one."""
    t = array_type(value, function)
    if is_floating(t.element) or isinstance(t.element, Array | Map | Row):
        raise NotLocal(f"{function} of {t.bare()} is left to Spark")
    return t


def _element_like(value: Value, t: Array, function: str) -> Value:
    """A value beside the elements of an array."""
    if value.type == NULL or common_type(Value("", t.element), value) != t.element:
        raise NotLocal(f"{function} with {value.type.bare()} is left to Spark")
    return value.cast(t.element)


def _size(word: str) -> Build:
    def size_sql(_flink: bool, values: list[Value]) -> Value:
        (a,) = values
        function = "len" if isinstance(a.type, Array) else "cardinality"
        if not isinstance(a.type, Array | Map):
            raise NotLocal(f"{word.upper()} of {a.type.bare()} is left to Spark")
        return Value(f"CAST({function}({a.sql}) AS INTEGER)", INT, called(word, values))

    return size_sql


def has_null_sql(a: str) -> str:
    """Whether an element of an array is NULL."""
    return f"len(list_filter({a}, lambda e: e IS NULL)) > 0"


def _contains(_flink: bool, values: list[Value]) -> Value:
    a, searched = values[0], _element_like(values[1], _exact_array(values[0], "ARRAY_CONTAINS"), "ARRAY_CONTAINS")
    text = (
        f"(CASE WHEN {a.sql} IS NULL OR {searched.sql} IS NULL THEN NULL WHEN list_contains({a.sql}, {searched.sql}) THEN TRUE "
        f"WHEN {has_null_sql(a.sql)} THEN NULL ELSE FALSE END)"
    )
    return Value(text, BOOLEAN, called("array_contains", values))


def _position(_flink: bool, values: list[Value]) -> Value:
    a, searched = values[0], _element_like(values[1], _exact_array(values[0], "ARRAY_POSITION"), "ARRAY_POSITION")
    text = (
        f"(CASE WHEN {a.sql} IS NULL OR {searched.sql} IS NULL THEN NULL "
        f"ELSE CAST(coalesce(list_position({a.sql}, {searched.sql}), 0) AS BIGINT) END)"
    )
    return Value(text, BIGINT, called("array_position", values))


def _element_at(_flink: bool, values: list[Value]) -> Value:
    """Of an array a position outside is an error; of a map a missing key is NULL."""
    a, key = values
    name = called("element_at", values)
    if isinstance(a.type, Map):
        return value_of_key(a, key, name)
    found = element_from_one(a, key, name)
    i = f"abs(CAST({key.sql} AS BIGINT))"
    text = f"(CASE WHEN {i} = 0 OR {i} > len({a.sql}) THEN {LEAVE} ELSE {found.sql} END)"
    return Value(text, found.type, name, raises=True)


def _try_element_at(_flink: bool, values: list[Value]) -> Value:
    name = called("try_element_at", values)
    if isinstance(values[0].type, Map):
        return value_of_key(values[0], values[1], name)
    return element_from_one(values[0], values[1], name)


def _get(_flink: bool, values: list[Value]) -> Value:
    a, position = values
    t = array_type(a, "GET")
    if not is_integer(position.type):
        raise NotLocal("GET with such a position is left to Spark")
    i = f"CAST({position.sql} AS BIGINT)"
    return Value(f"(CASE WHEN {i} >= 0 THEN ({a.sql})[{i} + 1] END)", t.element, called("get", values))


def _map_part(word: str) -> Build:
    def map_part_sql(_flink: bool, values: list[Value]) -> Value:
        t = map_type(values[0], word.upper())
        part = Array(t.key if word == "map_keys" else t.value)
        return Value(f"{word}({values[0].sql})", part, called(word, values))

    return map_part_sql


def _map_entries(_flink: bool, values: list[Value]) -> Value:
    t = map_type(values[0], "MAP_ENTRIES")
    entry = row_type((("key", t.key), ("value", t.value)))
    return Value(f"map_entries({values[0].sql})", Array(entry), called("map_entries", values))


def _map_contains_key(_flink: bool, values: list[Value]) -> Value:
    m, key = values
    t = map_type(m, "MAP_CONTAINS_KEY")
    searched = _element_like(key, Array(t.key), "MAP_CONTAINS_KEY")
    if is_floating(t.key):
        raise NotLocal(f"MAP_CONTAINS_KEY of {t.bare()} is left to Spark")
    text = f"(CASE WHEN {searched.sql} IS NOT NULL THEN list_contains(map_keys({m.sql}), {searched.sql}) END)"
    return Value(text, BOOLEAN, called("map_contains_key", values))


def _map_from_arrays(_flink: bool, values: list[Value]) -> Value:
    keys, items = (array_type(v, "MAP_FROM_ARRAYS") for v in values)
    if is_floating(keys.element):
        raise NotLocal("MAP_FROM_ARRAYS of such keys is left to Spark")
    k, v = (value.sql for value in values)
    text = f"(CASE WHEN {k} IS NULL OR {v} IS NULL THEN NULL WHEN len({k}) <> len({v}) THEN {LEAVE} ELSE map({k}, {v}) END)"
    return Value(text, Map(keys.element, items.element), called("map_from_arrays", values), raises=True)


def _distinct(_flink: bool, values: list[Value]) -> Value:
    """The first of equal elements, in their order."""
    a = values[0].sql
    t = _exact_array(values[0], "ARRAY_DISTINCT")
    first = f"list_position({a}, e) = i OR (e IS NULL AND len(list_filter(({a})[1:i], lambda n: n IS NULL)) = 1)"
    return Value(f"list_filter({a}, lambda e, i: {first})", t, called("array_distinct", values))


def _sorted(word: str) -> Build:
    def sorted_sql(flink: bool, values: list[Value]) -> Value:
        a = values[0]
        t = _exact_array(a, word.upper())
        is_ascending = True
        if len(values) == 2:
            if values[1].sql not in ("TRUE", "FALSE") or word == "array_sort":
                raise NotLocal(f"{word.upper()} with these arguments is left to Spark")
            is_ascending = values[1].sql == "TRUE"
        last = (word == "array_sort" and not flink) or not is_ascending
        direction, nulls = "ASC" if is_ascending else "DESC", "LAST" if last else "FIRST"
        named = [*values, Value("", BOOLEAN, "true")] if word == "sort_array" and len(values) == 1 else values
        name = None if word == "array_sort" else called(word, named)
        return Value(f"list_sort({a.sql}, '{direction}', 'NULLS {nulls}')", t, name)

    return sorted_sql


def _extreme(word: str) -> Build:
    def extreme_sql(_flink: bool, values: list[Value]) -> Value:
        t = _exact_array(values[0], word.upper())
        return Value(f"list_{word[-3:]}({values[0].sql})", t.element, called(word, values))

    return extreme_sql


def _remove(_flink: bool, values: list[Value]) -> Value:
    a = values[0]
    t = _exact_array(a, "ARRAY_REMOVE")
    unwanted = _element_like(values[1], t, "ARRAY_REMOVE").sql
    text = f"(CASE WHEN {unwanted} IS NOT NULL THEN list_filter({a.sql}, lambda e: e IS DISTINCT FROM {unwanted}) END)"
    return Value(text, t, called("array_remove", values))


def _added(word: str) -> Build:
    def added_sql(_flink: bool, values: list[Value]) -> Value:
        a = values[0]
        t = array_type(a, word.upper())
        one = f"[{_element_like(values[1], t, word.upper()).sql}]"
        both = (a.sql, one) if word == "array_append" else (one, a.sql)
        text = f"(CASE WHEN {a.sql} IS NOT NULL THEN list_concat({', '.join(both)}) END)"
        return Value(text, t, called(word, values))

    return added_sql


def concat_arrays(values: Sequence[Value]) -> Value:
    """CONCAT or `||` of arrays: NULL if one is."""
    t = array_type(values[0], "CONCAT")
    if any(v.type != t for v in values):
        raise NotLocal("CONCAT of such arrays is left to Spark")
    text = values[0].sql
    for value in values[1:]:
        text = f"list_concat({text}, {value.sql})"
    null = " OR ".join(f"{v.sql} IS NULL" for v in values)
    return Value(f"(CASE WHEN {null} THEN NULL ELSE {text} END)", t, called("concat", values))


def _join(_flink: bool, values: list[Value]) -> Value:
    a, separator = values[0], values[1]
    t = array_type(a, "ARRAY_JOIN")
    if t.element != STRING or separator.text is None or (len(values) == 3 and values[2].text is None):
        raise NotLocal("this ARRAY_JOIN is left to Spark")
    texts = f"list_filter({a.sql}, lambda e: e IS NOT NULL)"
    if len(values) == 3:
        texts = f"list_transform({a.sql}, lambda e: coalesce(e, {values[2].sql}))"
    text = f"(CASE WHEN {a.sql} IS NOT NULL THEN coalesce(array_to_string({texts}, {separator.sql}), '') END)"
    return Value(text, STRING, called("array_join", values))


def _slice(_flink: bool, values: list[Value]) -> Value:
    a, start, count = values
    t = array_type(a, "SLICE")
    if not start.literal or start.literal < 1 or count.literal is None or count.literal < 0:
        raise NotLocal("this SLICE is left to Spark")
    return Value(f"({a.sql})[{start.literal}:{start.literal + count.literal - 1}]", t, called("slice", values))


def _flatten(_flink: bool, values: list[Value]) -> Value:
    a = values[0].sql
    t = array_type(values[0], "FLATTEN").element
    if not isinstance(t, Array):
        raise NotLocal("FLATTEN of such an array is left to Spark")
    return Value(f"(CASE WHEN NOT ({has_null_sql(a)}) THEN flatten({a}) END)", t, called("flatten", values))


_LONGEST_SEQUENCE = 10_000


def _sequence(_flink: bool, values: list[Value]) -> Value:
    if any(not is_integer(v.type) for v in values) or (len(values) == 3 and not values[2].literal):
        raise NotLocal("SEQUENCE of other values than integers is left to Spark")
    t: DataType = values[0].type
    for value in values[1:]:
        t = common_type(Value("", t), value)
    start, stop = (f"CAST({v.sql} AS BIGINT)" for v in values[:2])
    step = f"(CASE WHEN {start} <= {stop} THEN 1 ELSE -1 END)" if len(values) == 2 else str(values[2].literal)
    wrong = f"abs({start} - {stop}) > {_LONGEST_SEQUENCE}"
    if len(values) == 3:
        wrong += f" OR ({stop} - {start}) * {step} < 0"
    text = f"CAST(generate_series({start}, {stop}, {step}) AS {engine_type(Array(t))})"
    is_small = all(v.literal is not None for v in values) and len(values) == 2
    return Value(
        f"(CASE WHEN {wrong} THEN {LEAVE} ELSE {text} END)", Array(t), called("sequence", values), raises=not is_small
    )


def reversed_array(value: Value) -> Value:
    """REVERSE of an array."""
    return Value(f"list_reverse({value.sql})", array_type(value, "REVERSE"), called("reverse", [value]))


NESTED_FUNCTIONS: Mapping[str, tuple[Build, int, int]] = {
    "SIZE": (_size("size"), 1, 1),
    "CARDINALITY": (_size("cardinality"), 1, 1),
    "ARRAY_SIZE": (_size("array_size"), 1, 1),
    "ARRAY_CONTAINS": (_contains, 2, 2),
    "ARRAY_POSITION": (_position, 2, 2),
    "ELEMENT_AT": (_element_at, 2, 2),
    "TRY_ELEMENT_AT": (_try_element_at, 2, 2),
    "GET": (_get, 2, 2),
    "ARRAY": (array_of, 1, 99),
    "MAP": (map_of, 2, 99),
    "NAMED_STRUCT": (named_struct, 2, 99),
    "STRUCT": (struct_of, 1, 99),
    "MAP_KEYS": (_map_part("map_keys"), 1, 1),
    "MAP_VALUES": (_map_part("map_values"), 1, 1),
    "MAP_ENTRIES": (_map_entries, 1, 1),
    "MAP_CONTAINS_KEY": (_map_contains_key, 2, 2),
    "MAP_FROM_ARRAYS": (_map_from_arrays, 2, 2),
    "ARRAY_DISTINCT": (_distinct, 1, 1),
    "SORT_ARRAY": (_sorted("sort_array"), 1, 2),
    "ARRAY_SORT": (_sorted("array_sort"), 1, 1),
    "ARRAY_MAX": (_extreme("array_max"), 1, 1),
    "ARRAY_MIN": (_extreme("array_min"), 1, 1),
    "ARRAY_REMOVE": (_remove, 2, 2),
    "ARRAY_APPEND": (_added("array_append"), 2, 2),
    "ARRAY_PREPEND": (_added("array_prepend"), 2, 2),
    "ARRAY_JOIN": (_join, 2, 3),
    "SLICE": (_slice, 3, 3),
    "FLATTEN": (_flatten, 1, 1),
    "SEQUENCE": (_sequence, 2, 3),
}
"""Function -> how its value is built, and how many arguments it has at least and at most."""
