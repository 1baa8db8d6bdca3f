"""The model behind the LSM picture: levels, runs, files, key ranges, sections. Reads metadata only."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.format.manifest import DataFile, ManifestEntry
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.store import TableStore

MAX_MARKS = 600
"""Levels with more files are drawn in bins."""
BINS = 400
FINE = 60
"""Up to this many ranges are drawn separately, however close they are."""
HAIR = 0.002
"""Fraction of the width: about one pixel."""


Window = tuple[float, float]
"""The visible part of the key axis: 0 <= from < to <= 1."""
WHOLE: Window = (0.0, 1.0)
NARROWEST = 1e-7
"""Fraction of the width; narrower windows would show rounding errors."""


@dataclass(frozen=True, slots=True)
class FileMark:
    """One file, or several in a bin, on a lane. Positions are 0..1: x by key, s by size."""

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
    """A sorted run; each level-0 file is one."""

    level: int
    label: str
    marks: tuple[FileMark, ...]
    first: str = ""
    """Name of the run's first file; identifies the run when files are drawn in bins."""

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
    window: Window = WHOLE
    """The visible part of the key axis; lanes contain the files that overlap it."""
    by_value: bool = False
    """Whether distances on the key axis are distances of keys; otherwise keys are evenly spaced, in order."""

    @property
    def snapshot_text(self) -> str:
        """`snapshot 5`, or `no snapshot yet` for an empty table."""
        return "no snapshot yet" if self.snapshot is None else f"snapshot {self.snapshot}"

    @property
    def files(self) -> int:
        return sum(lane.files for lane in self.lanes)

    @property
    def rows(self) -> int:
        return sum(lane.rows for lane in self.lanes)

    @property
    def bytes(self) -> int:
        return sum(lane.bytes for lane in self.lanes)


Keys = dict[bytes, Any]
"""Cache of decoded keys, shared between pictures of several snapshots."""


def lsm_picture(
    store: TableStore,
    snapshot: Snapshot | None = None,
    partition: str | None = None,
    bucket: int | None = None,
    keys: Keys | None = None,
    window: Window = WHOLE,
) -> LsmPicture:
    """The picture of one bucket; by default the one with the most runs, then the most bytes.

    Args:
        store: the table. snapshot: None is the latest. partition: text as `$files` shows it. bucket: number.
        window: only files that overlap this part of the key axis, scaled to the full width.

    Raises:
        UnsupportedOperation is never raised here: append tables have one lane.
    """
    from paimon_nb.table.inspect.formatting import partition_text
    from paimon_nb.table.live_files import by_bucket, live_entries

    if snapshot is None:
        snapshot = store.latest()
    groups = by_bucket(live_entries(store, snapshot))
    entries_by_bucket = {(partition_text(store, p), b): entries for (p, b), entries in groups.items()}
    pairs = tuple(sorted(entries_by_bucket))
    kind = snapshot.commit_kind if snapshot else ""
    number = snapshot.id if snapshot else None
    if not entries_by_bucket:
        return LsmPicture(store.name, number, kind, "", 0, (), (), store.options.num_levels - 1, others=pairs)
    matching = [
        k for k in entries_by_bucket if (partition is None or k[0] == partition) and (bucket is None or k[1] == bucket)
    ]
    if not matching:
        matching = list(entries_by_bucket)
    partition_and_bucket = max(
        matching,
        key=lambda k: (
            sum(e.file.level == 0 for e in entries_by_bucket[k]),
            sum(e.file.file_size for e in entries_by_bucket[k]),
        ),
    )
    return _key_bucket_picture(
        store,
        number,
        kind,
        partition_and_bucket,
        entries_by_bucket[partition_and_bucket],
        pairs,
        {} if keys is None else keys,
        window,
    )


