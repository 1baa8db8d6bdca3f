"""Requests on an S3 store, through a proxy that delays each one: `python -m benchmarks.s3`. Beside pypaimon where it can be installed.

"Deep" is the length of the longest chain of requests of which each waits for the one before.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

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

DELAY_S = 0.03
COMMITS, ROWS, FILES = 200, 10, 40
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
    seconds: float


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
        self.proxy, self.lines = proxy, []

    def run(self, operation: str, who: str, act: Callable[[], Any]) -> Any:
        with self.proxy.recording() as found:
            begin = time.monotonic()
            result = act()
            seconds = time.monotonic() - begin
        line = Line(operation, who, len(found.all), found.depth, found.lists, seconds)
        self.lines.append(line)
        print(
            f"| {line.operation} | {line.who} | {line.requests} | {line.deep} | {line.lists} | {line.seconds:.2f} |",
            flush=True,
        )
        return result


def measure_own(measured: Measured, options: dict[str, str]) -> None:
    def run(operation: str, act: Callable[[], Any]) -> Any:
        return measured.run(operation, "paimon_nb", act)

    table = run("open", lambda: open_catalog("c", options).table(T))
    run(f"first read of {COMMITS} commits", table.to_arrow)
    run("read again", table.to_arrow)
    run("lookup", lambda: table.lookup(id=3))
    for commit in range(4):
        run(f"commit of {ROWS} rows, number {commit + 1}", lambda c=commit: table.append(rows(c)))
    run("$snapshots", lambda: open_catalog("c", options).table(T).snapshots())
    many = open_catalog("c", options).table(MANY)
    run(f"scan of {FILES} files", many.to_arrow)


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

        run(f"first read of {COMMITS} commits", lambda: peer.read("pypaimon", "t", ["id", "v"]))
        run("read again", lambda: peer.read("pypaimon", "t", ["id", "v"]))
        run("lookup", lambda: peer.read("pypaimon", "t", ["id", "v"], ("id", "equal", [3])))
        for commit in range(2):
            run(f"commit of {ROWS} rows", lambda c=commit: peer.write("pypaimon", "t", rows(c)))
        run("$snapshots", lambda: peer.read("pypaimon", "t$snapshots", ["snapshot_id"]))
        run(f"scan of {FILES} files", lambda: peer.read("pypaimon", "many", ["id", "v"]))


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        with s3_server(folder) as options:
            prepare(options, folder / "made")
            with closing(S3Proxy(options["s3.endpoint"], DELAY_S)) as proxy:
                slow = {**options, "s3.endpoint": proxy.endpoint, "warehouse": PLACE}
                print("| operation | engine | requests | deep | LIST | s |\n|---|---|---|---|---|---|")
                measured = Measured(proxy)
                measure_own(measured, slow)
                measure_peer(measured, slow, folder / "peer")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
