"""Windows of time: Flink's TABLE(TUMBLE(...)), HOP, CUMULATE and SESSION, its TUMBLE(...) in GROUP BY, and Spark's window and session_window.

Fixed windows are computed from each row alone. A session ends if the next row of its partition comes later than the gap, as in Flink and Spark.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.incremental.operators import Filter, FixedWindow, Sessions, Unnest
from paimon_nb.session.query.local.clauses import as_read
from paimon_nb.session.query.local.expressions import Expressions
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.scopes import Relation
from paimon_nb.session.query.local.scopes import Source as NamedSource
from paimon_nb.session.query.local.values import BIGINT, TIMESTAMP, Value, orderable, with_positive_zero
from paimon_nb.syntax import tree as syntax
from paimon_nb.syntax.tree import without_brackets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.incremental.operators import Operator
    from paimon_nb.incremental.shared import Shared
    from paimon_nb.session.query.local.expressions import Context

_FLINK_PARTS = {"START": "start", "END": "end", "ROWTIME": "time"}
GROUP_WINDOWS = frozenset(f"{k}{p}" for k in ("TUMBLE", "HOP", "SESSION") for p in ("", "_START", "_END", "_ROWTIME"))
"""Windows in GROUP BY, and their parts, in Flink's older syntax."""
_SPARK_WINDOWS = frozenset({"WINDOW", "SESSION_WINDOW"})
_UNITS_US = {"MICROSECOND": 1, "MILLISECOND": 1000, "SECOND": 10**6, "MINUTE": 60 * 10**6, "HOUR": 3600 * 10**6, "DAY": 86400 * 10**6, "WEEK": 7 * 86400 * 10**6}  # fmt: skip
_MAX_US = 1 << 53
_ALIAS = "window"


@dataclass(frozen=True, slots=True)
class _Window:
    """A window function with constants in microseconds."""

    kind: str
    """TUMBLE, HOP, CUMULATE or SESSION."""
    size: int
    """Of SESSION: the gap."""
    slide: int = 0
    """Of HOP; of CUMULATE the step."""
    offset: int = 0


# -- Flink's table functions


def window_table(
    shared: Shared, context: Context, node: syntax.WindowTable, words: Sequence[str], op: Operator, relation: Relation
) -> tuple[Operator, Relation]:
    """A table with the columns of its windows.

    Args:
        shared: names of the plan.
        context: of the text.
        node: the function.
        words: what follows its table.
        op: the rows of the table.
        relation: their names.

    Raises:
        NotLocal: it is computed in another way.
    """
    clauses = _clauses(words)
    partition: list[str] = []
    if clauses and clauses[0][:2] == ["PARTITION", "BY"]:
        names = [clauses[0][2:]]
        while len(clauses) > 1 and "DESCRIPTOR" not in clauses[1]:
            names.append(clauses.pop(1))
        partition, clauses = [_name(n) for n in names], clauses[1:]
    if not clauses or clauses[0][:2] != ["DESCRIPTOR", "("]:
        raise NotLocal(f"this {node.kind} of a table")
    sizes = [_interval_us(c) for c in clauses[1:]]
    scope = Expressions(context, relation.resolve)
    time = scope.value(_column(_name(clauses[0][2:-1])))
    keys = [with_positive_zero(scope.value(_column(p))) for p in partition]
    window = _window(node.kind, sizes)
    if keys and window.kind != "SESSION":
        raise NotLocal(f"PARTITION BY in {node.kind}")
    made, parts = _windowed(shared, window, op, time, keys)
    named = [(f"window_{n}", as_read(replace(v, name=f"window_{n}"))) for n, v in parts.items()]
    (table,) = relation.sources
    return made, Relation.of("", NamedSource(node.alias or table.alias, (*table.columns, *named)))


def _window(kind: str, sizes: Sequence[int]) -> _Window:
    """The arguments of Flink's functions: the slide or step comes before the size."""
    count = 1 if kind in ("TUMBLE", "SESSION") else 2
    if not count <= len(sizes) <= (count if kind == "SESSION" else count + 1):
        raise NotLocal(f"{kind} with these arguments")
    offset = sizes[count] if len(sizes) > count else 0
    if kind == "TUMBLE":
        return _checked(_Window("HOP", sizes[0], sizes[0], offset))
    if kind == "SESSION":
        return _checked(_Window("SESSION", sizes[0]))
    found = _checked(_Window(kind, sizes[1], sizes[0], offset))
    if found.size % found.slide:
        raise NotLocal(f"{kind} whose size is not a multiple of its {'slide' if kind == 'HOP' else 'step'}")
    return found


