"""The steps of JSON paths as Flink's library (Jayway JsonPath) evaluates them, its oddities included. Knows no text.

Source: json-path 2.7 `*PathToken`, `CompiledPath`, `EvaluationContextImpl`, `PathFunctionFactory`.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class JsonPathError(Exception):
    """An error of a path that Flink's ON ERROR clause handles."""


class InvalidPath(JsonPathError):
    """The text is not a path, or a step does not fit the value. In a filter: the condition is false."""


class PathNotFound(InvalidPath):
    """A definite path has no value."""


@dataclass(frozen=True, slots=True)
class Options:
    """How missing values are handled."""

    suppress: bool = False
    """Of `lax`: a missing value is no error."""
    requires_properties: bool = False
    """Of a filter that asks whether a path exists."""


@dataclass(slots=True)
class Context:
    """One evaluation of a path."""

    root: Any
    """The whole document, `$` of filters."""
    options: Options
    found: list[Any]
    element_of_scan: dict[int, int] = field(default_factory=dict)
    """By step (its id): the last index of an array in which a scan evaluated it. Kept until the end, as in Jayway."""


class Filter(Protocol):
    """A condition on a value of a document."""

    def accepts(self, value: Any, context: Context) -> bool:
        """Whether it is true. Raises JsonPathError."""


class Step:
    """A part of a path; each evaluates the one after it."""

    next: Step | None = None
    previous: Step | None = None
    upstream_is_definite: bool = True
    is_definite: bool = True

    def evaluate(self, value: Any, context: Context) -> None:
        """Add the values that the path finds in this one."""
        raise NotImplementedError

    def pass_on(self, value: Any, context: Context) -> None:
        """A value of this step: a result, or the input of the next step."""
        if self.next is None:
            context.found.append(value)
        else:
            self.next.evaluate(value, context)

    def is_ignored(self, context: Context) -> bool:
        """Whether a value of another kind ends the path here without an error."""
        return not self.upstream_is_definite or context.options.suppress

    def pass_on_element(self, values: list[Any], index: int, context: Context) -> None:
        at = len(values) + index if index < 0 else index
        if 0 <= at < len(values):
            self.pass_on(values[at], context)

    def scans(self, value: Any, context: Context) -> bool:
        """Whether a scan (`..`) evaluates this step on a value."""
        del value, context
        return False


class Root(Step):
    def evaluate(self, value: Any, context: Context) -> None:
        self.pass_on(value, context)


class Properties(Step):
    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    @property
    def is_merge(self) -> bool:
        """Whether several properties become one object."""
        return len(self.names) > 1 and self.next is None

    @property
    def is_definite(self) -> bool:  # type: ignore[override]
        return len(self.names) == 1 or self.is_merge

    def evaluate(self, value: Any, context: Context) -> None:
        if not isinstance(value, dict):
            if self.is_ignored(context):
                return
            raise PathNotFound(f"no object with {', '.join(self.names)}")
        if self.is_merge:
            missing = [n for n in self.names if n not in value]
            if missing and context.options.requires_properties:
                raise PathNotFound(f"missing {missing[0]}")
            context.found.append({n: value[n] for n in self.names if n in value})
            return
        for name in self.names:
            self.pass_on_property(value, name, context)

    def pass_on_property(self, value: dict[str, Any], name: str, context: Context) -> None:
        if name in value:
            if self.next is not None or self._is_found_by_scan(context):
                self.pass_on(value[name], context)
            return
        options = context.options
        if self.next is None:
            if options.suppress or not options.requires_properties:
                return
        elif (
            not (self.upstream_is_definite and self.is_definite) and not options.requires_properties
        ) or options.suppress:
            return
        raise PathNotFound(f"missing {name}")

    def _is_found_by_scan(self, context: Context) -> bool:
        """False for elements of arrays that a scan has walked, if the step before is not their index: `$..*.d` leaves out what is behind an array."""
        index = context.element_of_scan.get(id(self))
        return index is None or (isinstance(self.previous, Elements) and self.previous.indexes == [index])

    def scans(self, value: Any, context: Context) -> bool:
        del context
        return isinstance(value, dict) and (not self.is_definite or all(n in value for n in self.names))


