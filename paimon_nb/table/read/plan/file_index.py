"""Evaluates predicates on a data file's index; finds the index. docs/spec/format.md section 13."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.format.index import INDEX_SUFFIX, FileIndex
from paimon_nb.table.read.predicate.model import (
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

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.store import TableStore


def index_may_match(store: TableStore, partition: bytes, bucket: int, file: DataFile, predicate: Predicate) -> bool:
    """False only if the file's index proves that no row matches. Reads the index file unless it is embedded.

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
    return _index_may_match_node(index, predicate, present, stored)


def open_index(store: TableStore, partition: bytes, bucket: int, file: DataFile) -> FileIndex | None:
    """The file's index; None if it has none."""
    if file.embedded_index is not None:
        return FileIndex.parse(file.embedded_index, file.file_name)
    path = index_path(store, partition, bucket, file)
    return None if path is None else FileIndex.parse(store.fs.read(path), path)


def index_path(store: TableStore, partition: bytes, bucket: int, file: DataFile) -> str | None:
    """The path of the file's index; None if it has none or if it is embedded in the manifest."""
    if file.embedded_index is not None:
        return None
    return next((p for p in store.extra_paths(partition, bucket, file) if p.endswith(INDEX_SUFFIX)), None)


def has_index(file: DataFile) -> bool:
    """Whether evaluating the predicate on the index can skip the file."""
    return file.embedded_index is not None or any(e.endswith(INDEX_SUFFIX) for e in file.extra_files)


def _index_may_match_node(
    index: FileIndex, node: Predicate, present: dict[str, DataField], stored: dict[int, DataField]
) -> bool:
    match node:
        case And(parts):
            return all(_index_may_match_node(index, p, present, stored) for p in parts)
        case Or(parts):
            return any(_index_may_match_node(index, p, present, stored) for p in parts)
        case Constant(value):
            return value is True
        case Leaf(column):
            now = present[column]
            then = stored.get(now.id)
            # An index stores values in the type they were written with.
            if then is None or then.type.with_nullable(True) != now.type.with_nullable(True):
                return True
            return _index_may_match_leaf(index, node, then)
    return True


def _index_may_match_leaf(index: FileIndex, leaf: Leaf, field: DataField) -> bool:
    root = field.type.root
    match leaf:
        case Compare(_, op, literal):
            if root in ("FLOAT", "DOUBLE", "CHAR") and op != "=":
                return True  # for NaN, -0.0 and trailing spaces, index semantics differ from SQL
            if root in ("FLOAT", "DOUBLE") and (literal == 0 or literal != literal):
                return True
            if root == "CHAR":
                return index.may_match(field.name, "in", _char_forms([literal]), field.type)
            return index.may_match(field.name, op, [literal], field.type)
        case In(_, literals):
            if root in ("FLOAT", "DOUBLE"):
                return True
            values = _char_forms(literals) if root == "CHAR" else list(literals)
            return index.may_match(field.name, "in", values, field.type)
        case IsNull():
            return index.may_match(field.name, "is null", [], field.type)
        case IsNotNull():
            return index.may_match(field.name, "is not null", [], field.type)
        case Known(_, value):
            return value
    return True


def _char_forms(literals: Iterable[str]) -> list[str]:
    """ORC files index CHAR values without trailing spaces, other formats with them."""
    return sorted({form for text in literals for form in (text, text.rstrip(" "))})
