"""The types of columns of text: DuckDB's guess from a sample, checked against every value of the file.

A type is taken if each value can be written back as the same text, or if the change has a note: `+49170` and `02134` stay texts, numbers
beyond 64 bits become DECIMAL, dates in another form than ISO become DATE with a note that names the form.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.files.engine import sql_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from paimon_nb.files.engine import Engine

MISSING = ("NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "NaN", "nan", "-", "?", ".", "--", "")
"""Words for a missing value that become NULL in a column whose other values are numbers, times or booleans."""
_NUMBERS = frozenset({"BIGINT", "HUGEINT", "BIGNUM", "DOUBLE", "UBIGINT", "UHUGEINT", "INTEGER", "FLOAT"})
_EXACT_DIGITS = 17
"""Digits that a DOUBLE keeps."""
_COLUMNS_AT_ONCE = 24
SMALL_BYTES = 256 << 20
"""Files up to this size may be held in memory as texts."""
_SMALL_CHUNK = 1000
Checks = tuple[dict[str, str], dict[str, str]]
"""SQL of values by their names, and of aggregates of these values."""
_ZONE = r"([zZ]|[+-]\d{2}(:?\d{2}){0,2}| ?UTC)$"
_ANY_ZONE = r"([+-]\d{2}(:?\d{2}){0,2}| ?[a-zA-Z][a-zA-Z0-9_/+-]*)$"
_UTC = r"([zZ]|[+-]00(:?00){0,2}| ?UTC)$"


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column whose values are texts.

    Args:
        name: of the column. guess: DuckDB's type. text: the SQL expression of its text.
        format: of dates or times, as strptime writes it; '': ISO.
        signs: what is replaced in the texts of numbers: separators of thousands, and the decimal sign.
        may_have_words: whether words of MISSING stand for NULL; texts of JSON do not.
    """

    name: str
    guess: str
    text: str
    format: str = ""
    signs: tuple[tuple[str, str], ...] = ()
    may_have_words: bool = True

    @property
    def number(self) -> str:
        """The SQL of the text of a number with a decimal point and without separators."""
        sql = self.text
        for sign, other in self.signs:
            sql = f"replace({sql}, {sql_text(sign)}, {sql_text(other)})"
        return sql


@dataclass(frozen=True, slots=True)
class Decision:
    """How a column is read."""

    type: str
    """A type of DuckDB."""
    sql: str
    """The expression of its values."""
    note: str = ""
    """What its texts do not keep; '' if nothing."""


def decide_types(engine: Engine, relation: str, columns: Sequence[TextColumn], size: int) -> list[Decision]:
    """The type of each column, from all values.

    Args:
        relation: SQL of a FROM clause that has the columns' texts.
        size: bytes of the files. Small files of many columns are not read again for each part of the columns.
    """
    plans = [_Plan(i, c) for i, c in enumerate(columns)]
    typed = [p for p in plans if p.kind != "text"]
    texts = Texts(engine, relation, [p.column for p in typed], size)
    for plan, facts in zip(typed, texts.facts([p.column for p in typed], _checks), strict=True):
        plan.facts |= facts
    large = [p for p in typed if p.is_no_bigint()]
    for plan, facts in zip(large, texts.facts([p.column for p in large], _more_checks), strict=True):
        plan.facts |= facts
    return [plan.decide() for plan in plans]


def _checks(number: int, column: TextColumn) -> Checks:
    plan = _Plan(number, column)
    return plan.values(), plan.aggregates()


def _more_checks(number: int, column: TextColumn) -> Checks:
    plan = _Plan(number, column)
    return plan.values(), plan.more_aggregates()


