"""The logical types as frozen dataclasses. `str(t)` is Paimon's SQL text, `t.to_json()` its schema JSON.

Source: Paimon `types/*Type.java` (asSQLString, serializeJson); docs/spec/format.md section 4.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LENGTH = 2147483647
"""Length of STRING and BYTES."""
DEFAULT_CRS = "OGC:CRS84"
"""Longitude and latitude in degrees."""


@dataclass(frozen=True, slots=True)
class DataType:
    """Base of all types. The default is nullable, which the text does not contain."""

    @property
    def root(self) -> str:
        """The type's family name: 'INT', 'VARCHAR', 'ARRAY', ..."""
        raise NotImplementedError

    @property
    def nullable(self) -> bool:
        raise NotImplementedError

    @property
    def children(self) -> tuple[DataType, ...]:
        """The nested types; () for all but arrays, maps, multisets and rows."""
        return ()

    def contains_type(self, what: Callable[[DataType], bool]) -> bool:
        """Whether `test` is true for this type or for a nested type at any depth."""
        return what(self) or any(child.contains_type(what) for child in self.children)

    def with_nullable(self, nullable: bool) -> Self:
        """The same type with another nullability."""
        return replace(self, is_nullable=nullable)  # type: ignore[call-arg]

    def bare(self) -> str:
        """SQL text without nullability."""
        raise NotImplementedError

    def to_json(self) -> Any:
        """Schema JSON: a string for atomic types, an object for constructed ones."""
        return str(self)

    def __str__(self) -> str:
        return self.bare() + self._nullability_suffix()

    def _nullability_suffix(self) -> str:
        return "" if self.nullable else " NOT NULL"


@dataclass(frozen=True, slots=True)
class Atomic(DataType):
    """BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DATE, VARIANT or BLOB."""

    name: str
    is_nullable: bool = True

    @property
    def root(self) -> str:
        return self.name

    @property
    def nullable(self) -> bool:
        return self.is_nullable

    def bare(self) -> str:
        return self.name

    __str__ = DataType.__str__


@dataclass(frozen=True, slots=True)
class UnknownType(DataType):
    """A type of a newer Paimon: its column is preserved in the schema, but values are neither read nor written."""

    name: str
    """The family: 'UUID', 'TENSOR', ..."""
    node: str
    """The schema file's JSON of it."""
    is_nullable: bool = True

    @property
    def root(self) -> str:
        return self.name

    @property
    def nullable(self) -> bool:
        return self.is_nullable

    def bare(self) -> str:
        node = self.to_json()
        return node.removesuffix(" NOT NULL") if isinstance(node, str) else self.name

    def to_json(self) -> Any:
        return json.loads(self.node)

    __str__ = DataType.__str__


@dataclass(frozen=True, slots=True)
class _Sized(DataType):
    length: int
    is_nullable: bool = True

    @property
    def root(self) -> str:
        return type(self).__name__.upper()

    @property
    def nullable(self) -> bool:
        return self.is_nullable

    def bare(self) -> str:
        return f"{self.root}({self.length})"

    __str__ = DataType.__str__


@dataclass(frozen=True, slots=True)
class Char(_Sized):
    """CHAR(n): n code points, padded with spaces by writers."""

    __str__ = DataType.__str__


@dataclass(frozen=True, slots=True)
class VarChar(_Sized):
    """VARCHAR(n); n = 2147483647 is STRING."""

    length: int = MAX_LENGTH

    def bare(self) -> str:
        return "STRING" if self.length == MAX_LENGTH else f"VARCHAR({self.length})"

    __str__ = DataType.__str__


@dataclass(frozen=True, slots=True)
class Binary(_Sized):
    """BINARY(n): n bytes."""

    __str__ = DataType.__str__


@dataclass(frozen=True, slots=True)
class VarBinary(_Sized):
    """VARBINARY(n); n = 2147483647 is BYTES."""

    length: int = MAX_LENGTH

    def bare(self) -> str:
        return "BYTES" if self.length == MAX_LENGTH else f"VARBINARY({self.length})"

    __str__ = DataType.__str__