def _key_bucket_picture(
    store: TableStore,
    snapshot: int | None,
    kind: str,
    partition_and_bucket: tuple[str, int],
    entries: Sequence[ManifestEntry],
    all_buckets: tuple[tuple[str, int], ...],
    keys: Keys,
    window: Window,
) -> LsmPicture:
    files = [e.file for e in entries]
    if not store.has_keys:
        return _append_bucket_picture(store, snapshot, kind, partition_and_bucket, files, all_buckets, window)
    from paimon_nb.table.lsm.levels import Levels, key_decoder

    decode = key_decoder([f.type for f in store.schema.key_fields])

    def decode_cached(data: bytes) -> Any:
        found = keys.get(data)
        if found is None:
            found = keys[data] = decode(data)
        return found

    levels = Levels.of(files, store.options.num_levels, decode_cached)
    scale = _Scale(store, files, decode_cached, window)
    lanes = []
    for i, file in enumerate(levels.level0):
        lanes.append(_run_lane(scale, 0, f"L0 · {i + 1}" if len(levels.level0) > 1 else "L0", [file]))
    for level, run in enumerate(levels.upper, 1):
        if run.files:
            lanes.append(_run_lane(scale, level, f"L{level}", run.files))
    overlaps = _overlap_ranges(files, decode_cached, scale)
    return LsmPicture(
        store.name, snapshot, kind, partition_and_bucket[0], partition_and_bucket[1], tuple(lanes), overlaps, levels.max_level,
        scale.low_text, scale.high_text, all_buckets, window, scale.numeric,
    )  # fmt: skip


def _overlap_ranges(files: Sequence[DataFile], key: Any, scale: _Scale) -> tuple[tuple[float, float, int], ...]:
    """Key ranges in which runs must be merged; ranges less than a pixel apart are joined."""
    out: list[tuple[float, float, int]] = []
    for first, last, runs in _sections_by_number(files, key) if scale.numeric else _sections_by_key(files, key):
        low, high = scale.in_window(scale.axis_position(first)), scale.in_window(scale.axis_position(last))
        if low >= 1 or high <= 0:
            continue
        low, high = max(low, 0.0), min(high, 1.0)
        if len(out) >= FINE and low - out[-1][1] < HAIR:
            out[-1] = (out[-1][0], high, max(out[-1][2], runs))
        else:
            out.append((low, high, runs))
    return tuple(out)


def _sections_by_key(files: Sequence[DataFile], key: Any) -> Iterator[tuple[Any, Any, int]]:
    """(first key, last key, runs) of each section that needs merging."""
    from paimon_nb.table.lsm.levels import sections

    for section in sections(files, key):
        if len(section) > 1:
            yield min(key(r.files[0].min_key) for r in section), max(key(r.files[-1].max_key) for r in section), len(section)  # fmt: skip


def _sections_by_number(files: Sequence[DataFile], key: Any) -> Iterator[tuple[Any, Any, int]]:
    """The same for keys of a single integer column, twenty times faster; runs = overlapping files."""
    import numpy as np

    lows = np.array([key(f.min_key)[0][1] for f in files], np.int64)
    highs = np.array([key(f.max_key)[0][1] for f in files], np.int64)
    order = np.argsort(lows, kind="stable")
    starts, ends = lows[order], highs[order]
    max_key_so_far = np.maximum.accumulate(ends)
    begins = np.concatenate([[0], np.flatnonzero(starts[1:] > max_key_so_far[:-1]) + 1])
    depth = np.arange(1, len(starts) + 1) - np.searchsorted(np.sort(ends), starts, side="left")
    runs = np.maximum.reduceat(depth, begins)
    stops = np.concatenate([begins[1:], [len(starts)]]) - 1
    for i in np.flatnonzero(runs > 1):
        yield ((True, int(starts[begins[i]])),), ((True, int(max_key_so_far[stops[i]])),), int(runs[i])