class Elements(Step):
    """Indexes `[0, -1]` and slices `[1:]` of an array."""

    def __init__(self, indexes: Sequence[int] | None, begin: int | None = None, end: int | None = None) -> None:
        self.indexes, self.begin, self.end = indexes, begin, end
        self.is_definite = indexes is not None and len(indexes) == 1

    def evaluate(self, value: Any, context: Context) -> None:
        if not isinstance(value, list):
            if self.is_ignored(context):
                return
            raise PathNotFound("no array")
        for index in self.indexes if self.indexes is not None else self._sliced(len(value)):
            self.pass_on_element(value, index, context)

    def _sliced(self, length: int) -> range:
        if self.end is None:
            begin = self.begin or 0
            return range(max(0, length + begin if begin < 0 else begin), length)
        if self.begin is None:
            return range(min(length, length + self.end if self.end < 0 else self.end))
        return range(self.begin, min(length, self.end))

    def scans(self, value: Any, context: Context) -> bool:
        del context
        return isinstance(value, list)


class Wildcard(Step):
    is_definite = False

    def evaluate(self, value: Any, context: Context) -> None:
        values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        for inner in values:
            try:
                self.pass_on(inner, context)
            except PathNotFound:
                if context.options.requires_properties:
                    raise

    def scans(self, value: Any, context: Context) -> bool:
        del value, context
        return True


class Condition(Step):
    """A filter `[?(...)]`."""

    is_definite = False

    def __init__(self, condition: Filter) -> None:
        self.condition = condition

    def evaluate(self, value: Any, context: Context) -> None:
        if isinstance(value, dict):
            if self.condition.accepts(value, context):
                self.pass_on(value, context)
        elif isinstance(value, list):
            for inner in value:
                if self.condition.accepts(inner, context):
                    self.pass_on(inner, context)
        elif self.upstream_is_definite:
            raise InvalidPath("a filter on a single value")

    def scans(self, value: Any, context: Context) -> bool:
        return self.condition.accepts(value, context)


class Scan(Step):
    """`..`: the next step on each value inside."""

    is_definite = False

    def evaluate(self, value: Any, context: Context) -> None:
        assert self.next is not None
        if isinstance(value, dict):
            if self.next.scans(value, context):
                self.next.evaluate(value, context)
            for inner in value.values():
                self.evaluate(inner, context)
        elif isinstance(value, list):
            if self.next.scans(value, context):
                if self.next.next is None:
                    self.next.evaluate(value, context)
                else:
                    for index, inner in enumerate(value):
                        context.element_of_scan[id(self.next.next)] = index
                        self.next.next.evaluate(inner, context)
            for inner in value:
                self.evaluate(inner, context)


class Function(Step):
    """`.length()` and others."""

    def __init__(self, name: str, arguments: Sequence[Any]) -> None:
        self.name, self.arguments = name, tuple(arguments)

    def evaluate(self, value: Any, context: Context) -> None:
        function = _FUNCTIONS.get(self.name)
        if function is None:
            raise InvalidPath(f"no function {self.name}")
        result = function(self.name, value, [self._argument(a, value, context) for a in self.arguments])
        context.found.append(result)
        if self.next is not None:
            self.next.evaluate(result, context)

    def _argument(self, argument: Any, value: Any, context: Context) -> Any:
        if argument is NO_JSON:
            raise JsonPathError("an argument is no JSON")
        if not isinstance(argument, Path):
            return argument
        inner = argument
        if self.name in ("length", "size") and not inner.is_function and inner.steps[-1] is not inner.steps[0]:
            inner = Path([*_copied(inner.steps), Wildcard()])
        return inner.value(context.root if argument.is_root else value, context.root, context.options)


def _copied(steps: Sequence[Step]) -> list[Step]:
    from copy import copy

    return [copy(s) for s in steps]