@dataclass(frozen=True, slots=True)
class Geometry(DataType):
    """GEOMETRY(crs): a shape on a plane, as bytes of Well-Known Binary. `crs` names the coordinate reference system."""

    crs: str = DEFAULT_CRS
    is_nullable: bool = True

    @property
    def root(self) -> str:
        return "GEOMETRY"

    @property
    def nullable(self) -> bool:
        return self.is_nullable

    def bare(self) -> str:
        return f"GEOMETRY({_crs_text(self.crs)})"

    __str__ = DataType.__str__


@dataclass(frozen=True, slots=True)
class Geography(DataType):
    """GEOGRAPHY(crs, algorithm): the same on the earth's surface; `algorithm` says how edges run between two points."""

    crs: str = DEFAULT_CRS
    algorithm: str = "spherical"
    is_nullable: bool = True

    @property
    def root(self) -> str:
        return "GEOGRAPHY"

    @property
    def nullable(self) -> bool:
        return self.is_nullable

    def bare(self) -> str:
        return f"GEOGRAPHY({_crs_text(self.crs)}, {self.algorithm})"

    __str__ = DataType.__str__


EDGE_ALGORITHMS = ("spherical", "vincenty", "thomas", "andoyer", "karney")
"""The algorithms of a GEOGRAPHY, in the order of their numbers in Parquet."""


def is_geospatial(t: DataType) -> bool:
    """Whether values of this type are shapes."""
    return isinstance(t, Geometry | Geography)


