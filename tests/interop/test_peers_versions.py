"""Snapshots, tags and commit times that each of us, pypaimon 2.1.0 and pypaimon-rust 0.4.0 wrote are the same for all three."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from peer_cases import EVOLVES, shown
from peer_kit import PeerError, Peers

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow  # other processes, in a venv that the first test makes

SCHEMA = pa.schema([pa.field("id", pa.int32(), False), ("b", pa.int32()), ("c", pa.string())])
KINDS: dict[str, tuple[list[str], dict[str, str]]] = {
    "append": ([], {"bucket": "-1"}),
    "keyed": (["id"], {"bucket": "2"}),
    "partial": (["id"], {"bucket": "1", "merge-engine": "partial-update"}),
    "evolving": ([], EVOLVES),
}
READERS = ("us", "pypaimon", "rust")
COMMITS = 6
"""Written in turn by `READERS`; after each of the first three its writer tags the snapshot."""


class History:
    """A table of one kind, and its rows after each commit."""

    def __init__(self, root: Path, kind: str) -> None:
        self.peers = Peers(root)
        self.wb = paimon_nb.connect(str(root))
        keys, options = KINDS[kind]
        self.peers.create("t", SCHEMA, keys, [], options)
        self.after: list[list[dict[str, Any]]] = []
        self.times: list[int] = []
        held: list[dict[str, Any]] = []
        for n in range(COMMITS):
            by = READERS[n % 3]
            rows = [{"id": i, "b": n, "c": None if i % 2 else f"{n}.{i}"} for i in range(n, n + 4)]
            self._write(by, pa.Table.from_pylist(rows, schema=SCHEMA))
            held = [*held, *rows] if not keys else _merged(held, rows, partial=kind == "partial")
            self.after.append(held)
            latest = self.wb.table("t").latest_snapshot()
            assert latest is not None
            self.times.append(latest.time_ms)
            if n < 3:
                self._tag(by, n + 1)
            time.sleep(0.005)  # commit times have milliseconds

    def _write(self, by: str, rows: pa.Table) -> None:
        if by == "us":
            self.wb.table("t").append(rows)
        else:
            self.peers.write(by, "t", rows)

    def _tag(self, by: str, snapshot: int) -> None:
        name = f"of_{by}"
        if by == "us":
            self.wb.table("t").tags.create(name, snapshot)
        elif by == "pypaimon":
            self.peers.ask(by, "tag", table="t", name=name, snapshot=snapshot)
        else:
            text = f"CALL sys.create_tag(table => 'default.t', tag => '{name}', snapshot_id => {snapshot})"
            self.peers.ask(by, "sql", text=text)

    def read(self, reader: str, how: str, n: int) -> pa.Table:
        """The table after commit `n`, counted from 1, asked for by snapshot, tag or time."""
        tag = f"of_{READERS[n - 1]}" if how == "tag" else ""
        if reader == "us":
            of = {"snapshot": n} if how == "snapshot" else {"tag": tag} if tag else {"timestamp": self.times[n - 1]}
            return self.wb.table("t").to_arrow(**of)
        if reader == "pypaimon":
            options = {
                "snapshot": {"scan.snapshot-id": str(n)},
                "tag": {"scan.tag-name": tag},
                "time": {"scan.timestamp-millis": str(self.times[n - 1])},
            }[how]
            return self.peers.read(reader, "t", SCHEMA.names, **options)
        if how == "time":  # rust's SQL takes whole seconds
            self.peers.ask(reader, "sql", text=f"SET 'paimon.scan.timestamp-millis' = '{self.times[n - 1]}'")
            try:
                return self.peers.read(reader, "t", SCHEMA.names)
            finally:
                self.peers.ask(reader, "sql", text="RESET 'paimon.scan.timestamp-millis'")
        return self.peers.read(reader, f"t VERSION AS OF {n if how == 'snapshot' else repr(tag)}", SCHEMA.names)


def _merged(held: list[dict[str, Any]], rows: list[dict[str, Any]], *, partial: bool) -> list[dict[str, Any]]:
    by_id = {r["id"]: r for r in held}
    for r in rows:
        old = by_id.get(r["id"], {}) if partial else {}
        by_id[r["id"]] = {n: v if v is not None else old.get(n) for n, v in r.items()}
    return list(by_id.values())


@pytest.fixture(
    scope="module", params=[k if k == "keyed" else pytest.param(k, marks=pytest.mark.nightly) for k in KINDS]
)
def history(request, tmp_path_factory) -> Iterator[History]:
    made = History(tmp_path_factory.mktemp(request.param), request.param)
    yield made
    made.peers.close()


VERSIONS = [
    *(("snapshot", n) for n in range(1, 7)),
    *(("tag", n) for n in range(1, 4)),
    *(("time", n) for n in range(1, 7)),
]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("how", "n"), VERSIONS, ids=lambda v: str(v))
def test_the_rows_of_a_version(history, how, n, reader):
    wanted = pa.Table.from_pylist(history.after[n - 1], schema=SCHEMA)
    assert shown(history.read(reader, how, n).select(SCHEMA.names)) == shown(wanted)


def test_a_deleted_tag_is_gone_for_all(history):
    history.wb.table("t").tags.delete("of_pypaimon")
    for reader in ("pypaimon", "rust"):
        with pytest.raises(PeerError):
            history.read(reader, "tag", 2)
    with pytest.raises(paimon_nb.PaimonError):
        history.read("us", "tag", 2)
    history.peers.ask("pypaimon", "tag", table="t", name="of_pypaimon", snapshot=2)
    assert history.read("us", "tag", 2).num_rows == len(history.after[1])
