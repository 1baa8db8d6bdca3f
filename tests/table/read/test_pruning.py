"""Leaving files out never loses a row: random values, statistics of every kind, random conditions; a plain Python judge."""

from __future__ import annotations

import decimal
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from paimon_nb.format.manifest import ADD, EMPTY_ROW, EMPTY_STATS, DataFile, EntryList, ManifestEntry
from paimon_nb.format.row.binary_row import to_arrow_value
from paimon_nb.format.schema import TableSchema
from paimon_nb.format.stats import collect_stats
from paimon_nb.format.types import Char, DataField, DataType, arrow_type, parse_type
from paimon_nb.table.lsm.levels import key_order
from paimon_nb.table.read import And, Compare, In, IsNotNull, IsNull, Like, Or, Predicate, StartsWith
from paimon_nb.table.read.predicate.evaluate import bind_literals, evaluate
from paimon_nb.table.read.predicate.stats_evaluator import column_bounds, may_match

sys.path.insert(0, str(Path(__file__).parents[2] / "format" / "row"))
from strategies import FLAT_TYPES, nullable, values

OPERATORS = ["=", "<>", "<", "<=", ">", ">="]
MODES = ["full", "truncate(16)", "truncate(3)", "counts", "none"]
FLOATS = (parse_type("FLOAT"), parse_type("DOUBLE"))


def entries(files: list[DataFile]) -> EntryList:
    return EntryList(ManifestEntry(ADD, EMPTY_ROW, 0, 1, f) for f in files)


def data_file(number: int, stats: Any, listed: Any, rows: int, schema_id: int = 0) -> DataFile:
    return DataFile(
        f"f{number}", 1, rows, EMPTY_ROW, EMPTY_ROW, EMPTY_STATS, stats, 0, 0, schema_id, 0, value_stats_cols=listed
    )


