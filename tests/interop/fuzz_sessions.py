"""Random sessions of Flink SQL: one or two tables and ten statements, for `fuzz_run.py`."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

from fuzz_expressions import Expressions, family
from odd_merges import OddMerge
from odd_tables import FLAT, WIDER, Column, OddTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SYSTEM = {
    "files": (
        "SELECT `partition`, bucket, file_format, schema_id, `level`, record_count, min_key, max_key, null_value_counts,"
        " min_value_stats, max_value_stats, min_sequence_number, max_sequence_number FROM `{t}$files`"
    ),
    "snapshots": (
        "SELECT snapshot_id, schema_id, commit_kind, total_record_count, delta_record_count, changelog_record_count FROM `{t}$snapshots`"
    ),
    "schemas": "SELECT schema_id, fields, partition_keys, primary_keys, options, `comment` FROM `{t}$schemas`",
    "options": "SELECT * FROM `{t}$options`",
    "audit_log": "SELECT * FROM `{t}$audit_log`",
    "binlog": "SELECT * FROM `{t}$binlog`",
    "ro": "SELECT * FROM `{t}$ro`",
    "manifests": "SELECT num_added_files, num_deleted_files, schema_id, min_partition_stats, max_partition_stats FROM `{t}$manifests`",
    "partitions": "SELECT record_count, file_count FROM `{t}$partitions`",
    "buckets": "SELECT `partition`, bucket, record_count, file_count FROM `{t}$buckets`",
    "tags": "SELECT tag_name, snapshot_id, schema_id, record_count FROM `{t}$tags`",
    "branches": "SELECT branch_name FROM `{t}$branches`",
    "consumers": "SELECT * FROM `{t}$consumers`",
    "statistics": "SELECT snapshot_id, schema_id, mergedRecordCount FROM `{t}$statistics`",
    "aggregation_fields": "SELECT field_name, field_type, `comment` FROM `{t}$aggregation_fields`",
    "table_indexes": "SELECT `partition`, bucket, index_type, row_count FROM `{t}$table_indexes`",
    "row_tracking": "SELECT * FROM `{t}$row_tracking`",
}  # fmt: skip
SAME_FILES = {
    "compaction.size-ratio": "100000", "compaction.max-size-amplification-percent": "100000", "overwrite-upgrade": "false",
}  # fmt: skip
"""Picks by size differ by a few bytes of two writers' files; with these they go by number alone."""
SETTINGS = (
    ("snapshot.num-retained.max", "3"), ("snapshot.num-retained.min", "1"), ("write-only", "true"), ("bucket", "3"), ("bucket", "-1"),
    ("merge-engine", "first-row"), ("changelog-producer", "lookup"), ("changelog-producer", "input"), ("file.format", "orc"),
    ("file.format", "avro"), ("scan.mode", "latest"), ("scan.snapshot-id", "1"), ("sequence.field", "c0"), ("ignore-delete", "true"),
    ("snapshot.time-retained", "1 h"), ("write-buffer-size", "8 mb"), ("target-file-size", "1 mb"), ("file.compression", "snappy"),
    ("num-sorted-run.compaction-trigger", "2"), ("metadata.stats-mode", "none"), ("partition.expiration-time", "7 d"),
    ("tag.automatic-creation", "process-time"), ("consumer.expiration-time", "1 h"), ("bucket-key", "k0"), ("primary-key", "k0"),
    ("deletion-vectors.enabled", "true"), ("fields.c0.aggregate-function", "max"), ("fields.c1.ignore-retract", "true"),
    ("scan.fallback-branch", "b1"), ("dynamic-partition-overwrite", "false"), ("rowkind.field", "c0"), ("my.own.key", "1"),
    ("write-buffer-size", "some"), ("file.format", "txt"), ("full-compaction.delta-commits", "1"),
    ("commit.force-compact", "true"), ("local-merge-buffer-size", "1 mb"), ("changelog-producer.row-deduplicate", "true"),
    ("sequence.snapshot-ordering", "true"), ("metastore.partitioned-table", "true"), ("partition", "c0"), ("auto-create", "true"),
)  # fmt: skip
PLACES = (
    "'scan.snapshot-id' = '1'", "'scan.snapshot-id' = '2'", "'scan.snapshot-id' = '99'", "'scan.tag-name' = 't1'", "'scan.tag-name' = 'none'",
    "'scan.version' = '1'", "'scan.version' = 't1'", "'scan.timestamp-millis' = '32503680000000'", "'scan.timestamp-millis' = '1'",
    "'scan.timestamp' = '2999-01-01 00:00:00'", "'scan.timestamp' = '1999-01-01 00:00:00'", "'incremental-between' = '1,2'",
    "'incremental-between' = '1,3'", "'incremental-between' = '2,1'", "'incremental-between' = 't1,t2'", "'incremental-between' = '0,2'",
    "'incremental-between' = '1,2', 'incremental-between-scan-mode' = 'diff'", "'incremental-between' = '1,99'", "'branch' = 'b1'",
    "'incremental-between' = '1,2', 'incremental-between-scan-mode' = 'changelog'", "'branch' = 'none'", "'scan.mode' = 'compacted-full'",
    "'incremental-between' = '1,2', 'incremental-between-scan-mode' = 'delta'", "'scan.mode' = 'latest'", "'scan.mode' = 'latest-full'",
    "'scan.mode' = 'from-snapshot', 'scan.snapshot-id' = '1'", "'scan.mode' = 'from-snapshot-full', 'scan.snapshot-id' = '1'",
    "'scan.mode' = 'from-timestamp', 'scan.timestamp-millis' = '1'", "'scan.mode' = 'nonsense'", "'scan.parallelism' = '2'",
    "'incremental-between-timestamp' = '1,32503680000000'", "'scan.mode' = 'incremental'", "'incremental-to-auto-tag' = 't1'",
    "'scan.file-creation-time-millis' = '1'", "'scan.manifest.parallelism' = '2'", "'scan.bounded.watermark' = '1'", "'read.batch-size' = '1'",
    "'batch-scan-mode' = 'none'", "'scan.fallback-branch' = 'b1'", "'merge-engine' = 'first-row'", "'scan.watermark' = '1'",
    "'file-index.read.enabled' = 'false'", "'branch' = 'b1', 'scan.snapshot-id' = '1'", "'scan.mode' = 'full'", "'bucket' = '5'",
)  # fmt: skip


