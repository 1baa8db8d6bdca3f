"""JSON paths as Flink's parser (Jayway JsonPath) reads them. Knows no SQL.

Source: json-path 2.7 `PathCompiler`; filters: `json_filter.py`, evaluation: `json_steps.py`.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from paimon_nb.spark.runtime.json_filter import closing_bracket, compile_filter, split_arguments
from paimon_nb.spark.runtime.json_steps import (
    NO_JSON,
    Condition,
    Elements,
    Function,
    InvalidPath,
    Path,
    Properties,
    Root,
    Scan,
    Step,
    Wildcard,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_INDEX = re.compile(r"[0-9,\-: ]*")
_SPACES = re.compile(r"\s*")


@lru_cache(maxsize=1000)
def compile_path(text: str) -> Path:
    """The path in a text. Raises InvalidPath."""
    text = text.strip()
    if not text or text[0] not in "$@":
        text = f"$.{text}"
    if text.endswith("."):
        raise InvalidPath("a path must not end with '.'")
    return _Parser(text).path()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.steps: list[Step] = []

    def path(self) -> Path:
        self.steps.append(Root())
        if not self._is_at_tail():
            self.at = 1
            if self.text[1] not in ".[":
                raise InvalidPath(f"illegal character {self.text[1]!r}")
            self._step()
            while not self._is_at_tail():
                self._step()
        if isinstance(self.steps[-1], Scan):
            raise InvalidPath("nothing after '..'")
        return Path(self.steps, is_root=self.text[0] == "$")

    def _is_at_tail(self) -> bool:
        return self.at >= len(self.text) - 1

    def _significant(self, at: int) -> int:
        """The position of the next character after `at` that is no space; the length of the text if there is none."""
        found = _SPACES.match(self.text, at + 1)
        assert found is not None
        return found.end()

    def _char(self, at: int) -> str:
        return self.text[at] if at < len(self.text) else ""

    def _step(self) -> None:
        char = self._char(self.at)
        if char == ".":
            if self._char(self.at + 1) == ".":
                self.steps.append(Scan())
                self.at += 2
            else:
                self.at += 1
                if self._char(self.at) in ("", "."):
                    raise InvalidPath("a name is missing")
            char = self._char(self.at)
        if char == "[":
            if not (self._names() or self._elements() or self._wildcard() or self._condition()):
                raise InvalidPath(f"unexpected {self.text[self.at :]!r}")
        elif char == "*":
            self.at += 1
            self.steps.append(Wildcard())
        elif char in ("", " ", "."):
            raise InvalidPath("a name is missing")
        else:
            self._name_or_function()

    def _name_or_function(self) -> None:
        begin, end = self.at, self.at
        while end < len(self.text) and self.text[end] not in ".[(":
            if self.text[end] == " ":
                raise InvalidPath("a name with a space needs brackets")
            end += 1
        name = self.text[begin:end]
        if self._char(end) != "(":
            self.at = end
            self.steps.append(Properties([name]))
            return
        closing, depth = end + 1, 1
        while closing < len(self.text):
            depth += (self.text[closing] == "(") - (self.text[closing] == ")")
            if not depth:
                break
            closing += 1
        if depth:
            raise InvalidPath("a bracket is not closed")
        self.at = closing + 1
        self.steps.append(Function(name, list(_arguments(self.text[end + 1 : closing]))))

    def _names(self) -> bool:
        at = self._significant(self.at)
        quote = self._char(at)
        if quote not in ("'", '"') or not quote:
            return False
        names: list[str] = []
        begin = end = 0
        inside = escaped = after_comma = False
        at = self.at + 1
        while at < len(self.text):
            char = self.text[at]
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == "]" and not inside:
                if after_comma:
                    raise InvalidPath("a name is missing")
                break
            elif char == quote:
                if inside:
                    if self._char(self._significant(at)) not in ("]", ","):
                        raise InvalidPath("names are separated by commas")
                    end, inside = at, False
                    names.append(_unescaped(self.text[begin:end]))
                else:
                    begin, inside, after_comma = at + 1, True, False
            elif char == "," and not inside:
                if after_comma:
                    raise InvalidPath("a name is missing")
                after_comma = True
            at += 1
        if inside or not names or at >= len(self.text):
            raise InvalidPath("a quote is not closed")
        self.at = at + 1
        self.steps.append(Properties(names))
        return True

    def _elements(self) -> bool:
        first = self._char(self._significant(self.at))
        closing = self.text.find("]", self.at)
        if not first or not (first.isdigit() or first in "-:") or closing < 0:
            return False
        text = self.text[self.at + 1 : closing].strip()
        if not _INDEX.fullmatch(text):
            return False
        self.at = closing + 1
        self.steps.append(_slice(text) if ":" in text else Elements([_integer(t) for t in text.split(",")]))
        return True

    def _wildcard(self) -> bool:
        star = self._significant(self.at)
        if self._char(star) != "*":
            return False
        closing = self._significant(star)
        if self._char(closing) != "]":
            raise InvalidPath("']' is missing after '*'")
        self.at = closing + 1
        self.steps.append(Wildcard())
        return True

    def _condition(self) -> bool:
        mark = self._significant(self.at)
        opening = self._significant(mark)
        if self._char(mark) != "?" or self._char(opening) != "(":
            return False
        closing = closing_bracket(self.text, opening, "(", ")", regex=True)
        if closing < 0:
            return False
        end = self._significant(closing)
        if self._char(end) != "]":
            return False
        self.steps.append(Condition(compile_filter(self.text[opening : closing + 1], compile_path)))
        self.at = end + 1
        return True


def _slice(text: str) -> Elements:
    if " " in text or "," in text:
        raise InvalidPath(f"{text!r} is no slice")
    parts = text.split(":")
    begin, end = (_integer(p) if p else None for p in (parts[0], parts[1]))
    if begin is None and end is None:
        raise InvalidPath(f"{text!r} is no slice")
    return Elements(None, begin, end)


def _integer(text: str) -> int:
    try:
        return int(text.strip()) if " " not in text.strip() and "+" not in text else _fail(text)
    except ValueError:
        return _fail(text)


def _fail(text: str) -> int:
    raise InvalidPath(f"{text!r} is no index")


_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_CONTROL = {"r": "\r", "f": "\f", "t": "\t", "n": "\n", "b": "\b"}


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else _CONTROL.get(m[2], m[2]), text)


def _arguments(text: str) -> Iterator[Any]:
    """The arguments of a function: paths, and JSON values."""
    if not text.strip():
        return
    for part in split_arguments(text):
        if part[:1] in ("$", "@"):
            yield compile_path(part)
            continue
        try:
            yield json.loads(part)
        except ValueError:
            yield NO_JSON