def _append_bucket_picture(
    store: TableStore,
    snapshot: int | None,
    kind: str,
    partition_and_bucket: tuple[str, int],
    files: list[DataFile],
    all_buckets: tuple[tuple[str, int], ...],
    window: Window,
) -> LsmPicture:
    """Append tables have no keys: files are drawn one after the other, in write order."""
    files = sorted(files, key=lambda f: (f.min_sequence, f.creation_time_ms or 0, f.file_name))
    total = sum(f.file_size for f in files) or 1
    offset, first_offset = 0, 0
    visible: list[DataFile] = []
    for f in files:
        if (offset + f.file_size) / total > window[0] and offset / total < window[1]:
            first_offset = first_offset if visible else offset
            visible.append(f)
        offset += f.file_size
    window_width = window[1] - window[0]
    marks = []
    for grouped, a, b in _files_along_axis_by_size(visible, first_offset, total):
        x0, x1 = max((a - window[0]) / window_width, 0.0), min((b - window[0]) / window_width, 1.0)
        marks.append(_file_mark(grouped, 0, "", "", x0, x1, x0, x1))
    lanes = (Lane(0, "files", tuple(marks), files[0].file_name),) if files else ()
    return LsmPicture(
        store.name,
        snapshot,
        kind,
        partition_and_bucket[0],
        partition_and_bucket[1],
        lanes,
        (),
        0,
        others=all_buckets,
        window=window,
    )