class Texts:
    """The texts of columns of a relation, for aggregates of their values.

    Planning a query takes time and memory for every column of the file, and with the square of its aggregates. So of small files with many columns
    all texts are read once, and those of columns of one kind are one column in one query.

    Args:
        size: bytes of the files.
        rows: so many of the first rows; 0: all.
    """

    def __init__(self, engine: Engine, relation: str, columns: Sequence[TextColumn], size: int, rows: int = 0) -> None:
        self._engine = engine
        self._relation = f"(FROM {relation} LIMIT {rows})" if rows else relation
        self._frame: pa.Table | None = None
        if len(columns) > _COLUMNS_AT_ONCE and (rows or size <= SMALL_BYTES):
            self._positions = {c.name: i for i, c in enumerate(columns)}
            names = ", ".join(f"{c.text} AS c{i}" for i, c in enumerate(columns))
            self._frame = engine.table(f"SELECT {names} FROM {self._relation}")

    def facts(self, columns: Sequence[TextColumn], checks: Callable[[int, TextColumn], Checks]) -> list[dict[str, Any]]:
        """For each column the aggregates that are checked, by their names; {} if there are no rows."""
        if self._frame is not None:
            return self._of_kinds(columns, checks)
        found: list[dict[str, Any]] = []
        for first in range(0, len(columns), _COLUMNS_AT_ONCE):
            checked = [checks(i, c) for i, c in enumerate(columns[first : first + _COLUMNS_AT_ONCE])]
            items = ", ".join(sql for _, aggregates in checked for sql in aggregates.values())
            values = ", ".join(f"{sql} AS {name}" for values, _ in checked for name, sql in values.items())
            row = iter(self._engine.rows(f"SELECT {items} FROM (SELECT {values} FROM {self._relation})")[0])
            found += [{name: next(row) for name in aggregates} for _, aggregates in checked]
        return found

    def _of_kinds(self, columns: Sequence[TextColumn], checks: Callable[[int, TextColumn], Checks]) -> list[dict[str, Any]]:  # fmt: skip
        kinds: dict[TextColumn, list[int]] = {}
        for i, column in enumerate(columns):
            kinds.setdefault(replace(column, name="", text="text"), []).append(i)
        found: list[dict[str, Any]] = [{} for _ in columns]
        for kind, members in kinds.items():
            values, aggregates = checks(0, kind)
            items = ", ".join(aggregates.values())
            inner = ", ".join(f"{sql} AS {name}" for name, sql in values.items())
            texts = self._below_each_other([columns[i].name for i in members])
            query = f"SELECT position, {items} FROM (SELECT position, {inner} FROM texts) GROUP BY position"
            for position, *row in self._engine.rows(query, texts=texts):
                found[members[position]] = dict(zip(aggregates, row, strict=True))
        return found

    def _below_each_other(self, names: Sequence[str]) -> pa.Table:
        """The texts of columns as one column, beside it the column's position among the names."""
        import numpy as np
        import pyarrow as pa

        assert self._frame is not None
        columns = [self._frame.column(self._positions[n]) for n in names]
        chunks = [(i, chunk) for i, column in enumerate(columns) for chunk in column.chunks]
        positions = [pa.array(np.full(len(chunk), i, np.int32)) for i, chunk in chunks]
        texts = pa.table(
            {
                "position": pa.chunked_array(positions, pa.int32()),
                "text": pa.chunked_array([c for _, c in chunks], pa.string()),
            }
        )
        small = len(chunks) and texts.num_rows / len(chunks) < _SMALL_CHUNK
        return texts.combine_chunks() if small else texts


