"""Writing ORC data files through pyorc: Arrow's writer does not support CHAR, VARCHAR and field ids, and writes wrong
fractions of seconds before 1970. Types: docs/spec/format.md section 9.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paimon_nb.base.batches import BATCH_ROWS
from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.data.orc_decoder import UNITS_PER_SECOND, wide_range_converters
from paimon_nb.format.data.parquet_writer import nested_ids, shredded_maps
from paimon_nb.format.data.schema_cast import offsets_keys_and_items, split_lists
from paimon_nb.format.orc_library import require_pyorc
from paimon_nb.format.types import (
    MAX_LENGTH,
    Array,
    Atomic,
    Char,
    DataField,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
    VarChar,
    arrow_type,
)
from paimon_nb.format.types.arrow_builders import fill_null, to_numpy
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Sequence

_CODECS = {"none": "NONE", "uncompressed": "NONE", "zlib": "ZLIB", "gzip": "ZLIB", "snappy": "SNAPPY", "lz4": "LZ4", "zstd": "ZSTD", "zstandard": "ZSTD"}  # fmt: skip
_ATOMIC = {"BOOLEAN": "Boolean", "TINYINT": "TinyInt", "SMALLINT": "SmallInt", "INT": "Int", "BIGINT": "BigInt", "FLOAT": "Float", "DOUBLE": "Double", "DATE": "Date", "BINARY": "Binary", "VARBINARY": "Binary", "BLOB": "Binary"}  # fmt: skip
_FIELD_ID = "paimon.id"
_STRIPE_BYTES = 64 << 20


class OrcWriter:
    """One new file."""

    def __init__(self, sink: Any, fields: Sequence[DataField], options: TableOptions, compression: str) -> None:
        require_pyorc()
        import pyorc

        name = options.raw.get("orc.compress", compression).lower()
        codec = _CODECS.get(name)
        if codec is None:
            raise UnsupportedFormat(
                f"file.compression {name!r} is not known for ORC",
                hint=f"use one of {', '.join(sorted(_CODECS))}", feature=name,
            )  # fmt: skip
        self.maps, self._map_codec = shredded_maps(fields, options), compression
        file_types = {name: m.type for name, m in self.maps.items()}
        self._fields, self._sink = tuple(replace(f, type=file_types.get(f.name, f.type)) for f in fields), sink
        self._stripe_bytes = 0
        self._writer = pyorc.Writer(
            sink, orc_struct(self._fields), compression=getattr(pyorc.CompressionKind, codec),
            stripe_size=options.get(opt.FILE_BLOCK_SIZE) or _STRIPE_BYTES, converters=wide_range_converters(),
        )  # fmt: skip

    @property
    def pending_bytes(self) -> int:
        """Estimated file size of the rows of the open stripe."""
        return self._stripe_bytes // 2

    def write(self, table: pa.Table) -> None:
        if self.maps:
            from paimon_nb.format.data.shared_shredding_writer import with_shredded_maps

            table = with_shredded_maps(table, self.maps)
        for batch in table.to_batches(max_chunksize=BATCH_ROWS):
            columns = [pyorc_values(batch.column(i), f.type) for i, f in enumerate(self._fields)]
            before = self._sink.tell()
            self._writer.writerows(zip(*columns, strict=True) if columns else [()] * batch.num_rows)
            self._stripe_bytes = self._stripe_bytes + batch.nbytes if self._sink.tell() == before else 0

    def close(self) -> None:
        if self.maps:
            from paimon_nb.format.data.shared_shredding_writer import arrow_schema_entry

            entry = arrow_schema_entry(self._fields, self.maps, self._map_codec)
            self._writer.set_user_metadata(**{key: value.encode() for key, value in entry.items()})
        self._writer.close()

    def abort(self) -> None:
        """Nothing to do: an ORC writer that is not closed writes nothing more."""


def orc_struct(fields: Sequence[DataField]) -> Any:
    """The ORC type of a row, with Paimon's field ids as attributes."""
    require_pyorc()
    import pyorc

    children = {}
    for f in fields:
        children[f.name] = _orc_type(f.type, f.id, 1)
        children[f.name].set_attributes({_FIELD_ID: str(f.id)})
    return pyorc.Struct(**children)


