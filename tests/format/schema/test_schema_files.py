"""Schema files: golden text, ids in Java's order, old and newer versions, broken ones, the directory."""

import json
from dataclasses import replace

import pytest

from paimon_nb.base.errors import ColumnNotFound, CorruptFile, NewerFormat, SchemaMismatch
from paimon_nb.format.schema import SchemaDirectory, TableSchema, create_schema
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.fs.local import LocalFileIO
from paimon_nb.fs.memory import MemoryFileIO

JAVA = """{
  "version" : 3,
  "id" : 0,
  "fields" : [ {
    "id" : 0,
    "name" : "a",
    "type" : "INT NOT NULL"
  }, {
    "id" : 1,
    "name" : "s",
    "type" : {
      "type" : "ROW",
      "fields" : [ {
        "id" : 2,
        "name" : "x",
        "type" : "DECIMAL(10, 2)"
      } ]
    },
    "description" : "größe"
  } ],
  "highestFieldId" : 2,
  "partitionKeys" : [ ],
  "primaryKeys" : [ "a" ],
  "options" : {
    "bucket" : "1"
  },
  "comment" : "",
  "timeMillis" : 17
}"""


def node(**changes):
    out = json.loads(JAVA)
    out.update(changes)
    return json.dumps({k: v for k, v in out.items() if v is not ...})


def test_javas_text_is_kept_byte_for_byte():
    assert TableSchema.from_json(JAVA, "t/schema/schema-0").to_json() == JAVA.encode()


def test_ids_are_numbered_as_java_does():
    columns = [("a", "INT", None, None), ("s", "ROW<x INT, r ROW<p INT>>", None, None), ("b", "INT", None, None)]
    schema = create_schema(columns, primary_keys=["a"])
    row = schema.field("s").type
    inner = row.fields[1].type
    assert [f.id for f in (*schema.fields, *row.fields, *inner.fields)] == [0, 1, 5, 2, 4, 3]
    assert schema.highest_field_id == 5
    assert str(schema.field("a").type) == "INT NOT NULL"


def test_a_type_object_is_numbered_like_its_text():
    text = "ROW<x INT, r ROW<p INT>>"
    by_text = create_schema([("s", text, None, None)])
    by_type = create_schema([("s", parse_type(text), None, None)])
    assert by_text.fields == by_type.fields


def test_keys_of_a_partitioned_table():
    columns = [(n, "INT", None, None) for n in ("dt", "k", "v")]
    schema = create_schema(columns, ["dt"], ["dt", "k"])
    assert (schema.trimmed_primary_keys, schema.bucket_keys, schema.is_cross_partition) == (("k",), ("k",), False)
    assert create_schema(columns, ["dt"], ["k"]).is_cross_partition
    assert create_schema(columns, options={"bucket-key": "v, k"}).bucket_keys == ("v", "k")


@pytest.mark.parametrize(
    ("columns", "partition", "primary", "error"),
    [
        ([("a", "INT", None, None)] * 2, [], [], SchemaMismatch),
        ([("a", "INT", None, None)], [], ["b"], ColumnNotFound),
        ([("a", "INT", None, None)], ["a"], ["a"], SchemaMismatch),
        ([("a", "MAP<INT, INT>", None, None)], [], ["a"], SchemaMismatch),
        ([("a", "INT", None, None)], [], ["a", "a"], SchemaMismatch),
    ],
)
def test_schemas_that_cannot_be(columns, partition, primary, error):
    with pytest.raises(error):
        create_schema(columns, partition, primary)


def test_a_wrong_column_name_gets_the_nearest():
    with pytest.raises(ColumnNotFound, match="did you mean 'amount'"):
        create_schema([("amount", "INT", None, None)]).field("amonut")


@pytest.mark.parametrize(
    ("version", "options"),
    [
        (..., {"bucket": "1", "file.format": "orc"}),  # no version is version 1
        (1, {"bucket": "1", "file.format": "orc"}),
        (2, {"file.format": "orc"}),
        (3, {}),
    ],
)
def test_old_versions_get_the_defaults_of_their_time(version, options):
    assert TableSchema.from_json(node(version=version, options={}), "schema-0").options == options


