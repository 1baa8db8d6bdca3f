"""Random tables as Flink SQL: odd types, options and changes of the schema, and questions about them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOKS = {
    "files": (
        "SELECT `partition`, bucket, file_format, schema_id, `level`, record_count, min_key, max_key, null_value_counts,"
        " min_value_stats, max_value_stats, min_sequence_number, max_sequence_number FROM `{t}$files`"
    ),
    "snapshots": (
        "SELECT snapshot_id, schema_id, commit_kind, total_record_count, delta_record_count, changelog_record_count FROM `{t}$snapshots`"
    ),
    "audit_log": "SELECT * FROM `{t}$audit_log`",
    "ro": "SELECT * FROM `{t}$ro`",
    "schemas": "SELECT schema_id, fields, partition_keys, primary_keys, options, `comment` FROM `{t}$schemas`",
    "manifests": "SELECT num_added_files, num_deleted_files, schema_id, min_partition_stats, max_partition_stats FROM `{t}$manifests`",
    "partitions": "SELECT record_count, file_count FROM `{t}$partitions`",
    "buckets": "SELECT `partition`, bucket, record_count, file_count FROM `{t}$buckets`",
    "tags": "SELECT tag_name, snapshot_id, schema_id, record_count FROM `{t}$tags`",
    "table_indexes": "SELECT `partition`, bucket, index_type, row_count FROM `{t}$table_indexes`",
}  # fmt: skip
WHOLE = ("TINYINT", "SMALLINT", "INT", "BIGINT")
WIDER = {
    "TINYINT": ["SMALLINT", "INT", "BIGINT", "DECIMAL(20, 2)", "DOUBLE", "STRING"],
    "SMALLINT": ["INT", "BIGINT", "FLOAT", "DECIMAL(20, 2)"],
    "INT": ["BIGINT", "DOUBLE", "DECIMAL(20, 2)", "STRING"],
    "BIGINT": ["DOUBLE", "DECIMAL(25, 1)", "STRING"],
    "FLOAT": ["DOUBLE"],
    "DECIMAL(9, 3)": ["DECIMAL(20, 3)", "DECIMAL(30, 5)", "DOUBLE", "STRING"],
    "VARCHAR(7)": ["STRING", "VARCHAR(20)"],
    "CHAR(4)": ["CHAR(6)", "STRING"],
    "BOOLEAN": ["STRING", "INT"],
    "DATE": ["TIMESTAMP(3)", "STRING"],
    "TIMESTAMP(3)": ["TIMESTAMP(6)", "TIMESTAMP_LTZ(3)", "DATE", "STRING"],
    "VARBINARY(5)": ["BYTES"],
}
FLAT = (
    *WHOLE, *WHOLE, "BOOLEAN", "FLOAT", "DOUBLE", "DECIMAL(9, 3)", "DECIMAL(18, 0)", "DECIMAL(38, 10)", "CHAR(4)", "VARCHAR(7)",
    "STRING", "STRING", "BINARY(3)", "VARBINARY(5)", "BYTES", "DATE", "TIME(0)", "TIME(3)", "TIMESTAMP(0)", "TIMESTAMP(3)",
    "TIMESTAMP(6)", "TIMESTAMP(9)", "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(6)",
)  # fmt: skip
NESTED = (
    "ARRAY<INT>", "ARRAY<STRING>", "MAP<STRING, INT>", "MAP<INT, ARRAY<STRING>>", "ROW<a INT, b STRING>",
    "ROW<a DECIMAL(9, 3), r ROW<x DATE, y ARRAY<DOUBLE>>>", "ARRAY<ROW<a INT, b TIMESTAMP(6)>>",
)  # fmt: skip
KEYS = (
    "INT",
    "BIGINT",
    "STRING",
    "STRING",
    "DATE",
    "DECIMAL(9, 3)",
    "SMALLINT",
    "TIMESTAMP(3)",
    "VARCHAR(7)",
    "BOOLEAN",
)
PARTITIONS = ("STRING", "STRING", "INT", "DATE", "BIGINT", "BOOLEAN", "SMALLINT", "TIMESTAMP(3)")
AGGREGATES = {
    "whole": ["sum", "max", "min", "last_value", "last_non_null_value", "first_value", "product", "count_not_there"],
    "text": ["listagg", "max", "min", "last_value", "first_non_null_value"],
    "any": ["last_value", "first_value", "last_non_null_value", "first_non_null_value"],
}
TEXTS = ("a", "b", "", "é", "zz", "日本", "a b", "A", "😀", "x=1", "%", "%2F", "null", "0", "-1", "3.50", "1999-12-31")
"""Some are numbers and dates, which a change of type may read."""


@dataclass
class Column:
    name: str
    type: str
    null: bool = True


@dataclass
class OddTable:
    """One table: `statements` begin with its CREATE TABLE, `questions` are (name, system table or '', hint options, SQL)."""

    seed: int
    statements: list[str] = field(default_factory=list)
    questions: list[tuple[str, str, dict[str, str], str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        r = self.random = random.Random(f"odd {self.seed}")
        self.name = f"odd{self.seed}"
        self.keyed = r.random() < 0.7
        self.parts = [Column(f"p{i}", r.choice(PARTITIONS)) for i in range(r.choice([0, 0, 1, 1, 2]))]
        self.keys = [Column(f"k{i}", r.choice(KEYS), False) for i in range(r.choice([1, 1, 2, 3]))]
        others = [Column(f"c{i}", r.choice(NESTED if r.random() < 0.2 else FLAT)) for i in range(r.randint(2, 6))]
        self.columns = [*self.keys, *others, *self.parts]
        if r.random() < 0.4:
            r.shuffle(self.columns)
        self.crossing = self.keyed and bool(self.parts) and r.random() < 0.1
        self.tags = self.added = self.commits = 0
        self.pool = [[self.value(k) for k in self.keys + self.parts] for _ in range(r.randint(3, 9))]
        self.create()
        self.live()

    def live(self) -> None:
        r = self.random
        for _ in range(r.randint(5, 9)):
            r.choice([self.insert] * 6 + [self.alter] * 4 + [self.compact, self.tag, self.delete, self.overwrite])()
        self.insert()
        if r.random() < 0.4:
            self.compact()
        self.ask()

    # -- its life

    def create(self) -> None:
        r = self.random
        options = self.any_options() | (self.key_options() if self.keyed else self.append_options())
        self.options = options
        columns = [f"`{c.name}` {c.type}{'' if c.null else ' NOT NULL'}" for c in self.columns]
        if self.keyed:
            key = [*self.keys, *([] if self.crossing else self.parts)]
            r.shuffle(key)
            columns.append(f"PRIMARY KEY ({', '.join(c.name for c in key)}) NOT ENFORCED")
        by = f" PARTITIONED BY ({', '.join(c.name for c in self.parts)})" if self.parts else ""
        given = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
        self.statements.append(f"CREATE TABLE {self.name} ({', '.join(columns)}){by} WITH ({given})")

    def any_options(self) -> dict[str, str]:
        r = self.random
        out = {"file.format": r.choice(["parquet", "parquet", "orc", "avro"])}
        some = {
            "file.compression": r.choice(
                ["zstd", "snappy", "none"] + (["lz4"] if out["file.format"] != "avro" else [])
            ),
            "manifest.format": r.choice(["avro", "orc"]),
            "manifest.compression": "snappy",
            "metadata.stats-mode": r.choice(["none", "counts", "full", "truncate(3)", "truncate(1)"]),
            "metadata.stats-dense-store": r.choice(["true", "false"]),
            "metadata.stats-keep-first-n-columns": "2",
            "partition.default-name": "nobody",
            "partition.legacy-name": "false",
            "data-file.prefix": "d-",
            "file.suffix.include.compression": "true",
            "data-file.path-directory": "inner",
            "manifest.merge-min-count": "2",
            "read.batch-size": "2",
            "file-index.in-manifest-threshold": r.choice(["1 b", "4 kb"]),
        }
        flat = [c.name for c in self.columns if c.type in (*WHOLE, "STRING", "DATE")]
        if flat:
            kinds = [k for k in ("bloom-filter", "bitmap", "bsi", "range-bitmap") if r.random() < 0.5]
            for kind in kinds:
                fit = [c.name for c in self.columns if c.type in WHOLE] if kind == "bsi" else flat
                if fit:
                    some[f"file-index.{kind}.columns"] = r.choice(fit)
        return out | {k: v for k, v in some.items() if r.random() < 0.22}

    def key_options(self) -> dict[str, str]:
        r = self.random
        engine = r.choice(["deduplicate", "deduplicate", "partial-update", "aggregation", "first-row"])
        bucket = r.choice(["-1"] if self.crossing else ["1", "2", "3", "-1", "-1"])
        out = {"bucket": bucket, "merge-engine": engine, "num-sorted-run.compaction-trigger": r.choice(["2", "3", "5"])}
        if bucket == "-1" and r.random() < 0.5:
            out["dynamic-bucket.target-row-num"] = "3"
        producers = (
            ["none", "none", "lookup"]
            if engine == "first-row"
            else ["none", "none", "input", "lookup", "full-compaction"]
        )
        out["changelog-producer"] = producer = r.choice(producers)
        if engine == "deduplicate" and producer in ("none", "lookup") and r.random() < 0.35 and bucket != "-1":
            out["deletion-vectors.enabled"] = "true"
            out["deletion-vectors.bitmap64"] = r.choice(["true", "false"])
        values = [c for c in self.columns if c not in self.keys + self.parts]
        if engine == "aggregation":
            for c in values:
                if r.random() < 0.7:
                    kind = "whole" if c.type in WHOLE else "text" if c.type == "STRING" else "any"
                    out[f"fields.{c.name}.aggregate-function"] = r.choice(AGGREGATES[kind])
            out = {k: v for k, v in out.items() if v != "count_not_there"}
            out["aggregation.remove-record-on-delete"] = "true"
        ordered = [c for c in values if c.type in ("INT", "BIGINT", "TIMESTAMP(3)", "DATE")]
        if engine == "partial-update":
            if len(values) > 1 and ordered and r.random() < 0.6:
                by = r.choice(ordered)
                out[f"fields.{by.name}.sequence-group"] = ",".join(c.name for c in values if c is not by)[:200]
            else:
                out["ignore-delete"] = "true"
        elif engine != "first-row" and ordered and r.random() < 0.3 and "deletion-vectors.enabled" not in out:
            out["sequence.field"] = r.choice(ordered).name
        if r.random() < 0.3 and bucket != "-1":
            out["file.format.per.level"] = r.choice(["0:avro", "0:avro,5:parquet", "5:orc"])
        if r.random() < 0.25:
            out["data-file.thin-mode"] = "true"
        if r.random() < 0.3:
            out["write-only"] = "true"
        return out

    def append_options(self) -> dict[str, str]:
        r = self.random
        out = {"bucket": r.choice(["-1", "-1", "2"])}
        if out["bucket"] == "2":
            fit = [c for c in self.columns if c.type in KEYS]
            out["bucket-key"] = ",".join(c.name for c in r.sample(fit, r.randint(1, min(2, len(fit)))))
        elif r.random() < 0.25:
            out["row-tracking.enabled"] = "true"
        elif r.random() < 0.4:
            out["deletion-vectors.enabled"] = "true"
        return out

    def row(self) -> list[str]:
        given = dict(zip([c.name for c in self.keys + self.parts], self.random.choice(self.pool), strict=True))
        return [
            given[c.name] if c.name in given and (self.keyed or self.random.random() < 0.7) else self.value(c)
            for c in self.columns
        ]

    def insert(self, verb: str = "INTO") -> None:
        """Keys of one statement differ: the order of its rows is Flink's secret."""
        rows = {}
        at = [i for i, c in enumerate(self.columns) if c.name[0] == "k"]
        for _ in range(self.random.choice([1, 2, 5, 9])):
            row = self.row()
            rows[tuple(row[i] for i in at)] = row
        values = ", ".join(f"({', '.join(row)})" for row in rows.values())
        self.statements.append(f"INSERT {verb} {self.name} VALUES {values}")
        self.commits += 1

    def overwrite(self) -> None:
        self.insert("OVERWRITE")

    def delete(self) -> None:
        if self.options.get("merge-engine") == "deduplicate" or self.options.get("deletion-vectors.enabled"):
            self.statements.append(f"DELETE FROM {self.name} WHERE {self.condition()}")

    def compact(self) -> None:
        how = self.random.choice(["full", "full", "minor"])
        self.statements.append(f"CALL sys.compact(`table` => 'd.{self.name}', compact_strategy => '{how}')")

    def tag(self) -> None:
        self.tags += 1
        self.statements.append(f"CALL sys.create_tag('d.{self.name}', 't{self.tags}')")

    def alter(self) -> None:
        r = self.random
        free = [c for c in self.columns if c.name[0] == "c" and c.name not in str(self.options)]
        beside = r.choice(self.columns)
        place = r.choice(["", "", " FIRST", f" AFTER `{beside.name}`"])
        act = r.choice(["add", "add", "move", "move", "widen", "widen", "rename", "drop"])
        if act == "add":
            self.added += 1
            new = Column(f"c{90 + self.added}", r.choice(NESTED if r.random() < 0.2 else FLAT))
            self.statements.append(f"ALTER TABLE {self.name} ADD (`{new.name}` {new.type}{place})")
            self.put(new, place, beside)
            return
        moved = r.choice(self.columns)
        if act == "move" and place and moved is not beside:
            null = "" if moved.null and not (self.keyed and moved in self.keys + self.parts) else " NOT NULL"
            self.statements.append(f"ALTER TABLE {self.name} MODIFY (`{moved.name}` {moved.type}{null}{place})")
            self.columns.remove(moved)
            self.put(moved, place, beside)
        elif act == "widen" and (fit := [c for c in free if c.type in WIDER or c.type.startswith("ROW<a INT,")]):
            c = r.choice(fit)
            c.type = r.choice(WIDER[c.type]) if c.type in WIDER else "ROW<a BIGINT, b STRING, c DATE>"
            self.statements.append(f"ALTER TABLE {self.name} MODIFY (`{c.name}` {c.type})")
        elif act == "rename" and free:
            c = r.choice(free)
            self.statements.append(f"ALTER TABLE {self.name} RENAME `{c.name}` TO `{c.name}n`")
            c.name += "n"
        elif act == "drop" and len(free) > 1:
            c = r.choice(free)
            self.statements.append(f"ALTER TABLE {self.name} DROP (`{c.name}`)")
            self.columns.remove(c)

    def put(self, column: Column, place: str, beside: Column) -> None:
        at = len(self.columns) if not place else 0 if place == " FIRST" else self.columns.index(beside) + 1
        self.columns.insert(at, column)

    # -- values

    def value(self, column: Column) -> str:
        keyed = self.keyed and column.name[0] in "kp" and not (column.name[0] == "p" and self.crossing)
        return self.literal(column.type, may_be_null=column.null and not keyed)

    def literal(self, kind: str, may_be_null: bool = True) -> str:
        r = self.random
        if may_be_null and r.random() < 0.15:
            return f"CAST(NULL AS {kind})"
        if kind.startswith("ARRAY<"):
            inner = kind[6:-1]
            some = [self.literal(inner) for _ in range(r.randint(1, 3))]
            return f"CAST(ARRAY[{', '.join(some)}] AS {kind})"
        if kind.startswith("MAP<"):
            key, inner = kind[4:-1].split(", ", 1)
            some = {self.literal(key, False): self.literal(inner) for _ in range(r.randint(1, 3))}
            return f"CAST(MAP[{', '.join(f'{k}, {v}' for k, v in some.items())}] AS {kind})"
        if kind.startswith("ROW<"):
            return f"CAST(ROW({', '.join(self.literal(t) for _, t in members(kind))}) AS {kind})"
        return f"CAST({self.plain(kind)} AS {kind})"

    def plain(self, kind: str) -> str:
        r = self.random
        root = kind.split("(")[0]
        if root in WHOLE:
            most = {"TINYINT": 127, "SMALLINT": 32767, "INT": 2**31 - 1, "BIGINT": 2**63 - 1}[root]
            return str(r.choice([0, 1, 2, 3, 7, -1, most, -most, r.randrange(100)]))
        if root == "BOOLEAN":
            return r.choice(["TRUE", "FALSE"])
        if root in ("FLOAT", "DOUBLE"):
            return f"'{r.choice(['0.0', '1.5', '-2.25', '3e20', '1e-7', '0.1', '123456789.125'])}'"
        if root == "DECIMAL":
            return f"'{r.choice(['0', '1.5', '-2.125', '999999', '-999999', '0.001', '42'])}'"
        if root in ("CHAR", "VARCHAR", "STRING"):
            text = r.choice(TEXTS)
            if "(" in kind:  # as the column keeps it: Spark's CAST neither cuts nor fills
                length = int(kind.split("(")[1].rstrip(")"))
                text = text[:length].ljust(length) if root == "CHAR" else text[:length]
            return f"'{text}'"
        if root in ("BINARY", "VARBINARY", "BYTES"):
            return f"x'{r.choice(['000000', 'ff00ff', '61c3a9', '7f8081', '010203'])}'"
        day = r.choice(
            ["1970-01-01", "2024-02-29", "1969-12-31", "1900-01-01", "2038-01-19", "9999-12-31", "1700-01-01"]
        )
        time = r.choice(["00:00:00", "23:59:59", "12:34:56"])
        if root == "DATE":
            return f"'{day}'"
        if root == "TIME":
            return f"'{time}{'.125' if kind == 'TIME(3)' and r.random() < 0.5 else ''}'"
        if root == "TIMESTAMP_LTZ":
            day = max(day, "1969-12-31")
        if kind == "TIMESTAMP(9)":
            day = min(day, "2038-01-19")  # Arrow has nanoseconds from 1678 to 2261
        digits = int(kind.split("(")[1].rstrip(")"))
        more = r.choice(["", ".1", ".123456789"])[: digits + 1 if digits else 0]
        return f"'{day} {time}{more}'"

    # -- questions

    def condition(self) -> str:
        r = self.random
        if r.random() < 0.3:
            return f"{self.comparison()} {r.choice(['AND', 'AND', 'OR'])} {self.comparison()}"
        return self.comparison()

    def comparison(self) -> str:
        r = self.random
        c = r.choice([c for c in self.columns if "<" not in c.type and not c.type.startswith("TIME(")])
        name, kind = f"`{c.name}`", c.type
        pick = r.random()
        if pick < 0.1:
            return f"{name} IS {r.choice(['', 'NOT '])}NULL"
        if pick < 0.25 and kind == "STRING":
            return f"{name} LIKE '{r.choice(['a%', '%b', '%é%', 'zz', '_'])}'"
        if kind == "BOOLEAN":
            return f"{name} = {self.plain(kind)}"
        if pick < 0.4 and not kind.startswith(("BINARY", "VARBINARY", "BYTES", "CHAR")):  # of which Flink finds none
            return f"{name} IN ({', '.join(self.literal(kind, False) for _ in range(3))})"
        if pick < 0.5:
            return f"NOT ({name} < {self.literal(kind, False)})"
        return f"{name} {r.choice(['=', '=', '<>', '<', '<=', '>', '>='])} {self.literal(kind, False)}"

    def ask(self) -> None:
        r = self.random
        self.question("rows", "SELECT * FROM {t}")
        for i in range(8):
            some = r.sample(self.columns, r.randint(1, len(self.columns)))
            picked = "*" if r.random() < 0.5 else ", ".join(f"`{c.name}`" for c in some)
            self.question(f"where{i}", f"SELECT {picked} FROM {{t}} WHERE {self.condition()}")
        for look, text in LOOKS.items():
            self.question(look, text, system=look)
        for i in {1, 2, self.commits // 2 + 1, self.commits}:
            self.question(f"snap{i}", "SELECT * FROM {t} {h}", {"scan.snapshot-id": str(i)})
        for i in range(1, self.tags + 1):
            self.question(f"tag{i}", "SELECT * FROM {t} {h}", {"scan.tag-name": f"t{i}"})
        for span in ("1,2", "1,3", f"2,{self.commits}"):
            for mode in r.sample(["delta", "changelog", "diff", "auto"], 2):
                hint = {"incremental-between": span, "incremental-between-scan-mode": mode}
                self.question(f"inc{span.replace(',', '_')}{mode}", "SELECT * FROM {t} {h}", hint)

    def question(self, name: str, text: str, hint: dict[str, str] | None = None, system: str = "") -> None:
        options = ", ".join(f"'{k}'='{v}'" for k, v in (hint or {}).items())
        sql = text.format(t=self.name, h=f"/*+ OPTIONS({options}) */")
        self.questions.append((f"{self.name}.{name}", system, hint or {}, sql))


def members(row: str) -> Iterator[tuple[str, str]]:
    """(name, type) of the fields of a ROW type's text."""
    depth, start, text = 0, 0, row[4:-1]
    for i, letter in enumerate(text + ","):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and not depth:
            name, kind = text[start:i].strip().split(" ", 1)
            yield name, kind
            start = i + 1
