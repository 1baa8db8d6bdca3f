"""A table that is still a draft: its DDL in both dialects, what is wrong with it, what will hurt later, how it will lie on disk."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.identifier import quote
from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.table.inspect.formatting import bytes_text

DIALECTS = ("flink", "spark")
BUCKET_LOW, BUCKET_HIGH = 20 << 20, 2 << 30
"""Bytes; Paimon advises 200 MB to 1 GB a bucket, and small ones cost a file each all the same."""
PARTITIONS_MANY = 10_000
_WIDTHS = {
    "BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INT": 4, "BIGINT": 8, "FLOAT": 4, "DOUBLE": 8, "DATE": 4, "TIME": 4,
    "DECIMAL": 8, "TIMESTAMP": 8, "TIMESTAMP_LTZ": 8,
}  # fmt: skip
_OTHER_WIDTH = 24
"""Bytes guessed for a value of any other type."""
_PACKED = 0.4
"""Share of the bytes that Parquet and Zstandard leave, a guess."""


@dataclass(frozen=True, slots=True)
class Column:
    """One line of the form."""

    name: str = ""
    type: str = "STRING"
    key: bool = False
    partition: bool = False
    nullable: bool = True
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """What the form holds. `options` are texts as in WITH; `rows` and `partitions` are the reader's guess, 0: none."""

    name: str = "my_table"
    columns: tuple[Column, ...] = (Column("id", "BIGINT", key=True), Column("name"))
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""
    rows: int = 0
    partitions: int = 0

    @property
    def keys(self) -> list[Column]:
        return [c for c in self.columns if c.key]

    @property
    def parts(self) -> list[Column]:
        return [c for c in self.columns if c.partition]

    @property
    def bucket(self) -> str:
        return self.options.get("bucket", "-1").strip() or "-1"


def ddl(draft: Draft, dialect: str = "flink") -> str:
    """CREATE TABLE as either dialect writes it; both make the same table."""
    lines = []
    for c in draft.columns:
        not_null = " NOT NULL" if c.key or not c.nullable else ""
        comment = f" COMMENT {text_literal(c.comment)}" if c.comment else ""
        lines.append(f"  {_name(c.name)} {c.type.strip()}{not_null}{comment}")
    keys = ", ".join(_name(c.name) for c in draft.keys)
    if keys and dialect == "flink":
        lines.append(f"  PRIMARY KEY ({keys}) NOT ENFORCED")
    options = {k.strip(): v.strip() for k, v in draft.options.items() if k.strip() and v.strip()}
    if draft.keys and dialect == "spark":
        options = {"primary-key": ",".join(c.name for c in draft.keys), **options}
    name = ".".join(_name(part) for part in draft.name.split(".")) if draft.name else quote("")
    out = [f"CREATE TABLE {name} (", ",\n".join(lines), ")"]
    if draft.comment:
        out.append(f"COMMENT {text_literal(draft.comment)}")
    if draft.parts:
        out.append(f"PARTITIONED BY ({', '.join(_name(c.name) for c in draft.parts)})")
    if options:
        word = "WITH" if dialect == "flink" else "TBLPROPERTIES"
        pairs = ",\n".join(f"  {text_literal(k)} = {text_literal(v)}" for k, v in options.items())
        out.append(f"{word} (\n{pairs}\n)")
    return "\n".join(out)


def _name(identifier: str) -> str:
    """A plain lower-case name stays bare unless it is a word of SQL."""
    plain = identifier.isascii() and identifier.isidentifier() and identifier == identifier.lower()
    return identifier if plain and identifier.upper() not in _WORDS else quote(identifier)


