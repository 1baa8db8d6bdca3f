"""The schema file: columns with ids, keys, options; and the directory of schema files. Source: docs/spec/format.md section 4."""

from __future__ import annotations

import itertools
import math
import posixpath
import re
from dataclasses import field, replace
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import (
    ColumnNotFound,
    CorruptFile,
    FormatError,
    InvalidName,
    MissingFile,
    SchemaMismatch,
    UnsupportedFormat,
)
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.metadata_json import JsonObject, java_json
from paimon_nb.format.types import DataField, DataType, Row, is_opaque, parse_type
from paimon_nb.format.types.parse import parse_field_json
from paimon_nb.format.types.types import Array, Map, Multiset
from paimon_nb.fs import put_surely
from paimon_nb.options import parse_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.fs import FileIO


NEWEST_VERSION = 3
"""1: Paimon 0.7 (bucket defaults to 1). 2: 0.8 (file.format defaults to orc up to here). 3: current writers."""


@dataclass(frozen=True, slots=True)
class TableSchema:
    """One version of a table's definition."""

    id: int
    """Equals the number in the file name."""
    fields: tuple[DataField, ...]
    highest_field_id: int
    """Highest field id ever assigned, including nested and dropped fields."""
    partition_keys: tuple[str, ...] = ()
    primary_keys: tuple[str, ...] = ()
    """As declared, partition columns included."""
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """May contain secrets, so not in the repr."""
    comment: str | None = None
    time_ms: int = 0
    version: int = NEWEST_VERSION

    @staticmethod
    def from_json(data: bytes | str, path: str) -> TableSchema:
        """Parse a schema file. Raises `CorruptFile`, `NewerFormat`, `UnsupportedFormat`."""
        node = JsonObject(data, path)
        version = node.version(NEWEST_VERSION, "schema")
        schema_id = node.natural("id")
        name = path.rsplit("/", 1)[-1]
        if name.startswith("schema-") and name != f"schema-{schema_id}":
            raise CorruptFile(path, f"it contains schema {schema_id}")
        try:
            fields = tuple(parse_field_json(f, "column") for f in node.get("fields", list))
        except UnsupportedFormat:
            raise
        except (FormatError, RecursionError) as error:
            raise CorruptFile(path, str(error).partition("\n")[0]) from None
        options = node.texts("options")
        if version == 1:
            options.setdefault("bucket", "1")
        if version <= 2:
            options.setdefault("file.format", "orc")
        schema = TableSchema(
            schema_id,
            fields,
            node.get("highestFieldId", int),
            node.names("partitionKeys"),
            node.names("primaryKeys"),
            options,
            node.get("comment", str, None),
            node.get("timeMillis", int, 0),
            version,
        )
        _check_schema(schema, path)
        return schema

    def to_json(self) -> bytes:
        """The file's bytes, as written by Java."""
        return java_json(self.to_node())

    def to_node(self) -> dict[str, object]:
        """The JSON object, in Java's order."""
        node: dict[str, object] = {
            "version": NEWEST_VERSION,
            "id": self.id,
            "fields": [f.to_json() for f in self.fields],
            "highestFieldId": self.highest_field_id,
            "partitionKeys": list(self.partition_keys),
            "primaryKeys": list(self.primary_keys),
            "options": dict(self.options),
        }
        if self.comment is not None:
            node["comment"] = self.comment
        node["timeMillis"] = self.time_ms
        return node

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.fields)

    @property
    def row(self) -> Row:
        """The whole table as a row type."""
        return Row(self.fields, False)

    def field(self, name: str) -> DataField:
        """The column called `name`. Raises `ColumnNotFound` with the nearest name."""
        for candidate in self.fields:
            if candidate.name == name:
                return candidate
        raise ColumnNotFound(
            f"no column {name!r}",
            hint=did_you_mean(name, self.names) or f"columns: {', '.join(self.names)}",
            column=name,
        )

    def column_name(self, name: str) -> str:
        """The exact name of a column: `name` itself if there is such a column, else the same in another case.

        Raises `ColumnNotFound`.
        """
        if name in self.names:
            return name
        folded = {n.lower(): n for n in self.names}
        return folded.get(name.lower()) or self.field(name).name

    def select(self, names: Iterable[str]) -> tuple[DataField, ...]:
        """Columns in the order of `names`."""
        return tuple(self.field(n) for n in names)

    @property
    def trimmed_primary_keys(self) -> tuple[str, ...]:
        """The key inside a partition: primary keys without partition columns; all of them if nothing would be left."""
        trimmed = tuple(k for k in self.primary_keys if k not in self.partition_keys)
        return trimmed or self.primary_keys

    @property
    def key_fields(self) -> tuple[DataField, ...]:
        """Columns of the trimmed primary key."""
        return self.select(self.trimmed_primary_keys)

    @property
    def partition_fields(self) -> tuple[DataField, ...]:
        return self.select(self.partition_keys)

    @property
    def bucket_keys(self) -> tuple[str, ...]:
        """`bucket-key`, else the trimmed primary key; () for append tables without one."""
        return parse_names(self.options.get("bucket-key")) or self.trimmed_primary_keys

    @property
    def is_cross_partition(self) -> bool:
        """Whether a key may move between partitions: the primary key lacks a partition column."""
        return bool(self.primary_keys) and not set(self.partition_keys) <= set(self.primary_keys)

    @property
    def arrow(self) -> pa.Schema:
        from paimon_nb.format.types.arrow_builders import arrow_schema

        return arrow_schema(self.fields)

    def with_options(self, options: Mapping[str, str]) -> TableSchema:
        """The same schema with other options."""
        return replace(self, options=dict(options))


