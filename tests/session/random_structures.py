"""Random queries of several SELECTs: joins of up to four tables, subqueries, windows, set operations, grouping sets, and more functions."""

from __future__ import annotations

from random_queries import DECIMALS, INTEGERS, NUMBERS, TEXTS, TIMES, Question, Questions

_KEYS = ("k", "i", "y", "h", "s", "v", "day", "b", "n")
_TABLES = ("t", "u", "q", "p", "none")


class Structures(Questions):
    """Makes random queries over the tables of `random_tables`."""

    def next(self) -> Question:
        """A query of one of the kinds."""
        make = self.random.choice(
            [self._joins, self._joins, self._in_subquery, self._exists, self._scalar, self._window, self._window, self._set_operation,
             self._grouping_sets, self._with, self._functions, self._functions, self._nested]
        )  # fmt: skip
        return Question(make(), ())

    def _table(self) -> str:
        return self.random.choice(_TABLES)

    def _key(self) -> str:
        return self.random.choice(_KEYS)

    def _operator(self) -> str:
        return self.random.choice(["=", "=", "<>", "<", ">=", "<=>"])

    def _items(self, count: int) -> str:
        return ", ".join(f"{self.anything(1)} AS x{i}" for i in range(count))

    def _joins(self) -> str:
        """Two to four tables, with commas, ON, USING and NATURAL."""
        names = ["a", "b2", "c2", "d2"][: self.random.randint(2, 4)]
        self.sources = [names[0]]
        text = f"{self._table()} {names[0]}"
        conditions = []
        for name in names[1:]:
            kind = self.random.choice(
                [",", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "USING", "CROSS JOIN", "SEMI", "NATURAL"]
            )
            key, other = self._key(), self.random.choice(self.sources)
            if kind == ",":
                text += f", {self._table()} {name}"
                conditions.append(f"{other}.{key} = {name}.{key}")
            elif kind == "CROSS JOIN":
                text += f" CROSS JOIN (SELECT * FROM {self._table()} WHERE k < 4) {name}"
            elif kind == "USING":
                side = self.random.choice(["", "LEFT ", "RIGHT ", "FULL "])
                text += f" {side}JOIN {self._table()} {name} USING (k{self.random.choice(['', ', s', ', i'])})"
            elif kind == "NATURAL":
                text += f" NATURAL JOIN (SELECT k, s, b AS b_{name} FROM {self._table()}) {name}"
            elif kind == "SEMI":
                text += f" LEFT {self.random.choice(['SEMI', 'ANTI'])} JOIN {self._table()} {name} ON {other}.{key} = {name}.{key}"
                continue
            else:
                extra = f" AND {name}.{self._key()} IS NOT NULL" if self._chance(0.3) else ""
                extra += f" AND {other}.i {self._operator()} {name}.i" if self._chance(0.2) else ""
                text += f" {kind} {self._table()} {name} ON {other}.{key} = {name}.{key}{extra}"
            if kind != "NATURAL":
                self.sources.append(name)
        if self._chance(0.4):
            conditions.append(self.condition(1))
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        if self._chance(0.5):
            return f"SELECT count(*) AS n, {self.aggregate(1)} AS x FROM {text}{where}"
        if self._chance(0.3):
            return f"SELECT * FROM (SELECT {self._items(3)} FROM {text}{where}) r"
        return (
            f"SELECT {self._column(_KEYS)} AS g, {self.aggregate(1)} AS x, count(*) AS n FROM {text}{where} GROUP BY 1"
        )

    def _subquery(self, column: str, correlated: bool, alias: str = "z") -> str:
        before, self.sources = self.sources, [alias]
        where = [self.condition(0)] if self._chance(0.5) else []
        if correlated:
            where.append(f"{alias}.{self._key()} {self._operator() if self._chance(0.3) else '='} a.{self._key()}")
        text = f"SELECT {column} FROM {self._table()} {alias}"
        if not correlated and self._chance(0.2):
            text = f"SELECT {alias}.{column} FROM {self._table()} {alias} JOIN {self._table()} y ON {alias}.k = y.k"
        text += f" WHERE {' AND '.join(where)}" if where else ""
        if not correlated and self._chance(0.2):
            text += f" GROUP BY {column if '.' in column else alias + '.' + column}"
        self.sources = before
        return text

    def _around(self, condition: str) -> str:
        other = self.condition(0)
        where = self.random.choice(
            [condition, f"{condition} AND {other}", f"{other} AND {condition}", f"({condition} OR {other})"]
        )
        if self._chance(0.4):
            return f"SELECT {self._column(_KEYS)} AS g, count(*) AS n FROM {self._table()} a WHERE {where} GROUP BY 1"
        return f"SELECT {self._items(2)}, a.k AS k FROM {self._table()} a WHERE {where}"

    def _in_subquery(self) -> str:
        self.sources = ["a"]
        key = self._key()
        operand = f"a.{self.random.choice([key, key, self._key()])}"
        operand = self.integer(1) if self._chance(0.1) else operand
        word = self.random.choice(["IN", "IN", "NOT IN"])
        return self._around(f"{operand} {word} ({self._subquery(f'z.{key}', self._chance(0.3))})")

    def _exists(self) -> str:
        self.sources = ["a"]
        word = self.random.choice(["", "NOT "])
        return self._around(
            f"{word}EXISTS ({self._subquery(self.random.choice(['*', '1', 'z.k']), self._chance(0.8))})"
        )

    def _scalar(self) -> str:
        """Scalar subqueries, of one row or correlated, in WHERE, HAVING and the SELECT list."""
        self.sources = ["z"]
        aggregate = self.random.choice(
            [f"{f}(z.{c})" for f in ("min", "max") for c in _KEYS] + [self.aggregate(1), "count(*)"]
        )
        aggregate = (
            f"{self.random.choice(['0.2', '2', '1.5'])} * {self.aggregate(0)}" if self._chance(0.2) else aggregate
        )
        self.sources = ["a"]
        where = [
            f"z.{key} = a.{self.random.choice([key, key, self._key()])}"
            for key in (self._key(), self._key())[: self.random.randint(0, 2)]
        ]
        where += ["z.i > 0"] if self._chance(0.3) else []
        query = f"(SELECT {aggregate} FROM {self._table()} z{' WHERE ' + ' AND '.join(where) if where else ''})"
        table = self._table()
        if self._chance(0.15):
            query = f"(SELECT z.{self._key()} FROM t z WHERE z.k = {self.random.randint(0, 60)})"
            where = []
        kind = self.random.random()
        if kind < 0.35:
            return f"SELECT a.k, {query} AS x FROM {table} a"
        if kind < 0.5 and not where:
            return f"SELECT a.s, count(*) AS n FROM {table} a GROUP BY a.s HAVING {self.aggregate(0)} {self._operator()} {query}"
        compared = self.random.choice([f"a.{self._key()}", self.number(0)])
        return f"SELECT a.k, {self.anything(0)} AS x FROM {table} a WHERE {compared} {self._operator()} {query}"

    def _over(self, ordered: bool) -> str:  # type: ignore[override]
        parts = (
            [
                f"PARTITION BY {', '.join(self._column((*_KEYS, 'd', 'e', 'm')) for _ in range(self.random.randint(1, 2)))}"
            ]
            if self._chance(0.7)
            else []
        )
        if ordered:
            parts.append(f"ORDER BY {self._column(_KEYS)} {self.random.choice(['', 'DESC', 'NULLS LAST'])}, a.k")
        return " ".join(parts)

    def _window(self) -> str:
        """Window functions over a table whose `k` is unique, so that each order is."""
        self.sources = ["a"]
        items = []
        for i in range(self.random.randint(1, 3)):
            kind = self.random.random()
            frame = ""
            if kind < 0.35:
                call = self.random.choice(
                    ["row_number()", "rank()", "dense_rank()", "percent_rank()", "cume_dist()", "ntile(3)"]
                )
                over = self._over(True)
            elif kind < 0.55:
                value = self.anything(1)
                call = self.random.choice(
                    [
                        f"lag({value})",
                        f"lead({value}, 2)",
                        f"lag({self._column(INTEGERS)}, 1, NULL)",
                        f"lead({value}, 0)",
                    ]
                )
                over = self._over(True)
            elif kind < 0.7:
                call = f"{self.random.choice(['first_value', 'last_value'])}({self.anything(1)})"
                over = self._over(True)
            else:
                call, over = self.aggregate(1), self._over(self._chance(0.6))
            if kind >= 0.55 and "ORDER" in over and self._chance(0.5):
                frame = " " + self.random.choice(
                    ["ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", "ROWS BETWEEN 1 PRECEDING AND 3 FOLLOWING", "ROWS 3 PRECEDING",
                     "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
                     "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "ROWS BETWEEN 3 FOLLOWING AND 1 FOLLOWING"]
                )  # fmt: skip
            items.append(f"{call} OVER ({over}{frame}) AS x{i}")
        where = f" WHERE {self.condition(1)}" if self._chance(0.3) else ""
        if self._chance(0.15):
            return f"SELECT a.s, rank() OVER (ORDER BY count(*), a.s) AS r, sum(count(*)) OVER () AS n FROM t a{where} GROUP BY a.s"
        if self._chance(0.15):
            return f"SELECT k, x0 FROM (SELECT a.k, row_number() OVER (PARTITION BY a.s ORDER BY a.k DESC) AS x0 FROM t a{where}) r WHERE x0 <= 2"
        if self._chance(0.1):
            return f"SELECT a.k, sum(a.i) OVER w AS x0, rank() OVER w AS x1 FROM t a{where} WINDOW w AS ({self._over(True)})"
        return f"SELECT a.k, {', '.join(items)} FROM t a{where}"

    def _set_operation(self) -> str:
        count = self.random.randint(1, 3)
        makers = [
            self.random.choice(
                [self.integer, self.text, self.number, lambda _: self._column(TIMES), lambda _: self._column(_KEYS)]
            )
            for _ in range(count)
        ]

        def branch() -> str:
            self.sources = ["a"]
            items = ", ".join(f"{make(0)} AS x{i}" for i, make in enumerate(makers))
            where = f" WHERE {self.condition(0)}" if self._chance(0.4) else ""
            return f"SELECT {items} FROM {self._table()} a{where}"

        text = branch()
        for _ in range(self.random.randint(1, 2)):
            word = self.random.choice(
                ["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "MINUS", "EXCEPT ALL", "INTERSECT ALL", "UNION DISTINCT"]
            )
            part = branch()
            text = f"{text} {word} {f'({part})' if self._chance(0.2) else part}"
        if self._chance(0.3):
            return f"SELECT count(*) AS n, max(x0) AS m FROM ({text}) r"
        return text

    def _grouping_sets(self) -> str:
        self.sources = ["a"]
        keys = self.random.sample([f"a.{c}" for c in (*_KEYS, "m")], 2)
        by = self.random.choice(
            ["ROLLUP ({0}, {1})", "CUBE ({0}, {1})", "GROUPING SETS (({0}, {1}), ({0}), ())", "{0}, ROLLUP ({1})", "GROUPING SETS ({0}, {1})",
             "{0}, {1} WITH ROLLUP", "ROLLUP (({0}, {1}))"]
        ).format(*keys)  # fmt: skip
        item = self.random.choice(
            [f", grouping({keys[0]}) AS y", ", grouping_id() AS y", f", {keys[1]} IS NULL AS y", ""]
        )
        having = " HAVING count(*) > 1" if self._chance(0.2) else ""
        return f"SELECT {keys[0]}, {keys[1]} AS z, {self.aggregate(1)} AS x{item} FROM {self._table()} a GROUP BY {by}{having}"

    def _with(self) -> str:
        """A named query that is used twice."""
        self.sources = ["a"]
        inner = f"SELECT {self._column(_KEYS)} AS g, {self.aggregate(1)} AS x FROM {self._table()} a GROUP BY 1"
        names = self.random.choice(["", " (g, x)"])
        return self.random.choice(
            [f"WITH r{names} AS ({inner}) SELECT a.g, a.x FROM r a WHERE a.x = (SELECT max(x) FROM r)",
             f"WITH r{names} AS ({inner}) SELECT count(*) AS n FROM r a JOIN r b ON a.g = b.g",
             f"WITH r{names} AS ({inner}), s AS (SELECT g FROM r WHERE x IS NOT NULL) SELECT g, x FROM r WHERE g IN (SELECT g FROM s)",
             f"SELECT g, x FROM ({inner}) AS r (g, x) WHERE g IS NOT NULL"]
        )  # fmt: skip

    def _nested(self) -> str:
        """Queries over queries, and a SELECT without FROM."""
        self.sources = ["a"]
        if self._chance(0.15):
            return f"SELECT {self.random.choice(['1 + 1', '2 * 3.5', 'abs(3)'])} AS x, 'b' AS y"
        if self._chance(0.2):
            return f"SELECT a.k, r.w FROM {self._table()} a JOIN (VALUES (1, 'one'), (2, NULL), (7, 'x')) AS r (id, w) ON a.k = r.id"
        inner = f"SELECT {self.integer(1)} AS k, {self.text(1)} AS s, {self.number(1)} AS m, {self._column(TIMES)} AS day FROM {self._table()} a"
        inner += f" WHERE {self.condition(1)}" if self._chance(0.5) else ""
        source = f"({inner}) b JOIN {self._table()} c ON b.s = c.s" if self._chance(0.3) else f"({inner}) b"
        return self.random.choice(
            [f"SELECT b.k, count(*) AS n, sum(b.k) AS x FROM {source} WHERE b.s IS NOT NULL GROUP BY b.k HAVING count(*) > 0",
             f"SELECT max(b.m) AS x, min(b.day) AS y FROM {source}", f"SELECT DISTINCT b.s, b.day FROM {source} WHERE b.k IN (SELECT k FROM u)",
             f"SELECT b.s, sum(b.m) AS x FROM {source} GROUP BY b.s"]
        )  # fmt: skip

    def _functions(self) -> str:
        self.sources = ["a"]
        items = ", ".join(f"{self._function()} AS x{i}" for i in range(self.random.randint(1, 3)))
        where = f" WHERE {self._comparison()}" if self._chance(0.3) else ""
        return f"SELECT a.k, {items} FROM {self._table()} a{where}"

    def _comparison(self) -> str:
        return self.random.choice(
            [f"{self._column(('day',))} {self._operator()} '2020-02-29'", f"{self._column(('at', 'ms'))} >= '2020-01-01'",
             f"{self._column(('day',))} BETWEEN '1969-12-31' AND '2021-01-01'", f"{self._column(('day',))} IN ('2021-01-01', '2020-02-29')",
             f"{self._column(('at',))} < '2020-01-01 00:00:00.5'", f"{self._column(('day',))} >= DATE '2021-01-01' - INTERVAL '1' MONTH",
             f"{self._column(('at',))} > CAST('2000-01-01' AS DATE)"]
        )  # fmt: skip

    def _function(self) -> str:
        text, other = self._column(TEXTS), self._column(TEXTS)
        literal = self.random.choice(["'a'", "''", "' '", "'é'", "'b '"])
        number, count = self.integer(0), self.random.choice(["0", "1", "2", "3", "7", "-1"])
        time = self._column(TIMES)
        unit = self.random.choice(["YEAR", "MONTH", "DAY", "QUARTER", "HOUR", "MINUTE", "DOY", "WEEK"])
        interval = self.random.choice(
            ["'3' DAY", "'1' MONTH", "'2' YEAR", "2 DAYS", "'5' HOUR", "'90' MINUTE", "'-1' DAY"]
        )
        return self.random.choice(
            [f"trim({text})", f"ltrim({text})", f"rtrim({text})", f"replace({text}, {literal}, 'xy')", f"instr({text}, {literal})",
             f"left({text}, {count})", f"right({text}, {count})", f"lpad({text}, {count}, {literal})", f"rpad({text}, {count})",
             f"repeat({text}, {count})", f"reverse({text})", f"concat_ws('-', {text}, {other})", f"startswith({text}, {literal})",
             f"endswith({text}, {other})", f"contains({text}, {literal})", f"length({text})", f"substring({text} FROM 2 FOR 2)",
             f"greatest({number}, {self.integer(0)})", f"least({text}, {other})", f"greatest({self._column(DECIMALS)}, {number})",
             f"sign({number})", f"sqrt({self._column(('d', 'e', 'i', 'y'))})", f"pmod({number}, 7)", f"extract({unit} FROM {time})",
             f"quarter({time})", f"dayofweek({time})", f"dayofyear({time})", f"weekofyear({time})", f"date_add({time}, {count})",
             f"date_sub({self._column(('day',))}, {number})", f"datediff({time}, {self._column(TIMES)})", f"add_months({time}, {count})",
             f"last_day({time})", f"trunc({self._column(('day',))}, '{self.random.choice(['YEAR', 'MM', 'WEEK', 'QUARTER', 'x'])}')",
             f"to_date({time})", f"{time} + INTERVAL {interval}", f"{self._column(('day',))} - INTERVAL {interval}",
             f"CAST({text} AS {self.random.choice(['INT', 'BIGINT', 'DOUBLE', 'DATE', 'DECIMAL(6, 2)'])})", f"CAST({self._column(('day',))} AS STRING)",
             f"CAST({self._column(DECIMALS)} AS INT)", f"CAST({self._column(('at',))} AS DATE)", f"CAST({self._column(('b',))} AS INT)",
             f"TRY_CAST({number} AS STRING)", f"coalesce({text}, {literal})", f"if({self.condition(0)}, {text}, {literal})", f"abs({self._column(NUMBERS)})",
             f"ceil({self._column(('d', 'm'))})", f"round({self._column(('m', 'w', 'd'))}, {count})", f"char_length({text})", f"upper({text})"]
        )  # fmt: skip
