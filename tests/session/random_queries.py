"""Random SELECTs over the tables of `random_tables`: what an embedded engine and Spark must answer alike."""

from __future__ import annotations

import random
from dataclasses import dataclass

INTEGERS, DECIMALS, TEXTS, TIMES = ("k", "y", "h", "i", "n"), ("m", "w"), ("s", "v"), ("day", "at", "ms")
NUMBERS = (*INTEGERS, *DECIMALS, "d", "e")
GROUPED = (*INTEGERS, *DECIMALS, *TEXTS, *TIMES, "b", "d", "e", "f", "raw")
PLAIN = (*GROUPED, "m", "c")
_OTHERS = ("l", "z", "c", "none_such")
_TYPES = (
    "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "STRING", "BOOLEAN", "DATE", "TIMESTAMP", "DECIMAL(5, 2)", "DECIMAL(18, 0)",
    "DECIMAL(38, 18)", "VARCHAR(3)", "CHAR(3)",
)  # fmt: skip
_LITERALS = (
    "1.5", "0.05", "2", "1e0", "10.0", "-2.5", "0", "2147483647", "2147483648", "-1", "1e-3", "100000.00", "9223372036854775807", ".5", "3.",
)  # fmt: skip


@dataclass(frozen=True)
class Question:
    """A random query."""

    text: str
    ordered: tuple[int, ...]
    """Positions of the result's columns by which its rows are ordered, in this order."""