def _orc_type(t: DataType, owner: int, depth: int) -> Any:
    require_pyorc()
    import pyorc

    match t:
        case Char():
            return pyorc.Char(t.length)
        case VarChar():
            return pyorc.String() if t.length == MAX_LENGTH else pyorc.VarChar(t.length)
        case Decimal():
            return pyorc.Decimal(t.precision, t.scale)
        case Time():
            return pyorc.Int()
        case Timestamp():
            return pyorc.Timestamp()
        case LocalZonedTimestamp():
            return pyorc.TimestampInstant()
        case Row():
            return orc_struct(t.fields)
        case Array():
            element = _orc_type(t.element, owner, depth + 1)
            element.set_attributes({_FIELD_ID: str(nested_ids(owner, depth)[0])})
            return pyorc.Array(element)
        case Map() | Multiset():
            up, down = nested_ids(owner, depth)
            key = _orc_type(t.key if isinstance(t, Map) else t.element, owner, depth + 1)
            value = _orc_type(t.value if isinstance(t, Map) else Atomic("INT"), owner, depth + 1)
            key.set_attributes({_FIELD_ID: str(down)})
            value.set_attributes({_FIELD_ID: str(up)})
            return pyorc.Map(key, value)
    if t.root not in _ATOMIC:
        raise UnsupportedFormat(
            f"{t.bare()} cannot be stored in ORC", hint="use 'file.format' = 'parquet'", feature=str(t)
        )
    return getattr(pyorc, _ATOMIC[t.root])()


def pyorc_values(column: pa.Array, t: DataType) -> list[Any]:
    """Values as pyorc takes them: times as (seconds, nanoseconds), dates and TIME as numbers."""
    match t:
        case Timestamp() | LocalZonedTimestamp():
            return _orc_timestamps(column, UNITS_PER_SECOND[arrow_type(t).unit])
        case Time():
            return column.cast(pa.int32()).to_pylist()  # type: ignore[no-any-return]
        case Array():
            return split_lists(column, column.value_lengths().to_pylist(), pyorc_values(column.flatten(), t.element))
        case Map() | Multiset():
            offsets, keys, items = offsets_keys_and_items(column)
            pairs = list(
                zip(
                    pyorc_values(keys, t.key if isinstance(t, Map) else t.element),
                    pyorc_values(items, t.value if isinstance(t, Map) else Atomic("INT")),
                    strict=True,
                )
            )
            lengths = np.diff(to_numpy(offsets)).tolist()
            return [None if v is None else dict(v) for v in split_lists(column, lengths, pairs)]
        case Row():
            children = [pyorc_values(c, f.type) for c, f in zip(column.flatten(), t.fields, strict=True)]
            rows = zip(*children, strict=True) if children else [()] * len(column)
            return [row if valid else None for row, valid in zip(rows, column.is_valid().to_pylist(), strict=True)]
    if t.root == "DATE":
        return column.cast(pa.int32()).to_pylist()  # type: ignore[no-any-return]
    return column.to_pylist()  # type: ignore[no-any-return]


def _orc_timestamps(column: pa.Array, per_second: int) -> list[Any]:
    units = to_numpy(fill_null(column.cast(pa.int64()), 0))
    seconds = np.floor_divide(units, per_second)
    nanos = (units - seconds * per_second) * (1_000_000_000 // per_second)
    if ((seconds == -1) & (nanos > 999_999)).any():
        # Every ORC writer adds a second there, which no reader subtracts.
        raise UnsupportedFormat(
            "ORC files cannot hold times within the last second before 1970", hint="use 'file.format' = 'parquet'",
            feature="ORC times in the last second before 1970",
        )  # fmt: skip
    pairs: list[Any] = list(zip(seconds.tolist(), nanos.tolist(), strict=True))
    if column.null_count:
        return [p if ok else None for p, ok in zip(pairs, column.is_valid().to_pylist(), strict=True)]
    return pairs
