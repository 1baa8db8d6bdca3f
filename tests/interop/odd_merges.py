"""Random key tables as Flink SQL whose merge engines have much to decide: aggregates, sequence groups, changes of every kind."""

from __future__ import annotations

import random

from odd_tables import Column, OddTable

NUMBERS = ("TINYINT", "INT", "BIGINT", "DOUBLE", "DECIMAL(9, 3)", "DECIMAL(38, 10)")
NESTED_ROWS = "ARRAY<ROW<a INT, b STRING, c BIGINT>>"
ORDERED = ("INT", "BIGINT", "DATE", "TIMESTAMP(3)", "SMALLINT")
TAKES_BACK = {
    "sum": NUMBERS, "product": ("INT", "DOUBLE"), "last_value": (*NUMBERS, "STRING", "ARRAY<INT>"),
    "last_non_null_value": (*NUMBERS, "STRING", "ARRAY<INT>"), "collect": ("ARRAY<INT>", "ARRAY<STRING>"),
    "merge_map": ("MAP<STRING, INT>",), "nested_update": (NESTED_ROWS,),
}  # fmt: skip
ONLY_TAKES = {
    "max": (*NUMBERS, "STRING", "DATE", "TIMESTAMP(6)", "BOOLEAN", "BYTES"), "min": (*NUMBERS, "STRING", "DATE", "CHAR(4)"),
    "first_value": (*NUMBERS, "STRING"), "first_non_null_value": (*NUMBERS, "STRING"), "listagg": ("STRING",),
    "bool_and": ("BOOLEAN",), "bool_or": ("BOOLEAN",),
}  # fmt: skip


