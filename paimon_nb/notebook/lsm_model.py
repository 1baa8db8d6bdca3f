"""An LSM tree as a picture sees it: levels, runs, files, key ranges, sections. Pure; reads metadata only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedFormat

if TYPE_CHECKING:
    from paimon_nb.format.manifest import DataFile, ManifestEntry
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.store import TableStore

MAX_MARKS = 2000
"""Above so many files a level is shown in bins."""
BINS = 400


@dataclass(frozen=True, slots=True)
class FileMark:
    """One file (or, in a bin, several) on a lane. x and s are 0..1: by key and by size."""

    name: str
    level: int
    lane: int
    rows: int
    bytes: int
    min_key: str
    max_key: str
    x0: float
    x1: float
    s0: float
    s1: float
    deletes: int
    min_sequence: int
    max_sequence: int
    created_ms: int | None
    files: int = 1
    source: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """A sorted run, or a file of level 0."""

    level: int
    label: str
    marks: tuple[FileMark, ...]
    first: str = ""
    """Name of the run's first file: it names the run where files are shown in bins."""

    @property
    def rows(self) -> int:
        return sum(m.rows for m in self.marks)

    @property
    def bytes(self) -> int:
        return sum(m.bytes for m in self.marks)

    @property
    def files(self) -> int:
        return sum(m.files for m in self.marks)


@dataclass(frozen=True, slots=True)
class LsmPicture:
    """One bucket at one snapshot."""

    table: str
    snapshot: int | None
    kind: str
    partition: str
    bucket: int
    lanes: tuple[Lane, ...]
    """Level 0 first, newest first; then one lane for each deeper level that holds files."""
    overlaps: tuple[tuple[float, float, int], ...]
    """Key ranges where more than one run must be merged: x0, x1, number of runs."""
    max_level: int
    key_low: str = ""
    key_high: str = ""
    others: tuple[tuple[str, int], ...] = field(default=())
    """All (partition, bucket) pairs of the snapshot, this one included."""

    @property
    def files(self) -> int:
        return sum(lane.files for lane in self.lanes)

    @property
    def rows(self) -> int:
        return sum(lane.rows for lane in self.lanes)

    @property
    def bytes(self) -> int:
        return sum(lane.bytes for lane in self.lanes)


def lsm_picture(
    store: TableStore, snapshot: Snapshot | None = None, partition: str | None = None, bucket: int | None = None
) -> LsmPicture:
    """The picture of one bucket; without a choice the one with the most runs, then the most bytes.

    Args:
        store: the table. snapshot: None is the latest. partition: text as `$files` shows it. bucket: number.

    Raises:
        UnsupportedOperation is never raised here: append tables have one lane.
    """
    from paimon_nb.table.commit.live import by_bucket, live_entries
    from paimon_nb.table.inspect.words import partition_text

    if snapshot is None:
        snapshot = store.latest()
    groups = by_bucket(live_entries(store, snapshot))
    named = {(partition_text(store, p), b): entries for (p, b), entries in groups.items()}
    pairs = tuple(sorted(named))
    kind = snapshot.commit_kind if snapshot else ""
    number = snapshot.id if snapshot else None
    if not named:
        return LsmPicture(store.name, number, kind, "", 0, (), (), store.options.num_levels - 1, others=pairs)
    chosen = [k for k in named if (partition is None or k[0] == partition) and (bucket is None or k[1] == bucket)]
    if not chosen:
        chosen = list(named)
    where = max(
        chosen, key=lambda k: (sum(e.file.level == 0 for e in named[k]), sum(e.file.file_size for e in named[k]))
    )
    return _bucket(store, number, kind, where, named[where], pairs)


def _bucket(
    store: TableStore,
    snapshot: int | None,
    kind: str,
    where: tuple[str, int],
    entries: Sequence[ManifestEntry],
    pairs: tuple[tuple[str, int], ...],
) -> LsmPicture:
    files = [e.file for e in entries]
    if not store.has_keys:
        return _append_bucket(store, snapshot, kind, where, files, pairs)
    from paimon_nb.table.lsm.keys import key_decoder
    from paimon_nb.table.lsm.levels import Levels
    from paimon_nb.table.lsm.sections import sections

    key = key_decoder([f.type for f in store.schema.key_fields])
    levels = Levels.of(files, store.options.num_levels, key)
    scale = _Scale(store, files, key)
    lanes = []
    for i, file in enumerate(levels.level0):
        lanes.append(_lane(store, scale, 0, f"L0 · {i + 1}" if len(levels.level0) > 1 else "L0", [file]))
    for level, run in enumerate(levels.upper, 1):
        if run.files:
            lanes.append(_lane(store, scale, level, f"L{level}", run.files))
    overlaps = []
    for section in sections(files, key):
        if len(section) > 1:
            low = min(key(f.min_key) for run in section for f in run.files)
            high = max(key(f.max_key) for run in section for f in run.files)
            overlaps.append((scale.at(low), scale.at(high), len(section)))
    return LsmPicture(
        store.name, snapshot, kind, where[0], where[1], tuple(lanes), tuple(overlaps), levels.max_level,
        scale.low_text, scale.high_text, pairs,
    )  # fmt: skip


