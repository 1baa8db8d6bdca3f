"""GEOMETRY and GEOGRAPHY: the texts that Java writes and reads (GeospatialTypeTest, DataTypeJsonParserTest of Paimon 2.1)."""

import pytest

from paimon_nb.catalog.type_promotion import may_change_type
from paimon_nb.format.types import Geography, Geometry, UnknownType, parse_type, parse_type_json
from paimon_nb.format.types.parse import TypeSyntaxError

TEXTS = {
    "GEOMETRY": "GEOMETRY(OGC:CRS84)",
    "geometry(ogc:crs84) NOT NULL": "GEOMETRY(ogc:crs84) NOT NULL",
    "GEOMETRY('4326')": "GEOMETRY('4326')",
    "GEOMETRY('custom, crs''s definition')": "GEOMETRY('custom, crs''s definition')",
    "GEOGRAPHY": "GEOGRAPHY(OGC:CRS84, spherical)",
    "GEOGRAPHY(EPSG:4326, KARNEY)": "GEOGRAPHY(EPSG:4326, karney)",
    "ROW<g GEOMETRY(EPSG:3857) 'where', a ARRAY<GEOGRAPHY>>": (
        "ROW<`g` GEOMETRY(EPSG:3857) 'where', `a` ARRAY<GEOGRAPHY(OGC:CRS84, spherical)>>"
    ),
    "GEOMETRY(4326)": "GEOMETRY(OGC:CRS84)",  # Spark's number
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts(text):
    parsed = parse_type(text)
    assert str(parsed) == TEXTS[text]
    assert parse_type(str(parsed)) == parsed
    assert parse_type_json(parsed.to_json()) == parsed


@pytest.mark.parametrize(
    "text", ["GEOMETRY()", "GEOMETRY('')", "GEOMETRY(a, b)", "GEOGRAPHY(OGC:CRS84, rhumb)", "GEOMETRY(5)"]
)
def test_what_is_no_type_is_told_and_kept_in_a_schema(text):
    with pytest.raises(TypeSyntaxError):
        parse_type(text)
    assert isinstance(parse_type_json(text), UnknownType)


def test_only_the_same_type_can_replace_one():
    assert may_change_type(Geometry("OGC:CRS84"), Geometry("ogc:crs84", False))
    assert not may_change_type(Geometry("OGC:CRS84"), Geometry("EPSG:3857"))
    assert not may_change_type(Geography("OGC:CRS84"), Geography("OGC:CRS84", "karney"))
    assert not may_change_type(Geometry(), parse_type("BYTES"))
    assert not may_change_type(parse_type("BYTES"), Geometry())
    assert not may_change_type(Geometry(), parse_type("STRING"))
