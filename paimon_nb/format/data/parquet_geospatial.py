"""GEOMETRY and GEOGRAPHY in Parquet: bytes whose logical type names the coordinate system. Arrow's writer has no such column
without extension types, and only one of the edge algorithms.

Source: `parquet.thrift` (LogicalType, GeometryType, GeographyType); Paimon 2.1 `ParquetSchemaConverter.java`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.format.data.thrift_compact import T_BINARY, T_I32, T_STRUCT, Struct, decode, encode_thrift_struct
from paimon_nb.format.types import DataType, Geography, Geometry, Multiset
from paimon_nb.format.types.types import EDGE_ALGORITHMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SCHEMA, _CHILDREN, _LOGICAL_TYPE = 2, 5, 10
"""Ids of fields in FileMetaData and SchemaElement."""
_GEOMETRY, _GEOGRAPHY = 17, 18
"""Ids in the union LogicalType."""


def with_geospatial_types(footer: bytes, types: Sequence[DataType]) -> bytes:
    """A footer (Thrift's FileMetaData) with the logical types of the columns of `types`."""
    metadata = decode(footer)
    leaves = [e for e in metadata.list(_SCHEMA) if e.get(_CHILDREN) is None]
    leaf_types = [leaf for t in types for leaf in _leaf_types(t)]
    for element, t in zip(leaves, leaf_types, strict=True):
        match t:
            case Geometry():
                known = Struct([[1, T_BINARY, t.crs.encode()]])
                element.put(_LOGICAL_TYPE, T_STRUCT, Struct([[_GEOMETRY, T_STRUCT, known]]))
            case Geography():
                known = Struct([[1, T_BINARY, t.crs.encode()], [2, T_I32, EDGE_ALGORITHMS.index(t.algorithm)]])
                element.put(_LOGICAL_TYPE, T_STRUCT, Struct([[_GEOGRAPHY, T_STRUCT, known]]))
    return encode_thrift_struct(metadata)


def _leaf_types(t: DataType) -> Iterator[DataType]:
    """The types of the primitive columns of a column, in the order of the file."""
    if t.root == "VARIANT":
        yield from (t, t)  # value and metadata
    elif isinstance(t, Multiset) or t.children:
        for child in t.children:
            yield from _leaf_types(child)
    else:
        yield t
