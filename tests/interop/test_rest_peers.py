"""One REST catalog server for pypaimon 2.1.0, pypaimon-rust 0.4.0 and us: tables, commits in turn, many writers at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from peer_kit import Peers
from rest_server import RestServer
from sampling import sampled
from writer_processes import process_context

from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog import Catalog, open_catalog
from paimon_nb.format.schema import create_schema
from paimon_nb.format.types.arrow_builders import from_arrow_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.slow  # other processes, in a venv that the first test makes

SCHEMA = pa.schema([("id", pa.int64()), ("by", pa.string()), ("dt", pa.string())])
NAMES = SCHEMA.names
PATIENT = {"commit.max-retries": "1000", "commit.timeout": "10 min", "snapshot.num-retained.max": "1000"}


@pytest.fixture
def server(tmp_path) -> Iterator[RestServer]:
    with RestServer(tmp_path / "w") as running:
        running.token = "a-token"
        yield running


@pytest.fixture
def peers(server, tmp_path) -> Iterator[Callable[[], Peers]]:
    """Starts another process of the peers."""
    started: list[Peers] = []

    def start() -> Peers:
        started.append(Peers(tmp_path / f"rows{len(started)}", server.options()))
        return started[-1]

    yield start
    for process in started:
        process.close()


def ours(server: RestServer) -> Catalog:
    return open_catalog("c", server.options())


def rows(by: str, *ids: int) -> pa.Table:
    return pa.table([pa.array(ids, pa.int64()), [by] * len(ids), [f"d{i % 3}" for i in ids]], schema=SCHEMA)


def read(server: RestServer, table: str) -> list[tuple[int, str]]:
    found = ours(server).table(Identifier("default", table)).to_arrow()
    return sorted(zip(found["id"].to_pylist(), found["by"].to_pylist(), strict=True))


def read_by(peers: Peers, peer: str, table: str) -> list[tuple[int, str]]:
    found = peers.read(peer, table, NAMES)
    return sorted(zip(found["id"].to_pylist(), found["by"].to_pylist(), strict=True))


KINDS = {"keyed": (["id", "dt"], ["dt"], {"bucket": "1"}), "append": ([], [], {"bucket": "-1"})}


@pytest.mark.parametrize(
    ("kind", "creator"), sampled([("append", "us"), ("append", "pypaimon"), ("keyed", "us"), ("keyed", "pypaimon")], 3)
)
@pytest.mark.parametrize("commits", [8, pytest.param(100, marks=pytest.mark.nightly)])
def test_commits_in_turn(server, peers, kind, creator, commits):
    keys, partitions, options = KINDS[kind]
    pypaimon = peers()
    if creator == "pypaimon":
        pypaimon.create("t", SCHEMA, keys, partitions, {**options, **PATIENT})
    else:
        made = create_schema(from_arrow_schema(SCHEMA), partitions, keys, {**options, **PATIENT}, None)
        ours(server).create_table(Identifier("default", "t"), made)
    expected = {}
    table = ours(server).table(Identifier("default", "t"))
    for turn in range(commits):
        by, ids = ("us", "pypaimon")[turn % 2], (turn, turn + 1) if keys else (turn,)
        if by == "us":
            (table.upsert if keys else table.append)(rows(by, *ids))
        else:
            pypaimon.write("pypaimon", "t", rows(by, *ids))
        expected.update(dict.fromkeys(ids, by))
    assert read(server, "t") == sorted(expected.items())
    assert read_by(pypaimon, "pypaimon", "t") == sorted(expected.items())
    appends = [
        s
        for s in ours(server).table(Identifier("default", "t")).snapshots().to_pylist()
        if s["commit_kind"] == "APPEND"
    ]
    assert len(appends) == commits


def test_rust_reads_what_we_commit(server, peers):
    with_rust = peers()
    with_rust.create("t", SCHEMA, ["id", "dt"], ["dt"], {"bucket": "1"})
    ours(server).table(Identifier("default", "t")).upsert(rows("us", 1, 2, 3))
    assert read_by(with_rust, "rust", "t") == [(1, "us"), (2, "us"), (3, "us")]


def test_a_changed_schema_is_read_by_pypaimon(server, peers):
    from paimon_nb.statements.ddl import AddColumn, RenameColumn

    pypaimon = peers()
    pypaimon.create("t", SCHEMA, [], [], {"bucket": "-1"})
    pypaimon.write("pypaimon", "t", rows("pypaimon", 1))
    ours(server).alter_table(
        Identifier("default", "t"), [AddColumn(("n",), "INT", "a number"), RenameColumn(("by",), "writer")]
    )
    more = pa.table({"id": pa.array([2], pa.int64()), "writer": ["us"], "dt": ["d2"], "n": pa.array([7], pa.int32())})
    ours(server).table(Identifier("default", "t")).append(more)
    found = pypaimon.read("pypaimon", "t", ["id", "writer", "n"]).sort_by("id").to_pylist()
    assert found == [{"id": 1, "writer": "pypaimon", "n": None}, {"id": 2, "writer": "us", "n": 7}]


def _write_ours(options: dict[str, str], me: int, commits: int) -> None:
    table = open_catalog("c", options).table(Identifier("default", "t"))
    for turn in range(commits):
        table.append(rows(f"us{me}", me * 1000 + turn))


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("writers", "of_pypaimon", "commits"),
    [
        (3, 0, 4),
        pytest.param(8, 0, 25, marks=pytest.mark.nightly),
        pytest.param(8, 4, 25, marks=pytest.mark.nightly),
    ],
)
def test_writers_at_once(server, peers, writers, of_pypaimon, commits):
    """No commit is lost and none is doubled, also where the server loses some of its replies."""
    first = peers()
    first.create("t", SCHEMA, [], [], {"bucket": "-1", **PATIENT})
    if not of_pypaimon:  # pypaimon does not look whether a commit without a reply arrived
        server.fault("POST", "/commit", "lose reply", times=max(1, commits // 5))
        server.fault("POST", "/commit", "lose request", times=max(1, commits // 5))
    others = [peers() for _ in range(of_pypaimon)]
    context = process_context()
    processes = [
        context.Process(target=_write_ours, args=(server.options(), i, commits)) for i in range(writers - of_pypaimon)
    ]

    def write_theirs(me: int) -> None:
        for turn in range(commits):
            others[me].write("pypaimon", "t", rows(f"pypaimon{me}", 100_000 + me * 1000 + turn))

    with ThreadPoolExecutor(max(1, of_pypaimon)) as pool:
        for process in processes:
            process.start()
        done = list(pool.map(write_theirs, range(of_pypaimon)))
    for process in processes:
        process.join()
    assert [p.exitcode for p in processes] == [0] * len(processes)
    assert len(done) == of_pypaimon
    wanted = [(i * 1000 + n, f"us{i}") for i in range(writers - of_pypaimon) for n in range(commits)]
    wanted += [(100_000 + i * 1000 + n, f"pypaimon{i}") for i in range(of_pypaimon) for n in range(commits)]
    assert read(server, "t") == sorted(wanted)
    assert read_by(first, "pypaimon", "t") == sorted(wanted)
    made = ours(server).table(Identifier("default", "t")).snapshots()
    assert made.num_rows == len(wanted)
