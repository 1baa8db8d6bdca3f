"""A table's options with types, and the values that Paimon derives from others."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from paimon_nb.options import table
from paimon_nb.options.option import Option, parse_names

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")
_MB = 1 << 20


class TableOptions:
    """A typed view of `raw`; values are validated on access.

    Args:
        raw: option texts by key, as in the schema file.
    """

    __slots__ = ("_values_by_key", "raw")

    def __init__(self, raw: Mapping[str, str]) -> None:
        self.raw: dict[str, str] = dict(raw)
        self._values_by_key: dict[str, object] = {}

    def get(self, option: Option[T]) -> T:
        """The option's value, else its default (which may be None). Raises `BadOptionValue`."""
        if option.key not in self._values_by_key:
            self._values_by_key[option.key] = option.read(self.raw)
        return cast("T", self._values_by_key[option.key])

    def has(self, option: Option[T]) -> bool:
        """Whether it is set, by any of its keys."""
        return any(k in self.raw for k in (option.key, *option.fallback_keys)) or (
            option.is_map and any(k.startswith(option.key + ".") for k in self.raw)
        )

    def with_(self, more: Mapping[str, str]) -> TableOptions:
        """A copy with `more` added."""
        return TableOptions({**self.raw, **more})

    def field(self, column: str, aspect: str) -> str | None:
        """`fields.<column>.<aspect>`, or None."""
        return self.raw.get(f"fields.{column}.{aspect}")

    def sequence_groups(self) -> dict[tuple[str, ...], tuple[str, ...]]:
        """`fields.<a,b>.sequence-group` = 'x,y': the columns x and y are updated by the order of a and b."""
        found = {}
        for key, value in self.raw.items():
            if key.startswith("fields.") and key.endswith(".sequence-group"):
                ordering = key.removeprefix("fields.").removesuffix(".sequence-group")
                found[tuple(ordering.split(","))] = tuple(value.split(","))
        return found

    def names(self, option: Option[str]) -> tuple[str, ...]:
        """A comma list of column names."""
        text = self.get(option)
        return parse_names(text) if text else ()

    @property
    def bucket(self) -> int:
        return self.get(table.BUCKET)

    @property
    def merge_engine(self) -> str:
        return self.get(table.MERGE_ENGINE)

    @property
    def changelog_producer(self) -> str:
        return self.get(table.CHANGELOG_PRODUCER)

    @property
    def deletion_vectors(self) -> bool:
        return self.get(table.DELETION_VECTORS_ENABLED)

    @property
    def write_only(self) -> bool:
        """Whether writers leave compaction alone."""
        return self.get(table.WRITE_ONLY) or self.get(table.BRANCH_MERGE_ENABLED)

    @property
    def num_levels(self) -> int:
        """Number of levels; default: compaction trigger + 1."""
        return self.get(table.NUM_LEVELS) or self.get(table.NUM_SORTED_RUN_COMPACTION_TRIGGER) + 1

    @property
    def stop_trigger(self) -> int:
        """Runs that block a writer: never below the compaction trigger; default: trigger + 3."""
        trigger = self.get(table.NUM_SORTED_RUN_COMPACTION_TRIGGER)
        stop = self.get(table.NUM_SORTED_RUN_STOP_TRIGGER)
        return max(trigger, trigger + 3 if stop is None else stop)

    def target_file_size(self, has_primary_key: bool) -> int:
        """Size at which a data file rolls; default: 128 MB for primary-key tables, 256 MB for append tables."""
        size = self.get(table.TARGET_FILE_SIZE)
        return size if size is not None else (128 if has_primary_key else 256) * _MB

    def compaction_file_size(self, has_primary_key: bool) -> int:
        """Size below which a file is small enough to be merged with others."""
        return int(self.target_file_size(has_primary_key) * self.get(table.COMPACTION_SMALL_FILE_RATIO))

    @property
    def split_target_size(self) -> int:
        """Target bytes of a split."""
        return self.get(table.SOURCE_SPLIT_TARGET_SIZE)

    @property
    def split_open_file_cost(self) -> int:
        """Minimum bytes of a file when splits are packed."""
        return self.get(table.SOURCE_SPLIT_OPEN_FILE_COST)

    @property
    def changelog_num_retained_min(self) -> int:
        """Default: as for snapshots."""
        own = self.get(table.CHANGELOG_NUM_RETAINED_MIN)
        return self.get(table.SNAPSHOT_NUM_RETAINED_MIN) if own is None else own

    @property
    def changelog_num_retained_max(self) -> int:
        """Default: as for snapshots."""
        own = self.get(table.CHANGELOG_NUM_RETAINED_MAX)
        return self.get(table.SNAPSHOT_NUM_RETAINED_MAX) if own is None else own

    @property
    def changelog_time_retained_ms(self) -> int:
        """Default: as for snapshots."""
        own = self.get(table.CHANGELOG_TIME_RETAINED)
        return self.get(table.SNAPSHOT_TIME_RETAINED) if own is None else own

    @property
    def changelog_outlives_snapshots(self) -> bool:
        """Whether changelogs are retained longer than their snapshots, in the directory `changelog/`."""
        return (
            self.changelog_num_retained_max > self.get(table.SNAPSHOT_NUM_RETAINED_MAX)
            or self.changelog_time_retained_ms > self.get(table.SNAPSHOT_TIME_RETAINED)
            or self.changelog_num_retained_min > self.get(table.SNAPSHOT_NUM_RETAINED_MIN)
        )

    @property
    def ignores_empty_commits(self) -> bool:
        """Whether an empty batch commits no snapshot; default: true (`snapshot.ignore-empty-commit`)."""
        return self.get(table.SNAPSHOT_IGNORE_EMPTY_COMMIT) is not False

    @property
    def wait_for_compaction(self) -> bool:
        """Whether a commit waits for the compaction that makes its rows visible."""
        return self.need_lookup and self.get(table.LOOKUP_WAIT)

    @property
    def forces_level0_compaction(self) -> bool:
        """Whether a compaction also picks the level-0 files that universal compaction leaves.

        Gentle lookup compaction does not: in Java it does so after `lookup-compact.max-interval` triggers of one
        writer, and by then there are so many runs that universal compaction picks them.
        """
        if self.need_lookup:
            return self.get(table.LOOKUP_COMPACT) == "radical"
        return self.get(table.COMPACTION_FORCE_UP_LEVEL_0)

    @property
    def needs_full_compaction_each_time(self) -> bool:
        """Whether a batch write compacts everything: a full-compaction changelog, or `full-compaction.delta-commits`."""
        return self.changelog_producer == "full-compaction" or self.get(table.FULL_COMPACTION_DELTA_COMMITS) is not None

    def may_need_compaction(self, files: int) -> bool:
        """Whether a compaction may be due in a bucket of a primary-key table with so many files."""
        return (
            files >= self.get(table.NUM_SORTED_RUN_COMPACTION_TRIGGER)
            or self.forces_level0_compaction
            or self.get(table.COMPACTION_OPTIMIZATION_INTERVAL) is not None
            or self.get(table.COMPACTION_TOTAL_SIZE_THRESHOLD) is not None
            or self.get(table.COMPACTION_INCREMENTAL_SIZE_THRESHOLD) is not None
        )

    @property
    def need_lookup(self) -> bool:
        """Whether level 0 needs immediate lookup compaction: lookup changelog, deletion vectors, first-row, force-lookup."""
        return (
            self.changelog_producer == "lookup"
            or self.merge_engine == "first-row"
            or self.deletion_vectors
            or self.get(table.FORCE_LOOKUP)
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableOptions) and self.raw == other.raw

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.raw.items())))

    def __repr__(self) -> str:
        from paimon_nb.base.redact import redact_options

        return f"TableOptions({redact_options(self.raw)!r})"
