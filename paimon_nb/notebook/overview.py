"""Overview of a table: its kind, key figures, last commits and links to other panels. Reads metadata only."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.notebook.svg import CHARACTER, KIND_COLOURS, escape
from paimon_nb.notebook.timeline_model import SIGN, Commit
from paimon_nb.options import table as opt
from paimon_nb.table.tables.inspect.formatting import bytes_text, count_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.tables.table import Table

MAX_FILES = 5_000
"""The total size is summed file by file, so it is omitted for tables with more files."""
MAX_STATS = 20_000
"""Files times columns whose statistics are decoded for the bounds of the columns."""
LAST_COMMITS = 60
_PLAIN_NAME = re.compile(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure: `14` snapshots, `since 1`."""

    value: str
    label: str
    note: str = ""


def table_kind_labels(store: TableStore) -> tuple[str, ...]:
    """Short labels that describe the kind of table."""
    schema, options, bucket = store.schema, store.options, store.bucket_option
    if store.is_format_table:
        words = ["format table", f"{options.get(opt.FILE_FORMAT)} files"]
        return (*words, "partitioned by " + ", ".join(schema.partition_keys)) if schema.partition_keys else tuple(words)
    words = ["primary-key table", str(options.get(opt.MERGE_ENGINE))] if schema.primary_keys else ["append table"]
    if schema.partition_keys:
        words.append("partitioned by " + ", ".join(schema.partition_keys))
    words.append({-1: "dynamic buckets" if schema.primary_keys else "no buckets", -2: "postpone bucket"}.get(bucket, count_text(bucket, "bucket")))  # fmt: skip
    if str(options.get(opt.CHANGELOG_PRODUCER)) != "none":
        words.append(f"changelog: {options.get(opt.CHANGELOG_PRODUCER)}")
    if options.get(opt.DELETION_VECTORS_ENABLED):
        words.append("deletion vectors")
    return tuple(words)


@dataclass(frozen=True, slots=True)
class Stored:
    """The files of a snapshot; individual files only if there are few enough."""

    files: int
    manifests: int
    known: tuple[DataFile, ...]
    """() when there are more than `MOST_FILES`."""
    partitions: int


def read_stored_files(store: TableStore, latest: Snapshot) -> Stored:
    """Read the manifest lists and, for tables that are not too large, the manifests."""
    from paimon_nb.format.manifest import read_manifest_list
    from paimon_nb.table.read import all_levels, plan_scan

    lists = (latest.base_manifest_list, latest.delta_manifest_list)
    manifests = [m for name in lists for m in read_manifest_list(store.fs, store.manifest_path(name))]
    files = sum(m.num_added - m.num_deleted for m in manifests)
    if files > MAX_FILES:
        return Stored(files, len(manifests), (), 0)
    splits = plan_scan(store.for_metadata(), levels=all_levels).splits
    data_files = tuple(f for s in splits for f in s.files)
    return Stored(files, len(manifests), data_files, len({s.partition for s in splits}))


def overview_tiles(store: TableStore, latest: Snapshot | None, stored: Stored | None, now_ms: int) -> tuple[Tile, ...]:
    """Rows, files, snapshots and the last commit; only the first of them for a table without a commit."""
    if latest is None:
        return (Tile("0", "rows", "no snapshot yet"),)
    ids, has_keys = store.snapshots.ids(), bool(store.schema.primary_keys)
    rows = Tile(
        f"{latest.total_record_count or 0:,}",
        "physical rows" if has_keys else "rows",
        "before merge" if has_keys else "",
    )
    snapshots = Tile(f"{len(ids):,}", "snapshots", f"{ids[0]} … {ids[-1]}" if len(ids) > 1 else "")
    commit_text = f"{latest.commit_kind.lower()} {latest.delta_record_count or 0:+,}"
    last = Tile(ago_text(now_ms - latest.time_ms), "last commit", commit_text)
    return (rows, *([_files_tile(store, stored)] if stored else []), snapshots, last)


def _files_tile(store: TableStore, stored: Stored) -> Tile:
    if stored.files != len(stored.known):
        return Tile(f"{stored.files:,}", "files", "in " + count_text(stored.manifests, "manifest"))
    parts = f", {count_text(stored.partitions, 'partition')}" if store.schema.partition_keys else ""
    return Tile(bytes_text(sum(f.file_size for f in stored.known)), "data", count_text(stored.files, "file") + parts)


