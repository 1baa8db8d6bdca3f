"""Keys as numbers: in the order of the keys themselves."""

import itertools
import random
from decimal import Decimal

import pyarrow as pa
import pytest

from paimon_nb.format.row import serialize
from paimon_nb.format.types import parse_type
from paimon_nb.format.types.arrow_builders import arrow_column
from paimon_nb.table.lsm.levels import key_decoder
from paimon_nb.table.read.plan.key_ranks import key_ranks

VALUES = {
    "BIGINT": [-(2**63), -1, 0, 7, 2**63 - 1],
    "TINYINT": [-128, 0, 5],
    "STRING": ["", "a", "a\0", "ab", "b", "ß", "漢字 that are longer than a slot", "\U0001f600"],
    "CHAR(3)": ["a  ", "ab ", "b  "],
    "DATE": [-700_000, 0, 20_000],
    "DECIMAL(9, 2)": [Decimal("-1.50"), Decimal("0.00"), Decimal("1234567.89")],
    "DECIMAL(30, 2)": [Decimal("-1.50"), Decimal("0.00"), Decimal("12345678901234567890.89")],
}
KEYS = [["BIGINT"], ["TINYINT"], ["STRING"], ["CHAR(3)"], ["DATE"], ["DECIMAL(9, 2)"], ["DECIMAL(30, 2)"], ["STRING", "BIGINT", "DATE"], ["TINYINT"] + ["STRING"] * 5]  # fmt: skip


@pytest.mark.parametrize("names", KEYS, ids=str)
def test_order(names):
    rng, types = random.Random(1), [parse_type(n) for n in names]
    keys = [serialize(types, [rng.choice(VALUES[n]) for n in names]) for _ in range(200)]
    low, high = key_ranks(types, *(arrow_column(part, pa.large_binary()) for part in (keys[:100], keys[100:])))
    decode = key_decoder(types)
    known = sorted(zip(map(decode, keys), [*low.tolist(), *high.tolist()], strict=True))
    for (key, rank), (next_key, next_rank) in itertools.pairwise(known):
        assert (key == next_key) == (rank == next_rank)
        assert rank <= next_rank


@pytest.mark.parametrize("name", ["DOUBLE", "FLOAT", "BYTES", "TIMESTAMP(6)"])
def test_types_that_only_keys_tell(name):
    t = parse_type(name)
    empty = arrow_column([serialize([t], [None])], pa.large_binary())
    assert key_ranks([t], empty, empty) is None


def test_keys_of_another_shape_are_left_to_the_decoder():
    one, two = parse_type("BIGINT"), [parse_type("BIGINT"), parse_type("INT")]
    keys = arrow_column([serialize([one], [1]), serialize(two, [1, 2])], pa.large_binary())
    assert key_ranks([one], keys, keys) is None
