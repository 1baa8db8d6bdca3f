"""Full-text index files: words of a text column, ranked by BM25. The package paimon-ftindex (extra `fulltext`) reads and writes them.

Source: Paimon 2.1 `NativeFullTextGlobalIndexWriter`, `NativeFullTextGlobalIndexReader`, `NativeFullTextIndexOptions`.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.index.global_index.index_library import call_library, import_library
from paimon_nb.format.index.global_index.row_id_bitmap import row_ids_to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from pyroaring import BitMap64

    from paimon_nb.format.index.global_index.index_blocks import IndexFileSource

FULL_TEXT_KIND = "full-text"
EXTRA = "fulltext"
_QUERY_ERRORS = ("json error", "invalid query", "invalid option", "query")
Hits = tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]
"""Positions and their scores, the highest first."""


def text_index_options(raw: Mapping[str, str]) -> dict[str, str]:
    """The options of a table, without the prefix `full-text.`, which decide how texts become words."""
    prefix = f"{FULL_TEXT_KIND}."
    return {k.removeprefix(prefix): str(v) for k, v in raw.items() if k.startswith(prefix)}


def text_index_meta(options: Mapping[str, str]) -> bytes:
    """The options as the index manifest stores them."""
    return json.dumps(dict(options), separators=(",", ":")).encode()


def options_of_text_index(meta: bytes | None) -> dict[str, str]:
    """The options of an index by its metadata; {} if they cannot be read."""
    try:
        found = json.loads(meta or b"{}")
    except ValueError:
        found = {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def full_text_query(query: str | Mapping[str, Any], column: str) -> str:
    """A query as JSON: a mapping, JSON text, or words of which any may match.

    Args:
        column: the column that is searched; a query may name it, although an index has one column only.
    """
    if isinstance(query, str):
        query = query.strip()
        if query.startswith("{"):
            try:
                query = json.loads(query)
            except ValueError:
                return str(query)  # the library says what is wrong
        elif not query:
            raise BadOptionValue("the query has no words", hint="'lake format'", option="query")
        else:
            query = {"match": {"query": query}}
    return json.dumps(_without_column(query, column))


def _without_column(node: Any, column: str) -> Any:
    """The query without `"column": "<column>"`, at any depth."""
    if isinstance(node, Mapping):
        return {k: _without_column(v, column) for k, v in node.items() if (k, v) != ("column", column)}
    return [_without_column(v, column) for v in node] if isinstance(node, list | tuple) else node


def write_text_index(options: Mapping[str, str], texts: Iterable[tuple[int, str]]) -> bytes:
    """An index file; each text has its position in the range of row ids.

    Raises: EnvironmentError_: the package is missing. BadOptionValue: the library refuses the options.
    """
    library = _library("building a full-text index")
    written = io.BytesIO()
    try:
        with library.FullTextIndexWriter(dict(options)) as writer:
            for position, text in texts:
                writer.add_document(position, text)
            writer.write(written)
    except RuntimeError as error:
        raise BadOptionValue(
            f"the full-text index cannot be built: {error!s:.200}",
            hint="check the options of the index",
            options=dict(options),
        ) from None
    return written.getvalue()


@dataclass(frozen=True, slots=True)
class TextIndexFile:
    """One full-text index file."""

    source: IndexFileSource

    def search(self, query: str, k: int, rows: BitMap64 | None) -> Hits:
        """The best `k` texts.

        Args:
            query: JSON. rows: the positions to choose from; None: all.

        Raises: EnvironmentError_: the package is missing. BadOptionValue: a wrong query. MissingFile, CorruptFile.
        """
        selected = None if rows is None else row_ids_to_bytes(rows)
        return _hits(call_library(self.source, lambda opened: _search(opened, query, k, selected)))


class _Bytes:
    def __init__(self, data: bytes) -> None:
        self.data = data

    def pread(self, offset: int, size: int) -> bytes:
        return self.data[offset : offset + size]


def search_text_index(data: bytes, query: str, k: int) -> Hits:
    """The best `k` texts of an index in memory. Raises: BadOptionValue: a wrong query."""
    return _hits(_search(_Bytes(data), query, k, None))


def _search(opened: Any, query: str, k: int, selected: bytes | None) -> Any:
    library = _library("a full-text search")
    with library.FullTextIndexReader(opened) as reader:
        try:
            return reader.search(query, limit=k, filter_bytes=selected)
        except RuntimeError as error:
            if not str(error).startswith(_QUERY_ERRORS):
                raise
            raise BadOptionValue(
                f"the full-text query is wrong: {error!s:.200}",
                hint='words, or JSON such as {"match": {"query": "lake format", "operator": "And"}}',
                option="query",
            ) from None


def _library(purpose: str) -> ModuleType:
    library = import_library("paimon-ftindex", EXTRA, purpose)
    for kind in (library.FullTextIndexReader, library.FullTextIndexWriter):
        if not hasattr(kind, "_ptr"):
            kind._ptr = None  # else its __del__ prints an AttributeError where the constructor failed
    return library


def _hits(found: tuple[list[int], list[float]]) -> Hits:
    return np.asarray(found[0], np.int64), np.asarray(found[1], np.float32)
