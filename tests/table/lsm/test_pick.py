"""What gets compacted, told in text: `testdata/*.txt` define levels, ask, and show the answer.

    levels num-levels=4
      L0: f5[1..9 1MB] f4[3..7 1MB]
      L3: f1[1..9 100MB]
    pick trigger=3
    ----
    rewrite f5 f4 -> L2

Level 0 is written newest first. Set PAIMON_NB_REWRITE=1 to write the answers anew, then read the difference.
"""

import os
import re
from pathlib import Path

import pytest

from paimon_nb.format.manifest import DataFile, SimpleStats
from paimon_nb.format.row import EMPTY_ROW, serialize
from paimon_nb.format.types import Atomic
from paimon_nb.table.lsm import Levels, sections
from paimon_nb.table.lsm.compaction_plan import Rewrite, compaction_steps
from paimon_nb.table.lsm.levels import key_decoder
from paimon_nb.table.lsm.pick import PickLimits, Unit, pick_compaction, pick_full

SCRIPTS = sorted((Path(__file__).parent / "testdata").glob("*.txt"))
KEY = (Atomic("INT", False),)
DECODE = key_decoder(KEY)
UNITS = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
FILE = re.compile(r"(\w+)\[(-?\d+)\.\.(-?\d+) (\d+)(KB|MB|GB)( deletes)?\]")


def data_file(name: str, low: int, high: int, size: int, level: int, sequence: int, deletes: int = 0) -> DataFile:
    stats = SimpleStats(EMPTY_ROW, EMPTY_ROW, ())
    return DataFile(
        file_name=name, file_size=size, row_count=10, min_key=serialize(KEY, [low]), max_key=serialize(KEY, [high]),
        key_stats=stats, value_stats=stats, min_sequence=sequence, max_sequence=sequence, schema_id=0, level=level,
        extra_files=(), creation_time_ms=0, delete_row_count=deletes, embedded_index=None, file_source=0,
        value_stats_cols=None, external_path=None, first_row_id=None, write_cols=None,
    )  # fmt: skip


def define(lines: list[str]) -> Levels:
    head = lines[0]
    number = int(re.search(r"num-levels=(\d+)", head).group(1))
    files = []
    for line in lines[1:]:
        level = int(re.match(r"\s*L(\d+):", line).group(1))
        for name, low, high, size, unit, deletes in FILE.findall(line):
            files.append(
                data_file(
                    name, int(low), int(high), int(size) * UNITS[unit], level, 10_000 - len(files), bool(deletes) * 3
                )
            )
    return Levels.of(files, number, DECODE)


def answer(levels: Levels, command: str) -> str:
    verb, *words = command.split()
    given = dict(w.split("=") for w in words if "=" in w)
    if verb == "sections":
        return "\n".join(
            " | ".join(" ".join(f.file_name for f in run.files) for run in part)
            for part in sections(levels.files, DECODE)
        )
    if verb == "full":
        return shown(pick_full(levels, lambda f: f.delete_row_count > 0))
    if verb == "steps":
        return steps(levels, int(given["output"]))
    limits = PickLimits(
        trigger=int(given.get("trigger", 5)),
        max_size_amplification=int(given.get("amplification", 200)),
        size_ratio=int(given.get("ratio", 1)),
        optimization_interval_ms=int(given["interval"]) if "interval" in given else None,
        last_full_ms=int(given["last"]) if "last" in given else None,
        now_ms=int(given.get("now", 0)),
        total_size_threshold=size_of(given.get("total")),
        incremental_size_threshold=size_of(given.get("incremental")),
        force_level0="force-l0" in words,
    )
    return shown(pick_compaction(levels, limits))


def size_of(text: str | None) -> int | None:
    return None if text is None else int(text[:-2]) * UNITS[text[-2:]]


def shown(unit: Unit | None) -> str:
    if unit is None:
        return "nothing"
    return f"compact {' '.join(f.file_name for f in unit.files)} -> L{unit.output_level}"


def steps(levels: Levels, output: int) -> str:
    out = []
    for step in compaction_steps(
        sections(levels.files, DECODE),
        output,
        small_below=0.7 * 128 * UNITS["MB"],
        may_upgrade=lambda f: output != levels.max_level or f.delete_row_count == 0,
        must_rewrite=lambda _f: False,
    ):
        if isinstance(step, Rewrite):
            out.append(
                "rewrite "
                + " + ".join(" | ".join(" ".join(f.file_name for f in r.files) for r in s) for s in step.sections)
            )
        else:
            out.append(f"upgrade {step.file.file_name} -> L{output}")
    return "\n".join(out) or "nothing"


def cases(path: Path) -> list[tuple[list[str], str, str]]:
    """(definition, command, expected) in order."""
    found, block, levels = [], [], []
    lines = iter([*path.read_text().splitlines(), ""])
    for line in lines:
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("levels"):
            levels = [line]
        elif line.startswith("  L"):
            levels.append(line)
        else:
            assert next(lines) == "----", f"{path.name}: '----' expected after {line!r}"
            block = []
            for answer_line in lines:
                if not answer_line.strip():
                    break
                block.append(answer_line)
            found.append((list(levels), line, "\n".join(block)))
    return found


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.stem)
def test_script(path: Path):
    wanted, got = [], []
    for levels, command, expected in cases(path):
        wanted.append((levels, command, expected))
        got.append((levels, command, answer(define(levels), command)))
    if os.environ.get("PAIMON_NB_REWRITE"):
        rewrite(path, [a for _, _, a in got])
    else:
        assert got == wanted


def rewrite(path: Path, answers: list[str]) -> None:
    out, lines, given = [], iter(path.read_text().splitlines()), iter(answers)
    for line in lines:
        out.append(line)
        if line == "----":
            out += [next(given), ""]
            for skipped in lines:
                if not skipped.strip():
                    break
    path.write_text("\n".join(out).rstrip() + "\n")
