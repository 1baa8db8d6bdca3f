"""Asking a data file's own index whether a row can match; and where an index lies. Format reference, section 13."""

from __future__ import annotations

from collections.abc import Iterable

from paimon_nb.format.index import INDEX_SUFFIX, FileIndex
from paimon_nb.format.manifest import DataFile
from paimon_nb.format.types import DataField
from paimon_nb.table.scan.predicate.model import (
    And,
    Compare,
    Constant,
    In,
    IsNotNull,
    IsNull,
    Known,
    Leaf,
    Or,
    Predicate,
)
from paimon_nb.table.store import TableStore


def index_may_match(store: TableStore, partition: bytes, bucket: int, file: DataFile, predicate: Predicate) -> bool:
    """False only when the file's index is sure that no row matches. Reads the index file when it is not embedded.

    Args:
        predicate: bound to the store's schema.
    Raises: CorruptFile, MissingFile: of the index file.
    """
    index = open_index(store, partition, bucket, file)
    if index is None:
        return True
    schema = store.schema if file.schema_id == store.schema.id else store.schemas.get(file.schema_id)
    present = {f.name: f for f in store.schema.fields}
    stored = {f.id: f for f in schema.fields}
    return _ask(index, predicate, present, stored)


def open_index(store: TableStore, partition: bytes, bucket: int, file: DataFile) -> FileIndex | None:
    """The file's index; None when it has none."""
    if file.embedded_index is not None:
        return FileIndex.parse(file.embedded_index, file.file_name)
    for path in store.extra_paths(partition, bucket, file):
        if path.endswith(INDEX_SUFFIX):
            return FileIndex.parse(store.fs.read(path), path)
    return None


def has_index(file: DataFile) -> bool:
    """Whether asking is worth anything."""
    return file.embedded_index is not None or any(e.endswith(INDEX_SUFFIX) for e in file.extra_files)


def _ask(index: FileIndex, node: Predicate, present: dict[str, DataField], stored: dict[int, DataField]) -> bool:
    match node:
        case And(parts):
            return all(_ask(index, p, present, stored) for p in parts)
        case Or(parts):
            return any(_ask(index, p, present, stored) for p in parts)
        case Constant(value):
            return value is True
        case Leaf(column):
            now = present[column]
            then = stored.get(now.id)
            # An index knows values of the type they were written with.
            if then is None or then.type.with_nullable(True) != now.type.with_nullable(True):
                return True
            return _ask_leaf(index, node, then)
    return True


def _ask_leaf(index: FileIndex, leaf: Leaf, field: DataField) -> bool:
    root = field.type.root
    match leaf:
        case Compare(_, op, literal):
            if root in ("FLOAT", "DOUBLE", "CHAR") and op != "=":
                return True  # what an index says of NaN, of -0.0 and of spaces at the end is not what SQL says
            if root in ("FLOAT", "DOUBLE") and (literal == 0 or literal != literal):
                return True
            if root == "CHAR":
                return index.may_match(field.name, "in", _char_forms([literal]), field.type)
            return index.may_match(field.name, op, [literal], field.type)
        case In(_, literals):
            if root in ("FLOAT", "DOUBLE"):
                return True
            wanted = _char_forms(literals) if root == "CHAR" else list(literals)
            return index.may_match(field.name, "in", wanted, field.type)
        case IsNull():
            return index.may_match(field.name, "is null", [], field.type)
        case IsNotNull():
            return index.may_match(field.name, "is not null", [], field.type)
        case Known(_, value):
            return value
    return True


def _char_forms(literals: Iterable[str]) -> list[str]:
    """Rows that came out of ORC are indexed without the spaces at their end, others with them."""
    return sorted({form for text in literals for form in (text, text.rstrip(" "))})
