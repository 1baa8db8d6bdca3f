"""Vector index files: approximate nearest neighbours. The package paimon-vindex (extra `vector`) reads and writes them.

Their first bytes are read here, so that a search without the package has the same metric.
Source: Paimon 2.1 `NativeVectorGlobalIndexerFactory`, `NativeVectorGlobalIndexWriter`, `NativeVectorGlobalIndexReader`.
"""

from __future__ import annotations

import io
import math
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from paimon_nb.base.errors import BadOptionValue, CorruptFile, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.index.global_index.index_library import call_library, import_library
from paimon_nb.format.index.global_index.row_id_bitmap import row_ids_to_bytes
from paimon_nb.fs.file_cache import FileCache

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from pyroaring import BitMap64

    from paimon_nb.format.index.global_index.index_blocks import IndexFileSource

VECTOR_INDEX_KINDS = ("ivf-flat", "ivf-pq", "ivf-sq", "ivf-rq", "diskann")
EXTRA = "vector"
_HEADERS = {
    b"LFVI": struct.Struct("<8xi4xi"),
    b"QPVI": struct.Struct("<8xi16xi"),
    b"QSVI": struct.Struct("<8xi4xi"),
    b"QRVI": struct.Struct("<8xi8xi"),
    b"DANN": struct.Struct("<16xii"),
}
"""By the first bytes of a file: where its dimension and its metric are."""
_HEADER_BYTES, _VERSION = 64, 1
_METRICS = ("l2", "inner_product", "cosine")
_DEFAULT_METRIC, _DEFAULT_DIMENSION = "inner_product", 128
_ADD_ROWS = 10_000

_NATIVE_KEYS = {
    **dict.fromkeys(("index.dimension", "dimension"), "dimension"),
    **dict.fromkeys(("distance.metric", "metric"), "metric"),
    **{k: k for k in ("nlist", "expected-vector-count", "pq.m", "pq.code-ratio", "pq.bits", "rq.bits", "target-recall",
                      "max-bytes-per-vector", "deployment-profile")},
    **dict.fromkeys(("pq.use-opq", "use-opq"), "use-opq"),
    **{k: f"diskann.{short}"
       for short in ("build-preset", "max-degree", "build-search-list-size", "alpha", "seed", "memory-budget-bytes",
                     "storage-layout", "raw-vector-encoding", "build-distance")
       for k in (short, f"diskann.{short}")},
}  # fmt: skip
"""Names of build options without their prefix, and what the library calls them."""
_SAMPLE_RATIO = "train.sample-ratio"
_headers = FileCache(1 << 20)


@dataclass(frozen=True, slots=True)
class VectorIndexBuild:
    """How an index is built: options as the library names them, and the share of the vectors that train it."""

    options: Mapping[str, str]
    sample_ratio: float

    @property
    def dimension(self) -> int:
        return int(self.options["dimension"])


def vector_index_build(kind: str, raw: Mapping[str, str], column: str, dimension: int | None) -> VectorIndexBuild:
    """The build options of a column: `<kind>.<option>`, replaced by `fields.<column>.<option>`.

    Args:
        dimension: that of a VECTOR column; None: the option's, else 128.

    Raises: BadOptionValue: a dimension or a ratio that is none.
    """
    options: dict[str, str] = {}
    for prefix in (f"{kind}.", f"fields.{column}."):
        for key, value in raw.items():
            name = _NATIVE_KEYS.get(key.removeprefix(prefix)) if key.startswith(prefix) else None
            if name is not None:
                options[name] = str(value)
    options["index.type"] = kind.replace("-", "_")
    found = str(dimension or options.get("dimension") or _DEFAULT_DIMENSION)
    if not found.isdecimal() or int(found) < 1:
        raise BadOptionValue(
            f"{kind}.dimension cannot be {found!r}", hint="use a number from 1 on", option=f"{kind}.dimension"
        )
    options["dimension"] = found
    options.setdefault("metric", _DEFAULT_METRIC)
    keys = (f"fields.{column}.{_SAMPLE_RATIO}", f"{kind}.{_SAMPLE_RATIO}")
    key = next((k for k in keys if k in raw), keys[1])
    try:
        ratio = float(raw.get(key, 1.0))
    except ValueError:
        ratio = math.nan
    if not 0 < ratio <= 1:
        raise BadOptionValue(f"{key} cannot be {raw[key]!r}", hint="use a number above 0 and up to 1", option=key)
    return VectorIndexBuild(options, ratio)


