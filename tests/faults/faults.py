"""Faults as somebody might make them: one changed text each, and the tests that must notice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """What is done wrong."""

    name: str
    file: str
    """Below the package."""
    right: str
    """Stands exactly once in the file."""
    wrong: str
    tests: tuple[str, ...]
    """Below tests/, as pytest takes them."""


COMMIT = ("table/write/commit/test_commit.py",)
STATE = ("state/test_machine.py",)
SCAN = ("table/read/test_planner.py", "table/read/test_pruning.py", "table/read/test_pruned_tables.py")
COMPACT = ("table/write/compact",)
MAINTAIN = ("table/write/maintenance",)
MERGE = ("table/lsm/merge",)

FAULTS = (
    Fault("publish asks first, then writes", "format/snapshot/directory.py", "if self.fs.sync_and_put_if_absent(named, path, snapshot.to_json()):", "if not self.fs.exists(path) and (self.fs.sync(named), self.fs.overwrite(path, snapshot.to_json())):", ("race/test_commits.py", "crash")),
    Fault("every lost race counts as won", "format/snapshot/directory.py", "return self._already_published(snapshot) if self.is_same_commit(snapshot) else Published.LOST", "return self._already_published(snapshot)", ("race/test_commits.py",)),
    Fault("a lost reply counts as a lost race", "format/snapshot/directory.py", "return self._already_published(snapshot) if self.is_same_commit(snapshot) else Published.LOST", "return Published.LOST", ("table/write/commit/test_lost_reply.py",)),
    Fault("no conflict check", "table/write/publish/attempt.py", "        if change.can_conflict(head.snapshot):\n", "        if False:\n", COMMIT),
    Fault("removals of dead files pass", "table/write/publish/conflict.py", "            if key not in live:\n", "            if False:\n", COMMIT),
    Fault("levels may overlap", "table/write/publish/conflict.py", "            if after[0] <= before[1]:", "            if after[0] < before[0]:", COMMIT),
    Fault("two writers give keys their buckets", "table/write/publish/conflict.py", "if entry.index_type == HASH and entry.partition in hashed and not known:", "if False:", (*COMMIT, "table/write/test_dynamic_bucket.py")),
    Fault("old index files stay listed", "table/write/publish/attempt.py", "        if i.file_name not in deleted\n", "        if True\n", (*COMMIT, *STATE)),
    Fault("murmur with another seed", "format/row/bucket.py", "SEED = 42", "SEED = 43", ("format/row",)),
    Fault("murmur shifts with the sign", "format/row/bucket.py", "    h ^= h >> np.uint32(13)\n", "    h ^= (h.view(np.int32) >> 13).view(np.uint32)\n", ("format/row",)),
    Fault("columns by name", "format/data/schema_evolution.py", "    by_id = {f.id: f for f in file_fields}", "    by_id = {w.id: f for f in file_fields for w in read_fields if w.name == f.name}", ("state/test_schema_chains.py",)),
    Fault("nested columns by place", "format/data/schema_evolution.py", "    index_of = {f.id: i for i, f in enumerate(old.fields)}", "    index_of = {f.id: i for i, f in enumerate(new.fields) if i < len(old.fields)}", ("state/test_schema_chains.py",)),
    Fault("newest record first", "table/lsm/merge/groups.py", "np.lexsort((s[tied], group))", "np.lexsort((-s[tied], group))", (*MERGE, *STATE)),
    Fault("NULL sequence is largest", "table/lsm/merge/groups.py", '"descending" if spec.descending else "ascending", "at_start"', '"descending" if spec.descending else "ascending", "at_end"', MERGE),
    Fault("first-row takes the last", "table/lsm/merge/merge.py", "groups.take(groups.starts)", "groups.take(groups.ends)", MERGE),
    Fault("a sum taken back is added", "table/lsm/merge/aggregate/arithmetic.py", "self._add_values(accumulator, -value) if", "self._add_values(accumulator, value) if", MERGE),
    Fault("-U after +U", "table/lsm/changelog/produce.py", "(index[both], 1, index[both] + n, _UPDATE_AFTER)", "(index[both], -1, index[both] + n, _UPDATE_AFTER)", ("table/lsm/changelog", *COMPACT)),
    Fault("changelog tells new rows twice", "table/lsm/changelog/produce.py", "(index[has & ~had], 0,", "(index[has], 0,", ("table/lsm/changelog",)),
    Fault("statistics of all but one schema lost", "table/read/predicate/stats_evaluator.py", "out[source] | members if source in out else members", "members", SCAN),
    Fault("'<' reads bounds of '>'", "table/read/predicate/stats_evaluator.py", '        case "<":\n            return pc.less(low, value)', '        case "<":\n            return pc.less(high, value)', SCAN),
    Fault("unknown statistics mean no", "table/read/predicate/stats_evaluator.py", "return fill_null(answer, True)", "return fill_null(answer, False)", SCAN),
    Fault("newer rows are judged apart from older ones", "table/read/plan/prune.py", "np.where(alone[bucket], answers, some[bucket])", "answers", SCAN),
    Fault("doubles are refused too early", "table/read/live_files.py", "    if keep is None:\n        check_unique(entries)", "    check_unique(entries)", SCAN),
    Fault("increments begin with their start", "table/read/plan/incremental.py", "_changelog_or_snapshot(store, i, mode) for i in range(start + 1, end + 1)", "_changelog_or_snapshot(store, i, mode) for i in range(start, end + 1)", ("table/read/test_incremental.py",)),
    Fault("old writers compact under their schema", "table/write/table_write.py", "return self.store if newest <= self.store.schema.id else self.store.at_schema(self.store.schemas.get(newest))", "return self.store", COMPACT),
    Fault("deletes are dropped too early", "table/write/bucket_compact/merge_tree.py", "self.unit.output_level >= self.levels.highest_used or self.vectors is not None", "True", (*COMPACT, *STATE)),
    Fault("older results are merged again", "table/write/bucket_compact/merge_tree.py", "pa.concat_tables(drop_superseded(upper, self.keys)) if upper else None", "pa.concat_tables([t for _, t in upper]) if upper else None", (*COMPACT, *STATE)),
    Fault("vectors of files that are gone stay", "table/write/bucket_compact/merge_tree.py", "            self.vectors.drop(f.file_name for f in self.result.before if f.file_name not in after)\n", "", (*COMPACT, *STATE)),
    Fault("files with deletes go up as they are", "table/write/bucket_compact/merge_tree.py", "        if has_deletes and (to_top or self.vectors is not None):\n            return False\n", "", COMPACT),
    Fault("postponed rows and their buckets at once", "table/write/compact/compact.py", "if partition in waiting and bucket != POSTPONE_BUCKET:", "if False:", ("table/write/compact/test_postpone_bucket.py",)),
    Fault("tags hold nothing", "table/write/maintenance/reachable.py", "        if tag.name in removed_tags or root in used.roots:", "        if True:", MAINTAIN),
    Fault("one snapshot too many expires", "table/write/maintenance/expire.py", "newest_allowed = max(latest - limits.retain_max + 1, earliest)", "newest_allowed = max(latest - limits.retain_max + 2, earliest)", MAINTAIN),
    Fault("consumers hold nothing", "table/write/maintenance/expire.py", "    if consumed is not None and not store", "    if False and not store", MAINTAIN),
    Fault("files go before their snapshots", "table/write/maintenance/expire.py", "            for snapshot_id in ids:\n                check_is_there(changing, retained)\n                changing.snapshots.delete(snapshot_id)\n            check_is_there(changing, retained)\n            # Afterwards: the next expiry begins at the hint, and would leave what a killed one had not deleted below it.\n            changing.snapshots.write_earliest_hint(end)\n            paths = candidates.unused(with_new_roots(used, changing))\n            delete_paths(changing, paths)\n", "            paths = candidates.unused(with_new_roots(used, changing))\n            delete_paths(changing, paths)\n            for snapshot_id in ids:\n                check_is_there(changing, retained)\n                changing.snapshots.delete(snapshot_id)\n            check_is_there(changing, retained)\n            # Afterwards: the next expiry begins at the hint, and would leave what a killed one had not deleted below it.\n            changing.snapshots.write_earliest_hint(end)\n", ("crash",)),
    Fault("the hint goes before its snapshots", "table/write/maintenance/expire.py", "            for snapshot_id in ids:\n                check_is_there(changing, retained)\n                changing.snapshots.delete(snapshot_id)\n            check_is_there(changing, retained)\n            # Afterwards: the next expiry begins at the hint, and would leave what a killed one had not deleted below it.\n            changing.snapshots.write_earliest_hint(end)\n", "            # Afterwards: the next expiry begins at the hint, and would leave what a killed one had not deleted below it.\n            changing.snapshots.write_earliest_hint(end)\n            for snapshot_id in ids:\n                changing.snapshots.delete(snapshot_id)\n", ("crash",)),
    Fault("oldest snapshots roll back first", "table/write/maintenance/rollback.py", "for snapshot_id in reversed(newer):", "for snapshot_id in newer:", ("crash",)),
    Fault("a branch's first schema comes first", "table/write/maintenance/branches.py", "for schema_id in reversed(store.schemas.ids()):", "for schema_id in store.schemas.ids():", ("crash",)),
    Fault("sequence numbers begin with the last one", "table/write/table_write.py", "max_sequence + 1", "max_sequence", ("table/write", *STATE)),
    Fault("known keys get new buckets", "table/write/dynamic_bucket.py", "(known.hashes[inside] == hashes) if len(known.hashes)", "(known.hashes[inside] < hashes) if len(known.hashes)", ("table/write/test_dynamic_bucket.py",)),
    Fault("partition names are not escaped", "format/row/partition_path.py", 'f"{escape(key)}={escape(value)}"', 'f"{key}={value}"', ("format/row", *STATE)),
    Fault("size ratio the wrong way round", "table/lsm/pick.py", "is_larger = taken * (100.0 + limits.size_ratio) / 100.0 < following.run.size", "is_larger = taken * (100.0 + limits.size_ratio) / 100.0 > following.run.size", ("table/lsm",)),
)  # fmt: skip
