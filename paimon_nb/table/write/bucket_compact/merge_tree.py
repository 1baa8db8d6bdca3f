"""Compacts one bucket of a primary-key table: rewrite, upgrade, changelog, deletion vectors.

Source: docs/spec/merge-semantics.md sections 3, 4 and 6 (Paimon `MergeTreeCompactTask`, `MergeTreeCompactRewriter`,
`LookupMergeTreeCompactRewriter`, `FullChangelogMergeTreeCompactRewriter`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import file_format
from paimon_nb.format.types.arrow_builders import from_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.lsm import Levels, sections
from paimon_nb.table.lsm.changelog import full_compaction_changelog, lookup_changelog
from paimon_nb.table.lsm.compaction_plan import Rewrite, compaction_steps
from paimon_nb.table.lsm.key_chunks import LevelFiles, chunks_aligned_by_key, runs_of
from paimon_nb.table.lsm.levels import key_decoder
from paimon_nb.table.lsm.merge import MergeSpec, merge
from paimon_nb.table.lsm.merge.merge import without_retracts
from paimon_nb.table.lsm.superseded import drop_superseded, is_in, key_ids
from paimon_nb.table.write.bucket_compact.expire_rows import RowExpiry
from paimon_nb.table.write.bucket_compact.lookup_levels import LookupLevels
from paimon_nb.table.write.bucket_compact.result import CompactResult
from paimon_nb.table.write.bucket_compact.sorted_run_reader import read_run
from paimon_nb.table.write.data_file_writer import APPEND_SOURCE, COMPACT_SOURCE, FileTarget, KeyValueFileWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.lsm.pick import Unit
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.bucket_compact.deletion_vectors import BucketVectors


@dataclass
class BucketCompaction:
    """The compaction of one unit of one bucket.

    `levels` is the whole bucket: levels above the output decide whether deletes are kept, and are used for lookups.
    """

    store: TableStore
    partition: bytes
    bucket: int
    levels: Levels
    unit: Unit
    vectors: BucketVectors | None
    """Set for tables with deletion vectors."""
    force_rewrite: bool = False
    write_changelog: bool = True
    """False in an overwrite, whose commit has no changelog with any producer."""

    def run(self) -> CompactResult:
        """Run the compaction. Writes files, publishes nothing."""
        self.spec = MergeSpec.of(self.store.schema, self.store.options)
        self.keys = self.store.schema.key_fields
        self.producer = str(self.store.options.get(opt.CHANGELOG_PRODUCER))
        self.lookup = self.store.options.need_lookup
        self.expiry = RowExpiry.of(self.store)
        self.drop_delete = self.unit.output_level != 0 and (
            self.unit.output_level >= self.levels.highest_used or self.vectors is not None
        )
        input_files = {f.file_name for f in self.unit.files}
        self.above = LookupLevels(
            self.store, self.partition, self.bucket,
            [f for f in self.levels.files if f.file_name not in input_files and f.level > 0], self.vectors,
        )  # fmt: skip
        self.result = CompactResult()
        key = key_decoder([f.type for f in self.store.schema.key_fields])
        o = self.store.options
        steps = compaction_steps(
            sections(self.unit.files, key),
            self.unit.output_level,
            small_below=o.target_file_size(True) * float(o.get(opt.COMPACTION_SMALL_FILE_RATIO)),
            may_upgrade=self._may_upgrade,
            must_rewrite=self._must_rewrite,
        )
        for step in steps:
            if isinstance(step, Rewrite):
                files = [f for section in step.sections for run in section for f in run.files]
                self._rewrite_runs(runs_of(files, key), files)
            else:
                self._upgrade_file(step.file)
        if self.vectors is not None:
            after = {f.file_name for f in self.result.after}
            self.vectors.drop(f.file_name for f in self.result.before if f.file_name not in after)
            self.result.new_index, self.result.deleted_index = self.vectors.finish()
        return self.result

    # -- decisions

    def _must_rewrite(self, file: DataFile) -> bool:
        """Whether a file must be rewritten even on its own level."""
        deleted = self.vectors is not None and self.vectors.of(file.file_name) is not None
        return deleted or self.force_rewrite or self.expiry.is_active

    def _may_upgrade(self, file: DataFile) -> bool:
        """Whether the level can change without rewriting the rows."""
        output, has_deletes = self.unit.output_level, file.delete_row_count != 0
        to_top = output == self.levels.max_level
        if has_deletes and (to_top or self.vectors is not None):
            return False
        if not self.lookup or file.level != 0:
            return True
        if self.store.options.has(opt.PK_VECTOR_INDEX_COLUMNS):
            return False  # as in Java: the index of a vector column covers what compactions wrote
        if file_format(self.store.options, 0) != file_format(self.store.options, output):
            return False
        # Merging with the rows above can change these rows, unless the newest row simply wins.
        return to_top or (self.spec.engine == "deduplicate" and not self.spec.sequence_fields)

    # -- rewriting

    def _upgrade_file(self, file: DataFile) -> None:
        if self._upgrade_produces_changelog(file.level):
            self._merge_into([LevelFiles(file.level, (file,))], None)
        elif self.vectors is not None and file.level == 0:
            self._merge_into([LevelFiles(0, (file,))], None)  # marks the rows that this file supersedes
        self.result.before.append(file)
        self.result.after.append(replace(file, level=self.unit.output_level))

    def _rewrite_runs(self, runs: Sequence[LevelFiles], files: Sequence[DataFile]) -> None:
        target = FileTarget(self.partition, self.bucket, self.unit.output_level, COMPACT_SOURCE)
        with KeyValueFileWriter(self.store, target) as out:
            self._merge_into(runs, out)
            self.result.after += out.finish()
        self.result.before += files

    def _upgrade_produces_changelog(self, from_level: int) -> bool:
        """Whether moving a file of `from_level` to the output level produces changelog."""
        if self.producer == "lookup":
            return from_level == 0
        return self.producer == "full-compaction" and self.unit.output_level == self.levels.max_level

    def _merge_into(self, runs: Sequence[LevelFiles], out: KeyValueFileWriter | None) -> None:
        """Merge the runs chunk by chunk; rows go to `out` (None: they stay in place), changes to a changelog."""
        self.store.prefetch(self.partition, self.bucket, [f for run in runs for f in run.files])
        sizes = [sum(f.file_size for f in run.files) for run in runs]
        total = sum(sizes)
        streams = [
            self.expiry.drop_expired(read_run(self.store, self.partition, self.bucket, run, self.vectors, size / total))
            for run, size in zip(runs, sizes, strict=True)
        ]
        levels = [run.level for run in runs]
        self.takes_up_new = 0 in levels
        target = FileTarget(self.partition, self.bucket, self.unit.output_level, APPEND_SOURCE, changelog=True)
        with KeyValueFileWriter(self.store, target) as log:
            for tables in chunks_aligned_by_key(self.keys, streams):
                rows, changes = self._merge_chunk(
                    [(lvl, t) for lvl, t in zip(levels, tables, strict=True) if t is not None]
                )
                if out is not None and rows.num_rows:
                    out.write(rows)
                if self.write_changelog and changes is not None and changes.num_rows:
                    log.write(changes)
            self.result.changelog += log.finish()

    def _merge_chunk(self, parts: list[tuple[int, pa.Table]]) -> tuple[pa.Table, pa.Table | None]:
        """(rows of the output, changes) of one chunk."""
        if self.lookup:
            merged, changes = self._merge_with_lookup(parts)
        else:
            merged = merge([t for _, t in parts], self.spec, drop_delete=False)
            changes = self._full_compaction_changes(parts, merged)
        return (without_retracts(merged) if self.drop_delete else merged), changes

    def _full_compaction_changes(self, parts: list[tuple[int, pa.Table]], merged: pa.Table) -> pa.Table | None:
        top = self.levels.max_level
        if self.producer != "full-compaction" or self.unit.output_level != top:
            return None
        old = next((t for level, t in parts if level == top), merged.slice(0, 0))
        return full_compaction_changelog(old, [t for level, t in parts if level != top], merged, self.spec)

    def _merge_with_lookup(self, parts: list[tuple[int, pa.Table]]) -> tuple[pa.Table, pa.Table | None]:
        """Lookup tables: rows above level 0 are complete results, so only those of the lowest level count."""
        fresh = [t for level, t in parts if level == 0]
        upper = [(level, t) for level, t in parts if level > 0]
        high = pa.concat_tables(drop_superseded(upper, self.keys)) if upper else None
        if not fresh:
            assert high is not None
            return merge([high], self.spec, drop_delete=False, alone_as_is=not self.takes_up_new), None
        unmatched = pa.concat_tables(fresh)
        new_ids = key_ids(unmatched, self.keys)
        if high is not None:
            unmatched = unmatched.filter(from_numpy(~is_in(new_ids, key_ids(high, self.keys))))
        found = self.above.find(unmatched)
        before = [t for t in (high, found) if t is not None and t.num_rows]
        if self.spec.engine == "first-row":
            return self._merge_first_row(high, found, fresh)
        merged = merge([*before, *fresh], self.spec, drop_delete=False, alone_as_is=False)
        changes = None
        if self.producer == "lookup":
            old = pa.concat_tables(before) if before else merged.slice(0, 0)
            touched = is_in(key_ids(merged, self.keys), new_ids)
            changes = lookup_changelog(old, merged.filter(from_numpy(touched)), self.spec)
        return merged, changes

    def _merge_first_row(
        self, high: pa.Table | None, found: pa.Table | None, fresh: list[pa.Table]
    ) -> tuple[pa.Table, pa.Table | None]:
        """Keys that exist in upper levels are unchanged; new keys are the changes."""
        merged = merge([*fresh, *([high] if high is not None else [])], self.spec, drop_delete=False, alone_as_is=False)
        new = merged
        for there in (high, found):
            if there is not None and there.num_rows:
                new = new.filter(from_numpy(~is_in(key_ids(new, self.keys), key_ids(there, self.keys))))
        if found is not None and found.num_rows:
            merged = merged.filter(from_numpy(~is_in(key_ids(merged, self.keys), key_ids(found, self.keys))))
        return merged, new if self.producer == "lookup" else None