def write_vector_index(build: VectorIndexBuild, ids: npt.NDArray[np.int64], vectors: npt.NDArray[np.float32]) -> bytes:
    """An index file of at least one vector; `ids` are positions in its range of row ids.

    Raises: EnvironmentError_: the package is missing. BadOptionValue: the library refuses the options.
    """
    library = _library("building a vector index")
    count = len(vectors)
    sample = max(1, min(count, math.ceil(count * build.sample_ratio)))
    training = vectors if sample == count else vectors[np.arange(sample, dtype=np.int64) * count // sample]
    options = dict(build.options)
    if options["index.type"].startswith("ivf_") and options.get("nlist", "auto") == "auto":
        options.setdefault("expected-vector-count", str(count))
    written = io.BytesIO()
    try:
        trained = library.VectorIndexTrainer.train(options, training)
        with trained, library.VectorIndexWriter(trained) as writer:
            for begin in range(0, count, _ADD_ROWS):
                writer.add_vectors(ids[begin : begin + _ADD_ROWS], vectors[begin : begin + _ADD_ROWS])
            writer.write(written)
    except (RuntimeError, ValueError) as error:
        raise BadOptionValue(
            f"the vector index cannot be built: {error!s:.200}", hint="check the options of the index", options=options
        ) from None
    return written.getvalue()


_SEARCH_PREFIXES = ("", "ivf", *(kind.replace("-", "_") for kind in VECTOR_INDEX_KINDS))


@dataclass(frozen=True, slots=True)
class VectorSearchWidth:
    """How much of an index is searched; None is chosen by the library."""

    nprobe: int | None = None
    l_search: int | None = None
    refine_factor: int = 1
    """Rows that are compared with the query, as a multiple of the rows that are wanted."""

    @staticmethod
    def parse(options: Mapping[str, Any]) -> VectorSearchWidth:
        """From `ivf.nprobe`, `diskann.l_search` and `ivf.refine_factor`; other options are ignored.

        Raises: BadOptionValue: a value that is not a number from 1 on, or the first two together.
        """
        found: dict[str, int] = {}
        for key, value in options.items():
            prefix, _, name = str(key).replace("-", "_").rpartition(".")
            name = "refine_factor" if name == "rerank_factor" else name
            if prefix not in _SEARCH_PREFIXES or name not in ("nprobe", "l_search", "refine_factor"):
                continue
            if not str(value).isdecimal() or int(value) < 1:
                raise BadOptionValue(f"{key} cannot be {value!r}", hint="use a number from 1 on", option=str(key))
            found[name] = int(value)
        if {"nprobe", "l_search"} <= found.keys():
            raise BadOptionValue(
                "ivf.nprobe and diskann.l_search are for different kinds of indexes",
                hint="use one of them",
                option="ivf.nprobe",
            )
        return VectorSearchWidth(**found)


@dataclass(frozen=True, slots=True)
class VectorIndexFile:
    """One vector index file. `kind`: its type in the index manifest."""

    source: IndexFileSource
    kind: str

    def metric_and_dimension(self) -> tuple[str, int]:
        """Cached: a search asks several times. Raises: MissingFile, CorruptFile; UnsupportedFormat: a file of another version."""
        return _headers.get(self.source.fs, self.source.path, self._read_header, lambda _: 200)

    def _read_header(self) -> tuple[str, int]:
        head = self.source.read(0, min(_HEADER_BYTES, self.source.size))
        header = _HEADERS.get(head[:4])
        if header is None or len(head) < _HEADER_BYTES:
            raise CorruptFile(self.source.path, f"it does not begin like a vector index: {head[:4]!r}")
        (version,) = struct.unpack_from("<i", head, 4)
        if version != _VERSION:
            raise UnsupportedFormat(
                f"{self.source.path}: version {version} of the vector index is not known", hint="build the index again"
            )
        dimension, metric = header.unpack_from(head)
        if dimension < 1 or not 0 <= metric < len(_METRICS):
            raise CorruptFile(self.source.path, f"dimension {dimension}, metric {metric}")
        return _METRICS[metric], dimension

    def search(
        self, query: npt.NDArray[np.float32], k: int, rows: BitMap64 | None, width: VectorSearchWidth
    ) -> npt.NDArray[np.int64]:
        """The positions of up to `k` vectors that the index takes for the nearest, nearest first.

        Args:
            rows: the positions to choose from; None: all.

        Raises: EnvironmentError_: the package is missing. MissingFile, CorruptFile.
        """
        library = _library("searching by a vector index")
        params = library.SearchParams.automatic(k)
        if width.nprobe is not None and self.kind != "diskann":
            params = library.SearchParams.ivf(k, width.nprobe)
        elif width.l_search is not None and self.kind == "diskann":
            params = library.SearchParams.diskann(k, max(k, width.l_search))
        selected = None if rows is None else row_ids_to_bytes(rows)

        def work(opened: Any) -> Any:
            with library.VectorIndexReader(opened) as reader:
                return reader.search(query, params, filter_bytes=selected)[0]

        found = np.asarray(call_library(self.source, work), np.int64)
        return found[found >= 0]


def _library(purpose: str) -> ModuleType:
    return import_library("paimon-vindex", EXTRA, purpose)
