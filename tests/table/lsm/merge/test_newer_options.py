"""What aggregates do beyond Paimon 1.3, and in corners that SQL cannot write; by the rules of later Paimon's source."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paimon_nb import BadOptionValue, CorruptFile, UnsupportedOperation
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.table.lsm.merge.aggregate import aggregate_of
from paimon_nb.table.lsm.merge.aggregate.java_hash_order import hash_code, java_hash_order
from paimon_nb.table.lsm.merge.aggregate.roaring64 import AggregatedBitmap64
from paimon_nb.table.lsm.merge.groups import Aggregator, MergeSpec, merge_order


def folded(function: str, type_text: str, values: list[Any], **options: str) -> Any:
    texts = {k.replace("_", "-"): v for k, v in options.items()}
    aggregate = aggregate_of(DataField(0, "v", parse_type(type_text)), Aggregator(function, options=texts))
    aggregate.begin()
    accumulator = None
    for value in values:
        accumulator = aggregate.add(accumulator, value)
    return accumulator


def test_listagg_distinct() -> None:
    assert folded("listagg", "STRING", ["a,b", "b,c", " ", "c,,d", "a"], distinct="true") == "a,b,c,d"
    assert folded("listagg", "STRING", ["a; a", "b; b; a"], distinct="true", list_agg_delimiter="; ") == "a; a; b"
    assert folded("listagg", "STRING", ["", "b"], distinct="true") == "b"


@pytest.mark.parametrize("function", ["max", "min"])
def test_extremes_of_floats(function: str) -> None:
    """Java's order: -0.0 below 0.0, NaN above all."""
    nan = float("nan")
    found = [str(folded(function, "DOUBLE", v)) for v in ([0.0, -0.0], [-0.0, 0.0], [1.0, nan], [nan, float("inf")])]
    assert found == (["0.0", "0.0", "nan", "nan"] if function == "max" else ["-0.0", "-0.0", "1.0", "inf"])


def test_float_keys_merge_in_that_order() -> None:
    keys = [float("nan"), 0.0, float("-inf"), -0.0, 1.5, -1.5]
    kv = pa.table({"k": pa.array(keys), "_SEQUENCE_NUMBER": pa.array(range(6))})
    spec = MergeSpec("deduplicate", (), ("k",))
    assert [str(keys[i]) for i in merge_order(kv, spec)] == ["-inf", "-1.5", "0.0", "-0.0", "1.5", "nan"]


ROWS = "ARRAY<ROW<id INT, s INT, v STRING>>"


def row(i: int | None, s: int | None, v: str | None) -> dict[str, Any]:
    return {"id": i, "s": s, "v": v}


def test_nested_sequence_field() -> None:
    old, new = [row(1, 5, "a"), row(2, None, "a")], [row(1, 4, "b"), row(2, 1, "b")]
    found = folded("nested_update", ROWS, [old, new], nested_key="id", nested_sequence_field="s")
    assert found == [row(2, 1, "b"), row(1, 5, "a")]  # in the order of Java's hash map


def test_null_in_a_nested_key() -> None:
    values = [[row(1, 1, "a")], [row(None, 1, "n"), row(2, 1, "b")]]
    merged = folded("nested_update", ROWS, values, nested_key="id")
    assert sorted(r["v"] for r in merged) == ["a", "b", "n"]
    ignored = folded("nested_update", ROWS, values, nested_key="id", nested_key_null_strategy="ignore")
    assert ignored == [row(2, 1, "b"), row(1, 1, "a")]
    with pytest.raises(UnsupportedOperation, match="NULL in the nested key"):
        folded("nested_update", ROWS, values, nested_key="id", nested_key_null_strategy="error")


def test_nested_partial_update() -> None:
    values = [[row(1, 1, None), row(2, 2, "b")], None, [row(1, None, "a"), row(2, None, None)]]
    assert folded("nested_partial_update", ROWS, values, nested_key="id") == [row(2, 2, "b"), row(1, 1, "a")]
    with pytest.raises(BadOptionValue, match="needs a nested key"):
        folded("nested_partial_update", ROWS, values)
    with pytest.raises(BadOptionValue, match="names an unknown nested field: 'nobody'"):
        folded("nested_update", ROWS, values, nested_key="nobody")