def table_of(fields: list[DataField], rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = [
        pa.array([to_arrow_value(f.type, row[i]) for row in rows], arrow_type(f.type)) for i, f in enumerate(fields)
    ]
    return pa.table(columns, names=[f.name for f in fields])


@st.composite
def conditions(draw: st.DrawFn, t: DataType, pool: list[Any], depth: int = 2) -> Predicate:
    literal = st.sampled_from([v for v in pool if v is not None] or [draw(values(t))]) | values(t)
    kind = draw(st.integers(0, 6 if depth else 4))
    if kind <= 1:
        return Compare("x", draw(st.sampled_from(OPERATORS)), draw(literal))
    if kind == 2:
        return In("x", tuple(draw(st.lists(literal, max_size=3))))
    if kind == 3:
        return draw(st.sampled_from([IsNull("x"), IsNotNull("x")]))
    if kind == 4:
        if t.root in ("CHAR", "VARCHAR"):
            text = draw(literal)
            return draw(st.sampled_from([StartsWith("x", text[:3]), Like("x", text[:2].replace("\\", "") + "%_")]))
        return Compare("x", "=", draw(literal)).negate()
    parts = (draw(conditions(t, pool, depth - 1)), draw(conditions(t, pool, depth - 1)))
    found: Predicate = And(parts) if kind == 5 else Or(parts)
    return found.negate() if draw(st.booleans()) else found


@st.composite
def worlds(draw: st.DrawFn) -> tuple[DataType, list[list[Any]], str, bool, Predicate]:
    t = draw(st.sampled_from(FLAT_TYPES))
    cell = nullable(t) | st.just(float("nan")) if t in FLOATS else nullable(t)
    files = draw(st.lists(st.lists(cell, min_size=1, max_size=5), min_size=1, max_size=4))
    pool = [v for f in files for v in f]
    return t, files, draw(st.sampled_from(MODES)), draw(st.booleans()), draw(conditions(t, pool))


@settings(max_examples=4 * settings.default.max_examples)
@given(worlds())
def test_no_file_with_a_match_is_left_out(world: tuple[DataType, list[list[Any]], str, bool, Predicate]) -> None:
    t, contents, mode, dense, condition = world
    fields = [DataField(0, "pad", parse_type("INT")), DataField(1, "x", t)]
    schema = TableSchema(0, tuple(fields), 1)
    tables = [table_of(fields, [(i, v) for v in content]) for i, content in enumerate(contents)]
    files = []
    for i, table in enumerate(tables):
        stats, listed = collect_stats(fields, table, ["full", mode], dense=dense)
        files.append(data_file(i, stats, listed, table.num_rows))
    predicate = bind_literals(condition, fields)
    answers = may_match(
        predicate,
        len(files),
        lambda c: column_bounds(entries(files), schema.field(c), lambda _: schema),
        lambda c: schema.field(c).type,
    ).to_pylist()
    for may, table in zip(answers, tables, strict=True):
        assert may or True not in evaluate(condition, table, fields).to_pylist()


@settings(max_examples=3 * settings.default.max_examples)
@given(worlds())
def test_rows_are_chosen_as_plain_python_would(world: tuple[DataType, list[list[Any]], str, bool, Predicate]) -> None:
    t, contents, _, _, condition = world
    fields = [DataField(1, "x", t)]
    cells = [v for content in contents for v in content]
    found = evaluate(condition, table_of(fields, [(v,) for v in cells]), fields).to_pylist()
    assert found == [judge(condition, v, t) for v in cells]


def judge(node: Predicate, value: Any, t: DataType) -> bool | None:
    match node:
        case And(parts):
            answers = [judge(p, value, t) for p in parts]
            return False if False in answers else None if None in answers else True
        case Or(parts):
            answers = [judge(p, value, t) for p in parts]
            return True if True in answers else None if None in answers else False
        case IsNull():
            return value is None
        case IsNotNull():
            return value is not None
    negated = type(node).__name__ == "Not"
    if value is None:
        return None
    if negated:
        inner = judge(node.part, value, t)
        return None if inner is None else not inner
    match node:
        case Compare(_, op, literal):
            return compare(value, op, literal, t)
        case In(_, literals):
            return any(compare(value, "=", v, t) for v in literals)
        case StartsWith(_, prefix):
            return full(value, t).startswith(prefix)
        case Like(_, pattern):
            plain = pattern[:-2]
            # text%_ : the text, then at least one character more; % and _ inside stand for themselves only if there are none
            if "%" in plain or "_" in plain:
                import re

                regex = "".join(".*" if c == "%" else "." if c == "_" else re.escape(c) for c in pattern)
                return re.fullmatch(regex, full(value, t), re.DOTALL) is not None
            return full(value, t).startswith(plain) and len(full(value, t)) > len(plain)
    raise AssertionError(node)


def full(value: str, t: DataType) -> str:
    return value.ljust(t.length) if isinstance(t, Char) else value


def compare(value: Any, op: str, literal: Any, t: DataType) -> bool:
    if t in FLOATS:
        left, right = [(1, 0.0) if math.isnan(v) else (0, v) for v in (value, literal)]
    elif t.root in ("CHAR", "VARCHAR"):
        left, right = full(value, t).encode(), full(literal, t).encode()
    else:
        left, right = key_order(value), key_order(literal)
    return {
        "=": left == right, "<>": left != right, "<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right,
    }[op]  # fmt: skip


def test_bounds_follow_a_column_through_renames_and_widening() -> None:
    old = TableSchema(0, (DataField(0, "a", parse_type("INT")), DataField(1, "b", parse_type("STRING"))), 1)
    new = TableSchema(
        1, (DataField(1, "b", parse_type("INT")), DataField(0, "renamed", parse_type("BIGINT")), DataField(2, "c", parse_type("DATE"))), 2,
    )  # fmt: skip
    schemas = {0: old, 1: new}
    first, listed = collect_stats(old.fields, table_of(list(old.fields), [(5, "7"), (9, None)]), ["full", "full"])
    second, listed2 = collect_stats(new.fields, table_of(list(new.fields), [(1, 1 << 40, 3)]), ["full", "full", "full"])
    files = [data_file(0, first, listed, 2, 0), data_file(1, second, listed2, 1, 1)]

    def told(name: str) -> tuple[list[Any], list[Any], list[Any]]:
        b = column_bounds(entries(files), new.field(name), schemas.__getitem__)
        return b.low.to_pylist(), b.high.to_pylist(), b.nulls.to_pylist()

    assert told("renamed") == ([5, 1 << 40], [9, 1 << 40], [0, 0])
    assert told("b")[0] == [None, 1]  # a text that became a number: its order was another one
    assert told("c")[2] == [2, 0]  # the older file has no such column: all NULL


def test_bounds_keep_the_order_of_files_of_alternating_schemas() -> None:
    """A column that is where it was in both schemas: its files form one group, and still are told apart."""
    a, late = DataField(0, "a", parse_type("INT")), DataField(1, "late", parse_type("INT"))
    schemas = {0: TableSchema(0, (a,), 0), 1: TableSchema(1, (a, late), 1)}
    files = []
    for i, schema_id in enumerate((0, 1, 0, 1)):
        stats, _ = collect_stats([a], table_of([a], [(i,)]), ["full"])
        files.append(replace(data_file(i, stats, ("a",), 1, schema_id), key_stats=stats))
    for keys in (False, True):
        bounds = column_bounds(entries(files), a, lambda i: replace(schemas[i], primary_keys=("a",)), keys=keys)
        assert (bounds.low.to_pylist(), bounds.high.to_pylist()) == ([0, 1, 2, 3], [0, 1, 2, 3])


def test_a_char_below_its_spaces_bounds_nothing() -> None:
    fields = [DataField(0, "x", parse_type("CHAR(3)"))]
    schema = TableSchema(0, tuple(fields), 0)
    for texts, asked in ((["", "\x1f"], ""), (["a", "a\x1f"], "a"), (["a\t", "a\x1fz"], "a\t")):
        stats, listed = collect_stats(fields, table_of(fields, [(v,) for v in texts]), ["full"])
        predicate = bind_literals(Compare("x", "=", asked), fields)
        bounds = column_bounds(entries([data_file(0, stats, listed, 2)]), fields[0], lambda _: schema)
        kept = may_match(predicate, 1, lambda _: bounds, lambda _: fields[0].type)  # noqa: B023
        assert kept.to_pylist() == [True], texts


def test_decimal_bounds_of_every_width() -> None:
    for text in ("DECIMAL(9, 2)", "DECIMAL(18, 4)", "DECIMAL(38, 10)"):
        field = DataField(0, "x", parse_type(text))
        schema = TableSchema(0, (field,), 0)
        low, high = decimal.Decimal("-12.50"), decimal.Decimal("99.25")
        stats, listed = collect_stats([field], table_of([field], [(low,), (high,)]), ["full"])
        b = column_bounds(entries([data_file(0, stats, listed, 2)]), field, lambda _: schema)  # noqa: B023
        assert (b.low.to_pylist(), b.high.to_pylist()) == ([low], [high])