class OddMerge(OddTable):
    """A table `merge<seed>`; its column `rk` says the kind of each row, where the engine takes any."""

    def __post_init__(self) -> None:
        r = self.random = random.Random(f"odd merge {self.seed}")
        self.name, self.keyed = f"merge{self.seed}", True
        self.engine = r.choice(
            ["deduplicate", "partial-update", "partial-update", "aggregation", "aggregation", "first-row"]
        )
        self.changes = self.engine != "first-row" and r.random() < 0.6
        self.parts = [Column("p0", "STRING")] if r.random() < 0.3 else []
        self.keys = [Column("k0", r.choice(["INT", "STRING", "BIGINT"]), False)]
        if r.random() < 0.3:
            self.keys.append(Column("k1", r.choice(["INT", "STRING", "DATE"]), False))
        self.crossing = bool(self.parts) and r.random() < 0.2
        self.values = [Column(f"c{i}", "INT") for i in range(r.randint(2, 6))]
        self.rules: dict[str, str] = {}
        {"aggregation": self.aggregates, "partial-update": self.groups}.get(self.engine, self.ordered)()
        kinds = [Column("rk", "STRING")] if self.changes else []
        self.columns = [*self.keys, *self.values, *self.parts, *kinds]
        self.tags = self.added = self.commits = 0
        self.pool = [[self.value(k) for k in self.keys + self.parts] for _ in range(r.randint(2, 5))]
        self.create()
        self.live()

    def live(self) -> None:
        r = self.random
        for _ in range(r.randint(5, 11)):
            r.choice([self.insert] * 7 + [self.alter, self.compact, self.compact, self.tag])()
        self.insert()
        if r.random() < 0.4:
            self.compact()
        self.ask()

    def function(self, column: Column) -> None:
        """Some aggregate function, and a type that fits it."""
        r = self.random
        known = TAKES_BACK if self.changes and r.random() < 0.8 else TAKES_BACK | ONLY_TAKES
        name = r.choice([*known])
        column.type = r.choice(known[name])
        f = f"fields.{column.name}"
        self.rules[f"{f}.aggregate-function"] = name
        if (name in ONLY_TAKES and self.changes) or r.random() < 0.1:
            self.rules[f"{f}.ignore-retract"] = "true"
        if name == "listagg" and r.random() < 0.5:
            self.rules[f"{f}.list-agg-delimiter"] = r.choice([";", "--"])
        if name == "collect" and r.random() < 0.4:  # Java 1.3 has none for listagg
            self.rules[f"{f}.distinct"] = "true"
        if name == "nested_update" and r.random() < 0.7:
            self.rules[f"{f}.nested-key"] = r.choice(["a", "a,b"])

    def aggregates(self) -> None:
        r = self.random
        for c in self.values:
            if r.random() < 0.85:
                self.function(c)
            else:
                c.type = r.choice([*NUMBERS, "STRING"])
        if r.random() < 0.2:
            self.rules["fields.default-aggregate-function"] = r.choice(["last_value", "last_non_null_value"])
        if r.random() < 0.3:
            self.sequence()
        if self.changes and r.random() < 0.3 and not any(rule.endswith("ignore-retract") for rule in self.rules):
            self.rules["aggregation.remove-record-on-delete"] = "true"

    def groups(self) -> None:
        r = self.random
        free = [*self.values]
        grouped = False
        while len(free) >= 2 and r.random() < 0.75:
            by = [free.pop(0) for _ in range(2 if len(free) > 3 and r.random() < 0.3 else 1)]
            for c in by:
                c.type = r.choice(ORDERED)
            held = [free.pop(0) for _ in range(r.randint(1, min(3, len(free))))]
            for c in held:
                if r.random() < 0.5:
                    self.function(c)
                else:
                    c.type = r.choice([*NUMBERS, "STRING", "ARRAY<INT>"])
            self.rules[f"fields.{','.join(c.name for c in by)}.sequence-group"] = ",".join(c.name for c in held)
            grouped = True
            if self.changes and r.random() < 0.15:
                self.rules["partial-update.remove-record-on-sequence-group"] = by[0].name
        for c in free:
            c.type = r.choice([*NUMBERS, "STRING"])
            if r.random() < 0.2:
                self.rules[f"fields.{c.name}.aggregate-function"] = "last_non_null_value"
        if self.changes and not grouped:
            self.rules[r.choice(["ignore-delete", "partial-update.remove-record-on-delete"])] = "true"

    def ordered(self) -> None:
        r = self.random
        for c in self.values:
            c.type = r.choice([*NUMBERS, "STRING", "DATE"])
        if self.engine == "deduplicate" and r.random() < 0.5:
            self.sequence()

    def sequence(self) -> None:
        r = self.random
        by = [c for c in self.values if not any(c.name in rule for rule in self.rules)][: r.choice([1, 1, 2])]
        for c in by:
            c.type = r.choice(ORDERED)
        if by:
            self.rules["sequence.field"] = ",".join(c.name for c in by)
            if r.random() < 0.3:
                self.rules["sequence.field.sort-order"] = "descending"

    def key_options(self) -> dict[str, str]:
        r = self.random
        out = {"merge-engine": self.engine, "bucket": "-1" if self.crossing else r.choice(["1", "1", "2", "-1", "-2"])}
        out["postpone.batch-write-fixed-bucket"] = "false"  # as Java 1.3, which does not know the option
        out["num-sorted-run.compaction-trigger"] = r.choice(["2", "3", "5"])
        out["changelog-producer"] = producer = r.choice(
            ["none", "lookup"]
            if self.engine == "first-row"
            else ["none", "none", "input", "lookup", "lookup", "full-compaction"]
        )
        if self.changes:
            out["rowkind.field"] = "rk"
            if self.engine == "deduplicate" and r.random() < 0.2:
                out[r.choice(["ignore-delete", "ignore-update-before"])] = "true"
        if producer in ("lookup", "full-compaction") and r.random() < 0.4:
            out["changelog-producer.row-deduplicate"] = "true"
            if r.random() < 0.3:
                out["changelog-producer.row-deduplicate-ignore-fields"] = self.values[0].name
        if self.engine != "first-row" and producer in ("none", "lookup") and not self.crossing and r.random() < 0.25:
            out["deletion-vectors.enabled"] = "true"
        if r.random() < 0.3:
            out["write-only"] = "true"
        return out | self.rules

    def any_options(self) -> dict[str, str]:
        return {"file.format": self.random.choice(["parquet", "parquet", "orc", "avro"])}

    def value(self, column: Column) -> str:
        if column.name == "rk":
            return f"'{self.random.choice(['+I', '+I', '+U', '+U', '-U', '-D'])}'"
        if column.type in ORDERED and column.name[0] == "c":
            return (
                f"CAST({self.small(column.type)} AS {column.type})"
                if self.random.random() < 0.9
                else f"CAST(NULL AS {column.type})"
            )
        if column.type == NESTED_ROWS and self.random.random() < 0.85:
            return f"CAST(ARRAY[{self.nested()}] AS {NESTED_ROWS})"
        if column.type.startswith("ARRAY<INT") and self.random.random() < 0.85:
            return f"ARRAY[{', '.join(str(self.random.randrange(4)) for _ in range(self.random.randint(1, 3)))}]"
        return super().value(column)

    def nested(self) -> str:
        r = self.random
        return ", ".join(f"ROW({r.randrange(3)}, '{r.choice('xy')}', {r.randrange(9)})" for _ in range(r.randint(1, 3)))

    def small(self, kind: str) -> str:
        n = self.random.randrange(1, 6)
        return {"DATE": f"'2024-01-0{n}'", "TIMESTAMP(3)": f"'2024-01-0{n} 00:00:00'"}.get(kind, str(n))

    def delete(self) -> None:
        """Rows that go have their kind in a column."""
