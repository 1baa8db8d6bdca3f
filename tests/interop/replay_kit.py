"""Random histories as Flink SQL, which real Flink with Paimon and we are given word for word."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

ENGINES = ("deduplicate", "deduplicate", "partial-update", "aggregation", "first-row", "append")
LOOKS = {
    "rows": "SELECT * FROM {t}",
    "files": (
        "SELECT `partition`, bucket, level, record_count, schema_id, min_key, max_key, null_value_counts, min_value_stats,"
        " max_value_stats, min_sequence_number, max_sequence_number, deleteRowCount FROM `{n}$files`"
    ),
    "snapshots": (
        "SELECT snapshot_id, schema_id, commit_kind, total_record_count, delta_record_count, changelog_record_count FROM `{n}$snapshots`"
    ),
    "audit_log": "SELECT * FROM `{n}$audit_log`",
    "ro": "SELECT * FROM `{n}$ro`",
    "manifests": "SELECT num_added_files, num_deleted_files, schema_id FROM `{n}$manifests`",
    "tags": "SELECT tag_name, snapshot_id, schema_id, record_count FROM `{n}$tags`",
    "branches": "SELECT branch_name FROM `{n}$branches`",
    "partitions": "SELECT record_count, file_count FROM `{n}$partitions`",
    "buckets": "SELECT `partition`, bucket, record_count, file_count FROM `{n}$buckets`",
}  # fmt: skip
"""What both are asked in the end."""


@dataclass
class History:
    """One table's life. `statements` begin with its CREATE TABLE."""

    seed: int
    statements: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        r = self.random = random.Random(self.seed)
        self.table = f"h{self.seed}"
        self.engine = r.choice(ENGINES)
        self.parted = r.random() < 0.4
        self.columns = ["k INT", "a INT", "b STRING", "s INT", *(["p STRING"] if self.parted else [])]
        self.tags = 0
        self.added = 0
        self.branch = False
        self._create()
        for _ in range(r.randint(6, 12)):
            r.choice(self._steps())()

    @property
    def names(self) -> list[str]:
        return [c.split()[0] for c in self.columns]

    def _create(self) -> None:
        r = self.random
        options = {
            # Picks by size are told apart by a few bytes of two writers' files; with these they go by number alone.
            "compaction.size-ratio": "100000",
            "compaction.max-size-amplification-percent": "100000",
            "overwrite-upgrade": "false",  # which came after Paimon 1.3
            "bucket": r.choice(["1", "1", "2", "-1"]),
            "num-sorted-run.compaction-trigger": r.choice(["2", "3", "5"]),
        }
        if r.random() < 0.5:
            options["write-only"] = "true"
        keys = ", PRIMARY KEY (k, p) NOT ENFORCED" if self.parted else ", PRIMARY KEY (k) NOT ENFORCED"
        if self.engine == "append":
            keys = ""
            del options["num-sorted-run.compaction-trigger"]
            options["compaction.min.file-num"] = "3"
            if options["bucket"] != "-1":
                options["bucket-key"] = "k"
        else:
            options["merge-engine"] = self.engine
            producer = r.choice(
                ["none", "none", "lookup"]
                if self.engine == "first-row"
                else ["none", "none", "input", "lookup", "full-compaction"]
            )
            if producer != "none":
                options["changelog-producer"] = producer
            if self.engine == "deduplicate" and producer in ("none", "lookup") and r.random() < 0.3:
                options["deletion-vectors.enabled"] = "true"
            if producer in ("lookup", "full-compaction") and self.engine != "first-row" and r.random() < 0.4:
                options["changelog-producer.row-deduplicate"] = "true"
            if self.engine in ("deduplicate", "partial-update") and r.random() < 0.2:
                options["ignore-delete"] = "true"
            if self.engine == "aggregation":
                options["fields.a.aggregate-function"] = r.choice(["sum", "max", "last_non_null_value"])
                options["fields.b.aggregate-function"] = r.choice(["listagg", "last_value", "first_non_null_value"])
            if self.engine == "partial-update" and r.random() < 0.5:
                options["fields.s.sequence-group"] = "a"
            elif self.engine != "first-row" and r.random() < 0.3:
                options["sequence.field"] = "s"
        if r.random() < 0.2:
            options["metadata.stats-mode"] = r.choice(["full", "counts", "none"])
        self.options = options
        given = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
        by = " PARTITIONED BY (p)" if self.parted else ""
        self.statements.append(f"CREATE TABLE {self.table} ({', '.join(self.columns)}{keys}){by} WITH ({given})")

    def _steps(self) -> list:
        """What may come next; what is more common stands there more often."""
        steps = [self._insert] * 7 + [self._compact, self._tag, self._expire, self._alter, self._alter, self._overwrite]
        if self.tags:
            steps += [self._rollback, self._branch, self._drop_tag]
        if self.engine == "deduplicate":
            steps += [self._delete] * 2
        if self.engine in ("deduplicate", "partial-update"):
            steps.append(self._update)
        if self.parted:
            steps.append(self._drop_partition)
        has_rows = any("INSERT" in s for s in self.statements)  # Java commits emptiness, too
        return [*steps, self._truncate] if has_rows and self.random.random() < 0.1 else steps

    def _value(self, column: str, may_be_null: bool) -> str:
        r = self.random
        name, kind = column.split()[:2]
        if name == "k":
            return str(r.randrange(8))
        if name == "p":
            return f"'{r.choice('xy')}'"
        if name == "s":
            return str(r.randrange(20))
        if may_be_null and r.random() < 0.4:
            return f"CAST(NULL AS {kind})"
        return f"'{r.choice('abcdef')}{r.randrange(10)}'" if kind == "STRING" else str(r.randrange(100))

    def _values(self) -> str:
        """One row a key, and several only of plain constants: else their order is Flink's secret."""
        rows = {}
        count = self.random.choice([1, 1, 3, 5])
        for _ in range(count):
            row = [self._value(c, may_be_null=count == 1) for c in self.columns]
            rows[row[0], row[4] if self.parted else ""] = row
        return ", ".join(f"({', '.join(row)})" for row in rows.values())

    def _insert(self) -> None:
        self.statements.append(f"INSERT INTO {self.table} VALUES {self._values()}")

    def _overwrite(self) -> None:
        self.statements.append(f"INSERT OVERWRITE {self.table} VALUES {self._values()}")

    def _delete(self) -> None:
        self.statements.append(f"DELETE FROM {self.table} WHERE k = {self.random.randrange(8)}")

    def _update(self) -> None:
        self.statements.append(
            f"UPDATE {self.table} SET a = {self.random.randrange(100)} WHERE k > {self.random.randrange(8)}"
        )

    def _compact(self) -> None:
        strategy = self.random.choice(["full", "full", "minor"])
        self.statements.append(f"CALL sys.compact(`table` => 'd.{self.table}', compact_strategy => '{strategy}')")

    def _tag(self) -> None:
        self.tags += 1
        self.statements.append(f"CALL sys.create_tag('d.{self.table}', 't{self.tags}')")

    def _expire(self) -> None:
        self.statements.append(
            f"CALL sys.expire_snapshots(`table` => 'd.{self.table}', retain_max => {self.random.randint(1, 3)}, retain_min => 1)"
        )

    def _rollback(self) -> None:
        self.statements.append(
            f"CALL sys.rollback_to(`table` => 'd.{self.table}', tag => 't{self.random.randint(1, self.tags)}')"
        )

    def _drop_tag(self) -> None:
        self.statements.append(f"CALL sys.delete_tag('d.{self.table}', 't{self.random.randint(1, self.tags)}')")

    def _drop_partition(self) -> None:
        self.statements.append(f"ALTER TABLE {self.table} DROP PARTITION (p = '{self.random.choice('xy')}')")

    def _truncate(self) -> None:
        self.statements.append(f"TRUNCATE TABLE {self.table}")

    def _branch(self) -> None:
        if not self.branch:
            self.branch = True
            self.statements.append(
                f"CALL sys.create_branch('d.{self.table}', 'b', 't{self.random.randint(1, self.tags)}')"
            )
            return
        self.statements.append(
            self.random.choice(
                [
                    f"CALL sys.fast_forward('d.{self.table}', 'b')",
                    f"INSERT INTO `{self.table}$branch_b` VALUES {self._values()}",
                ]
            )
        )

    def _alter(self) -> None:
        r = self.random
        if r.random() < 0.3:
            value = (
                "false" if self.options.get("write-only") == "true" else "true"
            )  # Java counts a schema without change
            self.options["write-only"] = value
            self.statements.append(f"ALTER TABLE {self.table} SET ('write-only' = '{value}')")
            return
        if self.branch or self.tags:  # after which nobody knows the columns
            return
        self.added += 1
        if self.added == 2 and "sequence-group" not in str(self.options):
            self.columns[1] = "a BIGINT"
            self.statements.append(f"ALTER TABLE {self.table} MODIFY (a BIGINT)")
        elif self.added == 3 and self.engine not in ("aggregation", "partial-update"):
            self.columns[2] = "c STRING"
            self.statements.append(f"ALTER TABLE {self.table} RENAME b TO c")
        else:
            column = f"n{self.added} {r.choice(['INT', 'STRING'])}"
            self.columns.append(column)
            self.statements.append(f"ALTER TABLE {self.table} ADD ({column})")
