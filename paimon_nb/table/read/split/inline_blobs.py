"""BLOB columns whose values in the data files are references: descriptors of files, or views of BLOBs in other tables.

Source: Paimon 2.1 `BlobDescriptor`, `BlobViewLookup`; pypaimon `BlobInlineConvertReader`.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from paimon_nb.base.errors import MissingFile, OutsideWarehouse, ReadError, SchemaMismatch, UnsupportedFormat
from paimon_nb.base.identifier import Identifier
from paimon_nb.format.data.blob import (
    BATCH_BYTES,
    MANAGED_SUFFIX,
    BlobDescriptor,
    BlobView,
    map_blobs,
    read_blob,
)
from paimon_nb.options import table as opt
from paimon_nb.table.read.predicate.evaluate import filter_rows
from paimon_nb.table.read.store import TableStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.predicate.model import Predicate

    ReadValues = Callable[[TableStore, DataField, Sequence[int]], dict[int, bytes | None]]
    """Values of a column by row id: of those of the given rows that exist."""

Reference = TypeVar("Reference", BlobDescriptor, BlobView)

AS_STORED = {opt.BLOB_AS_DESCRIPTOR.key: "true", opt.BLOB_VIEW_RESOLVE_ENABLED.key: "false"}
"""Options of a read that returns the references; values of `.blob` files are descriptors then."""


def as_stored(store: TableStore) -> TableStore:
    """The table for rewriting rows: references stay references."""
    return store.copy(AS_STORED) if store.inline_blobs else store


def check_references(store: TableStore, rows: pa.Table) -> None:
    """Raise SchemaMismatch if rows to write have values where the table's files have references."""
    views = store.options.names(opt.BLOB_VIEW_FIELD)
    for name in sorted(store.referring_blobs & set(rows.column_names)):
        parse = BlobView.parse if name in views else BlobDescriptor.parse_stored
        for row, value in enumerate(rows.column(name).to_pylist()):
            try:
                if value is not None:
                    parse(value)
            except ValueError:
                kind = "a view of a BLOB" if name in views else "a blob descriptor"
                raise SchemaMismatch(
                    f"{store.name}: column {name!r}, row {row}: the value is not {kind}",
                    hint="BlobDescriptor(uri, offset, length).to_bytes() makes one" if name not in views
                    else f"read it with {opt.BLOB_VIEW_RESOLVE_ENABLED.key!r} = 'false'",
                    column=name, row=row,
                ) from None  # fmt: skip


def with_referenced_values(
    store: TableStore, rows: pa.Table, fields: Sequence[DataField], read_values: ReadValues
) -> Iterator[pa.Table]:
    """Rows of a data file with the values that its BLOB columns refer to, about 64 MB at a time.

    Args:
        rows: the columns of `fields`.
        read_values: reads columns of other tables.

    Raises:
        MissingFile, OutsideWarehouse: a value cannot be read. ReadError: a value is no reference, or its row is gone.
    """
    names = [f.name for f in fields if f.type.root == "BLOB" or f.name in store.inline_blobs]
    if not names or not rows.num_rows:
        yield rows
        return
    locations = {n: _locations(store, n, rows.column(n).to_pylist(), read_values) for n in names}
    begin, size = 0, 0
    for i in range(rows.num_rows + 1):
        if i == rows.num_rows or (i > begin and size > BATCH_BYTES):
            part = rows.slice(begin, i - begin)
            for n in names:
                values = [_value(store, found) for found in locations[n][begin:i]]
                index = part.schema.get_field_index(n)
                part = part.set_column(index, part.schema.field(index), pa.array(values, part.schema.field(index).type))
            yield part
            begin, size = i, 0
        if i < rows.num_rows:
            size += sum(_bytes_of(locations[n][i]) for n in names)


def selected_rows(
    store: TableStore,
    rows: pa.Table,
    fields: Sequence[DataField],
    predicate: Predicate | None,
    read_values: ReadValues,
    *,
    whole: bool,
) -> Iterator[pa.Table]:
    """The rows of a key table that match: only these, after the merge, get the values that their BLOB columns refer to.

    Args:
        whole: return one table.
    """
    named = [f for f in fields if f.name in store.inline_blobs]
    views_first = predicate is not None and bool(predicate.columns() & store.referring_blobs)
    if not views_first:
        rows = filter_rows(predicate, rows, fields)
    parts = with_referenced_values(store, rows, named, read_values)
    for part in iter([pa.concat_tables(parts)]) if whole else parts:
        yield filter_rows(predicate, part, fields) if views_first else part