def _checked(window: _Window) -> _Window:
    if window.size <= 0 or window.size > _MAX_US or (window.kind != "SESSION" and not 0 < window.slide <= window.size):
        raise NotLocal("windows of such a size")
    if window.slide and window.size // window.slide > 10_000:
        raise NotLocal("each row is in more than 10,000 windows")
    return window


# -- windows in GROUP BY


def group_windows(node: syntax.Select) -> list[syntax.Call]:
    """The windows in GROUP BY; those of one function once."""
    keys = () if node.group is None else map(without_brackets, node.group.keys)
    return list({k.function: k for k in keys if isinstance(k, syntax.Call) and _is_window(k)}.values())


def _is_window(call: syntax.Call) -> bool:
    return call.window is None and call.function in (*_SPARK_WINDOWS, "TUMBLE", "HOP", "SESSION")


def with_group_window(
    shared: Shared, context: Context, node: syntax.Select, call: syntax.Call, op: Operator, relation: Relation
) -> tuple[syntax.Select, Operator, Relation]:
    """A SELECT whose window in GROUP BY is two columns of its rows: of a source `window`, or `session_window`.

    Args:
        shared: names of the plan.
        context: of the text.
        node: the SELECT.
        call: the window.
        op: the rows that are grouped.
        relation: their names.

    Raises:
        NotLocal: it is computed in another way.
    """
    assert node.group is not None
    if not node.group.is_plain:
        raise NotLocal("a window in sets of keys")
    scope = Expressions(context, relation.resolve)
    if not call.arguments:
        raise NotLocal(f"{call.function} with these arguments")
    time = scope.value(call.arguments[0])
    sizes = [_interval_us(context.words(a.span.start, a.span.stop)) for a in call.arguments[1:]]
    alias = "session_window" if call.function == "SESSION_WINDOW" else _ALIAS
    if any(s.alias.lower() == alias for s in relation.sources) or any(n.lower() == alias for n, _ in relation.visible):
        raise NotLocal(f"{alias} is a name of the query, and a window")
    keys = [k for k in node.group.keys if not _is_same(context, without_brackets(k), call)]
    partition = [with_positive_zero(scope.value(k)) for k in keys] if _of_call(call, sizes).kind == "SESSION" else []
    made, parts = _windowed(shared, _of_call(call, sizes), op, time, partition)
    source = NamedSource(alias, tuple((n, as_read(v)) for n, v in parts.items()))
    columns = [_column(alias, part) for part in ("start", "end")]
    replaced = _replaced(node, context, call, alias)
    group = replace(node.group, keys=(*keys, *columns))
    found = replace(relation, sources=(*relation.sources, source))
    return replace(replaced, group=group), made, found


def _of_call(call: syntax.Call, sizes: Sequence[int]) -> _Window:
    if call.function not in _SPARK_WINDOWS:
        return _window(call.function, sizes)
    if call.function == "SESSION_WINDOW":
        if len(sizes) != 1:
            raise NotLocal("session_window with these arguments")
        return _checked(_Window("SESSION", sizes[0]))
    if not 1 <= len(sizes) <= 3:
        raise NotLocal("window with these arguments")
    slide = sizes[1] if len(sizes) > 1 else sizes[0]
    return _checked(_Window("HOP", sizes[0], slide, sizes[2] if len(sizes) > 2 else 0))


def _is_same(context: Context, a: syntax.Node, b: syntax.Node) -> bool:
    return context.words(a.span.start, a.span.stop) == context.words(b.span.start, b.span.stop)


def _replaced(node: syntax.Select, context: Context, call: syntax.Call, alias: str) -> syntax.Select:
    """The SELECT with `TUMBLE_START(...)` and `window(...).start` as columns."""

    def column(e: syntax.Node) -> syntax.Node:
        if isinstance(e, syntax.Alias):
            return replace(e, expression=column(e.expression))
        inner = without_brackets(e)
        if isinstance(inner, syntax.Field):
            part = inner.name.lower()
            if _is_same(context, without_brackets(inner.operand), call) and part in ("start", "end"):
                return replace(_column(alias, part), span=inner.span)
        if isinstance(inner, syntax.Call) and inner.function in GROUP_WINDOWS:
            kind, _, part = inner.function.partition("_")
            same = [context.words(a.span.start, a.span.stop) for a in inner.arguments] == [
                context.words(a.span.start, a.span.stop) for a in call.arguments
            ]
            if kind == call.function and part and same:
                return replace(_column(alias, _FLINK_PARTS[part]), span=inner.span)
        return e

    having = None if node.having is None else column(node.having)
    return replace(node, items=tuple(column(i) for i in node.items), having=having)


