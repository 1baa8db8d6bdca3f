"""What the indexes of a primary-key table need. Reads no files.

Source: Paimon 2.1 `SchemaValidation.validatePrimaryKeyVectorIndex`, `validatePrimaryKeyFullTextIndex`, `validatePrimaryKeySortedIndexes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.index.global_index import has_index_keys
from paimon_nb.format.index.global_index.vector_file import VECTOR_INDEX_KINDS
from paimon_nb.format.types import Array, Vector
from paimon_nb.options import table as opt
from paimon_nb.table.read.key_index import (
    COLUMNS_OF_FAMILY,
    FULL_TEXT,
    METRICS,
    MULTIVALUE,
    SORTED_FAMILIES,
    VECTOR,
    indexed_columns,
    key_indexes,
    vector_metric,
)
from paimon_nb.table.read.store import POSTPONE_BUCKET

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.options import TableOptions

_NAMES = dict.fromkeys(SORTED_FAMILIES, "Primary-key BTree, Bitmap, and Multivalue indexes") | {
    VECTOR: "Primary-key vector index",
    FULL_TEXT: "Primary-key full-text index",
}


def check_key_indexes(schema: TableSchema, options: TableOptions) -> None:
    """Raises BadOptionValue: an index of the options cannot be of this table, or of one of its columns."""
    columns = indexed_columns(options.raw)
    owned: set[str] = set()
    for family, names in columns.items():
        for is_wrong, why, hint in _problems(schema, options, family, names):
            if is_wrong:
                raise _refused(family, why, hint)
        for name in names:
            if name in owned:
                raise _refused(family, f"column {name!r} can own at most one primary-key index", "name it once")
            owned.add(name)
    if columns:
        key_indexes(schema)  # build options are JSON


def is_indexed(raw: Mapping[str, str], column: str) -> bool:
    """Whether the options define an index of a primary-key table on the column."""
    return any(column in names for names in indexed_columns(raw).values())


def _problems(
    schema: TableSchema, options: TableOptions, family: str, names: list[str]
) -> Iterator[tuple[bool, str, str]]:
    """(is it so, why it is wrong, what to do), in Java's order."""
    what = _NAMES[family]
    needs = "require" if family in SORTED_FAMILIES else "requires"
    not_supported = "do not support" if family in SORTED_FAMILIES else "does not support"
    yield len(set(names)) != len(names), f"must not contain duplicate columns, but is {names}", "name each column once"
    if family in (VECTOR, FULL_TEXT):
        yield (
            len(names) != 1,
            f"must contain exactly one column, but is {names}",
            "one column of a table has such an index",
        )
        yield not names[0], "must contain a non-empty column", "name a column"
    if family == VECTOR:
        key = f"fields.{names[0]}.pk-vector.index.type"
        kind = options.raw.get(key, "").strip()
        yield not kind, f"{key} must be configured", f"use {', '.join(VECTOR_INDEX_KINDS)}"
    yield not schema.primary_keys, f"{what} {needs} a primary-key table", "PRIMARY KEY (id) NOT ENFORCED"
    yield (
        not options.deletion_vectors and (family in SORTED_FAMILIES or options.merge_engine != "first-row"),
        f"{what} {needs} deletion-vectors.enabled = true",
        "set 'deletion-vectors.enabled' = 'true'",
    )
    yield (
        options.deletion_vectors and bool(options.get(opt.DELETION_VECTORS_MERGE_ON_READ)),
        f"{what} with merge-engine = {options.merge_engine} requires deletion-vectors.merge-on-read = false"
        if family == VECTOR
        else f"{what} {needs} deletion-vectors.merge-on-read = false",
        "reset 'deletion-vectors.merge-on-read'",
    )
    yield (
        options.bucket < 1 and options.bucket != POSTPONE_BUCKET,
        f"{what} {needs} fixed or postpone bucket mode (bucket > 0 or bucket = -2), but bucket is {options.bucket}",
        "set 'bucket' to at least 1, or to -2",
    )
    yield (
        bool(options.get(opt.PK_CLUSTERING_OVERRIDE)),
        f"{what} {not_supported} pk-clustering-override",
        "reset 'pk-clustering-override'",
    )
    for name in names:
        yield from _problems_of_column(schema, options, family, name)


def _problems_of_column(
    schema: TableSchema, options: TableOptions, family: str, name: str
) -> Iterator[tuple[bool, str, str]]:
    field = next((f for f in schema.fields if f.name == name), None)
    if field is None:
        hint = did_you_mean(name, schema.names) or f"columns: {', '.join(schema.names)}"
        yield True, f"entry {name!r} must reference an existing column", hint
        return
    t = field.type
    if family == VECTOR:
        yield (
            not isinstance(t, Vector),
            f"entry {name!r} must reference a VECTOR column, not {t.bare()}",
            "VECTOR<FLOAT, 3>",
        )
        yield (
            isinstance(t, Vector) and t.element.root != "FLOAT",
            f"entry {name!r} must use FLOAT elements",
            "VECTOR<FLOAT, 3>",
        )
        metric, key = vector_metric(options.raw, name), f"fields.{name}.pk-vector.distance.metric"
        yield (
            metric not in METRICS,
            f"{key} must be one of l2, cosine, inner_product, but is {metric}",
            "use one of these",
        )
    elif family == FULL_TEXT:
        is_text = t.root in ("CHAR", "VARCHAR")
        yield not is_text, f"entry {name!r} must reference a CHAR/VARCHAR/STRING column, not {t.bare()}", "index a text"
    else:
        if family == MULTIVALUE:
            is_array = isinstance(t, Array) and not isinstance(t, Vector)
            yield (
                not is_array,
                f"Multivalue index requires an ARRAY column, but column {name!r} has type {t.bare()}",
                "index an ARRAY",
            )
            t = t.element if isinstance(t, Array) else t
        yield (
            not has_index_keys(t),
            f"column {name!r}: {t.bare()} is not supported by global index",
            "index a column of a simple type",
        )


def _refused(family: str, why: str, hint: str) -> BadOptionValue:
    key = COLUMNS_OF_FAMILY[family].key
    return BadOptionValue(f"option {key!r}: {why}", hint=hint, option=key)
