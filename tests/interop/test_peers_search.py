"""The nearest vectors, and their scores, are those of pypaimon 2.1.0 and pypaimon-rust 0.4.0, which compare all of them, too."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from peer_cases import EVOLVES
from peer_kit import Peers

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow  # other processes, in a venv that the first test makes

DIMENSION, ROWS = 5, 200
TABLES = {
    "inside": f"VECTOR<FLOAT, {DIMENSION}>",
    "beside": f"VECTOR<FLOAT, {DIMENSION}>",
    "array": "ARRAY<FLOAT>",
}


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> Iterator[tuple[Peers, paimon_nb.Workbench]]:
    """Three tables of the same vectors, row `i` with id `i`, some of them deleted."""
    root = tmp_path_factory.mktemp("search")
    peers, wb = Peers(root), paimon_nb.connect(str(root))
    dice = random.Random(3)
    vectors = [[dice.gauss(0, 1) for _ in range(DIMENSION)] for _ in range(ROWS)]
    for name, type_ in TABLES.items():
        options = {**EVOLVES, "vector-index.search-mode": "full", "global-index.enabled": "true"}
        options |= {"vector.file.format": "parquet"} if name == "beside" else {}
        texts = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
        wb.run(f"CREATE TABLE {name} (id INT, v {type_}) WITH ({texts})")
        for begin in (0, 80):
            ids = range(begin, ROWS if begin else 80)
            values = pa.array([vectors[i] for i in ids], pa.list_(pa.float32()))
            wb.table(name).append(pa.table({"id": pa.array(ids, pa.int32()), "v": values}))
        wb.table(name).update({"v": vectors[5]}, where="id = 150")
    yield peers, wb
    peers.close()


QUERIES = [[random.Random(n).gauss(0, 1) for _ in range(DIMENSION)] for n in range(4)]


@pytest.mark.parametrize("query", range(len(QUERIES)))
@pytest.mark.parametrize("metric", ["l2", "cosine", "inner_product"])
@pytest.mark.parametrize("table", TABLES)
def test_the_nearest_rows_of_pypaimon(both, table, metric, query):
    peers, wb = both
    found = wb.table(table).search(QUERIES[query], 12, column="v", metric=metric, columns=["id"])
    ours = dict(zip(*(column.to_pylist() for column in found.columns), strict=True))
    theirs = peers.search(table, "v", QUERIES[query], 12, metric)
    assert ours == pytest.approx(theirs, rel=1e-5)


@pytest.mark.parametrize("query", range(len(QUERIES)))
@pytest.mark.parametrize("table", TABLES)
def test_the_nearest_rows_of_rust(both, table, query):
    peers, wb = both
    text = f"vector_search('default.{table}', 'v', '{QUERIES[query]}', 12)"
    found = wb.table(table).search(QUERIES[query], 12, column="v", columns=["id"])
    assert peers.read("rust", text, ["id"]).column("id").to_pylist() == found.column("id").to_pylist()