def readable_fields(schema: TableSchema) -> tuple[DataField, ...]:
    """Columns whose types can be read; all columns if there are none, so that a read reports the reason."""
    return tuple(f for f in schema.fields if not is_opaque(f.type)) or schema.fields


def _check_schema(schema: TableSchema, path: str) -> None:
    names = schema.names
    if len(set(names)) != len(names):
        raise CorruptFile(path, "two columns have the same name")
    if len({f.id for f in schema.fields}) != len(names):
        raise CorruptFile(path, "two columns have the same id")
    for key in (*schema.partition_keys, *schema.primary_keys):
        if key not in names:
            raise CorruptFile(path, f"key {key!r} is not a column")


def highest_id(t: DataType) -> int:
    """The highest field id inside a type, -1 for none."""
    match t:
        case Row():
            return max((max(f.id, highest_id(f.type)) for f in t.fields), default=-1)
        case Array() | Multiset():
            return highest_id(t.element)
        case Map():
            return max(highest_id(t.key), highest_id(t.value))
    return -1


ColumnSpec = DataField | tuple[str, "str | DataType", "str | None", "str | None"]


def fields_with_keys(
    fields: Sequence[DataField],
    partition_keys: Sequence[str],
    primary_keys: Sequence[str],
    options: Mapping[str, str] | None = None,
) -> list[DataField]:
    """The columns of a table with these keys; those of the primary key become NOT NULL, or nullable with `primary-key.nullable`.

    Raises: SchemaMismatch, ColumnNotFound: invalid keys.
    """
    names = [f.name for f in fields]
    for what, keys in (("primary", primary_keys), ("partition", partition_keys)):
        for key in keys:
            if key not in names:
                raise ColumnNotFound(f"{what} key {key!r} is not a column", hint=did_you_mean(key, names), column=key)
            found = fields[names.index(key)]
            if found.type.root in (
                "ARRAY",
                "MAP",
                "MULTISET",
                "ROW",
                "VARIANT",
                "VECTOR",
                "BLOB",
                "GEOMETRY",
                "GEOGRAPHY",
            ):
                raise SchemaMismatch(
                    f"{what} key {key!r} cannot be {found.type.bare()}", hint="keys have atomic types", column=key
                )
        if len(set(keys)) != len(keys):
            raise SchemaMismatch(f"a {what} key is named twice", hint="name each column once")
    if primary_keys and set(primary_keys) <= set(partition_keys):
        raise SchemaMismatch(
            "the primary key has only partition columns: every partition would contain one row",
            hint="add a column to the primary key",
        )
    nullable = has_nullable_keys(options or {})
    return [replace(f, type=f.type.with_nullable(nullable)) if f.name in primary_keys else f for f in fields]


def has_nullable_keys(options: Mapping[str, str]) -> bool:
    """Whether the options of a table let its primary key have NULLs."""
    return options.get("primary-key.nullable", "false").strip().lower() == "true"