def stored(expression: str) -> str:
    """Without the constant before 1970, whose fields are wrong in Flink: stored, they would differ in all that follows."""
    return expression.replace("'1969-12-31 23:59:59'", "'2023-01-31 00:00:00'")


class Plain(OddTable):
    def live(self) -> None:
        """The session decides."""

    def any_options(self) -> dict[str, str]:
        out = super().any_options() | SAME_FILES
        if out.get("file.compression") in ("none", "lz4"):  # which Java writes in some formats only
            out["file.compression"] = "snappy" if self.keyed or out["file.format"] != "parquet" else "gzip"
        return out

    def append_options(self) -> dict[str, str]:
        """Java's full compaction leaves fewer files than `compaction.min.file-num` alone; ours merges any two."""
        out = super().append_options()
        return out if "bucket-key" in out else out | {"compaction.min.file-num": "2"}

    def key_options(self) -> dict[str, str]:
        out = super().key_options()
        if "deletion-vectors.enabled" not in out and not self.crossing and self.random.random() < 0.1:
            out["bucket"] = "-2"
            out["postpone.batch-write-fixed-bucket"] = "false"  # as Java 1.3, which does not know the option
        return out


class Merging(OddMerge):
    def live(self) -> None:
        """The session decides."""

    def any_options(self) -> dict[str, str]:
        return super().any_options() | SAME_FILES


