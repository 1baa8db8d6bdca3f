"""Old files under newer schemas, as Java shows them."""

import json

import pyarrow as pa
import pytest
from data_kit import as_rows, comparable, golden_file, golden_rows, golden_schema

from paimon_nb.base.errors import ReadError
from paimon_nb.format.data import key_value_fields, read_data_file
from paimon_nb.format.data.schema_evolution import rows_as_read_fields
from paimon_nb.format.manifest import read_manifest, read_manifest_list
from paimon_nb.format.schema import SchemaDirectory
from paimon_nb.format.snapshot import SnapshotDirectory
from paimon_nb.format.types import DataField, arrow_schema, parse_type
from paimon_nb.fs import LocalFileIO

FS = LocalFileIO()


def test_a_file_of_java_under_javas_new_schema():
    old, new = golden_schema("evolved"), golden_schema("evolved", 11)
    table = read_data_file(FS, golden_file("evolved"), old.fields)
    for part in (table, table.slice(1), pa.concat_tables([table.slice(1), table.slice(0, 1)])):
        seen = rows_as_read_fields(part, old.fields, new.fields)
        assert seen.schema.equals(arrow_schema(new.fields, nullable=True))
        idents = set(seen.column("ident").to_pylist())
        rows = [r for r in golden_rows("evolved") if r["ident"] in idents]
        assert comparable(as_rows(seen, new.fields), new.fields) == comparable(rows, new.fields)


@pytest.mark.parametrize("name", ["se_nested", "se_widen_parquet", "se_add", "se_drop_rename"])
def test_fixtures(shared, name):
    fixtures = shared / "oracle" / "fixtures"
    root = f"{fixtures}/warehouse/fx.db/{name}"
    schemas = SchemaDirectory(FS, root)
    newest = schemas.latest()
    rows = {}
    snapshots = SnapshotDirectory(FS, root)
    for entry in live(root, snapshots.get(snapshots.latest_id())):
        schema = schemas.get(entry.file.schema_id)
        fields = key_value_fields(schema) if schema.primary_keys else schema.fields
        path = f"{root}/bucket-{entry.bucket}/{entry.file.file_name}"
        table = read_data_file(FS, path, fields, list(schema.names))
        for i, row in enumerate(as_rows(rows_as_read_fields(table, schema.fields, newest.fields), newest.fields)):
            sequence = entry.file.min_sequence + i
            key = row["id"] if schema.primary_keys else (path, i)
            rows[key] = max(rows.get(key, (-1, row)), (sequence, row), key=lambda p: p[0])
    expected = [json.loads(x) for x in (fixtures / "expected" / f"{name}.all.jsonl").read_text().splitlines()]
    fields = newest.fields
    assert comparable([r for _, r in rows.values()], fields) == comparable(expected, fields)


def live(root, snapshot):
    entries = {}
    for name in (snapshot.base_manifest_list, snapshot.delta_manifest_list):
        for manifest in read_manifest_list(FS, f"{root}/manifest/{name}"):
            for entry in read_manifest(FS, f"{root}/manifest/{manifest.file_name}"):
                if entry.kind == 0:
                    entries[entry.file.file_name] = entry
                else:
                    entries.pop(entry.file.file_name, None)
    return entries.values()


def test_columns_go_by_id_not_by_name():
    old = [DataField(0, "a", parse_type("INT")), DataField(1, "b", parse_type("STRING"))]
    new = [DataField(1, "a", parse_type("STRING")), DataField(2, "b", parse_type("INT")), DataField(0, "x", parse_type("BIGINT"))]  # fmt: skip
    table = pa.table({"a": pa.array([1], pa.int32()), "b": ["t"]})
    assert rows_as_read_fields(table, old, new).to_pylist() == [{"a": "t", "b": None, "x": 1}]


def test_garbage_below_null_rows_is_never_cast():
    inner = pa.StructArray.from_arrays([pa.array(["7", "junk"])], names=["v"], mask=pa.array([False, True]))
    old = [DataField(0, "r", parse_type("ROW<v STRING>"))]
    new = [DataField(0, "r", parse_type("ROW<v INT>"))]
    assert rows_as_read_fields(pa.table({"r": inner}), old, new).to_pylist() == [{"r": {"v": 7}}, {"r": None}]


def test_what_cannot_be_shown_is_told():
    old, new = [DataField(0, "c", parse_type("STRING"))], [DataField(0, "c", parse_type("INT"))]
    with pytest.raises(ReadError, match="a stored STRING cannot be read as INT"):
        rows_as_read_fields(pa.table({"c": ["x"]}), old, new)
