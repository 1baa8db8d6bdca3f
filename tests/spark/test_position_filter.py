"""The mask hides exactly the rows it names, over any number of files, with and without the JVM bridge."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_nb.spark.scan.position_filter import (
    Mask,
    _filter_by_broadcast_join,
    groups_of_distinct_sizes,
    without_hidden,
)

ROWS = [1, 63, 64, 65, 1000, 130, 7, 3]


def test_every_file_has_its_own_slot():
    names = [f"data-{i}.parquet" for i in range(200)]
    sizes = {n: 1_000_000 + 977 * i * i for i, n in enumerate(names)}
    mask = Mask.of([(n, np.zeros(65, bool)) for n in names], sizes)
    assert [mask.slots[sizes[n] % len(mask.slots)] for n in names] == [128 * i for i in range(200)]


def test_files_of_one_size_go_apart():
    sizes = [("a", 5), ("b", 6), ("c", 5), ("d", 5), ("e", 7)]
    assert groups_of_distinct_sizes(sizes) == [["a", "b", "e"], ["c"], ["d"]]
    assert [len(g) for g in groups_of_distinct_sizes((str(i), i) for i in range(600))] == [256, 256, 88]


@pytest.mark.spark
@pytest.mark.parametrize("way", [without_hidden, _filter_by_broadcast_join])
def test_exactly_the_hidden_rows_are_gone(spark, tmp_path, way):
    random = np.random.default_rng(7)
    hidden, sizes, expected, paths = {}, {}, [], []
    for i, rows in enumerate(ROWS):
        ids = np.arange(rows) + 10_000 * i
        path = tmp_path / f"data-{i}.parquet"
        pq.write_table(pa.table({"id": ids, "v": random.integers(0, 1 << 40, rows)}), path, row_group_size=50)
        sizes[path.name] = path.stat().st_size
        hidden[path.name] = random.random(rows) < 0.4 if i % 3 else None
        expected += ids.tolist() if hidden[path.name] is None else ids[~hidden[path.name]].tolist()
        paths.append(str(path))
    assert groups_of_distinct_sizes(sizes.items()) == [list(sizes)]
    scan = spark.read.schema("id bigint, v bigint").parquet(*paths)
    kept = way(scan, Mask.of(hidden.items(), sizes))
    assert kept.columns == ["id", "v"]
    assert sorted(r.id for r in kept.select("id").collect()) == expected
    # Filters that skip row groups must not shift the positions.
    assert sorted(r.id for r in kept.where("id > 40450").collect()) == [e for e in expected if e > 40450]
    # Nor must a condition that goes before the mask.
    before = way(scan.where("id > 40450"), Mask.of(hidden.items(), sizes))
    assert before.columns == ["id", "v"]
    assert sorted(r.id for r in before.collect()) == [e for e in expected if e > 40450]
    assert len(kept._jdf.queryExecution().toString()) < 20_000
