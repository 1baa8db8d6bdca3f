"""Random sessions in real Flink and here, by seed: `python tests/interop/fuzz_run.py --first 0 --count 50 --record FILE`.

FILE gets a line of JSON for each seed; a run with the same FILE goes on behind the seeds that it has, and with `--again` runs those
again that differed. A seed that Flink did not answer in time gets no line: the machine was too busy. `--shrink SEED` prints the
fewest statements that differ, `--show SEED` every outcome of one session, `--file F.sql` runs the statements of a file.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from flink_session import FlinkSession
from fuzz_compare import Difference, Pair, as_json
from fuzz_sessions import Session

if TYPE_CHECKING:
    from collections.abc import Iterable

SERVERS = Path(__file__).parents[1] / "servers"


def run_seeds(pair: Pair, seeds: Iterable[int], record: Path | None) -> list[Difference]:
    done = (
        {json.loads(line)["seed"] for line in record.read_text().splitlines()} if record and record.exists() else set()
    )
    found = []
    for seed in seeds:
        if seed in done:
            continue
        began = time.monotonic()
        try:
            differences = pair.run(seed, Session(seed).statements)
            answered = True
        except TimeoutError as error:
            differences, answered = [Difference(seed, -2, "", str(error), "")], False
        found += differences
        print(f"session {seed}: {len(differences)} differences, {time.monotonic() - began:.0f} s", flush=True)
        for d in differences:
            print(f"  {d.at}: {d.sql}\n    Flink {d.flink}\n    here  {d.ours}", flush=True)
        if record and answered:
            with record.open("a") as file:
                line = {"seed": seed, "deliberate": pair.deliberate, "differences": as_json(differences)}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return found


def forget_differing_seeds(record: Path) -> None:
    """Take the lines of the seeds that differed out of the record, so that they run again."""
    lines = record.read_text().splitlines(keepends=True)
    record.write_text("".join(line for line in lines if not json.loads(line)["differences"]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--again", action="store_true", help="also run the recorded seeds that differed")
    parser.add_argument("--only", choices=["batch", "streaming"], help="leave out the other sessions")
    parser.add_argument("--shrink", type=int)
    parser.add_argument("--show", type=int)
    parser.add_argument("--file", type=Path, action="append", default=[])
    given = parser.parse_args()
    sys.path.append(str(SERVERS))
    from requirements import shared_folder

    shared = shared_folder()
    assert shared is not None, "real Flink is not here"
    with (
        tempfile.TemporaryDirectory(prefix="fuzz-") as folder,
        FlinkSession(shared / "oracle", Path(folder) / "flink", timeout_s=600) as flink,
    ):
        pair = Pair(flink, Path(folder))
        if given.shrink is not None:
            print(*pair.shrunk(given.shrink, Session(given.shrink).statements), sep=";\n")
        elif given.show is not None:
            pair.run(given.show, Session(given.show).statements, show=True)
        elif given.file:
            for number, file in enumerate(given.file):
                print(f"== {file}")
                pair.run(number, [s.strip() for s in file.read_text().split(";\n") if s.strip()], show=True)
        else:
            if given.again and given.record:
                forget_differing_seeds(given.record)
            seeds = range(given.first, given.first + given.count)
            some = [s for s in seeds if given.only is None or Session(s).streaming == (given.only == "streaming")]
            return min(1, len(run_seeds(pair, some, given.record)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
