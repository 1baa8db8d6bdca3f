"""The types of columns of text: DuckDB's guess from a sample, checked against every value of the file.

A type is taken if each value can be written back as the same text, or if the change has a note: `+49170` and `02134` stay texts, numbers
beyond 64 bits become DECIMAL, dates in another form than ISO become DATE with a note that names the form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.files.engine import sql_name, sql_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paimon_nb.files.engine import Engine

_C = TypeVar("_C")
MISSING = ("NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "NaN", "nan", "-", "?", ".", "--", "")
"""Words for a missing value that become NULL in a column whose other values are numbers, times or booleans."""
_NUMBERS = frozenset({"BIGINT", "HUGEINT", "BIGNUM", "DOUBLE", "UBIGINT", "UHUGEINT", "INTEGER", "FLOAT"})
_EXACT_DIGITS = 17
"""Digits that a DOUBLE keeps."""
_COLUMNS_AT_ONCE = 24
_SMALL_BYTES = 256 << 20
_ZONE = r"([zZ]|[+-]\d{2}(:?\d{2}){0,2}| ?UTC)$"


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column whose values are texts.

    Args:
        name: of the column. guess: DuckDB's type. text: the SQL expression of its text.
        format: of dates or times, as strptime writes it; '': ISO. fixed: the user gave the type.
    """

    name: str
    guess: str
    text: str
    format: str = ""
    number: str = ""
    """The SQL of the text with a decimal point and without separators of thousands; '': `text`."""
    may_have_words: bool = True
    """Whether words of MISSING stand for NULL; texts of JSON do not."""


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
    if len(plans) > _COLUMNS_AT_ONCE and size <= _SMALL_BYTES:
        engine.rows(f"CREATE TEMP TABLE staged AS SELECT * FROM {relation}")
        relation = "staged"
    facts: dict[str, object] = {}
    for some in in_parts(plans):
        facts |= _facts(engine, relation, {k: v for p in some for k, v in p.aggregates().items()}, some)
    for some in in_parts([p for p in plans if p.is_no_bigint(facts)]):
        facts |= _facts(engine, relation, {k: v for p in some for k, v in p.more_aggregates().items()}, some)
    return [plan.decide(facts) for plan in plans]


def in_parts(columns: Sequence[_C]) -> Iterator[Sequence[_C]]:
    """Some columns after the other: planning takes time and memory with the square of the aggregates of a query."""
    return (columns[first : first + _COLUMNS_AT_ONCE] for first in range(0, len(columns), _COLUMNS_AT_ONCE))


def _facts(engine: Engine, relation: str, requested: Mapping[str, str], plans: Sequence[_Plan]) -> dict[str, object]:
    """Aggregates that some plans need, in one query."""
    names = list(requested)
    columns = ", ".join(f"{requested[n]} AS {sql_name(n)}" for n in names) or "count(*)"
    values = ", ".join(f"{sql} AS {name}" for plan in plans for name, sql in plan.values().items()) or "1"
    (row,) = engine.rows(f"SELECT {columns} FROM (SELECT {values} FROM {relation})")
    return dict(zip(names, row, strict=False))


class _Plan:
    """What is asked about one column, and what follows."""

    def __init__(self, number: int, column: TextColumn) -> None:
        self.prefix, self.column = f"{number}:", column
        self.v, self.trimmed, self.word = f"v{number}", f"t{number}", f"w{number}"
        self.kind = _kind(column.guess)
        text = column.text if self.kind != "number" or not column.number else column.number
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
        return {self.prefix + k: v for k, v in found.items()}

    def _of_numbers(self) -> dict[str, str]:
        v, t = self.v, self.trimmed
        return {
            "bigint": self._all(f"TRY_CAST({v} AS BIGINT)::VARCHAR = {t} OR {t} = '-0'"),
            "zero": f"count(*) FILTER (WHERE {t} = '-0')",
            "spaces": f"count(*) FILTER (WHERE {t} <> {v})",
            "code": f"bool_or(regexp_matches(ltrim({v}), '^[+-]?0[0-9xXbBoO]|^[+][0-9]+$|_'))",
        }

    def is_no_bigint(self, facts: Mapping[str, object]) -> bool:
        """Whether `more_aggregates` are needed: numbers, not all of which are BIGINT."""
        of = {k: facts.get(self.prefix + k) for k in ("values", "code", "bigint")}
        return self.kind == "number" and bool(of["values"]) and not of["code"] and not of["bigint"]

    def more_aggregates(self) -> dict[str, str]:
        v, t = self.v, self.trimmed
        digits = f"length(regexp_replace({v}, '[eE].*|[^0-9]', '', 'g')) > {_EXACT_DIGITS}"
        rounded = f"regexp_full_match({v}, '-?[0-9]+') AND TRY_CAST(TRY_CAST({v} AS DOUBLE) AS HUGEINT)::VARCHAR <> {v}"
        found = {
            "integer": self._all(f"regexp_full_match({t}, '-?(0|[1-9][0-9]*)')"),
            "longest": f"max(length(ltrim({t}, '-')))",
            "double": self._all(f"TRY_CAST({v} AS DOUBLE) IS NOT NULL"),
            "overflow": f"bool_or(isinf(TRY_CAST({v} AS DOUBLE)) AND NOT contains(lower({v}), 'inf'))",
            "digits": f"count(*) FILTER (WHERE length({v}) > 15 AND (CASE WHEN length({v}) < 39 THEN {rounded} OR {digits} ELSE {digits} END))",
        }
        return {self.prefix + k: sql for k, sql in found.items()}

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
            found["zones"] = f"count(*) FILTER (WHERE regexp_matches({v}, {sql_text(_ZONE)}) AND {v}[11] <> '')"
            found["offsets"] = f"count(*) FILTER (WHERE regexp_matches({v}, '[+-]\\d{{2}}(:?\\d{{2}}){{0,2}}$') AND NOT regexp_matches({v}, '[+-]00(:?00){{0,2}}$') AND {v}[11] <> '')"  # fmt: skip
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

    def decide(self, facts: dict[str, object]) -> Decision:
        if self.kind == "text":
            return Decision("VARCHAR", self.column.text)
        own = {k.removeprefix(self.prefix): v for k, v in facts.items() if k.startswith(self.prefix)}
        if not own["values"]:
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
            offsets = "offsets of zones are left out, the instants stay" if f["offsets"] else ""
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
