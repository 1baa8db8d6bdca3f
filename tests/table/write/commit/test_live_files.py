"""Live files that stay added up from commit to commit are those that all manifests give."""

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commit_kit import added, compacted, data_file, make_table
from write_kit import make_table as table_on_disk
from write_kit import put

from paimon_nb.table.read.live_files import LiveFiles, live_entries
from paimon_nb.table.write.commit import TableCommit
from paimon_nb.table.write.compact import compact
from paimon_nb.table.write.maintenance import rollback_to_snapshot
from paimon_nb.table.write.publish.overwrite import Overwrite

if TYPE_CHECKING:
    from paimon_nb.format.manifest import DataFile


@pytest.mark.parametrize("seed", range(6))
def test_random_commits(seed):
    dice = random.Random(seed)
    store = make_table(partitioned=True, **{"manifest.merge-min-count": "3"})
    kept = LiveFiles()
    there: dict[tuple[str, int], list[DataFile]] = {}

    for _ in range(40):
        dt, bucket = place = (dice.choice("ab"), dice.randrange(2))
        files = [data_file(low=dice.randrange(9), rows=dice.randint(1, 99)) for _ in range(dice.randint(1, 3))]
        before = there.get(place, [])
        match dice.choice(["add", "add", "add", "compact", "overwrite"]):
            case "compact" if before:
                message = compacted(before, files[:1], dt=dt, bucket=bucket, base=store.latest().id)
                TableCommit(store).commit([message])
                there[place] = files[:1]
            case "overwrite":
                TableCommit(store).commit([added(*files, dt=dt, bucket=bucket)], overwrite=Overwrite({"dt": dt}))
                there = {p: f for p, f in there.items() if p[0] != dt} | {place: files}
            case _:
                TableCommit(store).commit([added(*files, dt=dt, bucket=bucket)])
                there[place] = [*before, *files]

        buckets, totals = kept.at(store, store.latest())
        assert (buckets, totals) == LiveFiles().at(store, store.latest())
        told = {(store.partition_values(p)[0], b): of for (p, b), of in buckets.items()}
        assert {p: {e.file.file_name for e in of.entries} for p, of in told.items()} == {
            p: {f.file_name for f in files} for p, files in there.items()
        }
        assert {p: of.max_sequence for p, of in told.items()} == {
            p: max(f.max_sequence for f in files) for p, files in there.items()
        }
        assert {store.partition_values(p)[0]: total for p, total in totals.items()} == {dt: 2 for dt, _ in there}


def test_what_was_told_does_not_change_with_later_commits():
    store, kept = make_table(), LiveFiles()
    TableCommit(store).commit([added(data_file("one"))])
    buckets, _ = kept.at(store, store.latest())
    TableCommit(store).commit([added(data_file("two"))])
    kept.at(store, store.latest())
    assert [e.file.file_name for of in buckets.values() for e in of.entries] == ["one"]


def test_each_step_gives_the_same_as_reading_anew(tmp_path: Path) -> None:
    store = table_on_disk(
        str(tmp_path / "t"),
        {"k": "INT", "v": "STRING"},
        ("k",),
        bucket="2",
        **{"manifest.merge-min-count": "4", "write-only": "true"},
    )
    files = LiveFiles()
    assert files.at(store, store.latest()) == ({}, {})

    def rows(n: int) -> list[dict[str, object]]:
        return [{"k": n + i, "v": "x"} for i in range(4)]

    steps = [
        *(lambda n=n: put(store, rows(n)) for n in range(6)),
        lambda: TableCommit(store).commit(compact(store)),
        lambda: put(store, rows(90)),
        lambda: rollback_to_snapshot(store, 3),
        lambda: put(store, rows(50)),
        lambda: put(store, rows(0), ["-D"] * 4),
    ]
    for step in steps:
        step()
        snapshot = store.latest()
        kept, read = (
            [e for of in files.at(store, snapshot)[0].values() for e in of.entries],
            live_entries(store, snapshot),
        )
        assert sorted(kept, key=lambda e: e.file.file_name) == sorted(read, key=lambda e: e.file.file_name)
    assert len(read) > 4
