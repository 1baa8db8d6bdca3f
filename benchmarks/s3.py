"""Requests on an S3 store, through a proxy that delays each one: `python -m benchmarks.s3`. Beside pypaimon where it can be installed.

"Deep" is the length of the longest chain of requests of which each waits for the one before. "Twice" counts data files, manifests and
their lists of which the same bytes were fetched more than once. With `--save`, the figures are written to results/s3.md. On a busy machine a
longer delay makes sure that requests which are sent at once overlap.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import shutil
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import paimon_nb
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog import open_catalog
from paimon_nb.format.schema import create_schema
from paimon_nb.format.types import parse_type
from paimon_nb.fs import open_fs

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS / "servers"), str(TESTS / "interop")]
from peer_kit import Peers  # noqa: E402
from s3_proxy import S3Proxy  # noqa: E402
from s3_server import ACCESS, BUCKET, SECRET, s3_server  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.table.tables.table import Table

COMMITS, ROWS, FILES = 200, 10, 40
FIRST_READ = f"open and first read of {COMMITS} commits"
HEADER = "| operation | engine | requests | deep | LIST | twice | s |\n|---|---|--:|--:|--:|--:|--:|"
STATEMENTS = {
    "DELETE, table without a key": "DELETE FROM many WHERE id = 8",
    "UPDATE, table without a key": "UPDATE many SET v = 'new' WHERE id = 9",
    "MERGE, table without a key": "MERGE INTO many USING (SELECT 12 AS id, 'new' AS v) s ON many.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v",
    "DELETE, table with a key": "DELETE FROM t WHERE id = 10",
    "UPDATE, table with a key": "UPDATE t SET v = 'new' WHERE id = 11",
    "$files": "SELECT * FROM `t$files`",
    "create a tag": "CALL sys.create_tag(`table` => 'default.many', tag => 'a')",
    "read a tag": "SELECT * FROM many FOR VERSION AS OF 'a'",
    "delete a tag": "CALL sys.delete_tag(`table` => 'default.many', tag => 'a')",
}
"""Run in this order, after the operations of tables."""
RESULTS = Path(__file__).parent / "results"
PLACE = f"s3://{BUCKET}/bench"
T, MANY = Identifier("default", "t"), Identifier("default", "many")


@dataclass(frozen=True)
class Line:
    """One measured operation."""

    operation: str
    who: str
    requests: int
    deep: int
    lists: int
    twice: int
    seconds: float

    def __str__(self) -> str:
        numbers = f"{self.requests} | {self.deep} | {self.lists} | {self.twice} | {self.seconds:.2f}"
        return f"| {self.operation} | {self.who} | {numbers} |"


def rows(first: int) -> pa.Table:
    ids = range(first, first + ROWS)
    return pa.table({"id": pa.array(ids, pa.int32()), "v": [f"v{i}" for i in ids]})


def prepare(options: dict[str, str], folder: Path) -> None:
    """A key table of 200 commits with compactions, and an append table of 40 files; written locally, then copied."""
    catalog = open_catalog("local", {"warehouse": str(folder)})
    for name, keys, buckets, commits in ((T, ["id"], "2", COMMITS), (MANY, [], "-1", FILES)):
        kind = "INT NOT NULL" if keys else "INT"
        fields = [("id", parse_type(kind), None, None), ("v", parse_type("STRING"), None, None)]
        catalog.create_table(name, create_schema(fields, [], keys, {"bucket": buckets}, None))
        table = catalog.table(name, {} if keys else {"write-only": "true"})
        for commit in range(commits):
            table.append(rows(commit * (ROWS if commit % 2 else ROWS // 2)))
    files = {f"{PLACE}/{f.relative_to(folder)}": f.read_bytes() for f in folder.rglob("*") if f.is_file()}
    open_fs(PLACE, options).write_each(files)


class Measured:
    """Operations through one proxy."""

    def __init__(self, proxy: S3Proxy) -> None:
        self.proxy = proxy
        self.lines: list[Line] = []

    def run(self, operation: str, who: str, act: Callable[[], Any]) -> Any:
        with self.proxy.recording() as found:
            begin = time.monotonic()
            result = act()
            seconds = time.monotonic() - begin
        twice = sum("/data-" in key or "/manifest" in key for key in found.fetched_twice())
        self.lines.append(Line(operation, who, len(found.all), found.depth, found.lists, twice, seconds))
        print(self.lines[-1], flush=True)
        return result


def measure_own(measured: Measured, options: dict[str, str]) -> None:
    def run(operation: str, act: Callable[[], Any]) -> Any:
        return measured.run(operation, "paimon_nb", act)

    def open_and_read() -> Table:
        opened = open_catalog("c", options).table(T)
        opened.to_arrow()
        return opened

    table = run(FIRST_READ, open_and_read)
    run("read again", table.to_arrow)
    run("lookup", lambda: table.lookup(id=3))
    for commit in range(4):  # the second and the third compact a bucket
        run(f"commit of {ROWS} rows, number {commit + 1}", lambda c=commit: table.append(rows(c)))
    run("$snapshots", lambda: open_catalog("c", options).table(T).snapshots())
    many = open_catalog("c", options).table(MANY)
    run(f"scan of {FILES} files", many.to_arrow)
    with paimon_nb.connect(PLACE, options=options) as wb:
        wb.run("SELECT * FROM many").arrow  # noqa: B018  the files are in memory then, as for the statements on the key table
        for name, statement in STATEMENTS.items():
            run(name, lambda s=statement: wb.run(s).arrow)


def measure_peer(measured: Measured, options: dict[str, str], folder: Path) -> None:
    keys = {
        "warehouse": options["warehouse"],
        "fs.s3.endpoint": options["s3.endpoint"],
        "fs.s3.accessKeyId": ACCESS,
        "fs.s3.accessKeySecret": SECRET,
        "fs.s3.region": "us-east-1",
        "fs.s3.path.style.access": "true",
        "s3.path.style.access": "true",
    }
    with closing(Peers(folder, keys)) as peer:

        def run(operation: str, act: Callable[[], Any]) -> None:
            measured.run(operation, "pypaimon 2.1", act)

        run(FIRST_READ, lambda: peer.read("pypaimon", "t", ["id", "v"]))
        run("read again", lambda: peer.read("pypaimon", "t", ["id", "v"]))
        run("lookup", lambda: peer.read("pypaimon", "t", ["id", "v"], ("id", "equal", [3])))
        for commit in range(2):
            run(f"commit of {ROWS} rows, number {commit + 1}", lambda c=commit: peer.write("pypaimon", "t", rows(c)))
        run("$snapshots", lambda: peer.read("pypaimon", "t$snapshots", ["snapshot_id"]))
        run(f"scan of {FILES} files", lambda: peer.read("pypaimon", "many", ["id", "v"]))


def _save(lines: list[Line], delay_ms: int, load: float) -> None:
    about = (
        f"{dt.date.today()}; `python -m benchmarks.s3 --save --delay-ms {delay_ms}`: a key table of {COMMITS} commits and an append table\n"
        f"of {FILES} files, each request delayed by {delay_ms} ms; load average {load:.0f} at the start. Counts of requests do not depend\n"
        "on the load. On a busy machine the depth can only be too large, and seconds say little."
    )
    page = ["# Requests on an object store", "", about, "", HEADER, *map(str, lines)]
    RESULTS.joinpath("s3.md").write_text("\n".join(page) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.s3", description=__doc__)
    parser.add_argument("--delay-ms", type=int, default=30, help="of each request (default %(default)s)")
    parser.add_argument("--save", action="store_true", help="write results/s3.md")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        with s3_server(folder) as options:
            prepare(options, folder / "made")
            with closing(S3Proxy(options["s3.endpoint"], arguments.delay_ms / 1000)) as proxy:
                slow = {**options, "s3.endpoint": proxy.endpoint, "warehouse": PLACE}
                print(HEADER)
                measured, load = Measured(proxy), os.getloadavg()[0]
                measure_own(measured, slow)
                measure_peer(measured, slow, folder / "peer")
        if arguments.save:
            _save(measured.lines, arguments.delay_ms, load)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