# -- rows with their windows


def _windowed(
    shared: Shared, window: _Window, op: Operator, time: Value, partition: Sequence[Value]
) -> tuple[Operator, dict[str, Value]]:
    """Rows with windows, and the parts of a row's window. Rows without a time are in none."""
    if time.type != TIMESTAMP:
        raise NotLocal(f"a window over {time.type.bare()}")
    if any(not orderable(p) for p in partition):
        raise NotLocal("sessions of such keys")
    rows = Filter(op, f"({time.sql}) IS NOT NULL")
    if window.kind == "SESSION":
        start, end = (shared.column(TIMESTAMP, n) for n in ("window_start", "window_end"))
        made: Operator = Sessions(rows, tuple(p.sql for p in partition), time.sql, window.size, start, end)
        return made, _parts(start.id, end.id)
    column = shared.column(BIGINT, "window")
    us = f"epoch_us({time.sql})"
    first = _floor(us, window.slide, window.offset)
    if window.kind == "HOP":
        listed = f"range({first}, {us} - {window.size}, -{window.slide})"
        begins, ends = (f"make_timestamp({column.id} + {shift})" for shift in (0, window.size))
        fixed = FixedWindow(time.sql, ends, window.slide, window.offset)
        return Unnest(rows, listed, column, _name_of(window), fixed), _parts(begins, ends)
    whole = _floor(us, window.size, window.offset)
    listed = f"range({first} + {window.slide}, {whole} + {window.size + 1}, {window.slide})"
    fixed = FixedWindow(time.sql, f"make_timestamp({column.id})", window.slide, window.offset)
    made = Unnest(rows, listed, column, _name_of(window), fixed)
    start_us = _floor(f"({column.id} - 1)", window.size, window.offset)
    return made, _parts(f"make_timestamp({start_us})", f"make_timestamp({column.id})")


def _parts(start: str, end: str) -> dict[str, Value]:
    last = f"({end} - INTERVAL 1 MILLISECOND)"
    return {n: Value(sql, TIMESTAMP) for n, sql in (("start", start), ("end", end), ("time", last))}


def _floor(us: str, size: int, offset: int) -> str:
    return f"({us} - (({us} - {offset}) % {size} + {size}) % {size})"


def _name_of(window: _Window) -> str:
    size = f"{window.size / 1e6:g} s"
    return f"windows of {size}" if window.size == window.slide else f"windows of {size} every {window.slide / 1e6:g} s"


# -- words


def _clauses(words: Sequence[str]) -> list[list[str]]:
    """The arguments after a table, without their names: `, SIZE => INTERVAL '1' HOUR ) )`."""
    found: list[list[str]] = [[]]
    depth = 0
    for word in words:
        depth += (word == "(") - (word == ")")
        if depth < 0:
            break
        if word == "," and not depth:
            found.append([])
        else:
            found[-1].append(word)
    return [c[2:] if len(c) > 2 and c[1] == "=>" else c for c in found if c]


def _name(words: Sequence[str]) -> str:
    if len(words) != 1:
        raise NotLocal("a window of an expression")
    return words[0].strip("`")


def _column(*parts: str) -> syntax.Column:
    return syntax.Column(syntax.Span(0, 0), parts)


def _interval_us(words: Sequence[str]) -> int:
    """Microseconds of `INTERVAL '10' MINUTES` or `'1 hour 30 minutes'`. Raises NotLocal."""
    parts = [p for w in words if w.upper() != "INTERVAL" for p in w.strip("'").upper().split()]
    total = 0
    if not parts or len(parts) % 2:
        raise NotLocal("a window without such an interval")
    for number, unit in zip(parts[::2], parts[1::2], strict=True):
        size = _UNITS_US.get(unit.removesuffix("S"))
        if size is None or not number.removeprefix("-").isdecimal():
            raise NotLocal("a window without such an interval")
        total += int(number) * size
    return total
