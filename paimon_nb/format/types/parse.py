"""Parses SQL text and JSON to logical types. Accepts the type names of Paimon, Flink SQL and Spark SQL.
Source: Paimon `types/DataTypeJsonParser.java`; docs/spec/format.md section 4.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import FormatError
from paimon_nb.format.types.types import (
    DEFAULT_CRS,
    EDGE_ALGORITHMS,
    MAX_LENGTH,
    VECTOR_ELEMENTS,
    Array,
    Atomic,
    Binary,
    Char,
    DataField,
    DataType,
    Decimal,
    Geography,
    Geometry,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
    UnknownType,
    VarBinary,
    VarChar,
    Vector,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_TOKEN = re.compile(
    r"\s*+(?:(`(?:[^`]|``)*`)|('(?:[^']|'')*')|([^\x00-@\[-^`{-\x7f][^\x00-/:-@\[-^`{-\x7f]*|\d+)|([<>(),:]))"
)
"""A word: ASCII letters, digits, `_` and all non-ASCII characters. Defined by the excluded characters: `re` compiles a
set of a million characters ten times as slowly.
"""
_SIMPLE = {
    "BOOLEAN": "BOOLEAN", "BOOL": "BOOLEAN", "TINYINT": "TINYINT", "BYTE": "TINYINT", "SMALLINT": "SMALLINT",
    "SHORT": "SMALLINT", "INT": "INT", "INTEGER": "INT", "BIGINT": "BIGINT", "LONG": "BIGINT", "FLOAT": "FLOAT",
    "REAL": "FLOAT", "DOUBLE": "DOUBLE", "DATE": "DATE", "VARIANT": "VARIANT", "BLOB": "BLOB",
}  # fmt: skip
_KNOWN = {
    *_SIMPLE, "STRING", "BYTES", "CHAR", "CHARACTER", "VARCHAR", "BINARY", "VARBINARY", "DECIMAL", "NUMERIC", "DEC", "TIME",
    "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "ARRAY", "MULTISET", "MAP", "ROW", "STRUCT", "VECTOR",
}  # fmt: skip
_FAMILY = re.compile(r"[A-Z][A-Z0-9_]*")
"""The name of a type in a schema file."""
_NAME = re.compile(r"\s*('(?:[^']|'')*'|`(?:[^`]|``)*`|[^\s<>(),.'`0-9][^\s<>(),.'`]*|\d+)")
"""A parameter of GEOMETRY: any text without delimiters, such as `EPSG:3857`, a text in quotes, or a number of Spark's."""
_SPARK_SRIDS = {"0": "SRID:0", "3857": "EPSG:3857", "4326": DEFAULT_CRS}
"""The coordinate systems that Spark has, by its numbers."""


_MAX_DEPTH = 100


class TypeSyntaxError(FormatError):
    """The text is not a type. Facts: `text`, `start` (offset of the token in question)."""


def parse_type(text: str, next_id: Callable[[], int] | None = None, *, varying_length: int = MAX_LENGTH) -> DataType:
    """Parse a type from SQL text such as `DECIMAL(10, 2) NOT NULL` or `ROW<a INT, b MAP<STRING, INT>>`.

    Args:
        text: Paimon, Flink or Spark spelling. VARCHAR and VARBINARY without a length are STRING and BYTES, as in Flink SQL.
        next_id: assigns ids to nested ROW fields, in Java's order (each field's type before the field); None: from 0.
        varying_length: the length of VARCHAR and VARBINARY without one; it is 1 in a schema file.

    Raises:
        TypeSyntaxError: not a type.
    """
    if next_id is None:
        counter = iter(range(1 << 30))
        next_id = counter.__next__
    parser = _Parser(text, next_id, varying_length)
    parsed = parser.type()
    parser.end()
    return parsed


def parse_type_json(node: Any, where: str = "type") -> DataType:
    """Parse a type from schema JSON. Raises `FormatError` if it is not a type."""
    if isinstance(node, str):
        return _parse_or_keep(node)
    if not isinstance(node, dict) or not isinstance(node.get("type"), str):
        raise FormatError(f"{where}: not a type: {node!r}"[:300])
    head, _, tail = node["type"].partition(" ")
    nullable = tail.strip() != "NOT NULL"
    try:
        match head:
            case "ARRAY":
                return Array(parse_type_json(node["element"], where), nullable)
            case "MULTISET":
                return Multiset(parse_type_json(node["element"], where), nullable)
            case "VECTOR":
                element, length = parse_type_json(node["element"], where), node["length"]
                if element.root not in VECTOR_ELEMENTS or not isinstance(length, int) or length < 1:
                    raise FormatError(f"{where}: not a VECTOR type: {node!r}"[:300])
                return Vector(element, nullable, length)
            case "MAP":
                return Map(parse_type_json(node["key"], where), parse_type_json(node["value"], where), nullable)
            case "ROW":
                return Row(tuple(parse_field_json(f, where) for f in node["fields"]), nullable)
    except (KeyError, TypeError) as e:
        raise FormatError(f"{where}: incomplete {head} type: {e}") from None
    if _FAMILY.fullmatch(head):
        return UnknownType(head, json.dumps(node, ensure_ascii=False), nullable)
    raise FormatError(f"{where}: unknown type {head!r}")


