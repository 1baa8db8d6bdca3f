"""A draft of a new table: DDL in both dialects, errors, design warnings and the expected layout."""

from __future__ import annotations

import uuid
from dataclasses import field, replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.table.tables.inspect.formatting import bytes_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
    source: str = ""
    """The column of the data that fills it; '' if none does."""


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


def create_table_statement(draft: Draft, dialect: str = "flink") -> str:
    """CREATE TABLE in either dialect; both create the same table."""
    lines = []
    for c in draft.columns:
        not_null = " NOT NULL" if c.key or not c.nullable else ""
        comment = f" COMMENT {text_literal(c.comment)}" if c.comment else ""
        lines.append(f"  {quoted_if_needed(c.name)} {c.type.strip()}{not_null}{comment}")
    keys = ", ".join(quoted_if_needed(c.name) for c in draft.keys)
    if keys and dialect == "flink":
        lines.append(f"  PRIMARY KEY ({keys}) NOT ENFORCED")
    options = {k.strip(): v.strip() for k, v in draft.options.items() if k.strip() and v.strip()}
    if draft.keys and dialect == "spark":
        options = {"primary-key": ",".join(c.name for c in draft.keys), **options}
    name = ".".join(quoted_if_needed(part) for part in draft.name.split(".")) if draft.name else quote("")
    out = [f"CREATE TABLE {name} (", ",\n".join(lines), ")"]
    if draft.comment:
        out.append(f"COMMENT {text_literal(draft.comment)}")
    if draft.parts:
        out.append(f"PARTITIONED BY ({', '.join(quoted_if_needed(c.name) for c in draft.parts)})")
    if options:
        word = "WITH" if dialect == "flink" else "TBLPROPERTIES"
        pairs = ",\n".join(f"  {text_literal(k)} = {text_literal(v)}" for k, v in options.items())
        out.append(f"{word} (\n{pairs}\n)")
    return "\n".join(out)


def quoted_if_needed(identifier: str) -> str:
    """A plain lower-case name stays bare unless it is a word of SQL."""
    is_plain = identifier.isascii() and identifier.isidentifier() and identifier == identifier.lower()
    return identifier if is_plain and identifier.upper() not in _WORDS else quote(identifier)


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
class CreateOutcome:
    """The outcome of CREATE TABLE for a draft."""

    problems: tuple[str, ...] = ()
    """Errors; () when CREATE TABLE would succeed."""
    notes: tuple[str, ...] = ()


def try_create(draft: Draft) -> CreateOutcome:
    """Run the statement in an empty in-memory warehouse, so that errors and notes are the real ones."""
    from paimon_nb.workbench import connect

    missing = [text for text, there in (("the table has no name", draft.name.strip()), ("the table has no columns", draft.columns)) if not there]  # fmt: skip
    if missing:
        return CreateOutcome(tuple(missing))
    with connect(f"memory:/drafts/{uuid.uuid4()}") as scratch:
        try:
            made = scratch.run(create_table_statement(replace(draft, name="draft")))
        except PaimonError as error:
            return CreateOutcome((error.one_line,))
        scratch.run("DROP TABLE draft PURGE")
    return CreateOutcome(notes=tuple(made.notes))


def warnings(draft: Draft) -> list[str]:
    """Design choices that are valid but cause problems later."""
    return list(_each_warning(draft))


def _each_warning(draft: Draft) -> Iterator[str]:
    keys, partition_columns = draft.keys, draft.parts
    with_options = {k: v for k, v in draft.options.items() if v.strip()}
    if keys and all(c.partition for c in keys):
        yield "every key column is a partition column, so each partition holds a single row"
    low_cardinality = [c.name for c in keys if c.type.strip().upper() in ("BOOLEAN", "TINYINT")]
    if low_cardinality and len(keys) == len(low_cardinality):
        yield f"{', '.join(low_cardinality)} has few distinct values, so the table holds few rows: new rows replace old ones"
    inexact = [c.name for c in (*keys, *partition_columns) if c.type.strip().upper() in ("FLOAT", "DOUBLE")]
    if inexact:
        yield f"{', '.join(inexact)} is a floating-point number: values that look equal may be different keys"
    outside_key = [c.name for c in partition_columns if keys and not c.key]
    if outside_key:
        yield f"{', '.join(outside_key)} is not in the primary key: keys can move between partitions, so every write needs an index lookup"
    high_cardinality = [
        c.name for c in partition_columns if c.type.strip().upper().startswith(("TIMESTAMP", "BIGINT", "DOUBLE"))
    ]
    if high_cardinality:
        yield f"{', '.join(high_cardinality)} has too many distinct values for a partition column; use a day or hour column"
    if draft.partitions > PARTITIONS_MANY:
        yield f"{draft.partitions:,} partitions slow down planning; use a coarser partition column"
    if keys and draft.bucket == "-1":
        yield "dynamic buckets (bucket = -1) allow only one writing job at a time; fixed buckets allow several"
    engine = with_options.get("merge-engine", "deduplicate")
    if not keys and (engine != "deduplicate" or with_options.get("changelog-producer", "none") != "none"):
        yield "merge engines and changelog producers need a primary key; append tables ignore them"
    if engine == "aggregation":
        with_function = {
            k.split(".")[1] for k in with_options if k.startswith("fields.") and k.endswith(".aggregate-function")
        }
        without_function = [
            c.name for c in draft.columns if not c.key and not c.partition and c.name not in with_function
        ]
        if without_function and "fields.default-aggregate-function" not in with_options:
            yield f"{', '.join(without_function)} has no aggregate function; the default keeps the last non-NULL value"
    yield from _bucket_size_warnings(draft)


def _bucket_size_warnings(draft: Draft) -> Iterator[str]:
    size = bucket_bytes(draft)
    if size is None:
        return
    size_text = f"about {bytes_text(size)} per bucket"
    if size < BUCKET_LOW:
        yield f"{size_text}: too small, many small files; use fewer buckets or coarser partitions (aim for 200 MB to 1 GB)"
    if size > BUCKET_HIGH:
        yield f"{size_text}: too large, slow compaction and reads; use more buckets (aim for 200 MB to 1 GB)"


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
