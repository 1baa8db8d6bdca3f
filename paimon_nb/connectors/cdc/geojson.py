"""Geometry values of MySQL and MariaDB as GeoJSON text, in the form of Java's sync.

Source: Paimon's MySqlTypeUtils.convertWkbArray. The format of the bytes: SRID (4 bytes), then OGC well-known binary.
"""

from __future__ import annotations

import json
import struct
from typing import Any

from paimon_nb.connectors.cdc.values import Misfit

_POINT, _LINE, _POLYGON, _MULTI_POINT, _MULTI_LINE, _MULTI_POLYGON, _COLLECTION = range(1, 8)
_NAMES = {
    _POINT: "Point",
    _LINE: "LineString",
    _POLYGON: "Polygon",
    _MULTI_POINT: "MultiPoint",
    _MULTI_LINE: "MultiLineString",
    _MULTI_POLYGON: "MultiPolygon",
    _COLLECTION: "GeometryCollection",
}
_MAX_DEPTH = 32


def geojson_of(value: bytes) -> str:
    """GeoJSON of a geometry as the server stores it. Raises Misfit: the bytes are not a geometry."""
    try:
        reader = _WkbReader(value, 4)
        kind, content = reader.read_geometry(0)
    except (struct.error, KeyError, IndexError, RecursionError):
        raise Misfit("the bytes are not a geometry") from None
    (srid,) = struct.unpack_from("<I", value)
    member = "geometries" if kind == _COLLECTION else "coordinates"
    return json.dumps({member: content, "type": _NAMES[kind], "srid": srid}, separators=(",", ":"))


class _WkbReader:
    """Reads well-known binary of two dimensions."""

    def __init__(self, data: bytes, position: int) -> None:
        self._data, self._position, self._order = data, position, "<"

    def read_geometry(self, depth: int) -> tuple[int, Any]:
        """The type of the next geometry and its coordinates, or the members of a collection as objects."""
        if depth > _MAX_DEPTH:
            raise RecursionError
        self._order = "<" if self._data[self._position] == 1 else ">"
        self._position += 1
        kind = self._read("I")[0]
        if kind == _POINT:
            return kind, self._point()
        if kind == _LINE:
            return kind, self._points()
        if kind == _POLYGON:
            return kind, [self._points() for _ in range(self._count())]
        if kind == _COLLECTION:
            members = [self.read_geometry(depth + 1) for _ in range(self._count())]
            return kind, [
                {"type": _NAMES[k], "geometries" if k == _COLLECTION else "coordinates": content}
                for k, content in members
            ]
        _NAMES[kind]
        return kind, [self.read_geometry(depth + 1)[1] for _ in range(self._count())]

    def _count(self) -> int:
        count: int = self._read("I")[0]
        if count > len(self._data):
            raise IndexError
        return count

    def _points(self) -> list[Any]:
        return [self._point() for _ in range(self._count())]

    def _point(self) -> list[int | float]:
        return [int(c) if c == int(c) else c for c in self._read("dd")]

    def _read(self, form: str) -> tuple[Any, ...]:
        form = self._order + form
        found = struct.unpack_from(form, self._data, self._position)
        self._position += struct.calcsize(form)
        return found
