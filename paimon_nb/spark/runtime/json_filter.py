"""Filters of JSON paths, `[?(@.price < 10 && @.isbn)]`, as Flink's parser (Jayway JsonPath) reads and evaluates them. Knows no SQL.

Source: json-path 2.7 `FilterCompiler`, `EvaluatorFactory`, `ValueNodes`.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.spark.runtime.json_steps import (
    Context,
    InvalidPath,
    JsonPathError,
    Options,
    Path,
    PathNotFound,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_OPERATOR_CHARS = frozenset("<>=~!")


class Undefined:
    """The value of a path without a value; equal to nothing."""


UNDEFINED = Undefined()


class Filter:
    """A condition on a value, `@`, of a document, `$`."""

    def accepts(self, value: Any, context: Context) -> bool:
        """Whether it is true. Raises JsonPathError."""
        try:
            return self.test(value, context)
        except InvalidPath:
            return False

    def test(self, value: Any, context: Context) -> bool:
        raise NotImplementedError


@dataclass(slots=True)
class _All(Filter):
    parts: Sequence[Filter]

    def test(self, value: Any, context: Context) -> bool:
        return all(p.test(value, context) for p in self.parts)


@dataclass(slots=True)
class _Any(Filter):
    parts: Sequence[Filter]

    def test(self, value: Any, context: Context) -> bool:
        return any(p.test(value, context) for p in self.parts)


@dataclass(slots=True)
class _Not(Filter):
    part: Filter

    def test(self, value: Any, context: Context) -> bool:
        return not self.part.test(value, context)


@dataclass(slots=True)
class _Exists(Filter):
    path: Path
    should_exist: bool

    def test(self, value: Any, context: Context) -> bool:
        try:
            self.path.value(value, context.root, Options(requires_properties=True))
            exists = True
        except PathNotFound:
            exists = False
        return exists == self.should_exist


@dataclass(slots=True)
class _Relation(Filter):
    left: Any
    operator: str
    right: Any

    def test(self, value: Any, context: Context) -> bool:
        left, right = (_operand(side, value, context) for side in (self.left, self.right))
        return _OPERATORS[self.operator](left, right)


@dataclass(frozen=True, slots=True)
class Regex:
    """A pattern between slashes."""

    pattern: re.Pattern[str]


def _operand(side: Any, value: Any, context: Context) -> Any:
    if not isinstance(side, Path):
        return side
    try:
        return side.value(context.root if side.is_root else value, context.root, context.options)
    except PathNotFound:
        return UNDEFINED


# -- operators


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _number(value: Any) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(repr(value) if isinstance(value, float) else value)


def _is_structure(value: Any) -> bool:
    return isinstance(value, list | dict)


def _equal(left: Any, right: Any) -> bool:
    if left is UNDEFINED or right is UNDEFINED:
        return False
    if _is_number(left):
        try:
            return (_is_number(right) or isinstance(right, str)) and _number(right) == _number(left)
        except InvalidOperation:
            return False
    if isinstance(left, str):
        return left == (_number_text(right) if _is_number(right) else right)
    if isinstance(left, bool) or left is None:
        return type(left) is type(right) and left == right
    return _is_structure(left) and _is_structure(right) and left == right


def _number_text(value: Any) -> str:
    return str(_number(value))


def _same_type_and_equal(left: Any, right: Any) -> bool:
    return _kind(left) == _kind(right) and _equal(left, right)


def _kind(value: Any) -> str:
    return "number" if _is_number(value) else "json" if _is_structure(value) else type(value).__name__


def _ordered(compare: Callable[[int], bool]) -> Callable[[Any, Any], bool]:
    def evaluate(left: Any, right: Any) -> bool:
        if _is_number(left) and _is_number(right):
            a, b = _number(left), _number(right)
            return compare((a > b) - (a < b))
        if isinstance(left, str) and isinstance(right, str):
            one, other = (s.encode("utf-16-be", "surrogatepass") for s in (left, right))
            return compare((one > other) - (one < other))
        return False

    return evaluate


def _matches(left: Any, right: Any) -> bool:
    if isinstance(left, Regex) == isinstance(right, Regex):
        return False
    pattern, text = (left, right) if isinstance(left, Regex) else (right, left)
    texts = text if isinstance(text, list) else [text]
    return any(pattern.pattern.fullmatch(_input(t)) is not None for t in texts)


def _input(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return _number_text(value) if _is_number(value) else ""


def _list(value: Any) -> list[Any] | None:
    """The elements; None: an object. Raises InvalidPath: neither. JsonPathError: an element is a list or an object."""
    if isinstance(value, list):
        if any(map(_is_structure, value)):
            raise JsonPathError("a list of lists or objects cannot be compared")
        return value
    if isinstance(value, dict):
        return None
    raise InvalidPath("a list is expected")


def _in(left: Any, right: Any) -> bool:
    values = _list(right)
    return values is not None and any(_equal(left, v) for v in values)


def _both_lists(left: Any, right: Any, test: Callable[[list[Any], list[Any]], bool]) -> bool:
    others = _list(right)
    if others is None:
        return False
    values = _list(left)
    return values is not None and test(values, others)


def _subset(left: Any, right: Any) -> bool:
    return _both_lists(left, right, lambda a, b: all(any(_equal(x, y) for y in b) for x in a))


def _any_of(left: Any, right: Any) -> bool:
    return _both_lists(left, right, lambda a, b: any(_equal(x, y) for x in a for y in b))


def _none_of(left: Any, right: Any) -> bool:
    return _both_lists(left, right, lambda a, b: not any(_equal(x, y) for x in a for y in b))


def _contains_all(left: Any, right: Any) -> bool:
    others = _list(right)
    if others is None or not isinstance(left, list):
        return False
    return all(any(_equal(x, y) for y in left) for x in others)


def _contains(left: Any, right: Any) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return right in left
    return isinstance(left, list) and any(_equal(right, v) for v in _list(left) or ())


def _size(left: Any, right: Any) -> bool:
    if not _is_number(right):
        return False
    if isinstance(left, str):
        return len(left) == int(right)
    return (len(left) if isinstance(left, list) else -1) == int(right) if _is_structure(left) else False


def _empty(left: Any, right: Any) -> bool:
    if not isinstance(left, str | list | dict):
        return False
    if isinstance(left, dict):
        raise JsonPathError("empty of an object")
    if not isinstance(right, bool):
        raise InvalidPath("a boolean is expected")
    return (not left) == right


def _not(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda left, right: not test(left, right)


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": _equal,
    "!=": _not(_equal),
    "===": _same_type_and_equal,
    "!==": _not(_same_type_and_equal),
    "<": _ordered(lambda c: c < 0),
    "<=": _ordered(lambda c: c <= 0),
    ">": _ordered(lambda c: c > 0),
    ">=": _ordered(lambda c: c >= 0),
    "=~": _matches,
    "IN": _in,
    "NIN": _not(_in),
    "SUBSETOF": _subset,
    "ANYOF": _any_of,
    "NONEOF": _none_of,
    "ALL": _contains_all,
    "CONTAINS": _contains,
    "SIZE": _size,
    "EMPTY": _empty,
}


# -- parsing


def closing_bracket(text: str, at: int, opening: str, closing: str, *, regex: bool = False) -> int:
    """The position of the bracket that closes the one at `at`, outside of strings and patterns; -1: none."""
    depth, position = 0, at
    while position < len(text):
        char = text[position]
        if char in "'\"" or (regex and char == "/"):
            end = position + 1
            while end < len(text) and text[end] != char:
                end += 2 if text[end] == "\\" else 1
            if end >= len(text):
                raise InvalidPath("a string is not closed")
            position = end
        elif char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if not depth:
                return position
        position += 1
    return -1


def split_arguments(text: str) -> list[str]:
    """The arguments of a function, split at commas outside of brackets and strings."""
    parts, begin, depth, quote = [], 0, 0, ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and not depth:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return [*parts, text[begin:].strip()]


def compile_filter(text: str, compile_path: Callable[[str], Path]) -> Filter:
    """The filter in `(...)`. Raises InvalidPath."""
    return _FilterParser(text[1:-1].strip(), compile_path).filter()


class _FilterParser:
    def __init__(self, text: str, compile_path: Callable[[str], Path]) -> None:
        self.text, self.at, self.compile_path = text, 0, compile_path

    def filter(self) -> Filter:
        found = self._or()
        self._skip_spaces()
        if self.at < len(self.text):
            raise InvalidPath(f"unexpected {self.text[self.at :]!r}")
        return found

    def _skip_spaces(self) -> str:
        """The next character that is no space; '' at the end."""
        while self.at < len(self.text) and self.text[self.at] == " ":
            self.at += 1
        return self.text[self.at : self.at + 1]

    def _take(self, word: str) -> bool:
        self._skip_spaces()
        if self.text.startswith(word, self.at):
            self.at += len(word)
            return True
        return False

    def _or(self) -> Filter:
        parts = [self._and()]
        while True:
            saved = self.at
            try:
                if not self._take("||"):
                    break
                parts.append(self._and())
            except InvalidPath:
                self.at = saved
                break
        return parts[0] if len(parts) == 1 else _Any(parts)

    def _and(self) -> Filter:
        parts = [self._operand_of_and()]
        while True:
            saved = self.at
            try:
                if not self._take("&&"):
                    break
                parts.append(self._operand_of_and())
            except InvalidPath:
                self.at = saved
                break
        return parts[0] if len(parts) == 1 else _All(parts)

    def _operand_of_and(self) -> Filter:
        char = self._skip_spaces()
        saved = self.at
        if char == "!":
            self.at += 1
            if self._skip_spaces() in ("$", "@"):
                self.at = saved
            else:
                return _Not(self._operand_of_and())
        if self._skip_spaces() == "(":
            self.at += 1
            found = self._or()
            if self._skip_spaces() != ")":
                raise InvalidPath("')' is missing")
            self.at += 1
            return found
        return self._expression()

    def _expression(self) -> Filter:
        left, should_exist = self._value()
        saved = self.at
        try:
            operator = self._operator()
            right, _ = self._value()
            return _Relation(left, operator, right)
        except InvalidPath:
            self.at = saved
        if not isinstance(left, Path):
            raise InvalidPath("a path is expected")
        return _Exists(left, should_exist)

    def _operator(self) -> str:
        self._skip_spaces()
        begin = self.at
        if self.text[begin : begin + 1] in _OPERATOR_CHARS:
            while self.at < len(self.text) and self.text[self.at] in _OPERATOR_CHARS:
                self.at += 1
        else:
            while self.at < len(self.text) and self.text[self.at] != " ":
                self.at += 1
        name = self.text[begin : self.at].upper()
        if name not in _OPERATORS:
            raise InvalidPath(f"no operator {name!r}")
        return name

    def _value(self) -> tuple[Any, bool]:
        """A path or a literal, and whether no `!` is before it."""
        char = self._skip_spaces()
        if char == "!":
            self.at += 1
            if self._skip_spaces() not in ("$", "@"):
                raise InvalidPath("unexpected '!'")
            return self._path(), False
        return (self._path() if char in ("$", "@") else self._literal(char)), True

    def _path(self) -> Path:
        begin = self.at
        self.at += 1
        opened = 0
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "[":
                closing = closing_bracket(self.text, self.at, "[", "]")
                if closing < 0:
                    raise InvalidPath("']' is missing")
                self.at = closing + 1
                continue
            if char == "(":
                opened += 1
            elif char == ")":
                if not opened:
                    break
                opened -= 1
            elif char in _OPERATOR_CHARS or (char == " " and not opened):
                break
            self.at += 1
        return self.compile_path(self.text[begin : self.at])

    def _literal(self, char: str) -> Any:
        rest = self.text[self.at :]
        if char in ("'", '"'):
            end = 1
            while end < len(rest) and rest[end] != char:
                end += 2 if rest[end] == "\\" else 1
            if end >= len(rest):
                raise InvalidPath("a string is not closed")
            self.at += end + 1
            return re.sub(r"\\(.)", r"\1", rest[1:end]) if "\\" in rest[1:end] else rest[1:end]
        for word, constant in (("true", True), ("false", False), ("null", None)):
            if char == word[0]:
                if not rest.startswith(word):
                    raise InvalidPath(f"{word} is expected")
                self.at += len(word)
                return constant
        if char in ("[", "{"):
            closing = closing_bracket(self.text, self.at, char, "]" if char == "[" else "}")
            text = self.text[self.at : closing + 1] if closing > 0 else ""
            self.at = closing + 1
            return _lenient_json(text)
        if char == "/":
            found = re.match(r"/((?:[^/\\]|\\.)*)/([a-zA-Z]*)", rest)
            if found is None:
                raise InvalidPath("a pattern is not closed")
            self.at += found.end()
            flags = re.IGNORECASE if "i" in found[2] else re.NOFLAG
            try:
                return Regex(re.compile(found[1], flags))
            except re.error:
                raise InvalidPath(f"{found[1]!r} is no pattern") from None
        number = re.match(r"[0-9.eE\-]*", rest)
        assert number is not None
        try:
            value = Decimal(number[0])
        except InvalidOperation:
            raise InvalidPath(f"unexpected {rest!r}") from None
        self.at += number.end()
        return value


def _lenient_json(text: str) -> Any:
    """JSON that may have single quotes."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return json.loads(re.sub(r"'((?:[^'\\]|\\.)*)'", lambda m: json.dumps(m[1]), text))
    except ValueError:
        raise InvalidPath(f"{text!r} is not JSON") from None