def overview_lead(table: Table, latest: Snapshot | None, stored: Stored | None, now_ms: int) -> str:
    """What the table is and how much is in it, in a sentence for who does not know how tables are stored."""
    keys = ", ".join(table.primary_keys)
    kind = f"A table with one row for each {keys}" if keys else "A table to which rows are appended"
    if latest is None:
        return f"{kind}. It is empty: nothing was written yet."
    rows = latest.total_record_count or 0
    held = f"{count_text(rows, 'stored version')} of rows" if keys else count_text(rows, "row")
    files = f" in {count_text(stored.files, 'file')}" if stored else ""
    return f"{kind}: {held}{files}, last changed {ago_text(now_ms - latest.time_ms)}."


@dataclass(frozen=True, slots=True)
class Bounds:
    """Statistics of a column over all files."""

    low: Any
    high: Any
    nulls: int


def column_bounds_of_files(store: TableStore, files: Sequence[DataFile]) -> dict[str, Bounds]:
    """Min, max and null count of each column, if every file has statistics for it under its current type."""
    from paimon_nb.format.stats import decode_stats

    fields = store.schema.fields
    if not 0 < len(files) * len(fields) <= MAX_STATS:
        return {}
    bounds_by_column: dict[str, Bounds] = {}
    unknown: set[str] = set()
    for file in files:
        file_schema = store.schemas.get(file.schema_id)
        names = {f.id: f.name for f in file_schema.fields}
        types = {f.id: f.type.with_nullable(True) for f in file_schema.fields}
        stats = decode_stats(file_schema.fields, file.value_stats, file.value_stats_cols)
        for field in fields:
            file_stats = stats.get(names.get(field.id, ""))
            same_type = types.get(field.id) == field.type.with_nullable(True)
            if (
                file_stats is None
                or file_stats.null_count is None
                or not same_type
                or (file_stats.min is None) != (file_stats.null_count == file.row_count)
            ):
                unknown.add(field.name)
                continue
            so_far = bounds_by_column.get(field.name, Bounds(None, None, 0))
            lows = [v for v in (so_far.low, file_stats.min) if v is not None]
            highs = [v for v in (so_far.high, file_stats.max) if v is not None]
            bounds_by_column[field.name] = Bounds(
                min(lows, default=None), max(highs, default=None), so_far.nulls + file_stats.null_count
            )
    return {name: bounds for name, bounds in bounds_by_column.items() if name not in unknown}


def ago_text(ms: int) -> str:
    """'just now', '5 min ago', '3 h ago', '12 days ago'."""
    minutes = ms // 60_000
    if minutes < 1:
        return "just now"
    if minutes < 120:
        return f"{minutes} min ago"
    return f"{minutes // 60} h ago" if minutes < 48 * 60 else f"{minutes // 1440:,} days ago"


def table_panels(table: Table) -> tuple[tuple[str, str], ...]:
    """Other panels for the table: (text, command)."""
    if table.store.is_format_table:
        return ()
    has_keys = bool(table.primary_keys)
    panels = [("history", "timeline {}"), ("live changes", "live {}"), ("LSM tree" if has_keys else "files", "lsm {}")]
    panels += [("compaction", "compact {}")] if has_keys else []
    panels += [("pruning", "skip {}")]
    panels += [("compare", "compare {}")] if table.latest_snapshot() else []
    panels += [("health", "doctor {}")]
    return _panel_commands(table, panels)


def snapshot_panels(table: Table, snapshot: int, before: bool) -> tuple[tuple[str, str], ...]:
    """Panels for one snapshot; `before`: whether an earlier snapshot exists to compare with."""
    panels = [
        ("history at this snapshot", f"timeline {{}} {snapshot}"),
        ("LSM tree at this snapshot", f"lsm {{}} --at {snapshot}"),
    ]
    if before:
        panels.append(("changes in this snapshot", f"compare {{}} {snapshot - 1} {snapshot}"))
    return _panel_commands(table, panels)


