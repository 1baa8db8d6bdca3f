"""Tables of each kind of file, one of whose files gets changed bytes, and what a user may do with such a table.

A process does one change after the other (`work`), and writes down which before it begins: so if it dies, or runs out
of time or memory, the change is known by its number. Run it alone, on or from any number:

    python tests/adversary/mutation_kit.py parquet 0 20000 /tmp/fuzz
"""

from __future__ import annotations

import gc
import json
import logging
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import paimon_nb
from paimon_nb.base.errors import PaimonError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROWS = 60
_TOO_MUCH_MEMORY = 3
SECONDS, BYTES = 10, 2 << 30
"""What one read of a changed file may take: CPU time, memory of the process."""
_PLAIN = {
    "id": "INT",
    "v": "STRING",
    "n": "ARRAY<STRING>",
    "m": "MAP<STRING, INT>",
    "d": "DECIMAL(20, 3)",
    "t": "TIMESTAMP(6)",
}


def rows(begin: int = 0, count: int = ROWS) -> pa.Table:
    """Rows of `_PLAIN`; some values are NULL, some lists empty."""
    import datetime as dt
    import decimal

    ids = range(begin, begin + count)
    return pa.table(
        {
            "id": pa.array(ids, pa.int32()),
            "v": [None if i % 7 == 6 else f"v{i % 10}é" for i in ids],
            "n": pa.array(
                [None if i % 5 == 4 else [f"x{k}" for k in range(i % 3)] for i in ids], pa.list_(pa.string())
            ),
            "m": pa.array([None if i % 5 == 3 else [(f"k{i}", i)] for i in ids], pa.map_(pa.string(), pa.int32())),
            "d": pa.array([decimal.Decimal(i) / 8 for i in ids], pa.decimal128(20, 3)),
            "t": pa.array([dt.datetime(2024, 1, 1) + dt.timedelta(hours=i) for i in ids], pa.timestamp("us")),
        }
    )


def texts(begin: int = 0, count: int = ROWS) -> pa.Table:
    return rows(begin, count).select(["id", "v"])


@dataclass(frozen=True)
class Kind:
    """A kind of file."""

    make: Callable[[paimon_nb.Workbench], None]
    """Makes the table `t`."""
    target: str
    """The file to change: a pattern below the table's directory; the newest one of those that match."""
    doors: tuple[str, ...] = ("select", "to_arrow", "count", "grid", "compact")
    options: Mapping[str, str] | None = None