class Session:
    """`statements`: what is run; the first ones make the tables, the last ones look at all that is left."""

    def __init__(self, seed: int, steps: int = 10) -> None:
        r = self.random = random.Random(f"session {seed}")
        self.seed, self.streaming = seed, seed % 10 == 9
        count = r.choice([1, 2])
        self.tables: list[OddTable] = [r.choice([Plain, Merging])(seed * 2 + i) for i in range(count)]
        self.statements = [table.statements[0] for table in self.tables]
        if self.streaming:
            self.statements.append("SET 'execution.runtime-mode' = 'streaming'")
        for table in self.tables:
            self.statements += self.life(table, table.insert)
        changes, looks = [*self.changes()], [*self.looks()]
        for _ in range(steps):
            acts = changes if r.random() < 0.55 else looks
            table = r.choice(self.tables)
            made = r.choice(acts)(table)
            self.statements += [made] if isinstance(made, str) else made or []
        if self.streaming:
            self.statements.append("SET 'execution.runtime-mode' = 'batch'")
        for table in self.tables:
            self.statements += [f"SELECT * FROM {table.name}", SYSTEM["snapshots"].format(t=table.name)]
        # Flink shortens a FLOAT constant of more than seven digits to seven.
        self.statements = [s.replace("'123456789.125' AS FLOAT", "'12345.5' AS FLOAT") for s in self.statements]
        self.statements = [
            re.sub(r"\bTIME\(\d\)", "TIME(0)", s) for s in self.statements
        ]  # which is what Flink makes of it

    def life(self, table: OddTable, act: Callable[[], None]) -> list[str]:
        """What an act of OddTable adds."""
        before = len(table.statements)
        act()
        return table.statements[before:]

    # -- what changes tables

    def changes(self) -> Iterator[Callable[[OddTable], str | list[str] | None]]:
        yield from [lambda t: self.life(t, t.insert)] * 6
        yield from [lambda t: self.life(t, t.alter)] * 2
        yield from [
            self.insert_columns,
            self.setting,
            self.odd_alter,
            self.tag,
            self.tag,
            self.branch,
            self.branch,
            self.expire,
        ]
        if not self.streaming:  # where an INSERT SELECT, and what procedures start, may have no end
            yield from [
                self.overwrite,
                self.delete,
                self.delete,
                self.update,
                self.update,
                self.insert_select,
                self.define,
            ]
            yield from [self.compact, self.compact, self.partition, self.other_call, self.merge_into]

    def overwrite(self, t: OddTable) -> str | list[str]:
        r = self.random
        if not t.parts or r.random() < 0.4:
            out = self.life(t, t.overwrite)
            if r.random() < 0.4:
                out = [
                    s.replace(
                        " VALUES ",
                        f" /*+ OPTIONS('dynamic-partition-overwrite' = '{r.choice(['true', 'false'])}') */ VALUES ",
                        1,
                    )
                    for s in out
                ]
            return out
        part = r.choice(t.parts)
        row = dict(zip([c.name for c in t.columns], t.row(), strict=True))
        given = self.bare(row.pop(part.name))
        columns = f" ({', '.join(f'`{n}`' for n in row)})" if r.random() < 0.5 else ""
        verb = r.choice(["OVERWRITE", "INTO"])
        return f"INSERT {verb} {t.name} PARTITION (`{part.name}` = {given}){columns} VALUES ({', '.join(row.values())})"

    def expressions(self, t: OddTable, alias: str = "") -> Expressions:
        return Expressions(self.random, t.columns, alias)

    def where(self, t: OddTable) -> str:
        return t.condition() if self.random.random() < 0.5 else self.expressions(t).condition()

    def delete(self, t: OddTable) -> str | list[str]:
        if not t.keyed and self.random.random() < 0.9:
            return self.life(t, t.insert)
        return f"DELETE FROM {t.name}" + (f" WHERE {self.where(t)}" if self.random.random() < 0.95 else "")

    def update(self, t: OddTable) -> str | list[str]:
        r = self.random
        if not t.keyed and r.random() < 0.9:
            return self.life(t, t.insert)
        some = r.sample(t.columns, r.choice([1, 1, 2])) if len(t.columns) > 1 else t.columns
        sets = ", ".join(f"`{c.name}` = {self.assigned(t, c)}" for c in some)
        return f"UPDATE {t.name} SET {sets}" + (f" WHERE {self.where(t)}" if r.random() < 0.9 else "")

    def assigned(self, t: OddTable, c: Column) -> str:
        if self.random.random() < 0.5:
            return t.literal(c.type, c.null)
        if family(c.type) == "nested":
            return f"`{c.name}`"
        return stored(f"CAST({self.expressions(t).some(family(c.type))} AS {c.type})")

    def insert_select(self, t: OddTable) -> str:
        r = self.random
        source = r.choice(self.tables)
        e = self.expressions(source)
        picked = []
        for c in t.columns:
            same = [s for s in source.columns if s.type == c.type and (c.null or not s.null)]
            if same and r.random() < 0.8:
                picked.append(f"`{r.choice(same).name}`" if c not in source.columns else f"`{c.name}`")
            elif family(c.type) in ("nested", "bin", "time", "ltz") or r.random() < 0.5:
                picked.append(t.value(c))
            else:
                picked.append(stored(f"CAST({e.some(family(c.type))} AS {c.type})"))
        limit = " WHERE FALSE" if r.random() < 0.1 else ""
        keys = source is t or not t.keyed
        return (
            f"INSERT INTO {t.name} SELECT {', '.join(picked)} FROM {source.name}{limit}"
            if keys
            else f"INSERT INTO {t.name} SELECT DISTINCT {', '.join(t.row())} FROM {source.name}"
        )

    def insert_columns(self, t: OddTable) -> str:
        r = self.random
        row = dict(zip([c.name for c in t.columns], t.row(), strict=True))
        named = [c.name for c in t.columns if c.name[0] in "kp" or r.random() < 0.6]
        r.shuffle(named)
        return (
            f"INSERT INTO {t.name} ({', '.join(f'`{n}`' for n in named)}) VALUES ({', '.join(row[n] for n in named)})"
        )

    def setting(self, t: OddTable) -> str:
        key, value = self.random.choice(SETTINGS)
        if self.random.random() < 0.25:
            key = self.random.choice([*t.options, key])
            return f"ALTER TABLE {t.name} RESET ('{key}')"
        return f"ALTER TABLE {t.name} SET ('{key}' = '{value}')"

    def partition(self, t: OddTable) -> str:
        r = self.random
        if not t.parts:
            return r.choice(
                [
                    f"SHOW PARTITIONS {t.name}",
                    f"TRUNCATE TABLE {t.name}",
                    f"ALTER TABLE {t.name} DROP PARTITION (x = 'a')",
                ]
            )
        row = dict(zip([c.name for c in t.columns], t.row(), strict=True))
        chosen = r.sample(t.parts, r.randint(1, len(t.parts)))
        spec = ", ".join(f"`{p.name}` = {self.bare(row[p.name])}" for p in chosen)
        return r.choice(
            [
                f"ALTER TABLE {t.name} DROP PARTITION ({spec})",
                f"ALTER TABLE {t.name} DROP IF EXISTS PARTITION ({spec})",
                f"ALTER TABLE {t.name} ADD PARTITION ({spec})",
                f"SHOW PARTITIONS {t.name}",
                f"SHOW PARTITIONS {t.name} PARTITION ({spec})",
                f"TRUNCATE TABLE {t.name}",
                f"CALL sys.drop_partition('d.{t.name}', '{spec.replace('`', '').replace(chr(39), '')}')",
                f"CALL sys.mark_partition_done('d.{t.name}', '{spec.replace('`', '').replace(chr(39), '')}')",
            ]
        )

    def bare(self, literal: str) -> str:
        """'x' of CAST('x' AS STRING)."""
        text = literal.removeprefix("CAST(").rpartition(" AS ")[0] if literal.startswith("CAST(") else literal
        return text if text == "NULL" or text[0] in "'x" or text.lstrip("-").isdigit() else f"'{text.lower()}'"

    def odd_alter(self, t: OddTable) -> str:
        r = self.random
        c, other = r.choice(t.columns), r.choice(t.columns)
        return r.choice(
            [
                f"ALTER TABLE {t.name} MODIFY (`{c.name}` {r.choice(FLAT)})",
                f"ALTER TABLE {t.name} MODIFY (`{c.name}` {r.choice(WIDER.get(c.type, FLAT))} COMMENT 'new')",
                f"ALTER TABLE {t.name} MODIFY (`{c.name}` {c.type} NOT NULL)",
                f"ALTER TABLE {t.name} RENAME `{c.name}` TO `{other.name}`",
                f"ALTER TABLE {t.name} DROP (`{c.name}`)",
                f"ALTER TABLE {t.name} ADD (`{c.name}` INT)",
                f"ALTER TABLE {t.name} ADD (nn INT NOT NULL)",
                f"ALTER TABLE {t.name} ADD (cc AS `{c.name}`)",
                f"ALTER TABLE {t.name} DROP PRIMARY KEY",
                f"ALTER TABLE {t.name} ADD PRIMARY KEY (`{c.name}`) NOT ENFORCED",
                f"ALTER TABLE {t.name} RENAME TO {self.tables[0].name}",
                f"ALTER TABLE {t.name} MODIFY (`{c.name}` {c.type} AFTER `{other.name}`)",
            ]
        )

    def define(self, t: OddTable) -> list[str] | str:
        r = self.random
        e = self.expressions(t)
        return r.choice(
            [
                [f"CREATE TABLE ctas WITH ('bucket' = '-1') AS SELECT * FROM {t.name}", "DESC ctas", "SELECT * FROM ctas", "DROP TABLE ctas"],
                [f"CREATE TABLE alike LIKE {t.name}", "DESC alike", "DROP TABLE alike"],
                [f"CREATE TABLE alike LIKE {t.name} (EXCLUDING OPTIONS)", "DESC alike", "SELECT * FROM `alike$options`", "DROP TABLE IF EXISTS alike"],
                [f"CREATE VIEW v AS SELECT {e.projection()} AS x FROM {t.name}", "SELECT * FROM v", "DROP VIEW v"],
                [f"CREATE TEMPORARY VIEW v AS SELECT * FROM {t.name} WHERE {self.where(t)}", "SELECT COUNT(*) FROM v", "DROP TEMPORARY VIEW v"],
                f"CREATE TABLE {t.name} (a INT)",
                f"CREATE TABLE IF NOT EXISTS {t.name} (a INT)",
                "DROP TABLE nothing",
                "DROP TABLE IF EXISTS nothing",
                "CREATE DATABASE d",
                "CREATE TABLE bad (a INT, PRIMARY KEY (b) NOT ENFORCED)",
                "CREATE TABLE bad (a INT, a STRING)",
                "CREATE TABLE bad (a INT, b MAP<STRING, INT>, PRIMARY KEY (b) NOT ENFORCED)",
                f"CREATE TABLE bad (k0 INT, c0 INT, c1 STRING, PRIMARY KEY (k0) NOT ENFORCED) WITH ({', '.join(f'{k!r} = {v!r}' for k, v in r.sample(SETTINGS, 2))})",
                f"CREATE TABLE bad (k0 INT, c0 INT, c1 STRING) WITH ({', '.join(f'{k!r} = {v!r}' for k, v in r.sample(SETTINGS, 2))})",
            ]
        )  # fmt: skip

    def compact(self, t: OddTable) -> str | list[str]:
        r = self.random
        # A first-row table that was sorted is empty for readers of Java, until it is compacted: its rows are in level 0.
        if r.random() < 0.6 or t.options.get("merge-engine") == "first-row":
            return self.life(t, t.compact)
        orders = [c.name for c in t.columns if c.name[0] == "c" and "<" not in c.type]
        by = ",".join(r.sample(orders, min(len(orders), 2)))
        more = r.choice(
            [
                "",
                f", order_strategy => '{r.choice(['order', 'zorder', 'hilbert'])}', order_by => '{by}'",
                ", options => 'sink.parallelism=1'",
                f", partitions => '{t.parts[0].name if t.parts else 'x'}=a'",
                ", `where` => '1 = 1'",
            ]
        )
        return f"CALL sys.compact(`table` => 'd.{t.name}'{more})"

    def tag(self, t: OddTable) -> str:
        r, name = self.random, f"d.{t.name}"
        tag = f"t{r.choice([1, 1, 2])}"
        return r.choice(
            [
                f"CALL sys.create_tag('{name}', '{tag}')",
                f"CALL sys.create_tag('{name}', 't1')",
                f"CALL sys.create_tag('{name}', 't2')",
                f"CALL sys.create_tag('{name}', '{tag}', 1)",
                f"CALL sys.create_tag('{name}', '{tag}', 99)",
                f"CALL sys.create_tag(`table` => '{name}', tag => '{tag}', time_retained => '1 d')",
                f"CALL sys.delete_tag('{name}', '{tag}')",
                f"CALL sys.rename_tag('{name}', '{tag}', 't{r.randint(1, 3)}')",
                f"CALL sys.replace_tag('{name}', '{tag}')",
                f"CALL sys.replace_tag('{name}', '{tag}', 1)",
                f"CALL sys.rollback_to(`table` => '{name}', tag => '{tag}')",
                f"CALL sys.rollback_to(`table` => '{name}', snapshot_id => {r.randint(1, 3)})",
                f"CALL sys.rollback_to_timestamp(`table` => '{name}', `timestamp` => 32503680000000)",
                f"CALL sys.create_tag_from_timestamp(`table` => '{name}', tag => '{tag}', `timestamp` => {r.choice([1, 32503680000000])})",
                f"CALL sys.expire_tags('{name}', '2999-01-01 00:00:00')",
                f"CALL sys.create_tag('{name}', '1')",
                f"CALL sys.create_tag('{name}', '')",
            ]
        )

    def branch(self, t: OddTable) -> str | list[str]:
        r, name = self.random, f"d.{t.name}"
        branch = f"b{r.choice([1, 1, 2])}"
        return r.choice(
            [
                f"CALL sys.create_branch('{name}', '{branch}')",
                f"CALL sys.create_branch('{name}', '{branch}')",
                [f"CALL sys.create_tag('{name}', 't1')", f"CALL sys.create_branch('{name}', 'b1', 't1')"],
                f"CALL sys.create_branch('{name}', '{branch}', 't{r.randint(1, 2)}')",
                f"CALL sys.delete_branch('{name}', '{branch}')",
                f"CALL sys.fast_forward('{name}', '{branch}')",
                [s.replace(f" {t.name} ", f" `{t.name}$branch_{branch}` ", 1) for s in self.life(t, t.insert)],
                f"SELECT * FROM `{t.name}$branch_{branch}`",
                f"SELECT snapshot_id, commit_kind FROM `{t.name}$branch_{branch}$snapshots`",
                f"ALTER TABLE `{t.name}$branch_{branch}` SET ('snapshot.num-retained.max' = '7')",
                f"ALTER TABLE `{t.name}$branch_{branch}` ADD (bb INT)",
                f"CALL sys.create_branch('{name}', '{r.choice(['main', '1', ''])}')",
                f"DROP TABLE `{t.name}$branch_{branch}`",
            ]
        )

    def expire(self, t: OddTable) -> str:
        r, name = self.random, f"d.{t.name}"
        return r.choice(
            [
                f"CALL sys.expire_snapshots(`table` => '{name}', retain_max => {r.randint(1, 3)}, retain_min => 1)",
                f"CALL sys.expire_snapshots(`table` => '{name}', retain_max => {r.randint(0, 2)})",
                f"CALL sys.expire_snapshots(`table` => '{name}', older_than => '2999-01-01 00:00:00', retain_min => {r.randint(1, 2)})",
                f"CALL sys.expire_snapshots(`table` => '{name}', options => 'snapshot.num-retained.max=2,snapshot.num-retained.min=1')",
                f"CALL sys.expire_snapshots(`table` => '{name}', retain_max => 1, max_deletes => 1)",
                f"CALL sys.expire_changelogs(`table` => '{name}', retain_max => 1, retain_min => 1)",
                f"CALL sys.expire_partitions(`table` => '{name}', expiration_time => '1 d', timestamp_formatter => 'yyyy-MM-dd')",
            ]
        )

    def other_call(self, t: OddTable) -> str:
        r, name = self.random, f"d.{t.name}"
        return r.choice(
            [
                f"CALL sys.compact_manifest('{name}')",
                f"CALL sys.purge_files('{name}')",
                # Java commits an empty COMPACT snapshot where no column has an index.
                f"CALL sys.{'rewrite_file_index' if 'file-index' in str(t.options) else 'compact_manifest'}('{name}')",
                f"CALL sys.remove_orphan_files('{name}', '2999-01-01 00:00:00', true)",
                f"CALL sys.remove_unexisting_files('{name}')",
                f"CALL sys.reset_consumer('{name}', 'me', {r.randint(1, 3)})",
                f"CALL sys.reset_consumer('{name}', 'me')",
                f"CALL sys.clear_consumers('{name}')",
                f"CALL sys.rescale(`table` => '{name}', bucket_num => {r.randint(1, 3)})",
                f"CALL sys.alter_column_default_value(`table` => '{name}', `column` => 'c0', default_value => '7')",
                f"CALL sys.trigger_tag_automatic_creation('{name}')",
                f"CALL sys.repair('{name}')",
                f"ANALYZE TABLE {t.name} COMPUTE STATISTICS",
                f"CALL sys.no_such('{name}')",
                f"CALL sys.create_tag('{name}')",
            ]
        )

    def merge_into(self, t: OddTable) -> str | list[str]:
        r = self.random
        source = r.choice(self.tables)
        key, theirs = t.keys[0].name, source.keys[0].name
        values = [c for c in t.columns if c.name[0] == "c"]
        if not values:
            return self.delete(t)
        c = r.choice(values)
        action = r.choice(
            [
                f"matched_upsert_setting => '{c.name} = {self.quoted(t.literal(c.type))}'",
                "matched_delete_condition => 'TRUE'",
                f"matched_delete_condition => 'S.{theirs} IS NOT NULL'",
                f"not_matched_by_source_delete_condition => 'T.{key} IS NOT NULL'",
            ]
        )
        return (
            f"CALL sys.merge_into(target_table => 'd.{t.name}', target_alias => 'T', source_sqls => 'CREATE TEMPORARY VIEW S AS"
            f" SELECT * FROM d.{source.name}', source_table => 'S', merge_condition => 'T.{key} = S.{theirs}', {action})"
        )

    def quoted(self, text: str) -> str:
        return text.replace("'", "''")

    # -- what only looks

    def looks(self) -> Iterator[Callable[[OddTable], str | list[str] | None]]:
        yield from [self.select] * 6
        yield from [self.placed] * 4
        yield from [self.system] * 4
        yield from [
            self.aggregate,
            self.aggregate,
            self.join,
            self.sorted,
            self.describe,
            self.nested_query,
            self.windowed,
        ]

    def select(self, t: OddTable) -> str:
        r, e = self.random, self.expressions(t)
        picked = ", ".join(f"{e.projection()} AS x{i}" for i in range(r.randint(1, 4)))
        return f"SELECT {picked} FROM {t.name}" + (f" WHERE {self.where(t)}" if r.random() < 0.3 else "")

    def placed(self, t: OddTable) -> str:
        r = self.random
        of = r.choice([t.name, t.name, t.name, t.name, f"`{t.name}$audit_log`", f"`{t.name}$ro`", f"`{t.name}$binlog`"])
        if r.random() < 0.12:
            year = r.choice([1999, 2999])
            return f"SELECT * FROM {of} FOR SYSTEM_TIME AS OF TIMESTAMP '{year}-01-01 00:00:00'"
        where = f" WHERE {self.where(t)}" if r.random() < 0.3 and of == t.name else ""
        return f"SELECT * FROM {of} /*+ OPTIONS({r.choice(PLACES)}) */{where}"

    def system(self, t: OddTable) -> str:
        return self.random.choice([*SYSTEM.values()]).format(t=t.name)

    def aggregate(self, t: OddTable) -> str:
        r, e = self.random, self.expressions(t)
        wanted = ", ".join(f"{e.aggregate()} AS a{i}" for i in range(r.randint(1, 3)))
        where = f" WHERE {self.where(t)}" if r.random() < 0.3 else ""
        flat = [c.name for c in t.columns if family(c.type) not in ("nested", "bin")]
        if r.random() < 0.4 or not flat:
            return f"SELECT {wanted} FROM {t.name}{where}"
        by = r.choice(flat)
        having = " HAVING COUNT(*) > 1" if r.random() < 0.3 else ""
        return f"SELECT `{by}`, {wanted} FROM {t.name}{where} GROUP BY `{by}`{having}"

    def join(self, t: OddTable) -> str:
        r = self.random
        other = r.choice(self.tables)
        pairs = [
            (a, b)
            for a in t.columns
            for b in other.columns
            if a.type == b.type and family(a.type) not in ("nested", "bin")
        ]
        if not pairs:
            return f"SELECT COUNT(*) FROM {t.name} a CROSS JOIN {other.name} b"
        a, b = r.choice(pairs)
        ours, theirs = Expressions(r, t.columns, "a."), Expressions(r, other.columns, "b.")
        kind = r.choice(["JOIN", "LEFT JOIN", "FULL OUTER JOIN", "RIGHT JOIN"])
        if r.random() < 0.25:
            no = r.choice(["", "NOT "])
            return f"SELECT * FROM {t.name} a WHERE {no}EXISTS (SELECT 1 FROM {other.name} b WHERE a.`{a.name}` = b.`{b.name}`)"
        return f"SELECT {ours.projection()} AS x, {theirs.projection()} AS y, a.`{a.name}` FROM {t.name} a {kind} {other.name} b ON a.`{a.name}` = b.`{b.name}`"

    def sorted(self, t: OddTable) -> str:
        r = self.random
        flat = [c.name for c in t.columns if family(c.type) not in ("nested", "bin")]
        if not flat:
            return f"SELECT COUNT(*) FROM {t.name}"
        some = r.sample(flat, r.randint(1, min(3, len(flat))))
        by = ", ".join(f"`{n}`{r.choice(['', ' DESC', ' ASC NULLS LAST', ' DESC NULLS FIRST'])}" for n in some)
        tail = r.choice(["LIMIT 2", "LIMIT 3 OFFSET 1", "OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY", "LIMIT 0"])
        return f"SELECT {', '.join(f'`{n}`' for n in some)} FROM {t.name} ORDER BY {by} {tail}"

    def describe(self, t: OddTable) -> str:
        return self.random.choice(
            [
                f"DESC {t.name}",
                f"DESCRIBE {t.name}",
                "SHOW TABLES",
                f"SHOW COLUMNS FROM {t.name}",
                "SHOW DATABASES",
                f"SHOW TABLES LIKE '{t.name[:3]}%'",
            ]
        )

    def nested_query(self, t: OddTable) -> str:
        r, e = self.random, self.expressions(t)
        other = r.choice(self.tables)
        p = e.projection()
        return r.choice(
            [
                f"SELECT x, COUNT(*) FROM (SELECT {e.some('text')} AS x FROM {t.name}) GROUP BY x",
                f"WITH q AS (SELECT {p} AS x FROM {t.name} WHERE {self.where(t)}) SELECT COUNT(*), COUNT(x) FROM q",
                f"SELECT {e.some('int')} AS x FROM {t.name} UNION ALL SELECT {self.expressions(other).some('int')} FROM {other.name}",
                f"SELECT {e.some('text')} AS x FROM {t.name} UNION SELECT {self.expressions(other).some('text')} FROM {other.name}",
                f"SELECT {e.some('int')} AS x FROM {t.name} INTERSECT SELECT {e.some('int')} FROM {t.name}",
                f"SELECT {e.some('date')} AS x FROM {t.name} EXCEPT SELECT {e.some('date')} FROM {t.name}",
                f"SELECT DISTINCT {p} AS x FROM {t.name}",
                f"SELECT COUNT(*) FROM {t.name} WHERE {e.some('int')} IN (SELECT {self.expressions(other).some('int')} FROM {other.name})",
                f"SELECT COUNT(*) FROM (SELECT * FROM {t.name} LIMIT 2)",
                f"SELECT * FROM {t.name} WHERE {e.some('int')} > (SELECT MIN({self.expressions(other).some('int')}) FROM {other.name})",
                f"SELECT x, y FROM (VALUES ({e.some('int', 0) if not e.by_family.get('int') else 1}, 'a'), (2, 'b')) AS v (x, y)",
            ]
        )

    def windowed(self, t: OddTable) -> str:
        r, e = self.random, self.expressions(t)
        flat = [c.name for c in t.columns if family(c.type) not in ("nested", "bin", "time")]
        if not flat:
            return f"SELECT COUNT(*) FROM {t.name}"
        by = r.choice(flat)
        f = r.choice(["RANK()", "DENSE_RANK()", f"SUM({e.some('int')})", "COUNT(*)", f"MAX({e.some('text')})"])
        part = f"PARTITION BY `{r.choice(flat)}` " if r.random() < 0.5 else ""
        return f"SELECT `{by}`, {f} OVER ({part}ORDER BY `{by}`) AS w FROM {t.name}"