def test_merge_map_with_keytime() -> None:
    def at(v: int, ts: str | None) -> dict[str, Any]:
        return {"v": v, "ts": ts}

    values = [
        [("a", at(1, "2024-01-02")), ("b", at(1, "2024-01-02")), ("c", at(1, None)), ("d", at(1, "2024-01-01"))],
        [("a", at(2, "2024-01-01")), ("b", at(2, "2024-01-03")), ("c", at(2, "2020-01-01")), ("d", None)],
        [("a", at(3, "2024-01-02")), ("b", at(3, None)), ("e", at(3, "2024-01-01"))],
    ]
    found = folded("merge_map_with_keytime", "MAP<STRING, ROW<v INT, ts STRING>>", values)
    assert found == [
        ("a", at(1, "2024-01-02")), ("b", at(2, "2024-01-03")), ("c", at(2, "2020-01-01")), ("e", at(3, "2024-01-01"))
    ]  # fmt: skip


def test_types_that_functions_do_not_take() -> None:
    for function, type_text in (
        ("sum", "STRING"),
        ("max", "ARRAY<INT>"),
        ("collect", "INT"),
        ("nested_update", "ARRAY<INT>"),
    ):
        with pytest.raises(UnsupportedOperation, match=f"{function} does not support column 'v'") as refusal:
            folded(function, type_text, [])
        assert refusal.value.hint


def test_java_hash_codes() -> None:
    """As `Objects.hashCode` in Java: Long, Double, Boolean, BigDecimal."""
    cases = [
        ("BIGINT", 5_000_000_000, 705032705), ("BIGINT", -1, 0), ("DOUBLE", 1.5, 1073217536), ("BOOLEAN", True, 1231),
        ("DECIMAL(8, 2)", Decimal("-2.25"), -6973),
    ]  # fmt: skip
    for type_text, value, expected in cases:
        code = hash_code(parse_type(type_text))(value)
        assert (type_text, code) == (type_text, expected & 0xFFFFFFFF)


def test_a_hash_map_grows_by_doubling() -> None:
    assert java_hash_order([16, 1, 0, 17]) == [0, 2, 1, 3]
    assert java_hash_order([16, *range(12)]) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0]
    assert java_hash_order([16, 0], max_entries=13) == [1, 0]


@pytest.mark.parametrize(
    "spread", [1, 300, *(pytest.param(s, marks=pytest.mark.nightly) for s in (70_000, 2**20, 2**33))]
)
def test_bitmap64_round_trip(spread: int) -> None:
    """Nodes of every size: 4, 16, 48 and 256 children, and containers of every kind."""
    rng = np.random.default_rng(spread)
    for count in (1, 5, 20, 60, 400, 30_000):
        numbers = np.unique(rng.integers(0, count * spread, count, dtype=np.int64))
        written = bitmap64(numbers).to_bytes()
        again = AggregatedBitmap64.from_bytes(written)
        assert again.to_bytes() == written
        assert np.array_equal(numbers_of(again), numbers)


def test_bitmap64_that_is_none() -> None:
    good = bitmap64(np.arange(0, 10**7, 999)).to_bytes()
    for data in (b"", good[:-1], good[:7], b"\2" * 40):
        with pytest.raises(CorruptFile, match="not a bitmap of rbm64"):
            folded("rbm64", "BYTES", [good, data])


def bitmap64(numbers: np.ndarray) -> AggregatedBitmap64:
    out = AggregatedBitmap64()
    for high in np.unique(numbers >> 16):
        part = AggregatedBitmap64(
            {int(high).to_bytes(6, "big"): 0}, {0: (numbers[numbers >> 16 == high] & 0xFFFF).astype("<u2")}, 1, 0
        )
        out.add_all(part)
    return out


def numbers_of(bitmap: AggregatedBitmap64) -> np.ndarray:
    parts = [
        (int.from_bytes(key, "big") << 16) + bitmap.containers[place].astype(np.int64)
        for key, place in sorted(bitmap.slot_of.items())
    ]
    return np.concatenate(parts)