def _files_along_axis_by_size(
    files: Sequence[DataFile], offset: int = 0, total: int | None = None
) -> Iterator[tuple[Sequence[DataFile], float, float]]:
    """Files one after the other, width by size; more than `MAX_MARKS` files are grouped into at most `BINS` bins.

    Args:
        offset: bytes before the first of them. total: bytes that are the whole width; None: of these files.
    """
    total = total or sum(f.file_size for f in files) or 1
    step = -(-len(files) // BINS) if len(files) > MAX_MARKS else 1
    for i in range(0, len(files), step):
        grouped = files[i : i + step]
        end = offset + sum(f.file_size for f in grouped)
        yield grouped, offset / total, end / total
        offset = end


class _Scale:
    """Maps keys to 0..1: by value for a single integer column, else by rank of the files' min and max keys."""

    def __init__(self, store: TableStore, files: Sequence[DataFile], key: Any, window: Window = WHOLE) -> None:
        self.window, self._wide = window, window[1] - window[0]
        low_file, high_file = min(files, key=lambda f: key(f.min_key)), max(files, key=lambda f: key(f.max_key))
        lowest, highest = key(low_file.min_key), key(high_file.max_key)
        self._rank: dict[Any, float] = {}
        self._linear: tuple[float, float] | None = None
        numeric = len(lowest) == 1 and store.schema.key_fields[0].type.root in (
            "TINYINT",
            "SMALLINT",
            "INT",
            "BIGINT",
            "DATE",
        )
        self.numeric = numeric
        if numeric:
            low, high = _first_key_as_float(lowest), _first_key_as_float(highest)
            self._linear = (low, max(high - low, 1.0))
        else:
            ends = sorted({key(f.min_key) for f in files} | {key(f.max_key) for f in files})
            self._rank = {k: i / max(1, len(ends) - 1) for i, k in enumerate(ends)}
        self._types = [f.type for f in store.schema.key_fields]
        self.low_text, self.high_text = self.text(low_file.min_key), self.text(high_file.max_key)
        self.key = key
        if window != WHOLE:
            self.low_text, self.high_text = (self._text_at(x, files) for x in window)

    def text(self, data: bytes) -> str:
        """A key as readable text."""
        from paimon_nb.format.row import deserialize

        values = deserialize(self._types, data)
        return ", ".join(_short_key_text(t, v) for t, v in zip(self._types, values, strict=True))

    def axis_position(self, value: Any) -> float:
        if self._linear is not None:
            return (_first_key_as_float(value) - self._linear[0]) / self._linear[1]
        return self._rank[value]

    def in_window(self, x: float) -> float:
        """Position on the whole axis → position in the window; below 0 or above 1 outside it."""
        return (x - self.window[0]) / self._wide

    def _text_at(self, x: float, files: Sequence[DataFile]) -> str:
        if self._linear is not None:
            return _short_key_text(self._types[0], round(self._linear[0] + x * self._linear[1]))
        rank = round(x * max(1, len(self._rank) - 1))
        key_at_rank = next(k for i, k in enumerate(self._rank) if i == rank)
        return next(self.text(d) for f in files for d in (f.min_key, f.max_key) if self.key(d) == key_at_rank)


def _first_key_as_float(key: Any) -> float:
    value = key[0]
    while isinstance(value, tuple):
        value = value[-1]
    return float(value) if isinstance(value, int | float) else 0.0


def _short_key_text(t: Any, value: Any) -> str:
    from paimon_nb.format.row import cast_to_string

    if value is None:
        return "null"
    try:
        text = cast_to_string(t, value) or "null"
    except UnsupportedFormat:
        text = "…"
    return text if len(text) <= 24 else text[:23] + "…"


def _run_lane(scale: _Scale, level: int, label: str, files: Sequence[DataFile]) -> Lane:
    """The files of one run that overlap the window."""
    visible = files
    if scale.window != WHOLE:
        visible = [f for f in files if _reaches_in(scale, f)]
    marks = []
    for grouped, a, b in _files_along_axis_by_size(visible):
        low, high = grouped[0].min_key, grouped[-1].max_key
        x0, x1 = (min(max(scale.in_window(scale.axis_position(scale.key(end))), 0.0), 1.0) for end in (low, high))
        marks.append(_file_mark(grouped, level, scale.text(low), scale.text(high), x0, x1, a, b))
    return Lane(level, label, tuple(marks), files[0].file_name)


def _reaches_in(scale: _Scale, file: DataFile) -> bool:
    low, high = scale.axis_position(scale.key(file.min_key)), scale.axis_position(scale.key(file.max_key))
    return high >= scale.window[0] and low <= scale.window[1]


def _file_mark(
    files: Sequence[DataFile], level: int, min_key: str, max_key: str, x0: float, x1: float, s0: float, s1: float
) -> FileMark:
    """A mark for one file or for a bin of adjacent files."""
    only_file = files[0] if len(files) == 1 else None
    source = {0: "append", 1: "compact"}.get(
        only_file.file_source if only_file and only_file.file_source is not None else -1, ""
    )
    return FileMark(
        only_file.file_name if only_file else f"{len(files)} files", level, 0, sum(f.row_count for f in files),
        sum(f.file_size for f in files), min_key, max_key, x0, x1, s0, s1, sum(f.delete_row_count or 0 for f in files),
        min(f.min_sequence for f in files), max(f.max_sequence for f in files),
        only_file.creation_time_ms if only_file else max(f.creation_time_ms or 0 for f in files), len(files), source,
    )  # fmt: skip


def lsm_text(picture: LsmPicture) -> str:
    """The picture as text; deterministic: no file names, no times."""
    title = f"{picture.table} · {picture.snapshot_text} · "
    partition_text = f"{picture.partition} · " if picture.partition else ""
    lines = [
        title
        + partition_text
        + f"bucket {picture.bucket}: {_count_text(picture.files, 'file')}, {picture.rows:,} physical rows"
    ]
    width = 48
    for lane in picture.lanes:
        cells = [" "] * width
        for m in lane.marks:
            a, b = int(m.x0 * (width - 1)), int(m.x1 * (width - 1))
            for i in range(a, b + 1):
                cells[i] = "█" if cells[i] == " " else "▓"
        lines.append(
            f"  {lane.label:<7}|{''.join(cells)}| {_count_text(lane.files, 'file')}, {_count_text(lane.rows, 'row')}"
        )
    if not picture.lanes:
        lines.append("  (no files)")
    return "\n".join(lines)


def _count_text(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"
