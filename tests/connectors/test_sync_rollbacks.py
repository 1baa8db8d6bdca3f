"""A rollback at each request that a sync's commit sends to an object store: the rows are there, or the sync stops and says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from memory_s3 import MemoryS3, Processes
from test_cdc_target import COLUMNS, put

from paimon_nb.base.errors import CommitOverwritten, CommitRemoved, TimeTravelError
from paimon_nb.base.identifier import Identifier
from paimon_nb.connectors.cdc.target import SourceSchema, Target, TargetOptions, open_target
from paimon_nb.table.write.maintenance import rollback_to_snapshot

if TYPE_CHECKING:
    import paimon_nb

NAME = Identifier("d", "t")
OPTIONS = {
    "upserts": {"bucket": "1"},
    "lookup": {"bucket": "1", "changelog-producer": "lookup"},
    "dynamic": {"bucket": "-1"},
}


def opened(wb: paimon_nb.Workbench, options: dict[str, str]) -> Target:
    return open_target(
        wb.session.catalog, NAME, "cdc-me", SourceSchema(COLUMNS, ("k",)), TargetOptions(options=options)
    )


def keys(wb: paimon_nb.Workbench) -> list[int]:
    table = wb.session.catalog.table(NAME)
    return sorted(table.to_arrow(options={"scan.mode": "latest-full"}).column("k").to_pylist())


def rolled_back_at(
    number: int, to: int, options: dict[str, str], monkeypatch: pytest.MonkeyPatch, *, here: bool
) -> bool:
    """Whether the third commit of the sync sent so many requests.

    Args:
        to: the snapshot that is the newest one after the rollback.
        here: the rollback is of the sync's own process.
    """
    processes, store = Processes(monkeypatch), MemoryS3()
    wb, client = processes.start(store)
    other = wb if here else processes.start(store)[0]
    target = opened(wb, options)
    put(target, 1, "at 1")
    put(target, 2, "at 2")
    first, happened = len(client.calls), []

    def at(count: int, _: str) -> None:
        if count == first + number and not happened:
            happened.append(count)
            rollback_to_snapshot(other.session.catalog.table(NAME).store, to)

    client.at = at
    try:
        put(target, 3, "at 3")
        client.at = None
        target.on_idle_checkpoint(0)
        put(target, 4, "at 4")
    except (TimeTravelError, CommitOverwritten, CommitRemoved):
        target.abort()
    else:
        assert keys(wb) == [1, 2, 3, 4], (number, client.calls[first:])
    again, _ = processes.start(store)
    resumed = opened(again, options)
    reached = 0 if resumed.position is None else int(resumed.position.removeprefix("at "))
    assert keys(again)[:reached] == list(range(1, reached + 1)), (number, resumed.position, keys(again))
    return bool(happened)


CASES = [
    pytest.param(kind, to, here, id=f"{kind}-{to}-{'here' if here else 'elsewhere'}",
                 marks=() if (kind, to, here) in (("lookup", 1, True),) else pytest.mark.nightly)
    for kind in OPTIONS for to in (1, 2) for here in (True, False)
]  # fmt: skip


@pytest.mark.parametrize(("kind", "to", "here"), CASES)
def test_a_rollback_at_each_request_of_a_commit(kind, to, here, monkeypatch):
    number = 1
    while rolled_back_at(number, to, OPTIONS[kind], monkeypatch, here=here):
        number += 1
    assert number > 10
