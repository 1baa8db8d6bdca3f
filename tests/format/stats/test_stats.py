"""Statistics: modes from options, bounds of every kind, dense rows, truncation, decoding of odd bytes."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_nb.base.errors import BadOptionValue, FormatError
from paimon_nb.format.manifest import EMPTY_STATS, SimpleStats
from paimon_nb.format.row import EMPTY_ROW, Instant, serialize
from paimon_nb.format.stats import (
    ColumnStats,
    StatsCollector,
    collect_stats,
    decode_stats,
    key_modes,
    stats_modes,
    truncate_max,
)
from paimon_nb.format.types import DataField, arrow_schema, parse_type
from paimon_nb.options import TableOptions


def fields(**types: str) -> list[DataField]:
    return [DataField(i, name, parse_type(text)) for i, (name, text) in enumerate(types.items())]


def stats_of(text: str, values: list, mode: str = "full", **how) -> ColumnStats | None:
    fs = fields(c=text)
    stats, cols = collect_stats(fs, pa.table([values], schema=arrow_schema(fs)), [mode], **how)
    return decode_stats(fs, stats, cols).get("c")


def test_modes():
    fs = fields(a="INT", b="INT", c="INT")
    table = {"metadata.stats-mode": "counts", "fields.b.stats-mode": "full", "metadata.stats-keep-first-n-columns": "1"}
    assert stats_modes(TableOptions({}), fs) == ["truncate(16)"] * 3
    assert stats_modes(TableOptions(table), fs) == ["counts", "full", "none"]
    assert stats_modes(TableOptions(table), fs, thin_keys=["c"]) == ["counts", "full", "truncate(128)"]
    avro = {"file_format": "avro", "leading_columns": 3}
    assert stats_modes(TableOptions(table), fs, **avro) == ["none", "full", "none"]
    levels = TableOptions({"metadata.stats-mode.per.level": "0:none,1:full", "changelog-file.stats-mode": "counts"})
    assert [stats_modes(levels, fs[:1], level=n)[0] for n in (0, 1, 2, None)] == [
        "none", "full", "truncate(16)", "truncate(16)",
    ]  # fmt: skip
    assert stats_modes(levels, fs[:1], level=0, changelog=True) == ["counts"]
    assert key_modes(levels, fs, level=0) == ["truncate(128)"] * 3
    assert key_modes(levels, fs, level=0, file_format="avro") == ["none"] * 3
    with pytest.raises(BadOptionValue):
        stats_modes(TableOptions({"metadata.stats-mode": "truncate(0)"}), fs)


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("BOOLEAN", [True, None, False], (False, True, 1)),
        ("TINYINT", [3, -4], (-4, 3, 0)),
        ("DATE", [1, -5], (-5, 1, 0)),
        ("TIME", [1000, 5], (5, 1000, 0)),
        ("BYTES", [b"a", None], (None, None, 1)),
        ("STRING", ["b", "a", "é"], ("a", "é", 0)),
        ("INT", [None, None], (None, None, 2)),
        ("TIMESTAMP(6)", [-1, 1_000_001], (Instant(-1, 999_000), Instant(1000, 1000), 0)),
        ("TIMESTAMP(9)", [1, 2], (None, None, 0)),
        ("FLOAT", [0.0, 2.0], (-0.0, 2.0, 0)),
        ("DOUBLE", [-3.0, -0.0], (-3.0, 0.0, 0)),
        ("DOUBLE", [1.0, math.nan, None], (None, None, 1)),
    ],
)
def test_bounds_in_parquet(text, values, expected):
    stats = stats_of(text, values)
    assert (stats.min, stats.max, stats.null_count) == expected
    if text in ("FLOAT", "DOUBLE") and stats.min is not None:
        assert [math.copysign(1, x) for x in (stats.min, stats.max)] == [math.copysign(1, x) for x in expected[:2]]


def test_constructed_types_depend_on_the_format():
    fs = fields(a="INT", l="ARRAY<INT>")
    table = pa.table([[1, 2], [[1], None]], schema=arrow_schema(fs))
    parquet, cols = collect_stats(fs, table, ["full", "full"])
    assert (parquet.null_counts, cols) == ((0,), ("a",))
    avro, cols = collect_stats(fs, table, ["full", "full"], file_format="avro")
    assert (avro.null_counts, cols) == ((0, 1), None)
    sparse, cols = collect_stats(fs, table, ["none", "full"], dense=False)
    assert (sparse.null_counts, cols) == ((None, None), None)


def test_nothing_kept_is_an_empty_row():
    fs = fields(a="INT")
    stats, cols = collect_stats(fs, pa.table([[1]], schema=arrow_schema(fs)), ["none"])
    assert (stats, cols) == (SimpleStats(EMPTY_ROW, EMPTY_ROW, ()), ())
    assert decode_stats(fs, stats, cols) == {}


def test_avro_keeps_nan_and_zeros_as_java_compares_them():
    fs = fields(c="DOUBLE")
    stats, _ = collect_stats(fs, pa.table([[1.0, math.nan]], schema=arrow_schema(fs)), ["full"], file_format="avro")
    assert stats == SimpleStats(
        serialize([fs[0].type], [1.0]), serialize([fs[0].type], [math.nan]), (0,)
    )  # fmt: skip
    assert decode_stats(fs, stats)["c"] == ColumnStats(None, None, 0)
    assert math.copysign(1, stats_of("DOUBLE", [0.0], file_format="avro").min) == 1


def test_counts_mode():
    assert stats_of("INT", [1, None], "counts") == ColumnStats(None, None, 1)


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "abd"),
        ("ab\U0010ffffd", 3, "ac"),
        ("\U0010ffff\U0010ffff", 1, None),
        ("a\ud7ffb", 2, "a\ue000"),
        ("\U0001f389\U0001f389", 1, "\U0001f38a"),
    ],
)
def test_truncate_max(text, length, expected):
    assert truncate_max(text, length) == expected


@given(st.lists(st.none() | st.text(max_size=12), min_size=1), st.integers(1, 6), st.integers(1, 4))
def test_bounds_of_texts_hold(values, length, pieces):
    fs = fields(c="STRING")
    collector = StatsCollector(fs, [f"truncate({length})"])
    for i in range(pieces):
        collector.add(pa.table([values[i::pieces]], schema=arrow_schema(fs)))
    stats, cols = collector.result()
    decoded = decode_stats(fs, stats, cols)["c"]
    texts = [v.encode() for v in values if v is not None]
    assert decoded.null_count == values.count(None)
    if decoded.max is not None:
        assert decoded.min.encode() <= min(texts)
        assert max(texts) <= decoded.max.encode()
        assert max(len(decoded.min), len(decoded.max)) <= length


def test_decoding_says_nothing_rather_than_something_wrong():
    fs = fields(a="INT", t="TIMESTAMP(6)")
    assert decode_stats(fs, EMPTY_STATS) == {}
    assert decode_stats(fs, EMPTY_STATS, ()) == {}
    assert decode_stats(fs, EMPTY_STATS, ("gone",)) == {}
    one = serialize([fs[0].type], [1])
    assert decode_stats(fs, SimpleStats(one, one, (-1,)), ("a",)) == {"a": ColumnStats(1, 1, None)}
    time = serialize([fs[1].type], [Instant(0, 5)])
    assert decode_stats(fs, SimpleStats(time, time, None), ("t",), file_format="orc") == {
        "t": ColumnStats(Instant(-1000, 5), Instant(1000, 5), None)
    }
    with pytest.raises(FormatError):
        decode_stats(fs, SimpleStats(one, one, (1, 2)), ("a",))
    with pytest.raises(FormatError):
        decode_stats(fs, SimpleStats(b"", one, (1,)), ("a",))
