"""All types of partition columns through all ways to name a partition; the page docs/partition-values.md.

`python tests/table/tables/partition_doors.py` writes the page.
"""

from __future__ import annotations

import datetime as dt
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from format_table_matrix import PARTITIONS

import paimon_nb
from paimon_nb.base.errors import PaimonError
from paimon_nb.format.types import arrow_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.table.tables.table import Table
    from paimon_nb.workbench import Workbench

PAGE = Path(__file__).parents[3] / "docs" / "partition-values.md"
VALUES: dict[str, list[Any]] = {
    **{t: [v for v in values if v == v] for t, values in PARTITIONS.items()},
    "STRING": [
        *(v for v in PARTITIONS["STRING"] if len(v) < 20),
        "NULL",
        "__X__",
        "01",
        "true",
        "2024-01-01",
        "it's",
        "",
        None,
    ],
    "CHAR(4)": ["ab", "abcd"],
    "DATE": [*PARTITIONS["DATE"], dt.date(9999, 12, 31)],
    "BINARY(2)": [b"ab"],
    "BYTES": [b"x", b"a/b"],
}
"""Type of a partition column -> values. NULL is added to each, NaN is left out: no condition finds it."""


def table_of(wb: Workbench, sql_type: str, legacy: bool) -> tuple[Table, list[pa.Table]]:
    """A table `t (id INT, p <type>)` by `p` with one row in each partition, and the rows."""
    wb.run("DROP TABLE IF EXISTS t PURGE")
    names = f"'partition.legacy-name' = '{str(legacy).lower()}'"
    wb.run(f"CREATE TABLE t (id INT, p {sql_type}) PARTITIONED BY (p) WITH ({names})")
    table = wb.table("t")
    values = [*VALUES[sql_type], *([None] if None not in VALUES[sql_type] else [])]
    column = arrow_type(table.schema.field("p").type)
    rows = [pa.table({"id": pa.array([i], pa.int32()), "p": pa.array([v], column)}) for i, v in enumerate(values)]
    table.append(pa.concat_tables(rows))
    return table, rows


def literal(sql_type: str, value: Any) -> str:
    """A value in SQL."""
    match value:
        case None:
            return "NULL"
        case bool() | int():
            return str(value).upper()
        case float():
            special = {"inf": "'Infinity'", "-inf": "'-Infinity'"}
            return f"CAST({special.get(str(value), repr(value))} AS {sql_type})"
        case str():
            return quoted(value)
        case bytes():
            return f"X'{value.hex()}'"
        case dt.datetime():
            return f"TIMESTAMP{'_LTZ' if value.tzinfo else ''} '{value.replace(tzinfo=None)}'"
        case dt.date():
            return f"DATE '{value}'"
        case dt.time():
            return f"TIME '{value}'"
    return str(value)


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


# -- what prints a partition, and what names one


def printed(wb: Workbench, sql_type: str, value: Any) -> dict[str, str]:
    """By way to print: the text of a partition."""
    texts = {}
    for legacy in (True, False):
        wb.run("DROP TABLE IF EXISTS one PURGE")
        wb.run(
            f"CREATE TABLE one (id INT, p {sql_type}) PARTITIONED BY (p) WITH ('partition.legacy-name' = '{str(legacy).lower()}')"
        )
        table = wb.table("one")
        column = pa.array([value], arrow_type(table.schema.field("p").type))
        table.append(pa.table({"id": pa.array([1], pa.int32()), "p": column}))
        [directory] = [p.name for p in Path(table.path).iterdir() if p.name.startswith("p=")]
        texts["directory" if legacy else "without legacy names"] = directory.removeprefix("p=")
        texts["partition_specs()" + ("" if legacy else " without legacy names")] = table.partition_specs()[0]["p"]
    texts["SHOW PARTITIONS"] = wb.run("SHOW PARTITIONS one").to_arrow()["partition"][0].as_py().removeprefix("p=")
    system = wb.run("SELECT `partition` FROM `one$partitions`").to_arrow()["partition"]
    texts["$partitions"] = system[0].as_py().removeprefix("p=")
    return texts


