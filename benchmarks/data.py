"""The rows: a base and five upserts over a BIGINT key, in shuffled order, the same in every run; and their checksum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

COLUMNS = "k BIGINT NOT NULL, i INT, d DOUBLE, m DECIMAL(10, 2), s STRING, t TIMESTAMP(6), dt DATE"
SCHEMA = pa.schema(
    [
        pa.field("k", pa.int64(), nullable=False),
        ("i", pa.int32()),
        ("d", pa.float64()),
        ("m", pa.decimal128(10, 2)),
        ("s", pa.string()),
        ("t", pa.timestamp("us")),
        ("dt", pa.date32()),
    ]
)
UPSERTS = 5
_LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz012345", np.uint8)
_EPOCH_US, _DAY_US = 1_700_000_000_000_000, 86_400_000_000


def base(rows: int) -> pa.Table:
    """Keys 0 to rows - 1."""
    rng = np.random.default_rng(1)
    return _rows(rng.permutation(rows).astype(np.int64), rng)


def upsert(rows: int, number: int) -> pa.Table:
    """A tenth of the base: 80 % present keys, 20 % new ones, none twice."""
    size = rows // 10
    fresh = size // 5
    rng = np.random.default_rng(100 + number)
    old = rng.choice(rows, size - fresh, replace=False).astype(np.int64)
    new = np.arange(rows + number * fresh, rows + (number + 1) * fresh, dtype=np.int64)
    return _rows(rng.permutation(np.concatenate([old, new])), rng)


def few(number: int, rows: int = 10) -> pa.Table:
    """A small commit's rows."""
    return _rows(np.arange(number * rows, (number + 1) * rows, dtype=np.int64), np.random.default_rng(10_000 + number))


def _rows(keys: np.ndarray, rng: np.random.Generator) -> pa.Table:
    n = len(keys)
    text = np.ascontiguousarray(_LETTERS[rng.integers(0, len(_LETTERS), (n, 20), np.uint8)])
    offsets = np.arange(0, 20 * (n + 1), 20, dtype=np.int32)
    cents = rng.integers(0, 10**8, n)
    low_high = np.zeros((n, 2), "<i8")
    low_high[:, 0] = cents
    columns = [
        pa.array(keys),
        pa.array(rng.integers(0, 1_000_000, n).astype(np.int32)),
        pa.array(rng.integers(0, 1 << 30, n) / 64.0),  # sums of these are exact in any order
        pa.Array.from_buffers(pa.decimal128(10, 2), n, [None, pa.py_buffer(low_high)]),
        pa.Array.from_buffers(pa.string(), n, [None, pa.py_buffer(offsets), pa.py_buffer(text)]),
        pa.array(_EPOCH_US + rng.integers(0, 365 * _DAY_US, n)).cast(pa.timestamp("us")),
        pa.array(rng.integers(18_000, 20_000, n).astype(np.int32)).cast(pa.date32()),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def checksum(rows: pa.Table) -> dict[str, Any]:
    """What is equal for equal rows in any order; `d` ties values to their keys."""
    k, i, d, m, s, t, dt = (rows.column(n) for n in SCHEMA.names)
    wide = pc.cast(i, pa.int64())
    return {
        "rows": rows.num_rows,
        "keys": pc.count_distinct(k).as_py(),
        "k": pc.sum(k).as_py(),
        "i": pc.sum(wide).as_py(),
        "d": pc.sum(d).as_py(),
        "m": str(pc.sum(m).as_py()),
        "s": [pc.min(s).as_py(), pc.max(s).as_py()],
        "t": pc.sum(pc.bit_wise_and(pc.cast(t, pa.int64()), 0xFFFFFF)).as_py(),
        "dt": pc.sum(pc.cast(pc.cast(dt, pa.int32()), pa.int64())).as_py(),
        "k*i": pc.sum(pc.multiply(pc.bit_wise_and(k, 0xFFFF), wide)).as_py(),
    }
