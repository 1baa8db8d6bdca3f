"""Which record is newer is told by its sequence number, never by the order in which runs are handed over."""

import numpy as np
import pyarrow as pa
import pytest

from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND
from paimon_nb.format.schema import create_schema
from paimon_nb.format.types import parse_type
from paimon_nb.options import TableOptions
from paimon_nb.table.lsm.merge import MergeSpec, merge
from paimon_nb.table.lsm.merge.groups import merge_order


@pytest.mark.parametrize("key", ["INT", "STRING"])
@pytest.mark.parametrize("newest_first", [False, True])
def test_last_record_wins_in_any_order_of_runs(key, newest_first):
    schema = create_schema(
        [("k", parse_type(key), None, None), ("v", parse_type("INT"), None, None)], [], ["k"], {}, None
    )
    keys = [1, 2] if key == "INT" else ["1", "2"]
    runs = [  # each run holds the newer record of one key
        pa.table(
            {
                "k": pa.array(keys, schema.arrow.field("k").type),
                "v": pa.array(numbers, pa.int32()),
                SEQUENCE_NUMBER: pa.array(numbers, pa.int64()),
                VALUE_KIND: pa.array([0, 0], pa.int8()),
            }
        )
        for numbers in ([0, 6], [5, 1])
    ]
    merged = merge(runs[::-1] if newest_first else runs, MergeSpec.of(schema, TableOptions({})), drop_delete=True)
    assert merged.column("v").to_pylist() == [5, 6]


@pytest.mark.parametrize("seed", range(20))
def test_rows_lie_by_key_then_by_sequence(seed):
    schema = create_schema([("k", parse_type("BIGINT"), None, None)], [], ["k"], {}, None)
    random = np.random.default_rng(seed)
    rows = int(random.integers(0, 200))
    keys, numbers = random.integers(0, 1 + rows // 3, rows), random.permutation(rows)
    kv = pa.table({"k": keys, SEQUENCE_NUMBER: numbers, VALUE_KIND: np.zeros(rows, np.int8)})
    order = merge_order(kv, MergeSpec.of(schema, TableOptions({})))
    assert order.tolist() == np.lexsort((numbers, keys)).tolist()
