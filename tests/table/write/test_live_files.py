"""Live files that a writer keeps added up are those that the manifests say, whatever happens to the table between."""

from pathlib import Path

from write_kit import make_table, put

from paimon_nb.table.commit import TableCommit
from paimon_nb.table.commit.live import LiveFiles, live_entries
from paimon_nb.table.compact import compact
from paimon_nb.table.maintain import rollback_to_snapshot


def test_each_step_gives_the_same_as_reading_anew(tmp_path: Path) -> None:
    store = make_table(
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
