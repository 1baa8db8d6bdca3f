"""Vector and full-text indexes that pypaimon 2.1.0 and we build: each of us finds by them what the other indexed."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from peer_cases import EVOLVES
from peer_kit import Peers
from sampling import sampled

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow  # other processes, in a venv that the first test makes

DIMENSION, ROWS, LATER, K = 8, 300, 5, 10
KINDS = ("ivf-flat", "ivf-pq", "ivf-sq", "ivf-rq", "diskann")
TOKENIZERS = ("default", "ngram", "jieba")
DICE = random.Random(5)
VECTORS = [None if i % 17 == 3 else [DICE.gauss(0, 1) for _ in range(DIMENSION)] for i in range(ROWS + LATER)]
QUERIES = [[DICE.gauss(0, 1) for _ in range(DIMENSION)] for _ in range(4)]
DELETED = (7, 8, 150)
WORDS = ["paimon", "lakes", "lake", "house", "format", "vector", "湖仓", "数据湖", "searching", "search", "running"]
TEXTS = [None if i % 17 == 3 else " ".join(DICE.choices(WORDS, k=4)) for i in range(ROWS + LATER)]
TEXT_QUERIES = (
    {"match": {"query": "lake run"}},
    {"match": {"query": "lake format", "operator": "And"}},
    {"match_phrase": {"query": "lake house"}},
    {"match": {"query": "数据"}},
    {"boolean": {"must": [{"match": {"query": "search"}}], "must_not": [{"match": {"query": "vector"}}]}},
)


def rows(begin: int, end: int) -> pa.Table:
    vectors = pa.array(VECTORS[begin:end], pa.list_(pa.float32(), DIMENSION))
    return pa.table({"id": pa.array(range(begin, end), pa.int32()), "v": vectors, "s": TEXTS[begin:end]})


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> Iterator[tuple[Peers, paimon_nb.Workbench]]:
    """A table per kind that we index and one that pypaimon indexes, in files of 200 rows; row `i` has id `i`. Later rows are not indexed, some are deleted."""
    root = tmp_path_factory.mktemp("indexes")
    peers, wb = Peers(root), paimon_nb.connect(str(root))
    options = {**EVOLVES, "global-index.enabled": "true", "global-index.row-count-per-shard": "200"}
    for owner in ("ours", "theirs"):
        for kind in (*KINDS, *TOKENIZERS):
            name, column = table_name(owner, kind), "v" if kind in KINDS else "s"
            deletes = owner == "ours" or kind in KINDS  # pypaimon indexes no texts where rows can be deleted
            chosen = options | {"deletion-vectors.enabled": str(deletes).lower()}
            texts = ", ".join(f"'{k}' = '{v}'" for k, v in chosen.items())
            wb.run(f"CREATE TABLE {name} (id INT, v VECTOR<FLOAT, {DIMENSION}>, s STRING) WITH ({texts})")
            for begin, end in ((0, 120), (120, ROWS)):
                wb.table(name).append(rows(begin, end))
            built = {f"{kind}.distance.metric": "l2"} if kind in KINDS else {"full-text.tokenizer": kind}
            index_type = kind if kind in KINDS else "full-text"
            if owner == "theirs":
                peers.create_global_index(name, column, index_type, **built)
            else:
                texts_of_options = ",".join(f"{k}={v}" for k, v in built.items())
                wb.run(f"CALL sys.create_global_index('{name}', '{column}', '{index_type}', '', '{texts_of_options}')")
            wb.table(name).append(rows(ROWS, ROWS + LATER))
            if deletes:
                wb.table(name).delete(f"id IN {DELETED}")
    yield peers, wb
    peers.close()


def table_name(owner: str, kind: str) -> str:
    return f"{owner}_{kind.replace('-', '_')}"


def exact(wb: paimon_nb.Workbench, table: str, query: list[float], where: str | None = None) -> dict[int, float]:
    return scores(wb.table(table).copy({"global-index.enabled": "false"}).search(query, K, columns=["id"], where=where))


def scores(found: pa.Table) -> dict[int, float]:
    return dict(zip(*(column.to_pylist() for column in found.columns), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_their_vector_index_names_the_nearest_rows(both, kind):
    _, wb = both
    name = table_name("theirs", kind)
    for query in QUERIES:
        found = wb.table(name).search(query, K, columns=["id"], options={"ivf.nprobe": "64", "ivf.refine_factor": "8"})
        how = found.schema.metadata[b"paimon_nb.search"].decode()
        assert (
            how
            == f"index {kind} of v for {ROWS} of {ROWS + LATER} rows, {LATER} are searched without it: 160 candidates"
        )
        assert scores(found) == exact(wb, name, query)


@pytest.mark.parametrize("kind", KINDS)
def test_our_vector_index_names_the_nearest_rows(both, kind):
    """pypaimon in its mode `fast` leaves out the later rows, which no index covers: so it did read the index."""
    peers, wb = both
    name = table_name("ours", kind)
    width = {"diskann.l_search": "200"} if kind == "diskann" else {"ivf.nprobe": "64", "ivf.refine_factor": "8"}
    for query in QUERIES:
        found = peers.search(name, "v", query, K, "l2", "fast", **width)
        assert found == pytest.approx(exact(wb, name, query, f"id < {ROWS}"), rel=1e-3 if kind == "diskann" else 1e-5)


@pytest.mark.parametrize("query", sampled(TEXT_QUERIES, 2), ids=lambda q: next(iter(q)))
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("owner", ["ours", "theirs"])
def test_full_text_searches_have_the_same_rows_and_scores(both, owner, tokenizer, query):
    peers, wb = both
    name = table_name(owner, tokenizer)
    found = scores(wb.table(name).full_text_search(query, ROWS + LATER, column="s", columns=["id"]))
    indexed = peers.full_text_search(name, "s", json.dumps(query), ROWS + LATER, "fast")
    assert {i: s for i, s in found.items() if i < ROWS} == pytest.approx(indexed, rel=1e-5)
    if tokenizer == "default":  # theirs has the table's options, not those of the index, for later rows
        complete = peers.full_text_search(name, "s", json.dumps(query), ROWS + LATER)
        assert found == pytest.approx(complete, rel=1e-5)


@pytest.mark.parametrize("owner", ["ours", "theirs"])
def test_rust_finds_the_same_rows(both, owner):
    peers, wb = both
    for query in QUERIES:
        text = f"vector_search('default.{table_name(owner, 'ivf-flat')}', 'v', '{query}', {K})"
        found = peers.read("rust", text, ["id"]).column("id").to_pylist()
        assert set(found) == set(exact(wb, table_name(owner, "ivf-flat"), query, f"id < {ROWS}"))
    text = f"full_text_search('default.{table_name(owner, 'default')}', 's', '{json.dumps(TEXT_QUERIES[1])}', {ROWS})"
    expected = wb.table(table_name(owner, "default")).full_text_search(
        TEXT_QUERIES[1], ROWS, column="s", columns=["id"]
    )
    ids = expected.column("id").to_pylist()
    assert sorted(peers.read("rust", text, ["id"]).column("id").to_pylist()) == sorted(i for i in ids if i < ROWS)
