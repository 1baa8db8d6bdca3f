"""The numbers that pictures show are those of the system tables: for tables that real Java wrote, and for our own of every kind."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.notebook.explore_model import Inspector
from paimon_nb.notebook.funnel_model import funnel
from paimon_nb.notebook.lsm_model import entries_by_bucket, lsm_picture
from paimon_nb.notebook.timeline_model import timeline_of_snapshots
from paimon_nb.table.read.store import POSTPONE_BUCKET
from paimon_nb.table.tables.inspect import amplification

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.table.tables.table import Table
    from paimon_nb.workbench import Workbench

JAVA = Path(__file__).parents[3] / "shared" / "oracle" / "fixtures" / "warehouse" / "fx.db"
JAVA_TABLES = sorted(p.name for p in JAVA.iterdir() if p.is_dir()) if JAVA.is_dir() else []


def some(ids: list[int]) -> list[int]:
    """First, last and a few between."""
    return sorted({ids[0], ids[-1], *ids[:: max(1, len(ids) // 4)]}) if ids else []


def column(table: pa.Table, name: str) -> list:
    return table.column(name).to_pylist()


def files_of(table: Table, snapshot: int) -> Counter:
    """(file, level, rows, bytes) as `$files` says."""
    found = table.files(snapshot)
    names = [Path(p).name for p in column(found, "file_path")]
    return Counter(
        zip(
            names,
            column(found, "level"),
            column(found, "record_count"),
            column(found, "file_size_in_bytes"),
            strict=True,
        )
    )


def drawn(table: Table, snapshot: int, *, whole: bool = True) -> Counter:
    """The same as the LSM picture shows it, bucket by bucket.

    Args:
        whole: also what `$files` does not list: rows of `bucket = -2` that wait for a bucket, and (as in Java) partitions
            of the past that are gone now.
    """
    store = table.store
    moment = store.snapshots.get(snapshot)
    present = {partition for partition, _ in entries_by_bucket(store, store.latest())}
    found: Counter = Counter()
    for partition, bucket in sorted(entries_by_bucket(store, moment)):
        picture = lsm_picture(store, moment, partition, bucket)
        assert (picture.partition, picture.bucket) == (partition, bucket)
        if not whole and (bucket < 0 or partition not in present):
            continue
        found.update((m.name, m.level, m.rows, m.bytes) for lane in picture.lanes for m in lane.marks)
    return found


def check(table: Table) -> int:
    """Every picture against the system tables; gives the number of files compared."""
    snapshots = table.snapshots()
    ids = column(snapshots, "snapshot_id")
    history = timeline_of_snapshots(table.store)
    shown = {c.id: (c.kind, c.user, c.total_rows, c.delta_rows, c.schema_id) for c in history.commits}
    words = ("commit_kind", "commit_user", "total_record_count", "delta_record_count", "schema_id")
    said = dict(zip(ids, zip(*(column(snapshots, w) for w in words), strict=True), strict=True))
    assert {i: shown[i] for i in ids} == said
    tags = table.tags()
    assert sorted(t for c in history.commits for t in c.tags) == sorted(column(tags, "tag_name"))
    assert set(shown) == set(ids) | set(column(tags, "snapshot_id"))
    compared = 0
    for snapshot in some(ids):
        files = files_of(table, snapshot)
        assert drawn(table, snapshot, whole=False) == files, snapshot
        compared += len(files)
    moments = {m.snapshot: m for m in amplification(table.store).samples}
    assert sorted(moments) == sorted(ids)
    for snapshot in some(ids):
        assert moments[snapshot].size == sum(f[3] * n for f, n in drawn(table, snapshot).items())
    if ids:
        check_explorer(table, ids)
        check_latest(table, ids)
    return compared


def check_explorer(table: Table, ids: list[int]) -> None:
    inspector = Inspector(table)
    places = [p.id for p in inspector.children("snapshots")]
    assert {f"snapshot/{i}" for i in ids[-len(places) :]} <= set(places) or len(places) > 150
    last = f"snapshot/{ids[-1]}"
    manifests = table.manifests(ids[-1])
    kinds = [k.id for k in inspector.children(last) if k.id.rsplit("/", 1)[-1] in ("base", "delta")]
    found = [m.id.rsplit("/", 1)[-1] for kind in kinds for m in inspector.children(kind)]
    assert sorted(found) == sorted(set(column(manifests, "file_name")) & set(found))
    assert len(found) == len({*found})
    assert inspector.facts("").error == inspector.facts(last).error == ""


def check_latest(table: Table, ids: list[int]) -> None:
    """What a scan reads and what it leaves out are all the files there are; two moments differ by the files that differ."""
    files = files_of(table, ids[-1])
    scan = table.scan(snapshot=ids[-1])
    model = funnel(scan.plan, "")
    left_out = sum(s.bucket != POSTPONE_BUCKET for s in scan.plan.skipped.skips())  # `$files` leaves out waiting rows
    assert (model.files + left_out, model.bytes <= sum(f[3] for f in files)) == (sum(files.values()), True)
    if len(ids) > 1:
        old, files = (drawn(table, i) for i in (ids[0], ids[-1]))
        compared = table.inspect.compare(ids[0], ids[-1])
        names_old, names_new = {f[0]: f[1] for f in old}, {f[0]: f[1] for f in files}
        assert {f.file for f in compared.only("added")} == names_new.keys() - names_old.keys()
        assert {f.file for f in compared.only("removed")} == names_old.keys() - names_new.keys()
        both = names_old.keys() & names_new.keys()
        assert {f.file for f in compared.only("moved")} == {n for n in both if names_old[n] != names_new[n]}
        assert (compared.rows_before, compared.rows_after) == (sum(f[2] for f in old), sum(f[2] for f in files))


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", JAVA_TABLES or ["none"])
def test_java_tables(name: str) -> None:
    check(paimon_nb.open_table(str(JAVA / name)))


# -- our own


def put(table: Table, ids: range, **more: object) -> None:
    made = {"id": list(ids), "v": [f"v{i}" for i in ids], **{k: [v] * len(ids) for k, v in more.items()}}
    table.append(pa.table(made).select(table.schema.names).cast(table.schema.arrow))


def keyed(wb: Workbench) -> Table:
    wb.run("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')")
    table = wb.table("t")
    for i in range(7):
        put(table, range(i * 10, i * 10 + 40))
    table.delete("id < 5")
    table.tags.create("kept")
    table.compact()
    return table


def parted(wb: Workbench) -> Table:
    wb.run("CREATE TABLE t (id INT, v STRING, p STRING, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p)")
    table = wb.table("t")
    for p in ("a", "b", "c' d"):
        put(table, range(50), p=p)
    table.drop_partitions([{"p": "a"}])
    return table


def vectors(wb: Workbench) -> Table:
    wb.run(
        "CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true')"
    )
    table = wb.table("t")
    for i in range(4):
        put(table, range(i * 5, 60))
    put(table.copy({"write-only": "true"}), range(3))  # waits on level 0, which reads pass over
    return table


def appended(wb: Workbench) -> Table:
    wb.run("CREATE TABLE t (id INT, v STRING)")
    table = wb.table("t")
    for i in range(6):
        put(table, range(i, i + 20))
    table.compact()
    table.maintain.analyze()
    table.overwrite(table.to_arrow(where="id < 3"))
    return table


def changed(wb: Workbench) -> Table:
    wb.run(
        "CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'changelog-producer' = 'input')"
    )
    put(wb.table("t"), range(9))
    wb.run("ALTER TABLE t ADD (n INT)")
    put(wb.table("t"), range(4, 20), n=3)
    wb.run("CALL sys.create_branch('default.t', 'side')")
    return wb.table("t")


@pytest.mark.parametrize("make", [keyed, parted, vectors, appended, changed], ids=lambda f: f.__name__)
def test_our_tables(wb: Workbench, make: Callable[[Workbench], Table]) -> None:
    assert check(make(wb)) >= 3
