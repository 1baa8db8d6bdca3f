"""The model behind the LSM picture: levels, runs, files, key ranges, sections. Reads metadata only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.format.manifest import DataFile, ManifestEntry
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

MAX_MARKS = 600
"""Levels with more files are drawn in bins."""
BINS = 400
FINE = 60
"""Up to this many ranges are drawn separately, however close they are."""
HAIR = 0.002
"""Fraction of the width: about one pixel."""
FOLDED_FROM = 8
"""With more runs on level 0, a folded picture has one lane for all of them."""
UNFOLDED_LANES = 60
"""Lanes of level 0 in an unfolded picture; one more lane holds the older runs."""
FOLDED_MARKS = 200
"""Marks in a folded lane; with more files, a mark stands for several."""


Window = tuple[float, float]
"""The visible part of the key axis: 0 <= from < to <= 1."""
WHOLE: Window = (0.0, 1.0)
NARROWEST = 1e-7
"""Fraction of the width; narrower windows would show rounding errors."""


BucketName = tuple[str, int]
"""(partition as `$files` shows it, bucket)."""
BucketEntries = dict[BucketName, "list[ManifestEntry]"]
"""The live files of a snapshot."""


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
    files: int = 1
    source: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """A sorted run; each level-0 file is one. A folded lane holds several runs of level 0, newest first."""

    level: int
    label: str
    marks: tuple[FileMark, ...]
    first: str = ""
    """Name of the run's first file; identifies the run when files are drawn in bins."""
    runs: int = 1
    stack: int = 1
    """Marks that lie one below the other in a folded lane."""

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
    window: Window = WHOLE
    """The visible part of the key axis; lanes contain the files that overlap it."""
    by_value: bool = False
    """Whether distances on the key axis are distances of keys; otherwise keys are evenly spaced, in order."""
    values: tuple[float, float] | None = None
    """The ends of an axis by value as numbers; of a DATE, days since 1970-01-01."""
    dates: bool = False
    """Whether the key is a DATE."""

    @property
    def snapshot_text(self) -> str:
        """`snapshot 5`, or `no snapshot yet` for an empty table."""
        return "no snapshot yet" if self.snapshot is None else f"snapshot {self.snapshot}"

    @property
    def files(self) -> int:
        return sum(lane.files for lane in self.lanes)

    @property
    def runs(self) -> int:
        return sum(lane.runs for lane in self.lanes)

    @property
    def rows(self) -> int:
        return sum(lane.rows for lane in self.lanes)

    @property
    def bytes(self) -> int:
        return sum(lane.bytes for lane in self.lanes)


Keys = dict[bytes, Any]
"""Cache of decoded keys, shared between pictures of several snapshots."""


@dataclass(frozen=True, slots=True)
class PictureOptions:
    """How a bucket is drawn.

    Args:
        window: only files that overlap this part of the key axis, scaled to the full width.
        by_rank: keys are evenly spaced also where they are numbers.
        fold: None: each run of level 0 has a lane. True: one lane for all, if they are more than `FOLDED_FROM`.
            False: the newest `UNFOLDED_LANES` have lanes, the others share one.
    """

    window: Window = WHOLE
    by_rank: bool = False
    fold: bool | None = None


def entries_by_bucket(store: TableStore, snapshot: Snapshot | None) -> BucketEntries:
    """The live files of a snapshot, by bucket."""
    from paimon_nb.table.read.live_files import by_bucket, live_entries
    from paimon_nb.table.tables.inspect.formatting import partition_text

    groups = by_bucket(live_entries(store, snapshot))
    return {(partition_text(store, partition), bucket): entries for (partition, bucket), entries in groups.items()}


def lsm_picture(
    store: TableStore,
    snapshot: Snapshot | None = None,
    partition: str | None = None,
    bucket: int | None = None,
    keys: Keys | None = None,
    window: Window = WHOLE,
    fold: bool | None = None,
) -> LsmPicture:
    """The picture of one bucket; by default the one with the most runs, then the most bytes.

    Args:
        store: the table. snapshot: None is the latest. partition: text as `$files` shows it. bucket: number.
        window: only files that overlap this part of the key axis, scaled to the full width.
        fold: as in `PictureOptions`.

    Raises:
        UnsupportedOperation is never raised here: append tables have one lane.
    """
    if snapshot is None:
        snapshot = store.latest()
    buckets = entries_by_bucket(store, snapshot)
    return bucket_picture(
        store, snapshot, buckets, largest_bucket(buckets, partition, bucket), PictureOptions(window, fold=fold), keys
    )


def largest_bucket(buckets: BucketEntries, partition: str | None = None, bucket: int | None = None) -> BucketName:
    """The bucket with the most runs on level 0, then the most bytes, of those with this partition and number.

    If there is none, of all; `("", 0)` of an empty table.
    """
    if not buckets:
        return "", 0
    matching = [k for k in buckets if (partition is None or k[0] == partition) and (bucket is None or k[1] == bucket)]
    return max(
        matching or buckets,
        key=lambda k: (sum(e.file.level == 0 for e in buckets[k]), sum(e.file.file_size for e in buckets[k])),
    )


