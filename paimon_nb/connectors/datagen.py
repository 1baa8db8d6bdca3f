"""`datagen`: generated rows, random or from sequences.

A row is a function of its number and of the seed of the table, so a task that runs again generates the same rows.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from decimal import Decimal as Number
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from paimon_nb.base import clock
from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.override import override
from paimon_nb.connectors.api import ConnectorTable, Source
from paimon_nb.format.types import (
    Array,
    Binary,
    Char,
    DataField,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
    VarBinary,
    VarChar,
    arrow_type,
)
from paimon_nb.options import parse_bool, parse_duration_ms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

V = TypeVar("V")
_BLOCK = 4096
"""Rows per block. Each block has its own random generator."""
_STRING_LENGTH, _COLLECTION_SIZE = 100, 3
"""Flink's default lengths of strings, and of arrays and maps."""
_INTEGER_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_DAY_MS = 86_400_000
_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
ColumnGenerator = Callable[[np.random.Generator, np.ndarray], pa.Array]
"""From the random generator of a block and row numbers to the values of one column."""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    make: ColumnGenerator
    row_limit: int | None
    """Number of values of a sequence; None for random columns."""


class Datagen(Source):
    """Options: `rows-per-second` (10000), `number-of-rows`, and for each column `fields.<column>.`: `kind` (random,
    sequence), `min`, `max`, `length`, `var-len`, `null-rate`, `max-past`, `start`, `end`."""

    random_rows = True

    def __init__(self, definition: ConnectorTable, seed: int | None = None, began_ms: int | None = None) -> None:
        definition.check_options("rows-per-second", "number-of-rows", "scan.parallelism", patterns=["fields."])
        self.definition = definition
        self.rate = definition.convert_option("rows-per-second", 10_000, int)
        number: int | None = definition.convert_option("number-of-rows", None, int)
        self.seed = secrets.randbits(63) if seed is None else seed
        self.began_ms = clock.now_ms() if began_ms is None else began_ms
        used: set[str] = set()
        self.columns = [_column_generator(definition, f, used) for f in definition.fields]
        unused = [k for k in definition.options if k.startswith("fields.") and k not in used]
        if unused:
            raise BadOptionValue(
                f"option {unused[0]!r} does not match a column of {definition.name}",
                hint="options: fields.<column>.kind, min, max, length, var-len, null-rate, max-past, start, end, depending on the type",
                option=unused[0],
            )
        limits = [c.row_limit for c in self.columns if c.row_limit is not None] + (
            [number] if number is not None else []
        )
        self.total: int | None = min(limits) if limits else None
        """Total number of rows; None if unbounded."""
        self.bounded = self.total is not None

    def __reduce__(self) -> tuple[type[Datagen], tuple[ConnectorTable, int, int]]:
        """The columns hold functions, which cannot be pickled. Each task creates them again from the same seed."""
        return Datagen, (self.definition, self.seed, self.began_ms)

    def rows(self, start: int, stop: int) -> pa.Table:
        """The rows number `start` to `stop` - 1, in the Arrow types of the table's columns."""
        parts = [self._generate_block(b, start, stop) for b in range(start // _BLOCK, -(-stop // _BLOCK))]
        schema = pa.schema([(f.name, arrow_type(f.type)) for f in self.definition.fields])
        return pa.concat_tables([schema.empty_table(), *parts])

    def batches(self, start: int, stop: int) -> Iterator[pa.Table]:
        """The same rows in several tables."""
        for low in range(start, stop, 16 * _BLOCK):
            yield self.rows(low, min(low + 16 * _BLOCK, stop))

    def due(self, now_ms: int) -> int:
        """Number of rows up to a time, in epoch milliseconds."""
        rows = max(0, now_ms - self.began_ms) * self.rate // 1000
        return rows if self.total is None else min(rows, self.total)

    def batch(self, spark: SparkSession) -> DataFrame:
        if self.total is None:
            return super().batch(spark)
        from paimon_nb.connectors.datagen_source import generated_batch

        return generated_batch(spark, self, self.definition.fields, self.total)

    @override
    def stream(self, spark: SparkSession, begin: Any = None) -> DataFrame:
        from paimon_nb.connectors.datagen_source import generated_stream

        return generated_stream(spark, self, self.definition.fields)

    def is_read(self, offset: Any) -> bool:
        return self.total is not None and int(offset["row"]) >= self.total

    def _generate_block(self, block: int, start: int, stop: int) -> pa.Table:
        first = block * _BLOCK
        numbers = np.arange(first, first + _BLOCK, dtype=np.int64)
        low, high = max(start - first, 0), min(stop - first, _BLOCK)
        made = []
        for index, (column, field) in enumerate(zip(self.columns, self.definition.fields, strict=True)):
            random = np.random.Generator(np.random.Philox(key=np.array([self.seed, (index << 48) ^ block], np.uint64)))
            selected = slice(low, high)
            # All random values of a block are generated, or they would depend on the row ranges of the tasks.
            rows = (
                column.make(random, numbers)[selected]
                if column.row_limit is None
                else column.make(random, numbers[selected])
            )
            made.append(rows.cast(arrow_type(field.type)))
        return pa.table(made, names=[f.name for f in self.definition.fields])


def _column_generator(definition: ConnectorTable, field: DataField, used: set[str]) -> Column:
    kind = _field_option(definition, used, field.name, "kind", "random", str)
    if kind == "sequence":
        if field.type.root not in (*_INTEGER_BITS, "FLOAT", "DOUBLE", "DECIMAL", "CHAR", "VARCHAR"):
            raise BadOptionValue(f"a sequence cannot be {field.type}", hint="use 'random'", column=field.name)
        for setting in ("start", "end"):
            definition.require(f"fields.{field.name}.{setting}")
        start, end = (_field_option(definition, used, field.name, w, 0, int) for w in ("start", "end"))
        if end < start:
            raise BadOptionValue(f"the sequence of {field.name!r} ends at {end}, before its start {start}", hint="set start <= end")  # fmt: skip
        return Column(field.name, lambda _, numbers: _sequence_values(numbers + start, field.type), end - start + 1)
    if kind != "random":
        raise BadOptionValue(
            f"invalid value {kind!r} for fields.{field.name}.kind", hint="random or sequence", option="kind"
        )
    return Column(field.name, _random_generator(definition, used, field.name, field.type), None)


def _sequence_values(numbers: np.ndarray, t: DataType) -> pa.Array:
    array = pa.array(numbers)
    return array.cast(pa.string()) if t.root in ("CHAR", "VARCHAR") else _cast_array(array, t)


def _random_generator(definition: ConnectorTable, used: set[str], name: str, t: DataType) -> ColumnGenerator:
    make = _random_non_null(definition, used, name, t)
    rate = _field_option(definition, used, name, "null-rate", 0.0, float)
    if not 0 <= rate <= 1:
        raise BadOptionValue(f"invalid value {rate} for fields.{name}.null-rate", hint="0 to 1")
    if not rate:
        return make

    def with_nulls(random: np.random.Generator, numbers: np.ndarray) -> pa.Array:
        array = make(random, numbers)
        return pa.compute.if_else(pa.array(random.random(len(numbers)) < rate), pa.scalar(None, array.type), array)

    return with_nulls


def _random_non_null(definition: ConnectorTable, used: set[str], name: str, t: DataType) -> ColumnGenerator:
    """Random values of a type within the limits of its options."""

    def option_of_field(setting: str, default: V, convert: Callable[[str], V]) -> V:
        return _field_option(definition, used, name, setting, default, convert)

    match t:
        case Decimal():
            maximum = Number(10**t.precision - 1).scaleb(-t.scale)
            low, high = (
                int(option_of_field(w, d, Number).scaleb(t.scale)) for w, d in (("min", Number(0)), ("max", maximum))
            )
            _check_order(name, low, high)
            low, high = max(low, -(2**63)), min(high, 2**63 - 1)
            return lambda random, n: _decimals_of_unscaled(random.integers(low, high, len(n), endpoint=True), t)
        case Timestamp() | LocalZonedTimestamp():
            max_past_ms = option_of_field("max-past", 0, parse_duration_ms)
            return lambda random, n: _random_timestamps(random, len(n), max_past_ms, arrow_type(t))
        case Time():
            return lambda random, n: pa.array(random.integers(0, _DAY_MS, len(n)).astype(np.int32), pa.time32("ms"))
        case Array():
            length = option_of_field("length", _COLLECTION_SIZE, int)
            inner = _random_generator(definition, used, f"{name}.element", t.element)
            return lambda random, n: _random_lists(inner, random, len(n), length, arrow_type(t))
        case Map() | Multiset():
            length = option_of_field("length", _COLLECTION_SIZE, int)
            keys = _random_generator(definition, used, f"{name}.key", t.key if isinstance(t, Map) else t.element)
            value_type = t.value if isinstance(t, Map) else None
            values = (lambda random, n: pa.array(random.integers(1, 10, len(n)).astype(np.int32))) if value_type is None else _random_generator(definition, used, f"{name}.value", value_type)  # fmt: skip
            return lambda random, n: _random_maps(keys, values, random, len(n), length, arrow_type(t))
        case Row():
            field_makers = [_random_generator(definition, used, f"{name}.{f.name}", f.type) for f in t.fields]
            return lambda random, n: pa.StructArray.from_arrays(
                [m(random, n).cast(arrow_type(f.type)) for m, f in zip(field_makers, t.fields, strict=True)],
                fields=list(arrow_type(t)),
            )
    if t.root in _INTEGER_BITS:
        bits = _INTEGER_BITS[t.root]
        low, high = option_of_field("min", -(2 ** (bits - 1)), int), option_of_field("max", 2 ** (bits - 1) - 1, int)
        _check_order(name, low, high)
        return lambda random, n: _cast_array(pa.array(random.integers(low, high, len(n), endpoint=True)), t)
    if t.root in ("FLOAT", "DOUBLE"):
        limit = 3.4e38 if t.root == "FLOAT" else 8.9e307
        smallest, largest = option_of_field("min", -limit, float), option_of_field("max", limit, float)
        _check_order(name, smallest, largest)
        return lambda random, n: _cast_array(pa.array(random.uniform(smallest, largest, len(n))), t)
    if t.root == "BOOLEAN":
        return lambda random, n: pa.array(random.random(len(n)) < 0.5)
    if t.root == "DATE":
        max_past_ms = option_of_field("max-past", 0, parse_duration_ms)
        return lambda random, n: _random_timestamps(random, len(n), max_past_ms, pa.timestamp("ms")).cast(pa.date32())
    if isinstance(t, Char | VarChar | Binary | VarBinary):
        fixed = isinstance(t, Char | Binary)
        length = option_of_field("length", t.length if fixed or t.length < 1 << 30 else _STRING_LENGTH, int)
        if length > t.length:
            raise BadOptionValue(f"fields.{name}.length is {length}, but the column is {t}", hint=f"at most {t.length}")
        variable_length = option_of_field("var-len", False, parse_bool)
        target = pa.string() if isinstance(t, Char | VarChar) else pa.binary()
        return lambda random, n: _random_strings(random, len(n), length, variable_length, target)
    raise BadOptionValue(f"datagen does not support {t}", hint=f"remove column {name!r}", column=name)


def _field_option(
    definition: ConnectorTable, used: set[str], name: str, setting: str, default: V, convert: Callable[[str], V]
) -> V:
    key = f"fields.{name}.{setting}"
    used.add(key)
    return definition.convert_option(key, default, convert)


def _check_order(name: str, low: float, high: float) -> None:
    if low > high:
        raise BadOptionValue(f"fields.{name}.min is greater than max", hint=f"min is {low}, max is {high}")


def _cast_array(array: pa.Array, t: DataType) -> pa.Array:
    return array.cast(arrow_type(t))


def _decimals_of_unscaled(unscaled: np.ndarray, t: Decimal) -> pa.Array:
    return pa.array([Number(int(v)).scaleb(-t.scale) for v in unscaled], arrow_type(t))


def _random_timestamps(random: np.random.Generator, count: int, past_ms: int, target: pa.DataType) -> pa.Array:
    now = clock.now_ms()
    back = random.integers(0, past_ms, count, endpoint=True) if past_ms else np.zeros(count, np.int64)
    plain = pa.array(now - back, pa.timestamp("ms"))
    zone = getattr(target, "tz", None)
    return (plain.cast(pa.timestamp("ms", tz=zone)) if zone else plain).cast(target)


def _random_strings(
    random: np.random.Generator, count: int, length: int, variable_length: bool, target: pa.DataType
) -> pa.Array:
    lengths = (
        random.integers(min(1, length), length, count, endpoint=True) if variable_length else np.full(count, length)
    )
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    data = _HEX[random.integers(0, 16, int(offsets[-1]))]
    return pa.Array.from_buffers(target, count, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _random_lists(
    inner: ColumnGenerator, random: np.random.Generator, count: int, length: int, target: pa.DataType
) -> pa.Array:
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * length)
    values = inner(random, np.arange(count * length))
    return pa.ListArray.from_arrays(offsets, values.cast(target.value_type)).cast(target)


def _random_maps(
    keys: ColumnGenerator, values: ColumnGenerator, random: np.random.Generator, count: int, length: int, target: Any
) -> pa.Array:
    positions = np.arange(count * length)
    made = [m(random, positions).to_pylist() for m in (keys, values)]
    rows = [
        list(dict(zip(*(part[i : i + length] for part in made), strict=True)).items())
        for i in range(0, count * length, length)
    ]
    return pa.array(rows, target)