def ways_to_drop(wb: Workbench, table: Table, sql_type: str, value: Any) -> list[tuple[str, str, Callable[[], object]]]:
    """Each way to drop the partition of a value: its name, the text that it is given or '', and what does it."""
    texts = {t for way, t in printed(wb, sql_type, value).items() if "directory" not in way and "legacy" not in way}
    found: list[tuple[str, str, Callable[[], object]]] = []
    for text in sorted(texts - ({"null"} if value in (None, "") else set())):
        statements = (
            f"CALL sys.drop_partition('t', {quoted('p=' + text)})",
            f"ALTER TABLE t DROP PARTITION (p = {quoted(text)})",
            f"TRUNCATE TABLE t PARTITION (p = {quoted(text)})",
        )
        found += [(s.split(" ", 1)[0], text, partial(wb.run, s)) for s in statements]
        found.append(("Python text", text, partial(table.drop_partitions, [{"p": text}])))
    found.append(("literal", "", partial(wb.run, f"ALTER TABLE t DROP PARTITION (p = {literal(sql_type, value)})")))
    found.append(("Python value", "", partial(table.drop_partitions, [{"p": value}])))
    found.append(("overwrite", "", partial(table.overwrite, table.to_arrow().slice(0, 0), {"p": value})))
    return found


def misread(wb: Workbench, sql_type: str, *, legacy: bool) -> dict[tuple[str, str, str], str]:
    """What went wrong, by value, way and text: the way names another partition than the value's, or none."""
    table, rows = table_of(wb, sql_type, legacy)
    every = set(range(len(rows)))
    wrong: dict[tuple[str, str, str], str] = {}

    def ids(**reading: Any) -> set[int]:
        return set(table.to_arrow(["id"], **reading)["id"].to_pylist())

    def dropped(drop: Callable[[], object]) -> set[int]:
        drop()
        gone = every - ids()
        if gone:
            table.append(pa.concat_tables([rows[i] for i in gone]))
        return gone

    for at, row in enumerate(rows):
        value = row["p"][0].as_py()
        drops = ways_to_drop(wb, table, sql_type, value)
        named = [(way, text, partial(dropped, drop)) for way, text, drop in drops]
        texts = {text for _, text, _ in drops if text}
        named += [("scan.partitions", t, partial(ids, options={"scan.partitions": f"p={t}"})) for t in texts]
        where = "p IS NULL" if value is None else f"p = {literal(sql_type, value)}"
        named.append(("where=", "", partial(ids, where=where)))
        for way, text, look in named:
            try:
                found = look()
            except PaimonError as error:
                wrong[repr(value), way, text] = type(error).__name__
                continue
            if found != {at}:
                wrong[repr(value), way, text] = f"{[rows[i]['p'][0].as_py() for i in found]}"
    return wrong


# -- the page


def page(wb: Workbench) -> str:
    """The page: the texts of every value."""
    lines = [_HEAD]
    for sql_type in VALUES:
        values = VALUES[sql_type]
        for value in [*values, *([None] if None not in values else [])]:
            texts = printed(wb, sql_type, value)
            ways = ("directory", "without legacy names", "SHOW PARTITIONS", "$partitions")
            lines.append(
                "| " + " | ".join([sql_type, _code(literal(sql_type, value)), *(_code(texts[w]) for w in ways)]) + " |"
            )
    return "\n".join(lines) + _TAIL


def _code(text: str) -> str:
    shown = text.replace("\t", "\\t").replace("|", "\\|")
    return f"`` {shown} ``" if "`" in shown else f"`{shown or ' '}`"


_HEAD = """# Values of partitions as text

A partition is text in names of directories, in `scan.partitions`, in arguments and results of CALL, in `SHOW PARTITIONS`, in `$partitions`, in ALTER TABLE,
in Python and in files that COPY INTO loads. One function prints all of these texts, and one reads them: each text below names its partition in `scan.partitions`,
`CALL sys.drop_partition`, `ALTER TABLE ... DROP PARTITION`, `TRUNCATE TABLE ... PARTITION`, `Table.drop_partitions` and `Table.overwrite`.

| type | value | directory | with `partition.legacy-name` = `false` | `SHOW PARTITIONS` | `$partitions` |
|---|---|---|---|---|---|"""
_TAIL = """

* `null` is what SHOW PARTITIONS prints for NULL, and it is a text in a STRING column: name NULL by `__DEFAULT_PARTITION__`, `__HIVE_DEFAULT_PARTITION__`
  or the table's `partition.default-name`.
* Empty and blank text share the directory of NULL, as in Java; they are other partitions, which a condition or a value in Python names.
* Blanks around a text are cut in `scan.partitions` and CALL, and quotation marks around it in CALL. `,` and `;` divide the texts there: name such
  partitions by ALTER TABLE, a condition or in Python.
* A text that is not a value of the type is an error. A partition that matches nothing is said in a note.

`python tests/table/tables/partition_doors.py` writes this page.
"""

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        PAGE.write_text(page(paimon_nb.connect(directory)))
        sys.stdout.write(f"{PAGE}\n")
