"""Indexes of primary-key tables: their definitions by the table's options, and the rows that their files answer for.

Each index file holds one column of the compacted files of one level of a bucket; data files never change, so it stays right for them.
Source: Paimon 2.1 `PrimaryKeyIndexDefinitions`, `PrimaryKeyIndexSourcePolicy`, `PkSortedBucketIndexState`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.index.global_index import SourceFiles
from paimon_nb.format.index.global_index.text_file import FULL_TEXT_KIND
from paimon_nb.options import Option
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from paimon_nb.format.manifest import DataFile, IndexEntry, ManifestEntry
    from paimon_nb.format.schema import TableSchema

VECTOR, FULL_TEXT, BTREE, BITMAP, MULTIVALUE = "vector", "full-text", "btree", "bitmap", "multivalue"
COLUMNS_OF_FAMILY: Mapping[str, Option[Any]] = {
    VECTOR: opt.PK_VECTOR_INDEX_COLUMNS,
    FULL_TEXT: opt.PK_FULL_TEXT_INDEX_COLUMNS,
    BTREE: opt.PK_BTREE_INDEX_COLUMNS,
    BITMAP: opt.PK_BITMAP_INDEX_COLUMNS,
    MULTIVALUE: opt.PK_MULTIVALUE_INDEX_COLUMNS,
}
SORTED_FAMILIES = (BTREE, BITMAP, MULTIVALUE)
METRICS = ("l2", "cosine", "inner_product")
DEFAULT_METRIC = "inner_product"
_COMPACTED = 1
"""`file_source` of files that a compaction wrote."""


@dataclass(frozen=True, slots=True)
class KeyIndex:
    """One index of a primary-key table."""

    family: str
    column: str
    kind: str
    """The type of its files in the index manifest, such as `btree` and `ivf-flat`."""
    options: Mapping[str, str]
    """Build options, which replace those of the table."""


def indexed_columns(raw: Mapping[str, str]) -> dict[str, list[str]]:
    """The columns of each family of indexes that the options name, as they are written; without families that have none."""
    found = {family: raw.get(option.key) for family, option in COLUMNS_OF_FAMILY.items()}
    return {family: [c.strip() for c in text.split(",")] for family, text in found.items() if text is not None}


def key_indexes(schema: TableSchema) -> tuple[KeyIndex, ...]:
    """The indexes of a primary-key table, in the order of its columns; () for a table without keys.

    Raises: BadOptionValue: build options that are not a JSON object.
    """
    columns = indexed_columns(schema.options) if schema.primary_keys else {}
    if not columns:
        return ()
    family_of = {column: family for family, names in columns.items() for column in names}
    return tuple(_definition(schema, family_of[f.name], f.name) for f in schema.fields if f.name in family_of)


def _definition(schema: TableSchema, family: str, column: str) -> KeyIndex:
    raw, prefix = schema.options, f"fields.{column}.pk-{family}"
    kind = {VECTOR: raw.get(f"{prefix}.index.type", ""), FULL_TEXT: FULL_TEXT_KIND}.get(family, family)
    scope = f"{family}-index." if family in SORTED_FAMILIES else f"{kind}."
    options = {
        key if key.startswith((scope, "fields.")) else scope + key: value
        for key, value in build_options(raw, f"{prefix}.index.options").items()
    }
    if family == VECTOR:
        options[f"{kind}.metric"] = vector_metric(raw, column)
    return KeyIndex(family, column, kind, options)


def build_options(raw: Mapping[str, str], key: str) -> dict[str, str]:
    """The JSON object of an option. Raises: BadOptionValue: it is not one, or a key is empty."""
    text = raw.get(key, "").strip()
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        found = None
    if not isinstance(found, dict) or any(not k.strip() or isinstance(v, dict | list) for k, v in found.items()):
        raise BadOptionValue(
            f"{key} must be a JSON object of options, not {text!r}", hint='{"nlist": "256"}', option=key
        )
    if None in found.values():
        raise BadOptionValue(f"{key}: a value is null", hint="leave the option out, or give it a value", option=key)
    return {k: v if isinstance(v, str) else json.dumps(v) for k, v in found.items()}


def vector_metric(raw: Mapping[str, str], column: str) -> str:
    """The metric of a column's vector index."""
    return raw.get(f"fields.{column}.pk-vector.distance.metric", DEFAULT_METRIC).lower().replace("-", "_")


def source_files(files: Iterable[DataFile]) -> dict[int, list[DataFile]]:
    """The files of a bucket that indexes are built from, by level and name: whole outputs of compactions above level 0."""
    levels: dict[int, list[DataFile]] = {}
    for file in files:
        if file.level > 0 and file.file_source == _COMPACTED:
            levels.setdefault(file.level, []).append(file)
    return {level: sorted(some, key=lambda f: f.file_name) for level, some in sorted(levels.items())}


def sources_of(entry: IndexEntry) -> SourceFiles | None:
    """The data files that an index file was built from; None for an index of another kind of table."""
    return SourceFiles.parse(dict(entry.global_index or ()).get("_SOURCE_META"))


# -- rows that an index answers for

# Positions in an index become numbers of rows of the scan: each of its files gets a first number, as files with row ids have.


def with_numbered_files(entries: Iterable[ManifestEntry], indexes: Sequence[IndexEntry]) -> list[ManifestEntry]:
    """The entries with files whose rows have numbers."""
    entries = list(entries)
    number = numbering(indexes, [e.file for e in entries])
    return [replace(e, file=number(e.file)) for e in entries]


def numbering(indexes: Iterable[IndexEntry], files: Sequence[DataFile]) -> Callable[[DataFile], DataFile]:
    """Numbers for the rows of files, those of each index file without gaps."""
    first: dict[str, int] = {}
    end = 0
    for entry in indexes:
        sources = sources_of(entry)
        if sources is None or any(name in first for name, _ in sources.files):
            continue
        for name, rows in sources.files:
            first[name] = end
            end += rows
    for file in files:
        if file.file_name not in first:
            first[file.file_name] = end
            end += file.row_count
    return lambda file: replace(file, first_row_id=first[file.file_name])


def first_number(sources: SourceFiles, numbered: Mapping[str, DataFile]) -> int | None:
    """The number of the first row of an index file; None if it answers for none of the files.

    Args:
        numbered: files by name, whose rows have numbers.
    """
    begin, found = 0, set[int]()
    for name, rows in sources.files:
        file = numbered.get(name)
        if file is not None:
            if file.row_count != rows or file.first_row_id is None:
                return None
            found.add(file.first_row_id - begin)
        begin += rows
    return found.pop() if len(found) == 1 else None