class Questions:
    """Makes random queries."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.sources: list[str] = []

    def _chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def next(self) -> Question:
        """A query: one SELECT, or UNION ALL of some, or one over subqueries and names of WITH."""
        kind = self.random.random()
        if kind < 0.12:
            count = self.random.randint(1, 3)
            branches = [self._select(count) for _ in range(self.random.choice([2, 2, 3]))]
            return self._ending(" UNION ALL ".join(branches), count)
        if kind < 0.17:
            inner, count = self._any_select()
            return self._ending(f"SELECT * FROM ({inner}) AS q", count)
        if kind < 0.27:
            return self._over(self.random.choice(["({0}) AS a", "({0}) a", "WITH"]))
        text, count = self._any_select()
        return self._ending(text, count)

    def _over(self, form: str) -> Question:
        """A SELECT over a subquery, or a name of WITH, whose columns x0, x1 and x2 are numbers, texts and times."""
        from_ = self._from()
        where = f" WHERE {self.condition(1)}" if self._chance(0.4) else ""
        limit = " ORDER BY x0, x1, x2, x3 LIMIT 9" if self._chance(0.2) else ""
        items = f"{self.integer(1)} AS x0, {self.text(1)} AS x1, {self._column(TIMES)} AS x2, {self.number(1)} AS X3"
        inner = f"SELECT {items} FROM {from_}{where}{limit}"
        before, source = (f"WITH q AS ({inner}) ", "q AS a") if form == "WITH" else ("", form.format(inner))
        if self._chance(0.3):
            source += f" {self.random.choice(['JOIN', 'LEFT JOIN'])} t AS b ON a.x0 = b.k"
        outer = self.random.choice(
            ["SELECT a.x0, count(*), max(a.x1) FROM {0} GROUP BY a.x0", "SELECT x1, sum(x3) AS x9, count(DISTINCT x2) FROM {0} GROUP BY x1",
             "SELECT x2, X3, x0 + 1 FROM {0} WHERE x1 IS NOT NULL", "SELECT DISTINCT x1, x0, min(1) FROM {0} GROUP BY x1, x0",
             "SELECT max(x3), min(x0), count(x1) AS n FROM {0} HAVING count(*) > 1", "SELECT a.* , 1 AS one, x3 * 2 AS xx FROM {0}"]
        )  # fmt: skip
        return Question(before + outer.format(source), ())

    def _ending(self, text: str, count: int) -> Question:
        kind = self.random.random()
        if kind < 0.3:
            return Question(text, ())
        positions = list(range(count))
        self.random.shuffle(positions)
        limited = kind > 0.75
        positions = positions if limited else positions[: self.random.randint(1, count)]
        named = " AS x" in text and self._chance(0.3)
        items = [
            f"{f'x{p}' if named else p + 1}{self.random.choice(['', ' DESC', ' NULLS LAST', ' DESC NULLS FIRST', ' asc nulls first'])}"
            for p in positions
        ]
        limit = f" LIMIT {self.random.randint(0, 12)}" if limited else ""
        limit += f" OFFSET {self.random.randint(0, 4)}" if limited and self._chance(0.3) else ""
        first = ""
        if self._chance(0.2) and "UNION" not in text:
            aggregated = "GROUP BY" in text or "count(" in text
            first = f"{self.aggregate(0) if aggregated else self.anything(1)} {self.random.choice(['', 'DESC'])}, "
        return Question(f"{text} ORDER BY {first}{', '.join(items)}{limit}", () if first else tuple(positions))

    def _any_select(self) -> tuple[str, int]:
        count = self.random.randint(1, 4)
        return self._select(count), count

    def _select(self, count: int) -> str:
        """A SELECT with `count` columns."""
        from_ = self._from()
        where = f" WHERE {self.condition(2)}" if self._chance(0.55) else ""
        kind = self.random.random()
        if kind < 0.4:
            items = [self.anything(2) for _ in range(count)]
            distinct = "DISTINCT " if self._chance(0.25) else ""
            return f"SELECT {distinct}{self._list(items)} FROM {from_}{where}"
        groups = [self._group() for _ in range(self.random.randint(1, 2))] if kind < 0.85 else []
        items = [
            self.random.choice(groups) if groups and self._chance(0.4) else self.aggregated(groups)
            for _ in range(count)
        ]
        distinct = "DISTINCT " if self._chance(0.05) else ""
        return f"SELECT {distinct}{self._list(items)} FROM {from_}{where}{self._group_by(groups, items)}{self._having(bool(groups))}"

    def _group_by(self, groups: list[str], items: list[str]) -> str:
        """GROUP BY; sometimes by positions of items."""
        if not groups:
            return ""
        written = [str(items.index(g) + 1) if g in items and self._chance(0.15) else g for g in groups]
        return f" GROUP BY {', '.join(written)}"

    def _having(self, grouped: bool) -> str:
        kind = self.random.random()
        if kind < 0.08:
            return f" HAVING {self.aggregate(1)} IS NOT NULL"
        if kind < 0.2 and grouped:
            return f" HAVING count(*) > {self.random.randint(1, 3)}"
        if kind < 0.24:
            return f" HAVING {self.aggregate(0)} {self.random.choice(['>', '<=', '<>'])} {self.aggregate(0)}"
        return ""

    def _list(self, items: list[str]) -> str:
        """Items with aliases; some have none, or the name of a column."""
        written = []
        for i, item in enumerate(items):
            kind = self.random.random()
            alias = f" AS x{i}" if kind < 0.85 else "" if kind < 0.96 else f" AS {self.random.choice(NUMBERS)}"
            written.append(item + alias)
        return ", ".join(written)

    def _from(self) -> str:
        first, second = (self.random.choice(["t", "t", "u", "q", "p", "none"]) for _ in range(2))
        if self._chance(0.72):
            self.sources = ["a"]
            return f"{first} AS a"
        self.sources = ["a", "b"]
        kind = self.random.choice(
            [
                "JOIN",
                "LEFT JOIN",
                "RIGHT JOIN",
                "FULL JOIN",
                "INNER JOIN",
                "LEFT SEMI JOIN",
                "LEFT ANTI JOIN",
                "LEFT OUTER JOIN",
                ",",
            ]
        )
        on = self.random.choice(
            ["a.k = b.k", "a.s = b.s AND a.i = b.i", "a.day = b.day", "a.i = b.n", "a.m = b.i", "a.k <=> b.y", "a.v = b.s", "a.k = b.k AND a.m > b.w",
             "a.w = b.m", "a.k = b.h AND a.b", "a.at = b.ms", "a.k = b.k AND a.s IS NOT NULL", "a.k + 1 = b.k", "a.raw = b.raw AND a.k = b.k"]
        )  # fmt: skip
        if kind == ",":
            return f"{first} a, (SELECT * FROM {second} ORDER BY k, s LIMIT 2) b"
        if "SEMI" in kind or "ANTI" in kind:
            self.sources = ["a"]
        third = ""
        if self._chance(0.15):
            third = f" {self.random.choice(['JOIN', 'LEFT JOIN'])} u AS x ON a.k = x.k"
        return f"{first} AS a {kind} {second} AS b ON {on}{third}"

    def _column(self, names: tuple[str, ...]) -> str:
        name = self.random.choice(names)
        name = self.random.choice(_OTHERS) if self._chance(0.004) else name
        name = name.upper() if self._chance(0.05) else f"`{name}`" if self._chance(0.03) else name
        return name if len(self.sources) == 1 and self._chance(0.1) else f"{self.random.choice(self.sources)}.{name}"

    def _group(self) -> str:
        if self._chance(0.8):
            return self._column(GROUPED)
        return self.random.choice([self.integer(1), self.text(1), self.condition(0), f"year({self._column(TIMES)})"])

    def aggregate(self, depth: int) -> str:
        """An aggregate function."""
        kind = self.random.random()
        if kind < 0.12:
            return "count(*)"
        if kind < 0.3:
            return f"count({self.random.choice(['', 'DISTINCT '])}{self._column(PLAIN)})"
        function = self.random.choice(["sum", "min", "max", "avg", "SUM", "Avg"])
        operand = self.anything(1) if function in ("min", "max") else self.number(depth)
        operand = f"DISTINCT {operand}" if self._chance(0.05) else operand
        call = f"{function}({operand})"
        return f"{call} FILTER (WHERE {self.condition(0)})" if self._chance(0.08) else call

    def aggregated(self, groups: list[str]) -> str:
        """An expression of aggregates and groups."""
        kind = self.random.random()
        if kind < 0.7:
            return self.aggregate(1)
        if kind < 0.78:
            return f"round({self.aggregate(0)}, {self.random.randint(0, 3)})"
        if kind < 0.88:
            return f"{self.aggregate(0)} {self.random.choice('+-*/')} {self.aggregate(0)}"
        if kind < 0.93:
            return f"coalesce({self.aggregate(0)}, {self.random.choice(_LITERALS)})"
        value = self.random.choice(groups) if groups else "1"
        return f"CASE WHEN {self.aggregate(0)} > 1 THEN count(*) ELSE {value} END"

    def anything(self, depth: int) -> str:
        """An expression of any type."""
        make = self.random.choice(
            [self.number, self.integer, self.text, self.condition, lambda _: self._column(PLAIN), self._case, self._cast]
        )  # fmt: skip
        return make(depth)

    def _cast(self, depth: int) -> str:
        make = self.random.choice(
            [self.number, self.integer, self.text, lambda _: self._column(PLAIN), lambda _: self._column(TIMES)]
        )
        return f"CAST({make(depth - 1)} AS {self.random.choice(_TYPES)})"

    def _case(self, depth: int) -> str:
        make = self.random.choice([self.number, self.integer, self.text, lambda _: self._column(TIMES)])
        kind = self.random.random()
        if kind < 0.3:
            return f"{self.random.choice(['coalesce', 'ifnull', 'nvl'])}({make(depth - 1)}, {make(depth - 1)})"
        if kind < 0.4:
            return f"nullif({make(depth - 1)}, {make(depth - 1)})"
        if kind < 0.5:
            return f"CASE {self.integer(0)} WHEN 1 THEN {make(depth - 1)} WHEN {self.integer(0)} THEN NULL ELSE {make(depth - 1)} END"
        otherwise = f" ELSE {make(depth - 1)}" if self._chance(0.7) else ""
        return f"CASE WHEN {self.condition(depth - 1)} THEN {make(depth - 1)}{otherwise} END"

    def integer(self, depth: int) -> str:
        """An expression of an integer type."""
        if depth <= 0 or self._chance(0.4):
            return (
                self._column(INTEGERS) if self._chance(0.75) else str(self.random.choice([0, 1, 2, 7, -3, 100, 40000]))
            )
        kind = self.random.random()
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        if kind < 0.6:
            return f"({a} {self.random.choice(['+', '-', '*', '%', 'div', '/'])} {b})"
        return self.random.choice(
            [f"abs({a})", f"CAST({a} AS BIGINT)", f"length({self.text(0)})", f"month({self._column(TIMES)})", f"(- {a})", f"nullif({a}, {b})",
             f"CAST({self.number(0)} AS INT)", f"CAST({a} AS SMALLINT)", f"hour({self._column(('at', 'ms'))})", f"if({self.condition(0)}, {a}, {b})",
             f"{self.random.choice(['year', 'day', 'second', 'minute'])}({self._column(TIMES)})", f"count({a})" if self._chance(0.01) else a,
             f"CAST({self._column(('b',))} AS INT)", f"CAST({a} AS TINYINT)"]
        )  # fmt: skip

    def number(self, depth: int) -> str:
        """An expression of a numeric type."""
        if depth <= 0 or self._chance(0.45):
            return self._column(NUMBERS) if self._chance(0.8) else self.random.choice(_LITERALS)
        kind = self.random.random()
        if kind < 0.7:
            return f"({self.number(depth - 1)} {self.random.choice('+-*/')} {self.number(depth - 1)})"
        return self.random.choice(
            [f"abs({self.number(depth - 1)})", f"round({self.number(depth - 1)}, {self.random.randint(0, 4)})", f"CAST({self.number(0)} AS DOUBLE)",
             f"CAST({self.integer(0)} AS DECIMAL(12, 2))", f"floor({self._column(('d', 'm'))})", f"(- {self.number(depth - 1)})", self._column(("f",)),
             f"CAST({self.number(0)} AS DECIMAL(20, 6))", f"ceil({self._column(('d',))})", f"round({self._column(('d', 'e', 'm', 'w'))}, 2)",
             f"round({self._column(NUMBERS)})", f"({self.number(0)} % {self.number(0)})"]
        )  # fmt: skip

    def text(self, depth: int) -> str:
        """An expression of a text."""
        if depth <= 0 or self._chance(0.5):
            return (
                self._column(TEXTS) if self._chance(0.85) else self.random.choice(["'a'", "''", "'x y'", "'1'", "'é'"])
            )
        a, b = self.text(depth - 1), self.text(depth - 1)
        return self.random.choice(
            [f"upper({a})", f"lower({a})", f"concat({a}, {b})", f"({a} || {b})", f"substring({a}, {self.random.randint(0, 3)}, {self.random.randint(0, 3)})",
             f"CAST({self.integer(0)} AS STRING)", f"CAST({self._column(('b',))} AS STRING)", self._column(("c",)) if self._chance(0.2) else a,
             f"substr({a}, 2)", f"trim({a})", f"CAST({self._column(TIMES)} AS STRING)", f"CAST({self._column(DECIMALS)} AS STRING)"]
        )  # fmt: skip

    def condition(self, depth: int) -> str:
        """A condition."""
        if depth > 0 and self._chance(0.35):
            return f"({self.condition(depth - 1)} {self.random.choice(['AND', 'OR'])} {self.condition(depth - 1)})"
        if self._chance(0.1):
            return f"NOT ({self.condition(depth - 1)})"
        operator = self.random.choice(["=", "<>", "<", ">=", ">", "<=", "!=", "<=>"])
        pattern = self.random.choice(["%", "a%", "_", "%b%", "", "a\\\\%", "%\\\\", "__", "A_", "%a_"])
        if self._chance(0.12):
            return self._unusual(operator)
        return self.random.choice(
            [f"{self.number(0)} {operator} {self.number(0)}", f"{self.integer(depth)} {operator} {self.integer(0)}", f"{self.text(0)} {operator} {self.text(depth)}",
             f"{self._column(PLAIN)} IS {self.random.choice(['', 'NOT '])}NULL", f"{self._column(TEXTS)} {self.random.choice(['', 'NOT '])}LIKE '{pattern}'",
             f"{self.integer(0)} IN ({self.integer(0)}, 1, 7)", f"{self.text(0)} NOT IN ('a', 'x')", f"{self.number(0)} BETWEEN {self.number(0)} AND {self.number(0)}",
             self._column(("b",)), f"{self._column(('day',))} {operator} DATE '2020-01-01'", f"{self._column(('at', 'ms'))} {operator} {self._column(('at', 'ms'))}",
             f"{self._column(('f', 'd', 'e'))} {operator} {self._column(('f', 'd', 'e'))}", f"{self.number(0)} IN ({self.number(0)}, {self.number(0)}, NULL)",
             f"{self._column(('raw',))} {operator} {self._column(('raw',))}", f"{self._column(('b',))} {operator} {self.random.choice(['TRUE', 'false', self._column(('b',))])}"]
        )  # fmt: skip

    def _unusual(self, operator: str) -> str:
        """Conditions of which some are left to Spark: mixed types, escapes, subqueries."""
        return self.random.choice(
            [f"{self.text(0)} {operator} {self.integer(0)}", f"{self._column(('day',))} {operator} '2020-01-01'", f"{self._column(TIMES)} {operator} {self._column(TIMES)}",
             f"{self._column(TEXTS)} LIKE 'a!%' ESCAPE '!'", f"{self.integer(0)} IN (SELECT k FROM u)", "EXISTS (SELECT 1 FROM none)",
             f"{self._column(('b',))} IS {self.random.choice(['', 'NOT '])}{self.random.choice(['TRUE', 'FALSE'])}",
             f"{self.number(0)} IS {self.random.choice(['', 'NOT '])}DISTINCT FROM {self.number(0)}", f"{self.integer(0)} IN ('1', '2')",
             f"{self._column(('at', 'ms'))} {operator} TIMESTAMP '2020-01-01 00:00:00'", f"{self.text(0)} BETWEEN {self.text(0)} AND {self.text(0)}",
             f"{self._column(('day',))} BETWEEN DATE '1960-01-01' AND DATE '2020-12-31'", f"{self._column(('day',))} IN (DATE '2020-02-29', {self._column(('day',))})",
             f"{self.integer(0)} {operator} (SELECT max(k) FROM p)", f"{self._column(('c',))} {operator} 'ab'", f"{self._column(('f',))} {operator} {self.number(0)}"]
        )  # fmt: skip