def _parse_or_keep(text: str) -> DataType:
    """Parse a type; an unknown one, which a newer Paimon may have, is preserved as `UnknownType`."""
    try:
        return parse_type(text, varying_length=1)
    except FormatError:
        family = _FAMILY.match(text)
        if family is None or family[0] in _KNOWN:
            raise
        return UnknownType(family[0], json.dumps(text, ensure_ascii=False), not text.rstrip().endswith("NOT NULL"))


def parse_field_json(node: Any, where: str = "field") -> DataField:
    """Parse a column or nested field from schema JSON."""
    try:
        field_id, name = node["id"], node["name"]
        if not isinstance(field_id, int) or isinstance(field_id, bool) or not isinstance(name, str):
            raise FormatError(f"{where}: field with bad id or name: {node!r}"[:300])
        return DataField(
            field_id,
            name,
            parse_type_json(node["type"], f"{where}.{name}"),
            node.get("description"),
            node.get("defaultValue"),
        )
    except (KeyError, TypeError, AttributeError):
        raise FormatError(f"{where}: not a field: {node!r}"[:300]) from None


class _Parser:
    """Recursive descent over the tokens of one type."""

    def __init__(self, text: str, next_id: Callable[[], int], varying_length: int) -> None:
        self.text, self.next_id, self.varying_length = text, next_id, varying_length
        self.tokens: list[tuple[str, int]] = []
        position, end = 0, len(text.rstrip())
        while position < end:
            match = (_NAME if self._is_named_parameter() else _TOKEN).match(text, position)
            if not match:
                raise self._syntax_error(f"unexpected {text[position:].strip()[:1]!r}", position)
            self.tokens.append((match[0].strip(), match.end() - len(match[0].lstrip())))
            position = match.end()
        self.at = self._depth = 0

    def _is_named_parameter(self) -> bool:
        """Whether the next token is a parameter of a geospatial type."""
        words = [word.upper() for word, _ in self.tokens[-4:]]
        first = words[-1:] == ["("] and words[-2:-1] in (["GEOMETRY"], ["GEOGRAPHY"])
        return first or (words[:2] == ["GEOGRAPHY", "("] and words[3:] == [","])

    def peek(self, ahead: int = 0) -> str:
        index = self.at + ahead
        return self.tokens[index][0] if index < len(self.tokens) else ""

    def take(self, *words: str) -> bool:
        """Consume the given upper-case words if they come next."""
        if all(self.peek(i).upper() == w for i, w in enumerate(words)):
            self.at += len(words)
            return True
        return False

    def expect(self, word: str) -> None:
        if not self.take(word):
            raise self._syntax_error(f"expected {word!r}, found {self.peek() or 'the end'!r}")

    def end(self) -> None:
        if self.at < len(self.tokens):
            raise self._syntax_error(f"unexpected {self.peek()!r} after the type")

    def type(self) -> DataType:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._syntax_error(f"more than {_MAX_DEPTH} types inside each other")
        bare = self._parse_type_without_null()
        self._depth -= 1
        if self.take("NOT", "NULL"):
            return bare.with_nullable(False)
        self.take("NULL")
        return bare

    def _parse_type_without_null(self) -> DataType:
        start = self.at
        word = self.peek().upper()
        self.at += 1
        if word in _SIMPLE:
            if word == "DOUBLE":
                self.take("PRECISION")
            return Atomic(_SIMPLE[word])
        match word:
            case "STRING":
                return VarChar()
            case "BYTES":
                return VarBinary()
            case "CHAR" | "CHARACTER":
                if self.take("VARYING"):
                    return VarChar(self._parse_length(MAX_LENGTH))
                return Char(self._parse_length(1))
            case "VARCHAR":
                return VarChar(self._parse_length(self.varying_length))
            case "BINARY":
                # Spark's bare BINARY is bytes of any length; Paimon never writes BINARY without a length.
                return Binary(self._parse_length(1)) if self.peek() == "(" else VarBinary()
            case "VARBINARY":
                return VarBinary(self._parse_length(self.varying_length))
            case "DECIMAL" | "NUMERIC" | "DEC":
                p, s = self._parse_numbers((10, 0))
                if not (1 <= p <= 38 and 0 <= s <= p):
                    raise self._syntax_error(f"DECIMAL({p}, {s}) is out of range: 1 <= p <= 38, 0 <= s <= p", at=start)
                return Decimal(p, s)
            case "TIME":
                p = self._parse_precision(0)
                self.take("WITHOUT", "TIME", "ZONE")
                return Time(p)
            case "TIMESTAMP":
                p = self._parse_precision(6)
                if self.take("WITH", "LOCAL", "TIME", "ZONE"):
                    return LocalZonedTimestamp(p)
                self.take("WITHOUT", "TIME", "ZONE")
                return Timestamp(p)
            case "TIMESTAMP_LTZ":
                return LocalZonedTimestamp(self._parse_precision(6))
            case "TIMESTAMP_NTZ":
                return Timestamp(self._parse_precision(6))
            case "ARRAY":
                return Array(self._parse_element_type())
            case "MULTISET":
                return Multiset(self._parse_element_type())
            case "MAP":
                self.expect("<")
                key = self.type()
                self.expect(",")
                value = self.type()
                self.expect(">")
                return Map(key, value)
            case "VECTOR":
                self.expect("<")
                at, element = self.at, self.type()
                if element.root not in VECTOR_ELEMENTS:
                    raise self._syntax_error(f"the elements of a VECTOR cannot be {element.bare()}", at=at)
                self.expect(",")
                length = self.peek()
                if not length.isdecimal() or not 1 <= int(length) <= MAX_LENGTH:
                    raise self._syntax_error(f"expected the length of the VECTOR, found {length or 'the end'!r}")
                self.at += 1
                self.expect(">")
                return Vector(element, length=int(length))
            case "ROW" | "STRUCT":
                return self._parse_row()
            case "GEOMETRY":
                return Geometry((self._parse_names(1) or [DEFAULT_CRS])[0])
            case "GEOGRAPHY":
                crs, *rest = self._parse_names(2) or [DEFAULT_CRS]
                algorithm = rest[0].lower() if rest else EDGE_ALGORITHMS[0]
                if algorithm not in EDGE_ALGORITHMS:
                    known = ", ".join(EDGE_ALGORITHMS)
                    raise self._syntax_error(f"GEOGRAPHY has the edge algorithms {known}", at=start)
                return Geography(crs, algorithm)
        raise self._syntax_error(f"unknown type {word!r}" if word else "a type is missing", at=start)

    def _parse_row(self) -> Row:
        closing = ")" if self.take("(") else ">"
        if closing == ">":
            self.expect("<")
        fields: list[DataField] = []
        while not self.take(closing):
            if fields:
                self.expect(",")
            name = self.peek()
            self.at += 1
            if name.startswith("`"):
                name = name[1:-1].replace("``", "`")
            self.take(":")
            field_type = self.type()
            description = None
            self.take("COMMENT")
            if self.peek().startswith("'"):
                description = self.peek()[1:-1].replace("''", "'")
                self.at += 1
            fields.append(DataField(self.next_id(), name, field_type, description))
        return Row(tuple(fields))

    def _parse_element_type(self) -> DataType:
        self.expect("<")
        inner = self.type()
        self.expect(">")
        return inner

    def _parse_length(self, default: int) -> int:
        (length,) = self._parse_numbers((default,))
        if not 1 <= length <= MAX_LENGTH:
            raise self._syntax_error(f"length {length} is out of range")
        return length

    def _parse_names(self, limit: int) -> list[str]:
        """The names in brackets; [] without brackets."""
        if not self.take("("):
            return []
        names: list[str] = []
        while not names or (len(names) < limit and self.take(",")):
            name = self.peek()
            if name[:1] in ("'", "`"):
                name = name[1:-1].replace(name[0] * 2, name[0])
            elif name.isdecimal():
                name = _SPARK_SRIDS.get(name, "")
            if not name or name == ")":
                raise self._syntax_error(f"expected a name such as EPSG:3857, found {self.peek() or 'the end'!r}")
            names.append(name)
            self.at += 1
        self.expect(")")
        return names

    def _parse_precision(self, default: int) -> int:
        (precision,) = self._parse_numbers((default,))
        if not 0 <= precision <= 9:
            raise self._syntax_error(f"precision {precision} is out of range 0..9")
        return precision

    def _parse_numbers(self, defaults: tuple[int, ...]) -> tuple[int, ...]:
        if not self.take("("):
            return defaults
        out: list[int] = []
        while not self.take(")"):
            if out:
                self.expect(",")
            if not self.peek().isdecimal():
                raise self._syntax_error(f"expected a number, found {self.peek() or 'the end'!r}")
            out.append(int(self.peek()))
            self.at += 1
        if not 1 <= len(out) <= len(defaults):
            raise self._syntax_error("wrong number of type parameters")
        return tuple(out) + defaults[len(out) :]

    def _syntax_error(self, why: str, position: int | None = None, at: int | None = None) -> TypeSyntaxError:
        if position is None:
            index = self.at if at is None else at
            position = self.tokens[index][1] if index < len(self.tokens) else len(self.text)
        return TypeSyntaxError(f"{why} in type {self.text!r}", text=self.text, start=position)
