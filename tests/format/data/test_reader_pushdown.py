"""A filter inside the Parquet reader: the same rows as filtering afterwards, and row groups without any left undecoded."""

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from sampling import sampled

from paimon_nb.format.data import RowFilter, open_data_writer, read_data_file
from paimon_nb.format.data import parquet as parquet_reader
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.fs import open_fs
from paimon_nb.options import TableOptions

FIELDS = (
    DataField(0, "k", parse_type("BIGINT NOT NULL")),
    DataField(1, "s", parse_type("STRING")),
    DataField(2, "v", parse_type("DOUBLE")),
)
ROWS = {"parquet": 300_000, "orc": 130_000, "avro": 20_000}  # of Avro no part is passed over: all of it is decoded


@pytest.fixture(scope="module", params=ROWS)
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Rows sorted by `k`; `s` is NULL in every seventh."""
    out = str(tmp_path_factory.mktemp("filtered") / f"data-1-0.{request.param}")
    writer = open_data_writer(open_fs(out, {}), out, FIELDS, TableOptions({}), 0)
    writer.write(rows(request.param))
    writer.close()
    return out


@lru_cache(maxsize=2)
def rows(kind: str = "parquet") -> pa.Table:
    k = np.arange(ROWS[kind])
    texts = pa.array(np.char.add("text-", (k * 7919 % 1000).astype(str)), mask=k % 7 == 0)
    return pa.table({"k": pa.array(k), "s": texts, "v": pa.array(k / 8)})


@pytest.mark.parametrize(
    ("columns", "mask", "spans"),
    [
        (("k",), lambda t: pc.equal(t["k"], 123_456), {"k": (123_456, 123_456)}),
        (("k",), lambda t: pc.equal(t["k"], -1), {"k": (-1, -1)}),
        (("k",), lambda t: pc.less(t["k"], 70_000), {"k": (None, 69_999)}),
        (("k",), lambda t: pc.greater(t["k"], 5), {"k": (6, None)}),
        (("k",), lambda t: pc.greater(t["k"], 299_000), {"k": (299_001, None)}),
        (("k",), lambda t: pc.less(t["k"], -1), {"k": (None, -2)}),
        (("k",), lambda t: pc.less_equal(t["k"], 12), {"k": (-(1 << 70), 12)}),
        (("k",), lambda t: pc.and_(pc.greater(t["k"], 4_990), pc.less(t["k"], 15_010)), {"k": (4_991, 15_009)}),
        (("k",), lambda t: pc.and_(pc.greater(t["k"], 60_000), pc.less(t["k"], 81_000)), {"k": (60_001, 80_999)}),
        (("k", "s"), lambda t: pc.and_(pc.less(t["k"], 9_000), pc.equal(t["s"], "text-7")), {"k": (None, 8_999)}),
        (("s",), lambda t: pc.equal(t["s"], "text-7"), {"s": ("text-7", "text-7")}),
        (("s",), lambda t: pc.equal(t["s"], "nowhere"), {}),
        (("v", "k"), lambda t: pc.equal(pc.multiply(t["v"], 8.0), pc.cast(t["k"], pa.float64())), {}),
    ],
)
@pytest.mark.parametrize("sorted_by", sampled(["k", None], 2))
def test_the_same_rows_as_filtering_afterwards(path, columns, mask, spans, sorted_by):
    got = read_data_file(open_fs(path, {}), path, FIELDS, keep=RowFilter(columns, mask, spans, sorted_by=sorted_by))
    stored = rows(path.rpartition(".")[2])
    expected = stored.filter(mask(stored.select(list(columns))), null_selection_behavior="drop")
    assert got.cast(expected.schema).equals(expected)


def test_row_groups_without_a_hit_are_not_decoded(tmp_path, monkeypatch):
    out = str(tmp_path / "data-1-0.parquet")
    writer = open_data_writer(open_fs(out, {}), out, FIELDS, TableOptions({}), 0)
    writer.write(rows())
    writer.close()
    read: list[tuple[int, int]] = []
    original = parquet_reader.pq.ParquetFile.read_row_group

    def counted(self, group, columns, **kwargs):
        read.append((group, len(columns)))
        return original(self, group, columns, **kwargs)

    monkeypatch.setattr(parquet_reader.pq.ParquetFile, "read_row_group", counted)
    few = RowFilter(("k",), lambda t: pc.is_in(t["k"], pa.array([200_000, 200_001])), {"k": (200_000, 200_001)})
    assert read_data_file(open_fs(out, {}), out, FIELDS, keep=few).column("k").to_pylist() == [200_000, 200_001]
    assert [columns for _, columns in read] == [1, 2]
    assert len({group for group, _ in read}) == 1
    read.clear()
    one = RowFilter(("k",), lambda t: pc.equal(t["k"], 200_000), {"k": (200_000, 200_000)})
    found = read_data_file(open_fs(out, {}), out, FIELDS, keep=one)
    assert found.to_pylist() == rows().slice(200_000, 1).to_pylist()
    assert [columns for _, columns in read] == [1]  # one value of a column: of the others the page alone
    read.clear()
    few = RowFilter(few.columns, few.mask, few.spans, sorted_by="k")
    assert read_data_file(open_fs(out, {}), out, FIELDS, keep=few).column("k").to_pylist() == [200_000, 200_001]
    assert read == []  # a range of what the file is sorted by: the pages around it