_WORDS = frozenset(
    [
        "ALL",
        "AND",
        "ANY",
        "AS",
        "BETWEEN",
        "BY",
        "CASE",
        "COMMENT",
        "CREATE",
        "CROSS",
        "CURRENT",
        "DATE",
        "DAY",
        "DEFAULT",
        "DELETE",
        "DISTINCT",
        "ELSE",
        "END",
        "EXISTS",
        "FALSE",
        "FOR",
        "FROM",
        "FULL",
        "GROUP",
        "HAVING",
        "HOUR",
        "IN",
        "INNER",
        "INSERT",
        "INTERVAL",
        "INTO",
        "IS",
        "JOIN",
        "KEY",
        "LEFT",
        "LIKE",
        "LIMIT",
        "MINUTE",
        "MONTH",
        "NOT",
        "NULL",
        "OF",
        "ON",
        "OR",
        "ORDER",
        "OUTER",
        "PARTITION",
        "PRIMARY",
        "RIGHT",
        "ROW",
        "ROWS",
        "SECOND",
        "SELECT",
        "SET",
        "TABLE",
        "THEN",
        "TIME",
        "TIMESTAMP",
        "TO",
        "TRUE",
        "UNION",
        "UPDATE",
        "USER",
        "USING",
        "VALUE",
        "VALUES",
        "WHEN",
        "WHERE",
        "WITH",
        "YEAR",
    ]
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What CREATE TABLE would say to a draft."""

    problems: tuple[str, ...] = ()
    """Why it would refuse; () when it would not."""
    notes: tuple[str, ...] = ()


def verdict(draft: Draft) -> Verdict:
    """Run the statement in an empty warehouse in memory: what that says is what the real one would say."""
    from paimon_nb.workbench import connect

    missing = [text for text, there in (("the table needs a name", draft.name.strip()), ("a table needs a column", draft.columns)) if not there]  # fmt: skip
    if missing:
        return Verdict(tuple(missing))
    with connect(f"memory:/drafts/{uuid.uuid4()}") as scratch:
        try:
            made = scratch.run(ddl(replace(draft, name="draft")))
        except PaimonError as error:
            return Verdict((error.one_line,))
        scratch.run("DROP TABLE draft PURGE")
    return Verdict(notes=tuple(made.notes))


def warnings(draft: Draft) -> list[str]:
    """Choices that are allowed and will hurt."""
    return list(_warnings(draft))


def _warnings(draft: Draft) -> Iterator[str]:
    keys, parts = draft.keys, draft.parts
    with_options = {k: v for k, v in draft.options.items() if v.strip()}
    if keys and all(c.partition for c in keys):
        yield "every key column is a partition column: each partition holds one row"
    low = [c.name for c in keys if c.type.strip().upper() in ("BOOLEAN", "TINYINT")]
    if low and len(keys) == len(low):
        yield f"{', '.join(low)} has few values, so there will be few rows: later ones replace earlier ones"
    inexact = [c.name for c in (*keys, *parts) if c.type.strip().upper() in ("FLOAT", "DOUBLE")]
    if inexact:
        yield f"{', '.join(inexact)} is a floating point number: values that look alike may be different keys"
    loose = [c.name for c in parts if keys and not c.key]
    if loose:
        yield f"{', '.join(loose)} is not in the primary key: a key may move between partitions, each write looks it up in an index"
    fine = [c.name for c in parts if c.type.strip().upper().startswith(("TIMESTAMP", "BIGINT", "DOUBLE"))]
    if fine:
        yield f"{', '.join(fine)} has a value for every moment or row: partitions would be tiny; derive a day or hour column"
    if draft.partitions > PARTITIONS_MANY:
        yield f"{draft.partitions:,} partitions: plans and listings grow with each; a coarser partition column helps"
    if keys and draft.bucket == "-1":
        yield "dynamic buckets (bucket = -1): one job at a time may write; a fixed number of buckets allows several"
    engine = with_options.get("merge-engine", "deduplicate")
    if not keys and (engine != "deduplicate" or with_options.get("changelog-producer", "none") != "none"):
        yield "merge engines and changelog producers need a primary key: without one each row is kept as it came"
    if engine == "aggregation":
        named = {k.split(".")[1] for k in with_options if k.startswith("fields.") and k.endswith(".aggregate-function")}
        bare = [c.name for c in draft.columns if not c.key and not c.partition and c.name not in named]
        if bare and "fields.default-aggregate-function" not in with_options:
            yield f"{', '.join(bare)} has no aggregate function: the last value that is not NULL is kept"
    yield from _sizes(draft)


def _sizes(draft: Draft) -> Iterator[str]:
    size = bucket_bytes(draft)
    if size is None:
        return
    one = f"about {bytes_text(size)} a bucket"
    if size < BUCKET_LOW:
        yield f"{one}: many small files; fewer buckets or coarser partitions (200 MB to 1 GB is a good size)"
    if size > BUCKET_HIGH:
        yield f"{one}: compactions take long and one task reads it; more buckets (200 MB to 1 GB is a good size)"


def row_bytes(columns: Sequence[Column]) -> float:
    """A guess at a stored row's bytes, from its types alone."""
    widths = (_WIDTHS.get(c.type.split("(")[0].strip().upper(), _OTHER_WIDTH) for c in columns)
    return sum(widths) * _PACKED


def bucket_bytes(draft: Draft) -> float | None:
    """A guess at a bucket's bytes; None without a guess at rows or without fixed buckets."""
    try:
        buckets = int(draft.bucket)
    except ValueError:
        return None
    if not draft.rows or buckets < 1:
        return None
    return draft.rows * row_bytes(draft.columns) / buckets / max(1, draft.partitions if draft.parts else 1)
