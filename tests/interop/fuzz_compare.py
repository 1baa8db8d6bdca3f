"""Runs a session of Flink SQL in real Flink and here, and says where they differ."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from flink_session import FlinkSession, Refused
from pyspark.errors import PySparkException

import paimon_nb
from paimon_nb.base.errors import PaimonError
from paimon_nb.spark.errors import spark_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

DELIBERATE = tomllib.loads(Path(__file__).with_name("deliberate_differences.toml").read_text())["difference"]
BATCH = "SET 'execution.runtime-mode' = 'batch'"
UNITS = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}
CHANGES_NOTHING = ("SELECT", "WITH", "SHOW", "DESC", "EXPLAIN")


@dataclass(frozen=True)
class Outcome:
    """`rows` are texts of JSON; a refused statement has `error`. `raw`: the error is not one of ours."""

    rows: tuple[str, ...] = ()
    error: str | None = None
    raw: bool = False

    def __str__(self) -> str:
        return (
            f"{'RAW ERROR' if self.raw else 'refused'}: {self.error[:600]}"
            if self.error is not None
            else ", ".join(self.rows)[:1500]
        )


@dataclass(frozen=True)
class Difference:
    seed: int
    at: int
    sql: str
    flink: str
    ours: str


# -- one statement


def plain(x: Any) -> Any:
    """An Arrow scalar as FlinkSession.java writes the value."""
    if not x.is_valid:
        return None
    t = x.type
    if pa.types.is_timestamp(t) or pa.types.is_time(t):
        seconds, nanos = divmod(x.value * UNITS[t.unit], 10**9)
        fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
        whole = pa.scalar(seconds, pa.int64()).cast(pa.timestamp("s"))
        text = whole.cast(pa.string()).as_py()
        return (text if pa.types.is_timestamp(t) else text[11:]) + fraction
    if pa.types.is_map(t):
        pairs = [[plain(x.values.field(0)[i]), plain(x.values.field(1)[i])] for i in range(len(x.values))]
        return sorted(pairs, key=lambda p: json.dumps(p[0], ensure_ascii=False).encode("utf-16-be"))
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        return [plain(e) for e in x.values]
    if pa.types.is_struct(t):
        return [plain(x[i]) for i in range(t.num_fields)]
    if pa.types.is_dictionary(t):
        return plain(t.value_type and x.dictionary[x.index.as_py()])
    if pa.types.is_date(t):
        text = str(x.cast(pa.string()))
        return text if text[4] == "-" else f"+{text}"  # a year above 9999
    if pa.types.is_string(t) or pa.types.is_large_string(t):  # CAST(x'ff' AS STRING) is U+FFFD in Java
        return x.as_buffer().to_pybytes().decode("utf-8", "replace")
    v = x.as_py()
    if isinstance(v, Decimal):
        return "0" if v == 0 else format(v.normalize(), "f")
    if isinstance(v, bytes):
        return v.hex()
    return v


def text_of(value: Any) -> str:
    """A value as text: numbers of 14 digits, JSON inside text with sorted keys."""
    if isinstance(value, float):
        return f"{value:.14g}" + ("" if "." in f"{value:.14g}" or "e" in f"{value:.14g}" else ".0")
    if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity"):
        return {"NaN": "nan.0", "Infinity": "inf.0", "-Infinity": "-inf.0"}[value]
    if isinstance(value, str) and value[:2] in ('{"', '["', "[{"):
        with suppress(ValueError):
            value = json.dumps(json.loads(value), sort_keys=True)
    if isinstance(value, str) and re.fullmatch(
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+", value
    ):  # Spark has TIMESTAMP(9) as text
        value = value.rstrip("0").rstrip(".")
    if isinstance(value, list):
        return f"[{', '.join(map(text_of, value))}]"
    return json.dumps(value, ensure_ascii=False)


def compared(sql: str, rows: Sequence[list[Any]], streaming: bool) -> tuple[str, ...]:
    """What of an answer is compared: queries as multisets, metadata reduced to what both have."""
    start = sql.split(None, 1)[0].upper()
    if start.startswith("DESC"):  # name, type, may be null
        rows = [
            [
                row[0],
                re.sub(r"TIMESTAMP(.*) WITH LOCAL TIME ZONE", r"TIMESTAMP_LTZ\1", str(row[1])),
                *(v for v in row[2:4] if isinstance(v, bool)),
            ]
            for row in rows
        ]
    elif sql.upper().startswith("SHOW COLUMNS"):
        rows = [row[:1] for row in rows]
    elif sql.upper().startswith("SHOW TABLES"):  # Spark's form has the database before the name
        rows = [row[1:2] if len(row) > 2 else row for row in rows]
    elif start not in ("SELECT", "WITH", "SHOW"):
        return ()
    if streaming and start in ("SELECT", "WITH"):
        left: Counter[str] = Counter()
        for kind, *row in rows:
            left[text_of(row)] += 1 if kind in ("+I", "+U") else -1
        return tuple(sorted(f"{n} x {row}" for row, n in left.items() if n))
    return tuple(sorted(map(text_of, rows)))


class Ours:
    """A workbench on a warehouse of its own."""

    def __init__(self, warehouse: Path, spark: SparkSession | None) -> None:
        self.given, self.streaming = spark, False
        settings = {"spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "1"}
        self.workbench = paimon_nb.connect(
            str(warehouse), catalog="p", spark=spark, spark_conf=settings if spark is None else None
        )

    def spark(self) -> SparkSession | None:
        """The Spark that the statements started; None before."""
        session = self.workbench.session
        return session.spark if session.spark_started else self.given

    def run(self, sql: str) -> Outcome:
        try:
            result = self.workbench.run(sql)
            if result.job is not None and self.streaming:
                result.job.awaitTermination(60)
            if result.live is not None:
                table = result.live.collect(limit=100_000, timeout_s=30, idle_s=1.5)
            else:
                with spark_errors(sql):
                    table = result.arrow if result.arrow is not None else result.frame.toArrow()  # type: ignore[union-attr]
        except (PaimonError, PySparkException) as error:  # the rows of a DataFrame come when it is collected
            condition = error.facts.get("condition") if isinstance(error, PaimonError) else None
            return Outcome(error=f"{type(error).__name__}: {error}" + (f" [{condition}]" if condition else ""))
        except Exception as error:  # another one than ours is a difference by itself
            return Outcome(error=f"{type(error).__name__}: {error}", raw=True)
        if match := re.fullmatch(r"SET 'execution.runtime-mode' = '(\w+)'", sql):
            self.streaming = match[1] == "streaming"
        rows = [[plain(table.column(i)[n]) for i in range(table.num_columns)] for n in range(table.num_rows)]
        if self.streaming and result.live is None and sql.upper().startswith(("SELECT", "WITH")):  # which comes at once
            rows = [["+I", *row] for row in rows]
        return Outcome(compared(sql, rows, self.streaming))


class Flinks:
    """A session of Flink on a warehouse of its own; the catalog `ours` is the other one."""

    def __init__(self, flink: FlinkSession, warehouse: Path, ours: Path) -> None:
        self.flink, self.streaming = flink, False
        for line in (
            "!new", f"CREATE CATALOG ours WITH ('type' = 'paimon', 'warehouse' = '{ours}')",
            f"CREATE CATALOG p WITH ('type' = 'paimon', 'warehouse' = '{warehouse}')", "USE CATALOG p",
            "CREATE DATABASE IF NOT EXISTS d", "USE d",
        ):  # fmt: skip
            flink.ask(line)

    def run(self, sql: str) -> Outcome:
        try:
            rows = self.flink.ask(sql)
        except Refused as error:
            if "Heartbeat of TaskManager" in str(error):
                raise TimeoutError("Flink did not answer itself in time") from error
            return Outcome(error=str(error))
        if match := re.fullmatch(r"SET 'execution.runtime-mode' = '(\w+)'", sql):
            self.streaming = match[1] == "streaming"
        return Outcome(compared(sql, rows, self.streaming))


# -- a session


def deliberate(sql: str, flink: Outcome, ours: Outcome, earlier: Sequence[str] = ()) -> str | None:
    """The name of the deliberate difference that these outcomes show after `earlier` statements; None if it is no known one."""
    texts = {"statement": sql, "flink": str(flink), "ours": str(ours), "earlier": "\n".join(earlier)}
    for difference in DELIBERATE:
        for case in difference.get("case", [difference]):
            if all(re.search(case[part], text) for part, text in texts.items() if part in case):
                return str(difference["name"])
    return None


def differs(flink: Outcome, ours: Outcome) -> bool:
    if ours.raw or (flink.error is None) != (ours.error is None):
        return True
    return flink.error is None and flink.rows != ours.rows


class Pair:
    """Both sides; each session begins with empty warehouses."""

    def __init__(self, flink: FlinkSession, folder: Path, spark: SparkSession | None = None) -> None:
        self.flink, self.folder, self.spark = flink, folder, spark
        self.deliberate: Counter[str] = Counter()
        """How often the last session showed each deliberate difference."""

    def run(self, seed: int, statements: Sequence[str], show: bool = False) -> list[Difference]:
        self.deliberate = Counter()
        place = self.folder / f"s{seed}"
        shutil.rmtree(place, ignore_errors=True)
        theirs, here = place / "flink", place / "ours"
        flink, ours = Flinks(self.flink, theirs, here), Ours(here, self.spark)
        ours.run(f"CREATE DATABASE IF NOT EXISTS d; USE d; {BATCH}")
        found: list[Difference] = []
        parted = False
        for at, sql in enumerate(statements):
            outcomes = flink.run(sql), ours.run(sql)
            if show:
                print(f"{at}: {sql}\n   Flink {outcomes[0]}\n   here  {outcomes[1]}", flush=True)
            if not differs(*outcomes):
                continue
            if (name := deliberate(sql, *outcomes, statements[:at])) is not None:
                self.deliberate[name] += 1
            else:
                found.append(Difference(seed, at, sql, str(outcomes[0]), str(outcomes[1])))
            if not sql.upper().startswith(CHANGES_NOTHING) and (outcomes[0].error is None) != (
                outcomes[1].error is None
            ):
                parted = True  # what follows would only repeat it
                break
        if not parted:
            found += self.crossed(seed, flink, ours, theirs, show)
        self.spark = ours.spark()
        shutil.rmtree(place, ignore_errors=True)
        return found

    def crossed(self, seed: int, flink: Flinks, ours: Ours, theirs: Path, show: bool) -> list[Difference]:
        """Each reads the other's tables."""
        found = []
        guest = Ours(theirs, ours.spark())
        guest.run(f"USE d; {BATCH}")
        for name in ours.workbench.tables("d"):
            query = f"SELECT * FROM d.{name}"
            sides = [
                (f"{query} -- written by us", flink.run(f"SELECT * FROM ours.d.{name}"), ours.run(query)),
                (f"{query} -- written by Flink", flink.run(query), guest.run(query)),
            ]
            for text, java, here in sides:
                if show:
                    print(f"{text}\n   Flink {java}\n   here  {here}", flush=True)
                if not differs(java, here):
                    continue
                if (known := deliberate(text, java, here)) is not None:
                    self.deliberate[known] += 1
                else:
                    found.append(Difference(seed, -1, text, str(java), str(here)))
        return found

    def shrunk(self, seed: int, statements: Sequence[str]) -> list[str]:
        """The fewest of these statements that still differ."""
        found = self.run(seed, statements)
        if not found:
            return []
        left = [*statements[: found[0].at + 1]] if found[0].at >= 0 else [*statements]
        for i in range(len(left) - 2, 0, -1):
            fewer = left[:i] + left[i + 1 :]
            again = self.run(seed, fewer)
            if again and again[0].sql == found[0].sql:
                left = fewer
        return left


def as_json(differences: Sequence[Difference]) -> list[dict[str, Any]]:
    return [asdict(d) for d in differences]
