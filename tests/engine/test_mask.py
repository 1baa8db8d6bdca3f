"""The mask hides exactly the rows it names, over any number of files, with and without the JVM bridge."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_nb.engine.mask import Mask, _joined, without_hidden

SIZES = [1, 63, 64, 65, 1000, 130, 7, 1]


def test_every_file_has_its_own_slot():
    mask = Mask.of({f"data-{i}.parquet": np.zeros(65, bool) for i in range(300)})
    assert sorted(set(mask.slots()) - {0}) == [128 * i for i in range(1, 300)]


@pytest.mark.spark
@pytest.mark.parametrize("way", [without_hidden, _joined])
def test_exactly_the_hidden_rows_are_gone(spark, tmp_path, way):
    random = np.random.default_rng(7)
    hidden, expected, paths = {}, [], []
    for i, size in enumerate(SIZES):
        ids = np.arange(size) + 10_000 * i
        path = tmp_path / f"data-{i}.parquet"
        pq.write_table(pa.table({"id": ids, "v": ids % 7}), path, row_group_size=50)
        rows = random.random(size) < 0.4
        hidden[path.name] = rows
        expected += ids[~rows].tolist()
        paths.append(str(path))
    scan = spark.read.schema("id bigint, v bigint").parquet(*paths)
    kept = way(scan, Mask.of(hidden))
    assert kept.columns == ["id", "v"]
    assert sorted(r.id for r in kept.select("id").collect()) == expected
    # Filters that skip row groups must not shift the positions.
    assert sorted(r.id for r in kept.where("id > 40450").collect()) == [e for e in expected if e > 40450]
    assert len(kept._jdf.queryExecution().toString()) < 20_000
