"""`%paimon input`: what an input offers, and its value as a Python value for `:name` in SQL."""

from __future__ import annotations

import ast
import datetime as dt
import re
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SqlAnalysisError
from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

USAGE = (
    "%paimon input NAME = choice('EU', 'US') | slider(0, 100[, STEP[, VALUE]]) | date(['2026-01-31']) | text(['...'])"
)
_ASSIGNMENT = re.compile(r"\s*(\w+)\s*=(?!=)\s*(.+)", re.DOTALL)
MAX_CHOICES = 1000


@dataclass(frozen=True, slots=True)
class InputSpec:
    """An input: a choice of values, a slider, a date or a text."""

    name: str
    kind: str
    choices: tuple[Any, ...] = ()
    low: float = 0
    high: float = 0
    step: float = 1
    start: Any = None
    """The value at first."""

    def accepts(self, value: Any) -> bool:
        """Whether a Python value is one that the input can have."""
        match self.kind:
            case "choice":
                return any(type(c) is type(value) and c == value for c in self.choices)
            case "slider":
                return isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high
            case "date":
                return isinstance(value, dt.date) and not isinstance(value, dt.datetime)
        return isinstance(value, str)

    def to_page(self, value: Any) -> Any:
        """A value as the page has it: the number of a choice, a number, a text."""
        if self.kind == "choice":
            return next(i for i, c in enumerate(self.choices) if type(c) is type(value) and c == value)
        return value.isoformat() if self.kind == "date" else value

    def from_page(self, sent: Any) -> Any:
        """The Python value of what the page sends. Raises SqlAnalysisError: the input cannot have it."""
        value = sent
        match self.kind, sent:
            case "choice", int() if 0 <= sent < len(self.choices):
                return self.choices[sent]
            case "date", str():
                try:
                    value = dt.date.fromisoformat(sent)
                except ValueError:
                    value = None
            case "slider", int() | float():
                whole = all(float(n).is_integer() for n in (self.low, self.step, sent))
                value = int(sent) if whole else float(sent)
            case "choice", _:
                value = None
        if value is None or not self.accepts(value):
            raise SqlAnalysisError(f"{self.name} cannot be {sent!r}", hint=USAGE)
        return value


def parse_input(text: str) -> InputSpec:
    """`region = choice('EU', 'US')` as a spec. Raises ValueError with a sentence: it is not one.

    Examples:
        >>> parse_input("n = slider(0, 10)").high
        10
    """
    found = _ASSIGNMENT.fullmatch(text)
    if found is None:
        raise ValueError(USAGE)
    name = found[1]
    if not name.isidentifier() or iskeyword(name):
        raise ValueError(f"{name}: not a valid Python name; for example region")
    try:
        tree = ast.parse(found[2].strip(), mode="eval").body
        if not (isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name)) or tree.keywords:
            raise ValueError(USAGE)
        values = [ast.literal_eval(argument) for argument in tree.args]
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        raise ValueError(USAGE) from None
    maker = _KINDS.get(tree.func.id)
    if maker is None:
        raise ValueError(f"{tree.func.id}: no such input; {USAGE}")
    return maker(name, values)


def _choice(name: str, values: Sequence[Any]) -> InputSpec:
    choices = tuple(values[0]) if len(values) == 1 and isinstance(values[0], list | tuple) else tuple(values)
    if not 0 < len(choices) <= MAX_CHOICES or not all(isinstance(c, str | int | float | bool) for c in choices):
        raise ValueError(f"choice('EU', 'US'): 1 to {MAX_CHOICES:,} texts, numbers or booleans")
    return InputSpec(name, "choice", choices, start=choices[0])


def _slider(name: str, values: Sequence[Any]) -> InputSpec:
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    if not 2 <= len(values) <= 4 or not numbers:
        raise ValueError("slider(LOW, HIGH[, STEP[, VALUE]]): numbers")
    low, high = values[:2]
    step = values[2] if len(values) > 2 else 1
    start = values[3] if len(values) > 3 else low
    if not low < high or step <= 0 or not low <= start <= high:
        raise ValueError(
            f"slider({', '.join(map(str, values))}): LOW is below HIGH, STEP is above 0, VALUE is between them"
        )
    return InputSpec(name, "slider", low=low, high=high, step=step, start=start)


def _date(name: str, values: Sequence[Any]) -> InputSpec:
    try:
        start = dt.date.fromisoformat(values[0]) if values else dt.datetime.now(dt.UTC).date()
    except (ValueError, TypeError):
        start = None
    if start is None or len(values) > 1:
        raise ValueError("date('2026-01-31'): a date in ISO 8601")
    return InputSpec(name, "date", start=start)


def _text(name: str, values: Sequence[Any]) -> InputSpec:
    if len(values) > 1 or not all(isinstance(v, str) for v in values):
        raise ValueError("text('...'): one text")
    return InputSpec(name, "text", start=values[0] if values else "")


_KINDS: dict[str, Callable[[str, Sequence[Any]], InputSpec]] = {
    "choice": _choice, "slider": _slider, "date": _date, "text": _text,
}  # fmt: skip