class _Plan:
    """What is checked about one column, and what follows."""

    def __init__(self, number: int, column: TextColumn) -> None:
        self.column = column
        self.facts: dict[str, object] = {}
        """What is known of its values, by the names of aggregates."""
        self.v, self.trimmed, self.word = f"v{number}", f"t{number}", f"w{number}"
        self.kind = _kind(column.guess)
        text = column.number if self.kind == "number" else column.text
        words = ", ".join(sql_text(w) for w in MISSING if not (self.kind == "number" and w.lower() == "nan"))
        self.value = f"CASE WHEN {column.text} NOT IN ({words}) THEN {text} END" if column.may_have_words else text

    def values(self) -> dict[str, str]:
        """What the aggregates are computed of: name -> SQL."""
        if self.kind == "text":
            return {}
        found = {self.v: self.value}
        if self.kind == "number":
            found[self.trimmed] = f"trim({self.value})"
        if self.column.may_have_words:
            words = ", ".join(map(sql_text, MISSING[:-1]))
            found[self.word] = f"CASE WHEN {self.column.text} IN ({words}) THEN {self.column.text} END"
        return found

    def aggregates(self) -> dict[str, str]:
        if self.kind == "text":
            return {}
        found = {"number": self._of_numbers, "boolean": self._of_booleans}.get(self.kind, self._of_times)()
        if self.column.may_have_words:
            found["words"] = f"list(DISTINCT {self.word})"
        found["values"] = f"count({self.v})"
        return found

    def _of_numbers(self) -> dict[str, str]:
        v, t = self.v, self.trimmed
        return {
            "bigint": self._all(f"TRY_CAST({v} AS BIGINT)::VARCHAR = {t} OR {t} = '-0'"),
            "zero": f"count(*) FILTER (WHERE {t} = '-0')",
            "spaces": f"count(*) FILTER (WHERE {t} <> {v})",
            "code": f"bool_or(regexp_matches(ltrim({v}), '^[+-]?0[0-9xXbBoO]|^[+][0-9]+$|_'))",
        }

    def is_no_bigint(self) -> bool:
        """Whether `more_aggregates` are needed: numbers, not all of which are BIGINT."""
        of = self.facts
        return self.kind == "number" and bool(of.get("values")) and not of["code"] and not of["bigint"]

    def more_aggregates(self) -> dict[str, str]:
        v, t = self.v, self.trimmed
        digits = f"length(regexp_replace({v}, '[eE].*|[^0-9]', '', 'g')) > {_EXACT_DIGITS}"
        rounded = f"regexp_full_match({v}, '-?[0-9]+') AND TRY_CAST(TRY_CAST({v} AS DOUBLE) AS HUGEINT)::VARCHAR <> {v}"
        return {
            "integer": self._all(f"regexp_full_match({t}, '-?(0|[1-9][0-9]*)')"),
            "longest": f"max(length(ltrim({t}, '-')))",
            "double": self._all(f"TRY_CAST({v} AS DOUBLE) IS NOT NULL"),
            "overflow": f"bool_or(isinf(TRY_CAST({v} AS DOUBLE)) AND NOT contains(lower({v}), 'inf'))",
            "digits": f"count(*) FILTER (WHERE length({v}) > 15 AND (CASE WHEN length({v}) < 39 THEN {rounded} OR {digits} ELSE {digits} END))",
        }

    def _all(self, condition: str) -> str:
        """Whether all values meet a condition."""
        return f"bool_and(coalesce({condition}, false)) FILTER (WHERE {self.v} IS NOT NULL)"

    def _of_booleans(self) -> dict[str, str]:
        return {
            "valid": self._all(f"TRY_CAST({self.v} AS BOOLEAN) IS NOT NULL"),
            "form": f"list(DISTINCT {self.v}) FILTER (WHERE lower({self.v}) NOT IN ('true', 'false'))",
        }

    def _of_times(self) -> dict[str, str]:
        v, t = self.v, self._time_sql(self.column.guess, self.v)
        found = {
            "valid": self._all(f"{t} IS NOT NULL"),
            "form": f"any_value({v}) FILTER (WHERE {self._other_form(t)})",
            "fraction": f"max(length(rtrim(regexp_extract({v}, '[.]([0-9]+)', 1), '0')))",
        }
        if self.kind in ("date", "timestamp", "zoned"):
            found["no date"] = f"bool_or(NOT isfinite({t}) OR year({t}) NOT BETWEEN 1 AND 9999)"
        if self.kind in ("timestamp", "zoned"):
            zone = _ANY_ZONE if self.kind == "zoned" and not self.column.format else _ZONE
            found["zones"] = f"count(*) FILTER (WHERE regexp_matches({v}, {sql_text(zone)}) AND {v}[11] <> '')"
            found["offsets"] = f"count(*) FILTER (WHERE regexp_matches({v}, {sql_text(zone)}) AND NOT regexp_matches({v}, {sql_text(_UTC)}) AND {v}[11] <> '')"  # fmt: skip
        return found

    def _other_form(self, t: str) -> str:
        """A condition for texts that ISO would write otherwise; lengths differ for fractions."""
        v = self.v
        if self.kind == "date":
            return f"strftime({t}, '%Y-%m-%d') <> {v}"
        if self.kind == "time":
            return f"NOT starts_with({v}, strftime(DATE '2000-01-01' + {t}, '%H:%M'))"
        return f"NOT starts_with(replace({v}, 'T', ' '), strftime({t}, '%Y-%m-%d %H:%M'))" if self.kind == "timestamp" else "false"  # fmt: skip

    def _time_sql(self, type: str, value: str = "") -> str:
        v, format = value or self.value, self.column.format
        if format:
            return f"CAST(try_strptime({v}, {sql_text(format)}) AS {type})"
        return f"TRY_CAST({v} AS {type})"

    # -- decisions

    def decide(self) -> Decision:
        own = self.facts
        if self.kind == "text" or not own.get("values"):
            return Decision("VARCHAR", self.column.text)
        if self.kind == "number":
            decision = self._number(own)
        elif self.kind == "boolean":
            decision = self._boolean(own)
        else:
            decision = self._time(own)
        words = own.get("words")
        if not words or decision.type == "VARCHAR":
            return decision
        assert isinstance(words, list)
        missing = f"{', '.join(map(repr, sorted(w for w in words if w in self.value_words())))} is NULL"
        return (
            decision
            if missing == " is NULL"
            else Decision(decision.type, decision.sql, _joined(missing, decision.note))
        )

    def value_words(self) -> set[str]:
        return {w for w in MISSING if not (self.kind == "number" and w.lower() == "nan")}

    def _number(self, f: dict[str, object]) -> Decision:
        v = self.value
        spaces = "spaces around numbers are left out" if f["spaces"] else ""
        if f["code"]:
            return self._as_text("")
        if f["bigint"]:
            return Decision("BIGINT", f"CAST({v} AS BIGINT)", _joined(spaces, "-0 is 0" if f["zero"] else ""))
        if f["integer"]:
            longest = int(str(f["longest"] or 0))
            if longest > 38:
                return self._as_text("it has numbers of more than 38 digits")
            precision = 20 if longest <= 20 else 38
            return Decision(f"DECIMAL({precision},0)", f"CAST({v} AS DECIMAL({precision},0))", spaces)
        if not f["double"]:
            return self._as_text("")
        if f["overflow"]:
            return self._as_text("a number is too large for DOUBLE")
        digits = f"{f['digits']:,} values have more digits than DOUBLE keeps" if f["digits"] else ""
        return Decision("DOUBLE", f"CAST({v} AS DOUBLE)", _joined(spaces, digits))

    def _boolean(self, f: dict[str, object]) -> Decision:
        if not f["valid"]:
            return self._as_text("")
        form = f["form"]
        assert form is None or isinstance(form, list)
        words = f"{', '.join(map(repr, sorted(form)))} are booleans" if form else ""
        return Decision("BOOLEAN", f"CAST({self.value} AS BOOLEAN)", words)

    def _time(self, f: dict[str, object]) -> Decision:
        if not f["valid"] or f.get("no date"):
            return self._as_text("")
        fraction, kind = int(str(f["fraction"] or 0)), self.kind
        form = f"{f['form']!r} is a {kind}" + (f" by the format {self.column.format!r}" if self.column.format else "") if f["form"] is not None else ""  # fmt: skip
        if kind == "date":
            return Decision("DATE", self._time_sql("DATE"), form)
        if kind == "time":
            return (
                self._as_text("TIME has milliseconds")
                if fraction > 3
                else Decision("TIME", self._time_sql("TIME"), form)
            )
        if f["zones"] and f["zones"] != f["values"]:
            return self._as_text("some times have no zone, or one that is not an offset")
        zoned = bool(f["zones"]) or kind == "zoned"
        if fraction > 9 or (fraction > 6 and zoned):
            return self._as_text("times have more digits than TIMESTAMP keeps")
        if zoned:
            offsets = "zones are left out, the instants stay" if f["offsets"] else ""
            return Decision("TIMESTAMPTZ", self._time_sql("TIMESTAMPTZ"), offsets)
        type = "TIMESTAMP_NS" if fraction > 6 else "TIMESTAMP"
        return Decision(type, self._time_sql(type), form)

    def _as_text(self, reason: str) -> Decision:
        return Decision("VARCHAR", self.column.text, f"text, because {reason}" if reason else "")


def _kind(guess: str) -> str:
    if guess in _NUMBERS or guess.startswith("DECIMAL"):
        return "number"
    return {
        "BOOLEAN": "boolean", "DATE": "date", "TIME": "time", "TIMESTAMP": "timestamp", "TIMESTAMP_NS": "timestamp", "TIMESTAMP WITH TIME ZONE": "zoned",
    }.get(guess, "text")  # fmt: skip


def _joined(*notes: str) -> str:
    return ", ".join(n for n in notes if n)