def _table(
    columns: Mapping[str, str], key: str = "", table: Callable[..., pa.Table] = rows, **options: str
) -> Callable[..., None]:
    def make(wb: paimon_nb.Workbench) -> None:
        declared = ", ".join(f"{n} {t}" for n, t in columns.items()) + (
            f", PRIMARY KEY ({key}) NOT ENFORCED" if key else ""
        )
        told = ", ".join(f"'{k.replace('__', '-').replace('_', '.')}' = '{v}'" for k, v in options.items())
        wb.run(f"CREATE TABLE t ({declared}) WITH ({told})")
        wb.table("t").append(table())
        wb.table("t").append(table(ROWS // 2))

    return make


_TEXT = {"id": "INT", "v": "STRING"}
KEYED = ("select", "to_arrow", "count", "lookup", "grid", "compact", "why")


def _deletions(wb: paimon_nb.Workbench) -> None:
    _table(_TEXT, "id", texts, bucket="1", deletion__vectors_enabled="true")(wb)
    wb.table("t").compact()
    wb.table("t").append(texts(0, 20))
    wb.table("t").compact(full=False)


def _append_deletions(wb: paimon_nb.Workbench) -> None:
    _table(_TEXT, "", texts, bucket="-1", deletion__vectors_enabled="true")(wb)
    wb.table("t").delete("id IN (1, 6, 11, 16)")


def _file_index(kind: str) -> Callable[[paimon_nb.Workbench], None]:
    def make(wb: paimon_nb.Workbench) -> None:
        options = {
            f"file-index.{kind}.columns": "id,v" if kind != "bsi" else "id",
            "file-index.in-manifest-threshold": "1 b",
        }
        told = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
        wb.run(f"CREATE TABLE t (id INT, v STRING) WITH ('bucket' = '-1', {told})")
        wb.table("t").append(texts())

    return make


def _global_index(kind: str, column: str) -> Callable[[paimon_nb.Workbench], None]:
    def make(wb: paimon_nb.Workbench) -> None:
        wb.run("""CREATE TABLE t (id INT, v STRING, e VECTOR<FLOAT, 4>) WITH (
            'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true')""")
        ids = range(ROWS)
        vectors = pa.array([[float(i * k % 7) for k in range(1, 5)] for i in ids], pa.list_(pa.float32(), 4))
        wb.table("t").append(texts().append_column("e", vectors))
        wb.run(f"CALL sys.create_global_index('t', '{column}', '{kind}')")

    return make


def _blob(wb: paimon_nb.Workbench) -> None:
    wb.run("""CREATE TABLE t (id INT, v BLOB) WITH (
        'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true')""")
    wb.table("t").append(pa.table({"id": pa.array(range(ROWS), pa.int32()), "v": [b"x" * i for i in range(ROWS)]}))


def _tagged(wb: paimon_nb.Workbench) -> None:
    _table(_TEXT, "id", texts, bucket="1")(wb)
    wb.table("t").tags.create("first", 1)


def _format_table(kind: str) -> Callable[[paimon_nb.Workbench], None]:
    def make(wb: paimon_nb.Workbench) -> None:
        columns = "v STRING" if kind == "text" else "id INT, v STRING"
        wb.run(f"CREATE TABLE t ({columns}) WITH ('type' = 'format-table', 'file.format' = '{kind}')")
        wb.table("t").append(texts().select(["v"]) if kind == "text" else texts())

    return make


_READS = ("select", "to_arrow", "count", "grid")
_ALL = ("to_arrow", "select", "count", "lookup", "grid", "compact", "snapshots", "health")
KINDS: dict[str, Kind] = {
    "parquet": Kind(_table(_PLAIN, bucket="-1"), "bucket-*/data-*.parquet"),
    "parquet, keys": Kind(_table(_PLAIN, "id", bucket="1"), "bucket-*/data-*.parquet", KEYED),
    "orc": Kind(_table(_PLAIN, bucket="-1", file_format="orc"), "bucket-*/data-*.orc"),
    "orc, keys": Kind(_table(_TEXT, "id", texts, bucket="1", file_format="orc"), "bucket-*/data-*.orc", KEYED),
    "avro": Kind(_table(_PLAIN, bucket="-1", file_format="avro"), "bucket-*/data-*.avro"),
    "avro, keys": Kind(_table(_TEXT, "id", texts, bucket="1", file_format="avro"), "bucket-*/data-*.avro", KEYED),
    "csv": Kind(_table(_TEXT, "", texts, bucket="-1", file_format="csv"), "bucket-*/data-*.csv*"),
    "json": Kind(_table(_TEXT, "", texts, bucket="-1", file_format="json"), "bucket-*/data-*.json*"),
    "csv of a format table": Kind(_format_table("csv"), "*.csv*", _READS),
    "json of a format table": Kind(_format_table("json"), "*.json*", _READS),
    "text": Kind(_format_table("text"), "*.text*", _READS),
    "orc of a format table": Kind(_format_table("orc"), "*.orc", _READS),
    "parquet of a format table": Kind(_format_table("parquet"), "*.parquet", _READS),
    "deletion vectors": Kind(_deletions, "index/index-*", KEYED),
    "deletion vectors, append": Kind(_append_deletions, "index/index-*"),
    "hash index": Kind(_table(_TEXT, "id", texts, bucket="-1"), "index/index-*", ("append", *KEYED)),
    "bloom index": Kind(_file_index("bloom-filter"), "bucket-*/*.index", ("select", "lookup by v", "compact")),
    "bitmap index": Kind(_file_index("bitmap"), "bucket-*/*.index", ("select", "lookup by v", "compact")),
    "bit slices": Kind(_file_index("bsi"), "bucket-*/*.index", ("select", "range", "compact")),
    "range bitmap": Kind(_file_index("range-bitmap"), "bucket-*/*.index", ("select", "range", "lookup by v")),
    "global btree": Kind(_global_index("btree", "id"), "index/*", ("select", "range", "to_arrow")),
    "global bitmap": Kind(_global_index("bitmap", "v"), "index/*", ("lookup by v", "select", "to_arrow")),
    "vector index": Kind(_global_index("ivf-flat", "e"), "index/*", ("nearest",)),
    "vector graph": Kind(_global_index("diskann", "e"), "index/*", ("nearest",)),
    "full-text index": Kind(_global_index("full-text", "v"), "index/*", ("words",)),
    "blob": Kind(_blob, "bucket-*/*.blob", ("select", "to_arrow", "count", "grid")),
    "manifest": Kind(_table(_TEXT, "id", texts, bucket="1"), "manifest/manifest-[!l]*", _ALL),
    "manifest list": Kind(_table(_TEXT, "id", texts, bucket="1"), "manifest/manifest-list-*", _ALL),
    "index manifest": Kind(_append_deletions, "manifest/index-manifest-*", _ALL),
    "orc manifest": Kind(
        _table(_TEXT, "id", texts, bucket="1", manifest_format="orc"), "manifest/manifest-[!l]*", _ALL
    ),
    "snapshot": Kind(_table(_TEXT, "id", texts, bucket="1"), "snapshot/snapshot-*", _ALL),
    "schema": Kind(_table(_PLAIN, "id", bucket="1"), "schema/schema-0", _ALL),
    "tag": Kind(_tagged, "tag/tag-first", ("tag", "tags", "delete_tag")),
}


def mutated(seed: int, good: bytes) -> bytes:
    """Other bytes: a few that are changed, most often near the end or the beginning; or cut, repeated, taken out."""
    dice = random.Random(seed)
    data, size = bytearray(good), len(good)
    for _ in range(dice.choice((1, 1, 1, 1, 2, 3, 8))):
        near = min(size, dice.choice((16, 64, 400, 2000)))
        at = dice.choice((size - 1 - dice.randrange(near), dice.randrange(near), dice.randrange(size)))
        at = min(max(0, at), max(0, len(data) - 1))
        match dice.randrange(12):
            case 0 | 1 | 2:
                data[at : at + 1] = bytes([dice.randrange(256)])
            case 3 | 4:
                data[at : at + 1] = bytes([(good[at % size] + dice.choice((1, -1))) % 256])
            case 5:
                data[at : at + 1] = bytes([good[at % size] ^ (1 << dice.randrange(8))])
            case 6:
                data[at : at + 4] = dice.choice((b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\0", b"\0\0\0\x80"))
            case 7:
                data[at : at + 8] = struct.pack("<q", dice.choice((1 << 62, -1, 1 << 31, 1 << 40)))
            case 8:
                del data[at : at + dice.randrange(1, 20)]
            case 9:
                data[at:at] = data[at : at + dice.randrange(1, 40)]
            case 10:
                data[at : at + 3] = dice.choice((b"\xff\xfe\xfd", b'"}{', b"\0\0\0", b"nul"))
            case 11:
                del data[dice.randrange(size) :]
                if not data:
                    data = bytearray(b"\0")
    return bytes(data)


class _Grid:
    """A result as the grid of a notebook shows it."""

    @staticmethod
    def show(result: Any) -> None:
        from paimon_nb.notebook.display import Rows
        from paimon_nb.notebook.grid.source import GridSource
        from paimon_nb.notebook.widgets.grid import Grid

        shown = Rows(result, 20)
        Grid(shown, GridSource(result, shown.preview.table, complete=True), ())


def enter(door: str, wb: paimon_nb.Workbench) -> None:
    """Do what the door's name says, and look at every value that comes."""
    table = wb.table("t")
    match door:
        case "select":
            wb.run(
                "SELECT * FROM t WHERE v = 'v3é'" if "id" not in table.schema.names else "SELECT * FROM t WHERE id = 5"
            ).to_arrow().to_pylist()
        case "spark":
            wb.run("SET 'paimon-nb.engine' = 'spark'")
            wb.run("SELECT * FROM t WHERE " + ("id = 5" if "id" in table.schema.names else "v = 'v3é'")).to_arrow()
            wb.run("SELECT count(*) AS n FROM t").to_arrow()
        case "range":
            wb.run("SELECT * FROM t WHERE id BETWEEN 5 AND 12").to_arrow().to_pylist()
        case "lookup by v":
            table.to_arrow(where="v = 'v3é'").to_pylist()
        case "to_arrow":
            table.to_arrow().to_pylist()
        case "count":
            table.count()
        case "lookup":
            table.lookup(id=5).to_pylist()
        case "grid":
            _Grid.show(wb.run("SELECT * FROM t"))
        case "compact":
            table.compact()
        case "append":
            table.append(texts(ROWS, 3))
        case "why":
            str(table.why(id=5))
        case "health":
            table.health()
        case "snapshots":
            wb.run("SELECT * FROM t$snapshots").to_arrow().to_pylist()
            wb.run("SELECT * FROM t$files").to_arrow().to_pylist()
        case "nearest":
            table.search([1.0, 2.0, 3.0, 4.0], 5, column="e")
        case "words":
            table.full_text_search("v3é", 5, column="v")
        case "tag":
            wb.run("SELECT * FROM t VERSION AS OF 'first'").to_arrow()
        case "tags":
            wb.run("SELECT * FROM t$tags").to_arrow()
        case "delete_tag":
            table.tags.delete("first")
        case _:
            raise AssertionError(door)


def prepare(kind: str, place: Path) -> tuple[Path, bytes]:
    """A warehouse with a table of the kind; returns the file to change, relative to the warehouse, and its bytes."""
    shutil.rmtree(place, ignore_errors=True)
    KINDS[kind].make(paimon_nb.connect(str(place)))
    # By time: names are random, and the number of a change means the same file each time.
    found = sorted((place / "default.db/t").glob(KINDS[kind].target), key=lambda file: file.stat().st_mtime_ns)
    assert found, (kind, [str(p) for p in place.rglob("*")])
    return found[-1].relative_to(place), found[-1].read_bytes()


def work(tasks: list[tuple[str, int, int]], place: Path, each: int = 3, only: tuple[str, ...] = ()) -> None:
    """For each kind and range of seeds: change the file in each way, and enter some doors each. Notes what is wrong.

    each: the number of doors.
    only: these doors instead of those of the kinds.
    """
    logging.disable(logging.WARNING)  # of values that do not fit their column, and of files that an index lacks
    gc.freeze()  # what was imported need not be looked through again and again
    at, log = place / "at", place / "faults.jsonl"
    for kind, first, last in tasks:
        target, good = prepare(kind, place / "good")
        doors = only or KINDS[kind].doors
        if "spark" in doors:  # starts it
            paimon_nb.connect(str(place / "good")).run("SET 'paimon-nb.engine' = 'spark'; SELECT 1 AS x").to_arrow()
        for seed in range(first, last):
            here = place / f"w{seed}"
            shutil.rmtree(here, ignore_errors=True)
            shutil.copytree(place / "good", here, copy_function=os.link)
            (here / target).unlink()
            (here / target).write_bytes(mutated(seed, good))
            for door in [doors[(seed + i) % len(doors)] for i in range(min(each, len(doors)))]:
                at.write_text(json.dumps([kind, seed, door]))
                begin = time.process_time()
                try:
                    enter(door, paimon_nb.connect(str(here)))
                except PaimonError:
                    pass
                except BaseException as error:
                    note(
                        log, kind, seed, door, f"{type(error).__name__}: {error!s:.200}", traceback.format_exc()[-1500:]
                    )
                if (seconds := time.process_time() - begin) > SECONDS:
                    note(log, kind, seed, door, f"took {seconds:.1f} s of CPU")
                if (peak := peak_bytes()) > BYTES:
                    note(log, kind, seed, door, f"{peak >> 20} MB")
                    os._exit(_TOO_MUCH_MEMORY)
            shutil.rmtree(here, ignore_errors=True)
    at.write_text("done")


def note(log: Path, kind: str, seed: int, door: str, what: str, trace: str = "") -> None:
    with log.open("a") as out:
        out.write(json.dumps({"kind": kind, "seed": seed, "door": door, "what": what, "trace": trace}) + "\n")


def peak_bytes() -> int:
    """Of this program. The kernel's `ru_maxrss` begins with that of the process that started it."""
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert peak is not None
    return int(peak[1]) << 10


def run(
    kinds: list[str], first: int, last: int, place: Path, only: tuple[str, ...] = (), each: int = 3
) -> list[dict[str, Any]]:
    """Do all changes of a range for some kinds; after a process ended, another goes on. Returns what is wrong."""
    place.mkdir(parents=True, exist_ok=True)
    log, at = place / "faults.jsonl", place / "at"
    log.unlink(missing_ok=True)
    tasks = [(kind, first, last) for kind in kinds]
    while tasks:
        at.write_text("")
        done = subprocess.run(
            [sys.executable, __file__, "work", json.dumps(tasks), str(place), str(each), *only],
            capture_output=True,
            text=True,
            check=False,
        )
        where = at.read_text()
        if not where:
            raise AssertionError(done.stderr[-3000:])
        if where == "done":
            if done.stderr.strip() and "spark" not in only:  # whose JVM may print warnings
                note(log, tasks[0][0], first, "", f"printed: {done.stderr[:500]}")
            break
        kind, seed, door = json.loads(where)
        if done.returncode != _TOO_MUCH_MEMORY:
            note(log, kind, seed, door, f"the process ended with {done.returncode}: {done.stderr[-300:]}")
        tasks = [t for t in tasks if kinds.index(t[0]) >= kinds.index(kind)]
        tasks[0] = (kind, seed + 1, last)
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def run_in_parts(kinds: list[str], first: int, last: int, place: Path, part: int = 1000) -> None:
    """`run` in parts, each kind in turn. `place/done.json` has the parts that are done, `found.jsonl` what is wrong."""
    place.mkdir(parents=True, exist_ok=True)
    done_file = place / "done.json"
    done: dict[str, list[list[int]]] = json.loads(done_file.read_text()) if done_file.exists() else {}
    for begin in range(first, last, part):
        for kind in kinds:
            if [begin, end := min(begin + part, last)] in done.get(kind, []):
                continue
            faults = run([kind], begin, end, place / "work")
            with (place / "found.jsonl").open("a") as out:
                out.writelines(json.dumps(fault) + "\n" for fault in faults)
            done.setdefault(kind, []).append([begin, end])
            (place / "done.new").write_text(json.dumps(done))
            (place / "done.new").replace(done_file)
            print(f"{kind}: {begin} to {end}, {len(faults)} faults", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "work":
        work(json.loads(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), tuple(sys.argv[5:]))
    else:
        chosen = list(KINDS) if sys.argv[1] == "all" else sys.argv[1].split(";")
        run_in_parts(chosen, int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
