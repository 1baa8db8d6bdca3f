"""ALTER TABLE and the options that name columns: they follow a rename, and a column they name does not go."""

import pytest

from paimon_nb.base.errors import BadOptionValue, FixedOption, SchemaChangeError
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.alter import apply_changes
from paimon_nb.catalog.filesystem import FilesystemCatalog
from paimon_nb.format.schema import create_schema
from paimon_nb.format.types import parse_type
from paimon_nb.fs import MemoryFileIO
from paimon_nb.statements.ddl import DropColumn, RenameColumn, ResetOptions, SetOptions

COLUMNS = {"k": "INT", "a": "INT", "b": "STRING", "m": "MAP<STRING, INT>"}
OPTIONS = {
    "file-index.bitmap.columns": "a,m[x]",
    "file-index.bitmap.a.version": "1",
    "file-index.bitmap.m[x].version": "1",
    "fields.b.aggregate-function": "last_value",
}


def schema(options):
    return create_schema([(n, parse_type(t), None, None) for n, t in COLUMNS.items()], [], ["k"], options, None)


def changed(options, *changes):
    return dict(apply_changes(schema(options), changes, has_data=True, now_ms=1).options)


def test_indexes_follow_a_rename():
    assert changed(OPTIONS, RenameColumn(("a",), "b2"), RenameColumn(("m",), "map")) == {
        "file-index.bitmap.columns": "b2,map[x]",
        "file-index.bitmap.b2.version": "1",
        "file-index.bitmap.map[x].version": "1",
        "fields.b.aggregate-function": "last_value",
    }


@pytest.mark.parametrize(
    ("option", "value", "column"),
    [
        ("file-index.bitmap.columns", "b, a", "a"),
        ("file-index.bloom-filter.columns", "m[x]", "m"),
        ("sequence.field", "a", "a"),
        ("fields.a.sequence-group", "b", "a"),
        ("fields.a.sequence-group", "b", "b"),
        ("fields.b.aggregate-function", "last_value", "b"),
    ],
)
def test_named_column_does_not_go(option, value, column):
    with pytest.raises(SchemaChangeError, match=f"{column}.*{option}"):
        changed({option: value}, DropColumn((column,)))
    assert changed({option: value}, ResetOptions((option,)), DropColumn((column,))) == {}
    other = ({"a", "b", "m"} - {column} - set(value.split(","))).pop()
    if f".{other}." not in option:
        assert changed({option: value}, DropColumn((other,))) == {option: value}


CONTRADICTIONS = [
    {"partial-update.remove-record-on-delete": "true", "ignore-delete": "true"},
    {"partial-update.remove-record-on-delete": "true", "fields.a.sequence-group": "b"},
    {"fields.a.sequence-group": "b", "fields.m.sequence-group": "b"},
    {"fields.a.aggregate-function": "sum"},
    {"sequence.field": "nobody"},
]


@pytest.mark.parametrize("options", CONTRADICTIONS, ids=lambda o: ", ".join(o))
def test_contradictions_are_refused_when_they_are_made(options):
    """As Java does: CREATE TABLE and ALTER TABLE fail, not the first write."""
    catalog = FilesystemCatalog("c", "memory:/w", {}, MemoryFileIO())
    name, plain = Identifier("default", "t"), {"merge-engine": "partial-update", "bucket": "1"}
    with pytest.raises(BadOptionValue):
        catalog.create_table(name, schema({**plain, **options}))
    catalog.create_table(name, schema(plain))
    with pytest.raises(BadOptionValue):
        catalog.alter_table(name, [SetOptions(options)])
    assert dict(catalog.table(name).schema.options) == plain


def test_the_primary_key_is_not_reset():
    with pytest.raises(FixedOption, match="primary key cannot be removed"):
        changed({}, ResetOptions(("primary-key",)))