def _panel_commands(table: Table, panels: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Tables whose name is not a single command-line word get no links."""
    name = f"{table.name.database}.{table.name.table}"
    if not _PLAIN_NAME.fullmatch(name):
        return ()
    return tuple((text, "%paimon " + command.format(name)) for text, command in panels)


def commit_strip_svg(commits: Sequence[Commit]) -> str:
    """The last commits as a strip: a bar for the rows each added (outline: removed), its kind below."""
    displayed = list(commits[-LAST_COMMITS:])
    if not displayed:
        return ""
    width, tall, base = 520, 86, 40
    step = min(34.0, width / len(displayed))
    biggest = max((abs(c.delta_rows) for c in displayed), default=1) or 1
    label = f"last {len(displayed)} commits" if len(commits) > len(displayed) else count_text(len(displayed), "commit")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {tall}" width="{width}" height="{tall}" role="img" aria-label="{label}" font-size="12">',
        f'<line class="axis" x1="0" y1="{base}" x2="{step * len(displayed):.1f}" y2="{base}"/>',
    ]
    label_step = max(1, -(-len(displayed) // 16))
    for i, c in enumerate(displayed):
        x, w = step * (i + 0.5), max(2.0, min(18.0, step * 0.62))
        colour, radius = KIND_COLOURS.get(c.kind, "#888"), min(8.0, max(2.5, step * 0.34))
        height = 4 + 30 * (abs(c.delta_rows) / biggest) ** 0.4 if c.delta_rows else 0
        when = dt.datetime.fromtimestamp(c.time_ms / 1000, dt.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        tip = "\n".join([f"snapshot {c.id} · {c.kind.lower()}", f"{c.delta_rows:+,} physical rows", when, *c.flags])
        parts.append(f'<g class="dot" data-snapshot="{c.id}"><title>{escape(tip)}</title>')
        parts.append(f'<rect x="{x - step / 2:.1f}" y="0" width="{step:.1f}" height="{tall}" fill="transparent"/>')
        if height:
            fill = f'fill="{colour}" opacity=".5"' if c.delta_rows > 0 else f'fill="none" stroke="{colour}"'
            parts.append(f'<rect x="{x - w / 2:.1f}" y="{base - height:.1f}" width="{w:.1f}" height="{height:.1f}" rx="2" {fill}/>')  # fmt: skip
        parts.append(f'<circle cx="{x:.1f}" cy="{base}" r="{radius:.1f}" fill="{colour}"/>')
        if radius > 5:
            parts.append(f'<text x="{x:.1f}" y="{base + 4}" text-anchor="middle" class="sign" style="fill:#fff" font-weight="700">{SIGN.get(c.kind, "?")}</text>')  # fmt: skip
        if (len(displayed) - 1 - i) % label_step == 0:
            parts.append(f'<text x="{x:.1f}" y="{base + 22}" text-anchor="middle" class="dim">{c.id}</text>')
        if c.tags:
            parts.append(f'<text x="{x:.1f}" y="{max(11.0, base - height - 4):.1f}" text-anchor="middle">⚑</text>')
        parts.append("</g>")
    return "".join([*parts, *_legend(displayed, step * len(displayed), tall - 4), "</svg>"])


def _legend(commits: Sequence[Commit], end: float, y: int) -> Iterator[str]:
    """What the signs and bars of the strip mean. It ends below the newest commit, which a narrow page shows."""
    bars = (
        "bar: rows added"
        + (", outline: rows removed" if any(c.delta_rows < 0 for c in commits) else "")
        + (", ⚑ tag" if any(c.tags for c in commits) else "")
    )
    kinds = dict.fromkeys(c.kind for c in commits)
    x = max(0.0, end - CHARACTER * len(bars) - sum(38 + CHARACTER * len(kind) for kind in kinds))
    for kind in kinds:
        yield f'<circle cx="{x + 8:.1f}" cy="{y - 4}" r="8" fill="{KIND_COLOURS.get(kind, "#888")}"/>'
        yield f'<text x="{x + 8:.1f}" y="{y}" text-anchor="middle" class="sign" style="fill:#fff" font-weight="700">{SIGN.get(kind, "?")}</text>'
        yield f'<text x="{x + 21:.1f}" y="{y}" class="dim">{kind.lower()}</text>'
        x += 38 + CHARACTER * len(kind)
    yield f'<text x="{x:.1f}" y="{y}" class="dim">{bars}</text>'
