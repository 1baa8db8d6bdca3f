"""Tables with GEOMETRY and GEOGRAPHY columns: bytes with the type told, as in GeospatialTypeTableTest of Paimon 2.1."""

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, PaimonError, SchemaMismatch, UnsupportedFormat
from paimon_nb.notebook.table_panels import preview_grid

ONE_TWO = bytes.fromhex("0101000000000000000000F03F0000000000000040")
THREE_FOUR = bytes.fromhex("010100000000000000000008400000000000001040")
COLUMNS = "id INT, geom GEOMETRY(EPSG:3857), geog GEOGRAPHY(OGC:CRS84, karney), l ARRAY<GEOMETRY>, t TIMESTAMP(9)"
TIME = dt.datetime(2020, 1, 1)
ROWS = [
    (1, ONE_TWO, THREE_FOUR, [ONE_TWO, None, THREE_FOUR], TIME),
    (2, None, ONE_TWO, [], None),
    (3, THREE_FOUR, None, None, TIME),
]


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def rows(table: pa.Table) -> list[tuple]:
    return sorted(tuple(row.values()) for row in table.to_pylist())


def made(wb, columns=COLUMNS, **options: str):
    settings = {"bucket": "-1"} | {k.replace("_", "-"): v for k, v in options.items()}
    wb.run(f"CREATE TABLE g ({columns}) WITH ({', '.join(f'{k!r} = {v!r}' for k, v in settings.items())})")
    return wb.table("g")


def append(t, found=ROWS) -> None:
    names = t.schema.names
    t.append(pa.table({n: pa.array([row[i] for row in found]) for i, n in enumerate(names)}))


def test_shapes_are_read_and_written(wb):
    t = made(wb)
    append(t)
    assert rows(t.to_arrow()) == ROWS
    assert rows(t.to_arrow(where="geom IS NULL", columns=["id"])) == [(2,)]
    (file,) = Path(t.store.root).glob("bucket-0/*.parquet")
    text = str(pq.ParquetFile(file).schema)
    for line in (
        "optional binary field_id=1 geom (Geometry(crs=EPSG:3857))",
        "optional binary field_id=2 geog (Geography(crs=OGC:CRS84, algorithm=karney))",
        "element (Geometry(crs=OGC:CRS84))",
        "optional int96 field_id=4 t",
    ):
        assert line in text
    chunks = pq.read_metadata(file).row_group(0)
    assert [chunks.column(i).is_stats_set for i in range(5)] == [True, False, False, False, False]
    stats = wb.run("SELECT null_value_counts, min_value_stats FROM `g$files`").arrow.to_pylist()[0]
    assert stats == {
        "null_value_counts": "{geog=1, geom=1, id=0, l=null, t=1}",
        "min_value_stats": "{geog=null, geom=null, id=1, l=null, t=null}",
    }


def test_keys_decide_about_shapes_as_about_other_values(wb):
    t = made(wb, "id INT, geom GEOMETRY, PRIMARY KEY (id) NOT ENFORCED", bucket="1")
    for shape in (ONE_TWO, THREE_FOUR):
        t.append(pa.table({"id": pa.array([1, 2], pa.int32()), "geom": [shape, None]}))
    assert rows(t.to_arrow()) == [(1, THREE_FOUR), (2, None)]
    wb.run("CALL sys.compact('g')")
    assert rows(wb.table("g").to_arrow()) == [(1, THREE_FOUR), (2, None)]


def test_the_type_is_told(wb):
    made(wb)
    types = wb.run("DESCRIBE g").arrow.column("data_type").to_pylist()
    assert types[1:4] == ["GEOMETRY(EPSG:3857)", "GEOGRAPHY(OGC:CRS84, karney)", "ARRAY<GEOMETRY(OGC:CRS84)>"]
    text = wb.run("SHOW CREATE TABLE g").arrow.column(0).to_pylist()[0]
    wb.run(text.replace("`g`", "`h`", 1))
    assert [f.type for f in wb.table("h").schema.fields] == [f.type for f in wb.table("g").schema.fields]


def test_the_grid_of_a_table_tells_the_type(wb):
    t = made(wb)
    append(t)
    columns = {c["name"]: (c["type"], c["comparable"]) for c in preview_grid(t).columns}
    assert columns["geog"] == ("GEOGRAPHY(OGC:CRS84, karney)", True)
    assert columns["l"][0] == "ARRAY<GEOMETRY(OGC:CRS84)>"