def test_what_is_unknown_or_absent_is_no_obstacle():
    text = node(comment=..., timeMillis=..., future={"x": [1]}, options=None)
    assert TableSchema.from_json(text, "schema-0") == replace(
        TableSchema.from_json(JAVA, "schema-0"), comment=None, time_ms=0, options={}
    )


def test_a_newer_version_is_refused():
    with pytest.raises(NewerFormat, match="version 4 is newer than 3"):
        TableSchema.from_json(node(version=4), "schema-0")


BROKEN = {
    "no JSON": "{",
    "empty": "",
    "array": "[]",
    "no UTF-8": b'{"version":3,"id":0,"comment":"\xff"}',
    "other id": node(id=1),
    "negative id": node(id=-1),
    "id is text": node(id="0"),
    "id is true": node(id=True),
    "id too long": node(id=1 << 70),
    "no fields": node(fields=...),
    "fields of numbers": node(fields=[1]),
    "field without id": node(fields=[{"name": "a", "type": "INT"}]),
    "field without type": node(fields=[{"id": 0, "name": "a"}]),
    "unknown type": node(fields=[{"id": 0, "name": "a", "type": "17 INT"}], primaryKeys=[]),
    "one name twice": node(fields=[{"id": i, "name": "a", "type": "INT"} for i in (0, 1)]),
    "one id twice": node(fields=[{"id": 0, "name": n, "type": "INT"} for n in "ab"]),
    "key without column": node(primaryKeys=["zz"]),
    "keys of numbers": node(partitionKeys=[1]),
    "options of lists": node(options={"a": []}),
    "deep": "[" * 100_000,
    "deep type": node(fields=[{"id": 0, "name": "a", "type": "ARRAY<" * 5000}], primaryKeys=[]),
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_broken_files(text):
    with pytest.raises(CorruptFile) as caught:
        TableSchema.from_json(text, "t/schema/schema-0")
    assert caught.value.path == "t/schema/schema-0"


def test_the_directory(tmp_path):
    schemas = SchemaDirectory(LocalFileIO(), str(tmp_path))
    first = create_schema([DataField(0, "a", parse_type("INT"))])
    assert schemas.latest() is None
    assert schemas.create(first)
    assert not schemas.create(replace(first, comment="late"))
    for n in range(1, 12):
        assert schemas.create(replace(first, id=n))
    (tmp_path / "schema" / ".schema-99.tmp").write_text("half")
    (tmp_path / "schema" / "schema-x").write_text("junk")
    assert schemas.ids() == list(range(12))
    assert schemas.latest() == replace(first, id=11)
    assert schemas.get(0) == first


def test_a_schema_that_is_gone_is_told_with_its_path():
    with pytest.raises(CorruptFile, match="schema-3"):
        SchemaDirectory(MemoryFileIO(), "memory:/t").get(3)


class StoreWithoutListings(MemoryFileIO):
    """An object store that forbids LIST, and counts reads."""

    is_object_store = True

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[str] = []

    def list(self, path):
        raise PermissionError(f"LIST {path}")

    def read(self, path):
        self.reads.append(path)
        return super().read(path)


@pytest.mark.parametrize("versions", [1, 3, 4, 5, 12, 40])
def test_the_newest_version_is_found_without_a_listing(versions):
    fs = StoreWithoutListings()
    for i in range(versions):
        fs.write(f"m/t/schema/schema-{i}", node(id=i).encode())
    schemas = SchemaDirectory(fs, "m/t")
    assert (schemas.latest_id(), schemas.get(versions - 1).id, schemas.get(0).id) == (versions - 1, versions - 1, 0)
    assert len(fs.reads) == len(set(fs.reads))
    fs.write(f"m/t/schema/schema-{versions}", node(id=versions).encode())
    assert schemas.latest_id() == versions


@pytest.mark.parametrize("there", [[], [2], [0, 2]])
def test_an_object_store_with_gaps_is_listed(there):
    class Store(StoreWithoutListings):
        def list(self, path):
            return MemoryFileIO.list(self, path)

    fs = Store()
    for i in there:
        fs.write(f"m/t/schema/schema-{i}", node(id=i).encode())
    assert SchemaDirectory(fs, "m/t").latest_id() == max(there, default=None)
