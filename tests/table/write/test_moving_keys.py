"""Keys that move from partition to partition, in a table whose compactions mark old rows instead of rewriting them."""

from itertools import permutations

import pyarrow as pa
import pytest

import paimon_nb


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_a_key_that_moved_is_taken_from_where_it_was_last(tmp_path, vectors):
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(
        "CREATE TABLE t (id INT, p STRING, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (p) WITH"
        f" ('bucket' = '-1', 'deletion-vectors.enabled' = '{vectors}', 'num-sorted-run.compaction-trigger' = '3')"
    )
    routes = list(permutations(("p0", "p1", "p2", "p3"), 3))
    for step in range(3):
        rows = pa.table({"id": pa.array(range(len(routes)), pa.int32()), "p": [route[step] for route in routes]})
        wb.table("t").upsert(rows)
    found = wb.table("t").to_arrow().sort_by("id").to_pylist()
    assert found == [{"id": i, "p": route[2]} for i, route in enumerate(routes)]