def bucket_picture(
    store: TableStore,
    snapshot: Snapshot | None,
    buckets: BucketEntries,
    name: BucketName,
    options: PictureOptions,
    keys: Keys | None = None,
) -> LsmPicture:
    """The picture of one bucket, without lanes if it holds no files.

    Args:
        buckets: the live files of the snapshot. keys: a cache of decoded keys.
    """
    kind, number = (snapshot.commit_kind, snapshot.id) if snapshot else ("", None)
    files = [e.file for e in buckets.get(name, ())]
    if not files:
        return LsmPicture(store.name, number, kind, *name, (), (), store.options.num_levels - 1)
    if not store.has_keys:
        return _append_bucket_picture(store, number, kind, name, files, options.window)
    return _key_bucket_picture(store, number, kind, name, files, {} if keys is None else keys, options)


def _key_bucket_picture(
    store: TableStore,
    snapshot: int | None,
    kind: str,
    name: BucketName,
    files: Sequence[DataFile],
    keys: Keys,
    options: PictureOptions,
) -> LsmPicture:
    from paimon_nb.table.lsm.levels import Levels, key_decoder

    decode = key_decoder([f.type for f in store.schema.key_fields])

    def decode_cached(data: bytes) -> Any:
        found = keys.get(data)
        if found is None:
            found = keys[data] = decode(data)
        return found

    levels = Levels.of(files, store.options.num_levels, decode_cached)
    scale = _Scale(store, files, decode_cached, options.window, by_rank=options.by_rank)
    lanes = _level0_lanes(scale, levels.level0, options.fold)
    for level, run in enumerate(levels.upper, 1):
        if run.files:
            lanes.append(_run_lane(scale, level, f"L{level}", run.files))
    overlaps = _overlap_ranges(files, decode_cached, scale)
    return LsmPicture(
        store.name, snapshot, kind, *name, tuple(lanes), overlaps, levels.max_level,
        scale.low_text, scale.high_text, options.window, scale.numeric, scale.values, scale.dates,
    )  # fmt: skip


def _level0_lanes(scale: _Scale, files: Sequence[DataFile], fold: bool | None) -> list[Lane]:
    """A lane for each run of level 0, or for the newest ones, and one lane that holds the others."""
    own = len(files)
    if fold is not None and own > (FOLDED_FROM if fold else UNFOLDED_LANES):
        own = 0 if fold else UNFOLDED_LANES
    labels = [f"L0 · {i + 1}" for i in range(own)] if len(files) > 1 else ["L0"]
    lanes = [_run_lane(scale, 0, label, [file]) for label, file in zip(labels, files[:own], strict=False)]
    if own < len(files):
        lanes.append(_folded_lane(scale, files[own:]))
    return lanes


def _folded_lane(scale: _Scale, files: Sequence[DataFile]) -> Lane:
    """Several runs of level 0, newest first, one mark below the other."""
    total, offset = sum(f.file_size for f in files) or 1, 0
    step = -(-len(files) // FOLDED_MARKS)
    marks = []
    for row, i in enumerate(range(0, len(files), step)):
        grouped = files[i : i + step]
        end = offset + sum(f.file_size for f in grouped)
        if scale.window == WHOLE or any(_reaches_in(scale, f) for f in grouped):
            low = min((f.min_key for f in grouped), key=scale.key)
            high = max((f.max_key for f in grouped), key=scale.key)
            x0, x1 = scale.clipped(low), scale.clipped(high)
            mark = _file_mark(grouped, 0, scale.text(low), scale.text(high), x0, x1, offset / total, end / total)
            marks.append(replace(mark, lane=row))
        offset = end
    return Lane(0, f"L0 × {len(files)}", tuple(marks), files[0].file_name, len(files), -(-len(files) // step))


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
    name: BucketName,
    files: list[DataFile],
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
    return LsmPicture(store.name, snapshot, kind, *name, lanes, (), 0, window=window)


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

    def __init__(
        self, store: TableStore, files: Sequence[DataFile], key: Any, window: Window = WHOLE, *, by_rank: bool = False
    ) -> None:
        self.window, self._wide = window, window[1] - window[0]
        low_file, high_file = min(files, key=lambda f: key(f.min_key)), max(files, key=lambda f: key(f.max_key))
        lowest, highest = key(low_file.min_key), key(high_file.max_key)
        self._rank: dict[Any, float] = {}
        self._linear: tuple[float, float] | None = None
        numeric = not by_rank and has_value_axis(store)
        self.numeric = numeric
        self.dates = store.schema.key_fields[0].type.root == "DATE"
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

    @property
    def values(self) -> tuple[float, float] | None:
        """The ends of the window as numbers; None for an axis by rank."""
        if self._linear is None:
            return None
        low, span = self._linear
        return low + self.window[0] * span, low + self.window[1] * span

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

    def clipped(self, data: bytes) -> float:
        """Position of a key in the window; 0 or 1 outside it."""
        return min(max(self.in_window(self.axis_position(self.key(data))), 0.0), 1.0)

    def _text_at(self, x: float, files: Sequence[DataFile]) -> str:
        if self._linear is not None:
            return _short_key_text(self._types[0], round(self._linear[0] + x * self._linear[1]))
        rank = round(x * max(1, len(self._rank) - 1))
        key_at_rank = next(k for i, k in enumerate(self._rank) if i == rank)
        return next(self.text(d) for f in files for d in (f.min_key, f.max_key) if self.key(d) == key_at_rank)


def has_value_axis(store: TableStore) -> bool:
    """Whether the key is a single integer or DATE column, so that distances of keys can be drawn."""
    if not store.has_keys:
        return False
    fields = store.schema.key_fields
    return len(fields) == 1 and fields[0].type.root in ("TINYINT", "SMALLINT", "INT", "BIGINT", "DATE")


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
        x0, x1 = scale.clipped(low), scale.clipped(high)
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
        len(files), source,
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