def _crs_text(crs: str) -> str:
    """The name as in a schema file: in quotes where it could not be one word."""
    one_word = not crs[0].isdigit() and re.search(r"[\s<>(),.'`]", crs) is None
    return crs if one_word else "'" + crs.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class Decimal(DataType):
    """DECIMAL(p, s), 1 <= p <= 38. The text has a space after the comma, as Java writes it."""

    precision: int = 10
    scale: int = 0
    is_nullable: bool = True

    @property
    def root(self) -> str:
        return "DECIMAL"

    @property
    def nullable(self) -> bool:
        return self.is_nullable

    def bare(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"

    __str__ = DataType.__str__


@dataclass(frozen=True, slots=True)
class _Precise(DataType):
    precision: int
    is_nullable: bool = True

    @property
    def nullable(self) -> bool:
        return self.is_nullable


@dataclass(frozen=True, slots=True)
class Time(_Precise):
    """TIME(p): milliseconds of the day for every p."""

    precision: int = 0

    @property
    def root(self) -> str:
        return "TIME"

    def bare(self) -> str:
        return f"TIME({self.precision})"

    __str__ = DataType.__str__


@dataclass(frozen=True, slots=True)
class Timestamp(_Precise):
    """TIMESTAMP(p): wall-clock time without a zone."""

    precision: int = 6

    @property
    def root(self) -> str:
        return "TIMESTAMP"

    def bare(self) -> str:
        return f"TIMESTAMP({self.precision})"

    __str__ = DataType.__str__


@dataclass(frozen=True, slots=True)
class LocalZonedTimestamp(_Precise):
    """TIMESTAMP(p) WITH LOCAL TIME ZONE: an instant."""

    precision: int = 6

    @property
    def root(self) -> str:
        return "TIMESTAMP_LTZ"

    def bare(self) -> str:
        return f"TIMESTAMP({self.precision}) WITH LOCAL TIME ZONE"

    __str__ = DataType.__str__


def is_nano(t: DataType) -> bool:
    """Whether it is a timestamp finer than microseconds: not supported by Avro, INT96 in Parquet, a string in Spark."""
    return isinstance(t, Timestamp | LocalZonedTimestamp) and t.precision > 6


@dataclass(frozen=True, slots=True)
class Array(DataType):
    """ARRAY<element>."""

    element: DataType
    is_nullable: bool = True

    @property
    def root(self) -> str:
        return "ARRAY"

    @property
    def nullable(self) -> bool:
        return self.is_nullable

    @property
    def children(self) -> tuple[DataType, ...]:
        return (self.element,)

    def bare(self) -> str:
        return f"ARRAY<{self.element}>"

    def to_json(self) -> Any:
        return {"type": "ARRAY" + self._nullability_suffix(), "element": self.element.to_json()}

    __str__ = DataType.__str__


@dataclass(frozen=True, slots=True)
class Vector(Array):
    """VECTOR<element, length>: an array of `length` numbers or booleans, none of which is NULL."""

    length: int = 1

    @property
    def root(self) -> str:
        return "VECTOR"

    def bare(self) -> str:
        return f"VECTOR<{self.element}, {self.length}>"

    def to_json(self) -> Any:
        return {"type": "VECTOR" + self._nullability_suffix(), "element": self.element.to_json(), "length": self.length}

    __str__ = DataType.__str__


VECTOR_ELEMENTS = frozenset({"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE"})
"""The types that the elements of a VECTOR may have."""


@dataclass(frozen=True, slots=True)
class Multiset(DataType):
    """MULTISET<element>: element -> count."""

    element: DataType
    is_nullable: bool = True

    @property
    def root(self) -> str:
        return "MULTISET"

    @property
    def nullable(self) -> bool:
        return self.is_nullable

    @property
    def children(self) -> tuple[DataType, ...]:
        return (self.element, Atomic("INT", False))

    def bare(self) -> str:
        return f"MULTISET<{self.element}>"

    def to_json(self) -> Any:
        return {"type": "MULTISET" + self._nullability_suffix(), "element": self.element.to_json()}

    __str__ = DataType.__str__


@dataclass(frozen=True, slots=True)
class Map(DataType):
    """MAP<key, value>."""

    key: DataType
    value: DataType
    is_nullable: bool = True

    @property
    def root(self) -> str:
        return "MAP"

    @property
    def nullable(self) -> bool:
        return self.is_nullable

    @property
    def children(self) -> tuple[DataType, ...]:
        return (self.key, self.value)

    def bare(self) -> str:
        return f"MAP<{self.key}, {self.value}>"

    def to_json(self) -> Any:
        return {"type": "MAP" + self._nullability_suffix(), "key": self.key.to_json(), "value": self.value.to_json()}

    __str__ = DataType.__str__


@dataclass(frozen=True, slots=True)
class DataField:
    """A column, or a field of a ROW."""

    id: int
    """Identity through renames; unique in the table, never reused."""
    name: str
    type: DataType
    description: str | None = None
    default_value: str | None = None
    """The default value as text; cast to the column's type if a write omits the column."""

    def to_json(self) -> dict[str, Any]:
        out: dict[str, Any] = {"id": self.id, "name": self.name, "type": self.type.to_json()}
        if self.description is not None:
            out["description"] = self.description
        if self.default_value is not None:
            out["defaultValue"] = self.default_value
        return out

    def __str__(self) -> str:
        quoted = "`" + self.name.replace("`", "``") + "`"
        return f"{quoted} {self.type}" + (f" '{self.description}'" if self.description else "")


BLOB_KEYS = frozenset(
    {
        "TINYINT",
        "SMALLINT",
        "INT",
        "BIGINT",
        "BOOLEAN",
        "DECIMAL",
        "DATE",
        "TIME",
        "BINARY",
        "VARBINARY",
        "CHAR",
        "VARCHAR",
    }
)
"""The types that the keys of a MAP of BLOB may have."""


def is_blob_type(t: DataType) -> bool:
    """Whether a column of this type is stored in `.blob` files: BLOB, ARRAY<BLOB>, or MAP<K, BLOB>."""
    match t:
        case Vector():
            return False
        case Array():
            return t.element.root == "BLOB"
        case Map():
            return t.value.root == "BLOB" and t.key.root in BLOB_KEYS
    return t.root == "BLOB"


def is_opaque(t: DataType) -> bool:
    """Whether values of a column of this type can be neither read nor written."""
    unsupported = t.contains_type(lambda inner: isinstance(inner, UnknownType) or inner.root == "BLOB")
    return unsupported and not is_blob_type(t)


@dataclass(frozen=True, slots=True)
class Row(DataType):
    """ROW<field...>; also the shape of a whole table."""

    fields: tuple[DataField, ...]
    is_nullable: bool = True

    @property
    def root(self) -> str:
        return "ROW"

    @property
    def nullable(self) -> bool:
        return self.is_nullable

    @property
    def children(self) -> tuple[DataType, ...]:
        return tuple(f.type for f in self.fields)

    def bare(self) -> str:
        return "ROW<" + ", ".join(map(str, self.fields)) + ">"

    def to_json(self) -> Any:
        return {"type": "ROW" + self._nullability_suffix(), "fields": [f.to_json() for f in self.fields]}

    __str__ = DataType.__str__