def _bytes_of(found: Any) -> int:
    sizes: list[int] = []
    map_blobs(found, lambda f: sizes.append(f.length) if isinstance(f, BlobDescriptor) and f.length > 0 else None)
    return sum(sizes)


def _value(store: TableStore, found: Any) -> Any:
    return map_blobs(found, lambda f: _read(store, f) if isinstance(f, BlobDescriptor) else f)


def _read(store: TableStore, location: BlobDescriptor) -> bytes:
    """The value at a location; a file of the table itself is looked for where the table is now, if it was renamed."""
    try:
        return read_blob(store.fs, location)
    except (MissingFile, OutsideWarehouse):
        if not location.uri.endswith(MANAGED_SUFFIX):
            raise
        now = managed_path(store, location.uri)
        if now == location.uri or not store.fs.exists(now):
            raise
        return read_blob(store.fs, replace(location, uri=now))


def managed_path(store: TableStore, uri: str) -> str:
    """The path of a `.managed.blob` file in the directory where the table is now."""
    return "/".join((store.data_root, *uri.split("/")[-2 - len(store.schema.partition_keys) :]))


def _locations(store: TableStore, column: str, values: Sequence[Any], read_values: ReadValues) -> list[Any]:
    """The descriptor of each value that is to be read, also inside arrays and maps; bytes that are returned as they are."""
    descriptors = store.options.get(opt.BLOB_AS_DESCRIPTOR)
    if column in store.options.names(opt.BLOB_VIEW_FIELD):
        if not store.options.get(opt.BLOB_VIEW_RESOLVE_ENABLED):
            return list(values)
        values = _descriptors_of_views(store, column, values, read_values)
    if descriptors:
        return list(values)
    return [map_blobs(v, lambda d: _parsed(store, column, d, BlobDescriptor.parse_stored)) for v in values]


def _parsed(store: TableStore, column: str, value: bytes, parse: Callable[[bytes], Reference]) -> Reference:
    try:
        return parse(value)
    except ValueError as error:
        raise ReadError(
            f"{store.name}: column {column!r} has a value that is neither a blob descriptor nor a blob view: {error}",
            hint=f"SET {opt.BLOB_AS_DESCRIPTOR.key!r} = 'true' and {opt.BLOB_VIEW_RESOLVE_ENABLED.key!r} = 'false' to read what is stored",
            column=column,
        ) from None


def _descriptors_of_views(
    store: TableStore, column: str, values: Sequence[bytes | None], read_values: ReadValues
) -> list[bytes | None]:
    views = [None if v is None else _parsed(store, column, v, BlobView.parse) for v in values]
    rows: dict[tuple[str, int], set[int]] = defaultdict(set)
    for view in views:
        if isinstance(view, BlobView):
            rows[view.table, view.field_id].add(view.row_id)
    found = {}
    for (table, field_id), ids in rows.items():
        upstream = _upstream(store, column, table)
        field = next((f for f in upstream.schema.fields if f.id == field_id), None)
        if field is None:
            raise ReadError(
                f"{store.name}: column {column!r} refers to column {field_id} of {table}, which is not there",
                hint="select the other columns by name", column=column,
            )  # fmt: skip
        for row_id, value in read_values(upstream, field, sorted(ids)).items():
            found[table, field_id, row_id] = value
    out: list[bytes | None] = []
    for view in views:
        if not isinstance(view, BlobView):
            out.append(None)
            continue
        key = (view.table, view.field_id, view.row_id)
        if key not in found:
            raise ReadError(
                f"{store.name}: column {column!r} refers to row {view.row_id} of {view.table}, which is not there",
                hint="select the other columns by name", column=column,
            )  # fmt: skip
        out.append(found[key])
    return out


def _upstream(store: TableStore, column: str, name: str) -> TableStore:
    """The table that a view names, which is found where a file system catalog has it."""
    folder = posixpath.dirname(store.root)
    database, _, object_name = name.rpartition(".")
    if store.rights is not None or not folder.endswith(".db") or not database:
        raise UnsupportedFormat(
            f"{store.name}: column {column!r} refers to values of table {name}, which cannot be found from this catalog",
            hint=f"select the other columns by name, or set {opt.BLOB_VIEW_RESOLVE_ENABLED.key!r} = 'false'",
            column=column, feature=opt.BLOB_VIEW_FIELD.key,
        )  # fmt: skip
    identifier = Identifier.parse_object(database.rpartition(".")[2], object_name)
    root = posixpath.join(posixpath.dirname(folder), f"{identifier.database}.db", identifier.table)
    return TableStore.open(store.fs, root, identifier.branch, {opt.BLOB_AS_DESCRIPTOR.key: "true"})