class Path:
    """A compiled path."""

    def __init__(self, steps: Sequence[Step], *, is_root: bool = True) -> None:
        self.is_root = is_root
        steps = list(steps)
        if len(steps) > 2 and isinstance(steps[-1], Function) and isinstance(steps[1], Scan):
            # $..a.length() is $.length($..a)
            refused = [a for a in steps[-1].arguments if a is NO_JSON]
            function = Function(steps[-1].name, [Path(steps[:-1]), *refused])
            steps = [Root(), function]
        self.steps = steps
        self.is_function = isinstance(steps[-1], Function)
        upstream = True
        for step, following in zip(steps, [*steps[1:], None], strict=True):
            step.next = following
            if following is not None:
                following.previous = step
        for step in steps:
            step.upstream_is_definite = upstream
            upstream = upstream and step.is_definite
        self.is_definite = upstream

    def value(self, value: Any, root: Any, options: Options) -> Any:
        """The value of a definite path, else the list of values. Raises PathNotFound, InvalidPath."""
        context = Context(root, options, [])
        self.steps[0].evaluate(value, context)
        if not self.is_definite:
            return context.found
        if not context.found:
            raise PathNotFound("no value")
        return context.found[-1]

    def read(self, document: Any, *, lax: bool) -> Any:
        """What `JsonPath.read` returns: None also for a lax path without a value. Raises JsonPathError."""
        options = Options(suppress=lax)
        context = Context(document, options, [])
        self.steps[0].evaluate(document, context)
        if lax and not context.found:
            return None if self.is_definite else []
        if not self.is_definite:
            return context.found
        if not context.found:
            raise PathNotFound("no value")
        if self.is_function and context.found[-1] is None:
            raise JsonPathError("the function has no value here")
        return context.found[-1]


# -- functions

NO_JSON = object()
"""An argument that is neither a path nor JSON, such as a text in single quotes: an error where the function is called."""


def _numbers(value: Any, arguments: Sequence[Any]) -> list[float]:
    inside = [value, *arguments] if isinstance(value, list) else arguments
    items = [item for part in inside for item in (part if isinstance(part, list) else [part])]
    found = [float(item) for item in items if isinstance(item, int | float) and not isinstance(item, bool)]
    if not found:
        raise JsonPathError("no number to aggregate")
    return found


def _aggregate(name: str, value: Any, arguments: Sequence[Any]) -> float:
    numbers = _numbers(value, arguments)
    match name:
        case "min":
            return min(numbers)
        case "max":
            return max(numbers)
        case "sum":
            return float(sum(numbers))
        case "avg":
            return sum(numbers) / len(numbers)
    count = len(numbers)
    squares, total = sum(n * n for n in numbers), sum(numbers)
    return float((squares / count - total * total / count / count) ** 0.5)


def _length(name: str, value: Any, arguments: Sequence[Any]) -> int | None:
    del name
    if arguments and isinstance(arguments[0], list):
        return len(arguments[0])
    return len(value) if isinstance(value, list | dict) else None


def _keys(name: str, value: Any, arguments: Sequence[Any]) -> list[str] | None:
    del name, arguments
    return list(value) if isinstance(value, dict) else None


def _concat(name: str, value: Any, arguments: Sequence[Any]) -> str:
    del name
    texts = [v for v in value if isinstance(v, str)] if isinstance(value, list) else []
    for argument in arguments:
        texts += [_text(a) for a in (argument if isinstance(argument, list) else [argument])]
    return "".join(texts)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "null" if value is None else str(value)


def _append(name: str, value: Any, arguments: Sequence[Any]) -> Any:
    del name
    return [*value, *arguments] if isinstance(value, list) else value


def _element(name: str, value: Any, arguments: Sequence[Any]) -> Any:
    if not isinstance(value, list) or not value:
        raise JsonPathError("no array")
    index = 0 if name == "first" else -1 if name == "last" else int(arguments[0])
    at = index if index >= 0 else len(value) + index
    if not 0 <= at < len(value):
        raise JsonPathError("no such element")
    return value[at]


_FUNCTIONS: dict[str, Callable[[str, Any, Sequence[Any]], Any]] = {
    **dict.fromkeys(("min", "max", "sum", "avg", "stddev"), _aggregate),
    **dict.fromkeys(("length", "size"), _length),
    **dict.fromkeys(("first", "last", "index"), _element),
    "keys": _keys,
    "concat": _concat,
    "append": _append,
}