def _append_bucket(
    store: TableStore,
    snapshot: int | None,
    kind: str,
    where: tuple[str, int],
    files: list[DataFile],
    pairs: tuple[tuple[str, int], ...],
) -> LsmPicture:
    """Append tables have no keys: files side by side, in the order in which they were written."""
    files = sorted(files, key=lambda f: (f.min_sequence, f.creation_time_ms or 0, f.file_name))
    total = sum(f.file_size for f in files) or 1
    marks, at = [], 0
    for f in files:
        marks.append(
            _mark(f, 0, "", "", at / total, (at + f.file_size) / total, at / total, (at + f.file_size) / total)
        )
        at += f.file_size
    lane = Lane(0, "files", tuple(marks))
    return LsmPicture(store.name, snapshot, kind, where[0], where[1], (lane,) if marks else (), (), 0, others=pairs)


class _Scale:
    """Keys to 0..1: by value for one number, by rank of the files' ends for everything else."""

    def __init__(self, store: TableStore, files: Sequence[DataFile], key: Any) -> None:
        ends = sorted({key(f.min_key) for f in files} | {key(f.max_key) for f in files})
        self._rank = {k: i / max(1, len(ends) - 1) for i, k in enumerate(ends)}
        self._linear: tuple[float, float] | None = None
        numeric = len(ends[0]) == 1 and store.schema.key_fields[0].type.root in (
            "TINYINT",
            "SMALLINT",
            "INT",
            "BIGINT",
            "DATE",
        )
        if numeric:
            low, high = _number(ends[0]), _number(ends[-1])
            self._linear = (low, max(high - low, 1.0))
        from paimon_nb.format.row import deserialize

        types = [f.type for f in store.schema.key_fields]
        self.text = lambda data: ", ".join(_short(t, v) for t, v in zip(types, deserialize(types, data), strict=True))
        low_file, high_file = min(files, key=lambda f: key(f.min_key)), max(files, key=lambda f: key(f.max_key))
        self.low_text, self.high_text = self.text(low_file.min_key), self.text(high_file.max_key)
        self.key = key

    def at(self, value: Any) -> float:
        if self._linear is not None:
            return (_number(value) - self._linear[0]) / self._linear[1]
        return self._rank[value]


def _number(key: Any) -> float:
    value = key[0]
    while isinstance(value, tuple):
        value = value[-1]
    return float(value) if isinstance(value, int | float) else 0.0


def _short(t: Any, value: Any) -> str:
    from paimon_nb.format.row import cast_to_string

    if value is None:
        return "null"
    try:
        text = cast_to_string(t, value) or "null"
    except UnsupportedFormat:
        text = "…"
    return text if len(text) <= 24 else text[:23] + "…"


def _lane(store: TableStore, scale: _Scale, level: int, label: str, files: Sequence[DataFile]) -> Lane:
    total = sum(f.file_size for f in files) or 1
    marks, at = [], 0
    for f in files:
        marks.append(
            _mark(
                f, level, scale.text(f.min_key), scale.text(f.max_key), scale.at(scale.key(f.min_key)),
                scale.at(scale.key(f.max_key)), at / total, (at + f.file_size) / total,
            )
        )  # fmt: skip
        at += f.file_size
    shown = _binned(marks) if len(marks) > MAX_MARKS else marks
    return Lane(level, label, tuple(shown), files[0].file_name)


def _mark(f: DataFile, level: int, low: str, high: str, x0: float, x1: float, s0: float, s1: float) -> FileMark:
    source = {0: "append", 1: "compact"}.get(f.file_source if f.file_source is not None else -1, "")
    return FileMark(
        f.file_name, level, 0, f.row_count, f.file_size, low, high, x0, x1, s0, s1, f.delete_row_count or 0,
        f.min_sequence, f.max_sequence, f.creation_time_ms, 1, source,
    )  # fmt: skip


def _binned(marks: Sequence[FileMark]) -> list[FileMark]:
    """Neighbours together, so that no picture has more than `BINS` marks a lane."""
    size = -(-len(marks) // BINS)
    out = []
    for i in range(0, len(marks), size):
        part = marks[i : i + size]
        out.append(
            FileMark(
                f"{len(part)} files", part[0].level, 0, sum(m.rows for m in part), sum(m.bytes for m in part), part[0].min_key,
                part[-1].max_key, part[0].x0, part[-1].x1, part[0].s0, part[-1].s1, sum(m.deletes for m in part),
                min(m.min_sequence for m in part), max(m.max_sequence for m in part), max((m.created_ms or 0) for m in part),
                len(part), "",
            )
        )  # fmt: skip
    return out


def lsm_text(picture: LsmPicture) -> str:
    """The picture in characters, the same every time: no names, no times."""
    head = f"{picture.table} · snapshot {picture.snapshot} · "
    where = f"{picture.partition} · " if picture.partition else ""
    lines = [head + where + f"bucket {picture.bucket}: {_count(picture.files, 'file')}, {picture.rows:,} rows stored"]
    width = 48
    for lane in picture.lanes:
        cells = [" "] * width
        for m in lane.marks:
            a, b = int(m.x0 * (width - 1)), int(m.x1 * (width - 1))
            for i in range(a, b + 1):
                cells[i] = "█" if cells[i] == " " else "▓"
        lines.append(f"  {lane.label:<7}|{''.join(cells)}| {_count(lane.files, 'file')}, {_count(lane.rows, 'row')}")
    if not picture.lanes:
        lines.append("  (no files)")
    return "\n".join(lines)


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"
