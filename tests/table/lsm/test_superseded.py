"""Older results on higher levels are left out of a merge."""

import pyarrow as pa

from paimon_nb.format.types import Atomic, DataField
from paimon_nb.table.lsm.superseded import drop_superseded

KEYS = (DataField(0, "k", Atomic("INT", False)),)


def table(*pairs):
    return pa.table({"k": pa.array([k for k, _ in pairs], pa.int32()), "n": [n for _, n in pairs]})


def test_each_key_counts_once_above_level_zero():
    parts = [
        (5, table((1, "old"), (2, "old"), (3, "old"))),
        (0, table((1, "new"))),
        (4, table((1, "mid"), (4, "mid"))),
        (0, table((1, "newer"))),
    ]
    kept = [t.to_pylist() for t in drop_superseded(parts, KEYS)]
    assert kept == [
        [{"k": 1, "n": "new"}],
        [{"k": 1, "n": "newer"}],
        [{"k": 1, "n": "mid"}, {"k": 4, "n": "mid"}],
        [{"k": 2, "n": "old"}, {"k": 3, "n": "old"}],
    ]


def test_files_of_one_level_do_not_hide_each_other():
    parts = [(5, table((1, "a"))), (5, table((2, "b"))), (3, table((2, "c")))]
    kept = [t.to_pylist() for t in drop_superseded(parts, KEYS)]
    assert kept == [[{"k": 2, "n": "c"}], [{"k": 1, "n": "a"}]]