@pytest.mark.parametrize(
    ("columns", "options", "key"),
    [
        ("id INT, geom GEOMETRY", {"file_format": "orc"}, "file.format"),
        ("id INT, l ROW<g GEOGRAPHY>", {"file_format": "avro"}, "file.format"),
        ("id INT, geom GEOMETRY", {"file_format_per_level": "0:avro"}, "file.format.per.level"),
        ("id INT, geom GEOMETRY", {"changelog_file_format": "avro"}, "changelog-file.format"),
        ("id INT, geom GEOMETRY", {"bucket": "1", "bucket_key": "geom"}, "bucket-key"),
        ("id INT, geom GEOMETRY, PRIMARY KEY (id) NOT ENFORCED", {"bucket": "1", "sequence_field": "geom"}, "sequence.field"),
        ("id INT, geom GEOMETRY", {"clustering_columns": "geom"}, "clustering.columns"),
        ("id INT, geom GEOMETRY", {"metadata.iceberg.storage": "table-location"}, "metadata.iceberg.format-version"),
        ("id INT, geom GEOGRAPHY('a,b')", {"metadata.iceberg.storage": "table-location", "metadata.iceberg.format-version": "3"}, "metadata.iceberg.storage"),
    ],
)  # fmt: skip
def test_options_that_such_columns_cannot_have(wb, columns, options, key):
    names = {"file_format": "file.format", "file_format_per_level": "file.format.per.level", "changelog_file_format": "changelog-file.format", "sequence_field": "sequence.field", "clustering_columns": "clustering.columns"}  # fmt: skip
    with pytest.raises(BadOptionValue) as caught:
        made(wb, columns, **{names.get(k, k): v for k, v in options.items()})
    assert caught.value.facts["option"] == key


def test_shapes_have_no_order_and_no_casts(wb):
    with pytest.raises(SchemaMismatch, match="primary key 'geom'"):
        made(wb, "geom GEOMETRY, PRIMARY KEY (geom) NOT ENFORCED", bucket="1")
    largest = {"bucket": "1", "merge-engine": "aggregation", "fields.geom.aggregate-function": "max"}
    with pytest.raises(BadOptionValue, match="max does not support column 'geom'"):
        made(wb, "id INT, geom GEOMETRY, PRIMARY KEY (id) NOT ENFORCED", **largest)
    with pytest.raises(UnsupportedFormat, match="csv"):
        made(wb, type="format-table", **{"file.format": "csv"})
    made(wb)
    for other in ("GEOMETRY(EPSG:4326)", "BYTES", "STRING"):
        with pytest.raises(PaimonError):
            wb.run(f"ALTER TABLE g MODIFY geom {other}")
    wb.run("ALTER TABLE g MODIFY geom GEOMETRY(epsg:3857)")


def test_iceberg_readers_are_told_the_type(wb):
    t = made(wb, "id INT, geom GEOMETRY, geog GEOGRAPHY(EPSG:4326, thomas)", **{"metadata.iceberg.storage": "table-location", "metadata.iceberg.format-version": "3"})  # fmt: skip
    append(t, [row[:3] for row in ROWS])
    newest = max(Path(t.store.root).glob("metadata/v*.metadata.json"))
    text = newest.read_text()
    assert '"geometry(OGC:CRS84)"' in text
    assert '"geography(EPSG:4326, thomas)"' in text


@pytest.mark.spark
def test_spark_has_them_as_bytes(wb, spark, tmp_path):
    append(made(wb))
    at = paimon_nb.connect(str(tmp_path / "w"), spark=spark)
    frame = at.spark.table("paimon.default.g")
    assert [f.dataType.simpleString() for f in frame.schema][1:4] == ["binary", "binary", "array<binary>"]
    at.run("INSERT INTO g SELECT id + 10, geog, geom, array(geom), t FROM g WHERE id = 1")
    got = at.sql("SELECT hex(geom) g, l FROM g WHERE id > 2 ORDER BY id").collect()
    text = THREE_FOUR.hex().upper()
    assert [tuple(row) for row in got] == [(text, None), (text, [ONE_TWO])]