def create_schema(
    columns: Sequence[ColumnSpec],
    partition_keys: Sequence[str] = (),
    primary_keys: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    comment: str | None = None,
) -> TableSchema:
    """Schema 0 of a new table. Ids are assigned in Java's order: a column, then the fields nested in it.

    Args:
        columns: fields (their ids are kept) or (name, type or its text, comment, default).

    Raises:
        SchemaMismatch: a duplicate name, or a key of an unsupported type. ColumnNotFound: a key that is not a column.
    """
    counter = iter(range(1 << 30)).__next__
    fields: list[DataField] = []
    for column in columns:
        if isinstance(column, DataField):
            fields.append(column)
            continue
        name, kind, description, default = column
        if not name:
            raise InvalidName("a column needs a name", hint="name it", name=name)
        field_id = counter()
        parsed = parse_type(kind, counter) if isinstance(kind, str) else with_new_ids(kind, counter)
        fields.append(DataField(field_id, name, parsed, description, default))
    names = [f.name for f in fields]
    doubled = next((n for n in names if names.count(n) > 1), None)
    if doubled is not None:
        raise SchemaMismatch(f"column {doubled!r} is defined twice", hint="rename one of them", column=doubled)
    fields = fields_with_keys(fields, partition_keys, primary_keys, options)
    return TableSchema(
        0,
        tuple(fields),
        highest_id(Row(tuple(fields))),
        tuple(partition_keys),
        tuple(primary_keys),
        dict(options or {}),
        comment if comment is not None else "",
        clock.now_ms(),
    )


def replacement_schema(schema: TableSchema, latest: TableSchema) -> TableSchema:
    """The version after `latest`, for a replaced table: with new ids for all columns."""
    ids = itertools.count(latest.highest_field_id + 1)
    fields = []
    for column in schema.fields:
        number = next(ids)
        fields.append(replace(column, id=number, type=with_new_ids(column.type, lambda: next(ids))))
    return replace(schema, id=latest.id + 1, fields=tuple(fields), highest_field_id=next(ids) - 1)


def with_new_ids(t: DataType, next_id: Callable[[], int]) -> DataType:
    """The type with new nested ids; the ids in a field's type precede the field's own id."""
    match t:
        case Row():
            fields = []
            for nested in t.fields:
                inner = with_new_ids(nested.type, next_id)
                fields.append(replace(nested, id=next_id(), type=inner))
            return replace(t, fields=tuple(fields))
        case Array() | Multiset():
            return replace(t, element=with_new_ids(t.element, next_id))
        case Map():
            return replace(t, key=with_new_ids(t.key, next_id), value=with_new_ids(t.value, next_id))
    return t


_TRIES = 3
_FIRST_PROBE = 4
"""Versions that are looked for at once on an object store; then twice as many, and so on."""
_NAME = re.compile(r"schema-(\d{1,18})")


