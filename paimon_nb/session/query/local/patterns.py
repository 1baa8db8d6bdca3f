r"""Regular expressions that Java and the engine's RE2 read alike: literals, classes, groups, alternatives, quantifiers.

`.` and `\s` are written out, because the engines have other line ends and spaces.
"""

from __future__ import annotations

import re

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.session.query.local.not_local import NotLocal

LINE_ENDS = r"\n\r\x{85}\x{2028}\x{2029}"
"""Java's line terminators, in a class of RE2."""
_SPACES = r" \t\n\v\f\r"
_SPECIAL = frozenset("^$.|?*+()[]{}\\")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d{1,2}(?:,\d{0,2})?\})\??")
_CLASSES = frozenset("dwDW")
_MAX_LENGTH, _MAX_GROUPS = 2_000, 100
"""Of a pattern: it is read by functions that call each other for each group."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern for the engine."""

    text: str
    groups: int
    matches_empty: bool
    """Whether it may match no characters."""
    ends_at_line: bool
    """Whether it has `$`, which Java also finds before a last line end."""


def portable_pattern(java: str, *, only_whether: bool = False) -> Pattern:
    """The pattern in the engine's syntax.

    Args:
        java: the pattern in Java's syntax.
        only_whether: only whether it matches is asked, not where and with which groups.

    Raises:
        NotLocal: the engines may read it differently.
    """
    if len(java) > _MAX_LENGTH or java.count("(") > _MAX_GROUPS:
        raise NotLocal("a regular expression of this size is left to Spark")
    reader = _Reader(java, only_whether)
    text = reader.alternatives()
    if reader.at < len(java):
        raise NotLocal(_REFUSED)
    try:
        is_empty = re.compile(reader.python).match("") is not None
    except re.error:
        raise NotLocal(_REFUSED) from None
    return Pattern(text, reader.groups, is_empty, reader.has_end)


_REFUSED = "a regular expression that engines may read differently is left to Spark"


class _Reader:
    """Reads a pattern from left to right."""

    def __init__(self, java: str, only_whether: bool) -> None:
        self.only_whether = only_whether
        self.java, self.at, self.groups, self.has_end = java, 0, 0, False
        self.python = java

    def _next(self) -> str:
        return self.java[self.at : self.at + 1]

    def alternatives(self) -> str:
        found = [self._sequence()]
        while self._next() == "|":
            self.at += 1
            found.append(self._sequence())
        return "|".join(found)

    def _sequence(self) -> str:
        found = []
        while self._next() not in ("", "|", ")"):
            first = self.at
            atom = self._atom()
            written = self.java[first : self.at]
            quantifier = _QUANTIFIER.match(self.java, self.at)
            if quantifier is not None:
                if written in ("^", "$") or (not self.only_whether and self._may_be_empty(written)):
                    raise NotLocal(_REFUSED)
                self.at = quantifier.end()
                atom += quantifier[0]
                if self._next() in ("*", "+", "?", "{"):
                    raise NotLocal(_REFUSED)
            found.append(atom)
        return "".join(found)

    @staticmethod
    def _may_be_empty(atom: str) -> bool:
        """Whether it is a group that may match no characters: what such a group matches when it is repeated differs."""
        return atom.startswith("(") and re.compile(atom).match("") is not None

    def _atom(self) -> str:
        c = self._next()
        self.at += 1
        match c:
            case "(":
                return self._group()
            case "[":
                return self._class()
            case ".":
                return f"[^{LINE_ENDS}]"
            case "^":
                return "^"
            case "$":
                self.has_end = True
                return r"\z"
            case "\\":
                return self._escaped(in_class=False)
        if c in _SPECIAL:
            raise NotLocal(_REFUSED)
        return c

    def _group(self) -> str:
        opening = "("
        if self.java.startswith("?", self.at):
            if not self.java.startswith("?:", self.at):
                raise NotLocal(_REFUSED)
            self.at += 2
            opening = "(?:"
        else:
            self.groups += 1
        inside = self.alternatives()
        if self._next() != ")":
            raise NotLocal(_REFUSED)
        self.at += 1
        return f"{opening}{inside})"

    def _escaped(self, *, in_class: bool) -> str:
        c = self._next()
        self.at += 1
        if c in _CLASSES and c:
            return f"\\{c}"
        if c == "s":
            return _SPACES if in_class else f"[{_SPACES}]"
        if c in ("n", "t", "r"):
            return f"\\{c}"
        if not c or c.isalnum() or not c.isascii():
            raise NotLocal(_REFUSED)
        return f"\\{c}"

    def _class(self) -> str:
        found = "["
        if self._next() == "^":
            self.at += 1
            found += "^"
        first = True
        while self._next() != "]" or first:
            c = self._next()
            self.at += 1
            if c in ("", "[", "&") or (c == "]" and first):
                raise NotLocal(_REFUSED)
            found += self._escaped(in_class=True) if c == "\\" else c
            first = False
        self.at += 1
        return found + "]"