class SchemaDirectory:
    """`<branch root>/schema/schema-<n>`; versions start at 0 without gaps. Only a fast-forward changes them, so each is
    read once."""

    def __init__(self, fs: FileIO, branch_root: str) -> None:
        self.fs, self.root = fs, posixpath.join(branch_root, "schema")
        self._read: dict[int, tuple[bytes, TableSchema]] = {}
        self._probed: dict[int, bytes] = {}
        """Contents that `latest_id` has read on its way, not parsed."""
        self._newest_seen: int | None = None
        self.looked_s = -math.inf
        """When the first and the newest version were read together, by the monotonic clock."""

    def begin_with(self, other: SchemaDirectory) -> None:
        """Look first where the newest schema was for `other`, which is the same directory."""
        self._newest_seen, self.looked_s = other._newest_seen, other.looked_s

    def path(self, schema_id: int) -> str:
        return posixpath.join(self.root, f"schema-{schema_id}")

    def ids(self) -> list[int]:
        """All schema ids, ascending."""
        matches = (_NAME.fullmatch(name) for name in self.fs.names(self.root))
        return sorted(int(m[1]) for m in matches if m)

    @property
    def newest_seen(self) -> int | None:
        """The id of the version that was the newest one at the last look; None: there was none."""
        return self._newest_seen

    def latest_id(self) -> int | None:
        """The id of the newest version, or None if the table does not exist."""
        start = 0
        if self._newest_seen is not None:
            there, following = self.fs.read_each([self.path(self._newest_seen), self.path(self._newest_seen + 1)])
            if there is not None and following is None:
                return self._newest_seen
            start = self._newest_seen + 1 if there is not None else 0
        probed = self._probe_newest(start) if self.fs.is_object_store else None
        self._newest_seen = max(self.ids(), default=None) if probed is None else probed
        return self._newest_seen

    def _probe_newest(self, first: int) -> int | None:
        """The newest version from `first` on, found without a listing, which a store may forbid; None if `first` is 0 and missing, or
        there are gaps.
        """
        size = _FIRST_PROBE
        while True:
            ids = range(first, first + size)
            found = self.fs.read_each([self.path(i) for i in ids])
            self._probed |= {i: data for i, data in zip(ids, found, strict=True) if data is not None}
            if None in found:
                there = found.index(None)
                gapless = all(data is None for data in found[there:])
                return first + there - 1 if gapless and first + there else None
            first, size = first + size, 2 * size

    def first_content(self) -> bytes | None:
        """The content of version 0, if `latest_id` has read it."""
        return self._probed.get(0)

    def latest(self) -> TableSchema | None:
        """The newest version, or None if the table does not exist."""
        newest = self.latest_id()
        return None if newest is None else self.get(newest)

    def get(self, schema_id: int) -> TableSchema:
        """The schema with this id. Raises `CorruptFile`, also if the file is missing; `TableReplaced`."""
        held = self._read.get(schema_id)
        if held is None:
            path = self.path(schema_id)
            try:
                probed = self._probed.pop(schema_id, None)
                data = self.fs.read(path) if probed is None else probed
            except MissingFile:
                self.fs.check_pinned()  # the table itself may be gone
                raise CorruptFile(
                    path, "it is missing, but data files refer to it", hint="restore it from a backup"
                ) from None
            held = self._read[schema_id] = data, TableSchema.from_json(data, path)
        return held[1]

    def get_newest(self, listed: int) -> TableSchema | None:
        """The schema `listed`, or the newest one if another process took that away after it was listed; None if all are gone."""
        for _ in range(_TRIES):
            try:
                return self.get(listed)
            except CorruptFile:
                if self.fs.exists(self.path(listed)):
                    raise
                self.forget()
                newest = self.latest_id()
                if newest is None:
                    return None
                listed = newest
        return self.get(listed)

    def hold(self, schema_id: int, data: bytes) -> None:
        """Take over the content of a version that was read already."""
        self._read[schema_id] = data, TableSchema.from_json(data, self.path(schema_id))

    def paths_of_newest(self, schema_id: int) -> tuple[str, str]:
        """The files that show if this version is the newest."""
        return self.path(schema_id), self.path(schema_id + 1)

    def is_newest(self, schema_id: int, found: Mapping[str, bytes | None]) -> bool:
        """Whether this version is still the newest, with the content that was read before; False if it was not read.

        found: content of `paths_of_newest`.
        """
        held = self._read.get(schema_id)
        own, following = self.paths_of_newest(schema_id)
        return held is not None and found[own] == held[0] and found[following] is None

    def get_again(self, schema_id: int) -> TableSchema | None:
        """The version as it is stored now; None if it is gone. A fast-forward replaces versions."""
        path = self.path(schema_id)
        (data,) = self.fs.read_each([path])
        return None if data is None else TableSchema.from_json(data, path)

    def all(self) -> list[TableSchema]:
        return [self.get(i) for i in self.ids()]

    def create(self, schema: TableSchema) -> bool:
        """Publish a version. False if another writer has taken its id."""
        return put_surely(self.fs, self.path(schema.id), schema.to_json())

    def forget(self) -> None:
        """Read all versions again: some may have been replaced."""
        self._read.clear()
        self._probed.clear()
        self._newest_seen, self.looked_s = None, -math.inf

    def delete(self, schema_id: int) -> None:
        """For fast-forward of branches only."""
        self._read.pop(schema_id, None)
        self._probed.pop(schema_id, None)
        self.fs.delete(self.path(schema_id))


FORMAT_TABLE = "format-table"
"""Value of the option `type`: plain files without snapshots."""
_HIDDEN_ROOT = "_paimon"
"""Directory in a format table above its `schema/`. Readers of plain files skip names that start with `_`."""


def hidden_schema_directory(fs: FileIO, table_root: str) -> SchemaDirectory:
    """The schema files of a format table, hidden from readers of its data files."""
    return SchemaDirectory(fs, posixpath.join(table_root, _HIDDEN_ROOT))


def schema_directory(fs: FileIO, table_root: str) -> SchemaDirectory:
    """The schema files of a table's main branch, of a format table or another one."""
    usual = SchemaDirectory(fs, table_root)
    if usual.ids():
        return usual
    hidden = hidden_schema_directory(fs, table_root)
    return hidden if hidden.ids() else usual


def new_schema_directory(fs: FileIO, table_root: str, schema: TableSchema) -> SchemaDirectory:
    """Where the schema files of a table with this schema are."""
    is_format_table = schema.options.get("type") == FORMAT_TABLE
    return hidden_schema_directory(fs, table_root) if is_format_table else SchemaDirectory(fs, table_root)
