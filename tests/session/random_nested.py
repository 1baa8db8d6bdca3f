"""Random SELECTs over arrays, maps, rows, times with a zone, CHAR, and functions of dates, patterns and JSON."""

from __future__ import annotations

from random_queries import Question, Questions

_FORMATS = (
    "yyyy-MM-dd",
    "yyyy-MM-dd HH:mm:ss",
    "dd/MM/yy",
    "HH:mm",
    "EEEE, d",
    "MMM yyyy",
    "yyyy-MM-dd'T'HH:mm:ss.SSS",
    "hh:mm a",
    "DDD",
)
_UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MM", "decade")
_PATTERNS = (
    "a",
    "[a-z]+",
    "^b",
    "b$",
    "(a|B)",
    "x?y",
    ".",
    "[^a]",
    "z{2}",
    "a.b",
    "[[:alpha:]]",
    "(?i)a",
    "a|",
    "[0-9]{1,3}",
    "a*",
)
_PATHS = ("$.a", "$.b[0]", "$.b[1].c", "$.a.b", "$['a']", "$.b", "$.n", "$", "$.b[*]", "$.é")
_ELEMENT = ("l", "ls", "lr", "lm")


class Nested(Questions):
    """Makes random queries of this kind."""

    def __init__(self, seed: int, *, flink: bool | None = None) -> None:
        super().__init__(seed)
        self.flink = bool(seed % 2) if flink is None else flink

    def next(self) -> Question:
        kind = self.random.random()
        self.sources = ["a"]
        table = self.random.choice(["t", "u", "q", "p", "none"])
        where = f" WHERE {self._test()}" if self._chance(0.4) else ""
        if kind < 0.25:
            return self._of_elements(table, where)
        if kind < 0.45:
            return self._grouped(table, where)
        items = ", ".join(f"{self._any()} AS x{i}" for i in range(self.random.randint(1, 3)))
        return Question(f"SELECT {items} FROM {table} AS a{where}", ())

    def _pick(self, *texts: str) -> str:
        return self.random.choice(texts)

    def _of_elements(self, table: str, where: str) -> Question:
        """Rows of elements: LATERAL VIEW, LATERAL, UNNEST, or EXPLODE in the SELECT list."""
        if self.flink:
            array, names, item = self._pick("l|el|el", "ls|el|el", "lm|mk, mv|mv", "lr|x, y|y").split("|")
            join = self._pick(f"CROSS JOIN UNNEST(a.{array}) AS g({names})", f", UNNEST(a.{array}) AS g({names})",
                              f"LEFT JOIN UNNEST(a.{array}) AS g({names}) ON TRUE")  # fmt: skip
            return Question(f"SELECT a.k AS x0, g.{item} AS x1 FROM {table} AS a {join}{where}", ())
        outer, word = self._pick("OUTER ", "", ""), self._pick("explode", "explode", "explode_outer")
        return self.random.choice(
            [Question(f"SELECT a.k AS x0, el AS x1 FROM {table} a LATERAL VIEW {outer}{word}(a.{self._pick('l', 'ls')}) g AS el{where}", ()),
             Question(f"SELECT a.k AS x0, g.mk AS x1, g.mv AS x2 FROM {table} a LATERAL VIEW {outer}explode(lm) g AS mk, mv{where}", ()),
             Question(f"SELECT a.k AS x0, g.x AS x1, g.y AS x2 FROM {table} a LATERAL VIEW {outer}inline(lr) g{where}", ()),
             Question(f"SELECT a.k AS x0, pos, col FROM {table} a LATERAL VIEW posexplode(l) g{where}", ()),
             Question(f"SELECT el AS x0, count(*) AS n FROM {table} a LATERAL VIEW {outer}explode(ls) g AS el{where} GROUP BY el", ()),
             Question(f"SELECT a.k AS x0, {word}(a.{self._pick('l', 'ls', 'lr')}) AS x1 FROM {table} a{where}", ()),
             Question(f"SELECT {word}(lm), k FROM {table} a{where}", ()),
             Question(f"SELECT k, el + 1 AS x1 FROM {table} a, LATERAL explode(l) AS g(el){where}", ())]
        )  # fmt: skip

    def _grouped(self, table: str, where: str) -> Question:
        group = self._pick("c", "z", "s", "date_format(day, 'yyyy-MM')", "year(z)", "r.x", "size(ls)")
        item = self._pick(
            "max(z)", "min(c)", "count(DISTINCT z)", "max(ms)", "count_if(b)", "bool_and(b)", "bool_or(b)", "median(i)", "median(d)",
            "sort_array(collect_list(k))", "sort_array(collect_set(s))", "count(DISTINCT c)", "count(r.y)", "sum(size(l))", "max(lm['a'])",
            "stddev(h)", "corr(h, y)", "covar_pop(h, k)", "covar_samp(d, h)", "var_pop(d)", "variance(y)", "sum(size(filter(l, e -> e > 1)))",
        )  # fmt: skip
        return Question(f"SELECT {group} AS x0, {item} AS x1 FROM {table} AS a{where} GROUP BY {group}", ())

    def _test(self) -> str:
        return self.random.choice(
            [f"{self._pick('c', 'upper(c)', 'v')} {self._pick('=', '<>', '<', '>=')} {self._text()}", f"c IN ('ab', {self._text()})",
             f"z {self._pick('=', '<', '>=')} {self._instant()}", f"{self._time()} < {self._time()}",
             f"s RLIKE '{self.random.choice(_PATTERNS)}'", f"size(l) > {self.random.randint(0, 2)}", f"array_contains(l, {self.integer(0)})",
             f"lm['a'] {self._pick('=', '>')} 1", "r.x IS NOT NULL", f"exists(l, e -> e > {self._pick('1', 'k', 'a.i')})",
             f"forall(ls, e -> e <> {self._text()})", f"s ILIKE '{self._pick('a%', '%B%', '_')}'", self.condition(0)]
        )  # fmt: skip

    def _any(self) -> str:
        return self.random.choice(
            [self._element, self._array, self._map, self._row, self._of_time, self._of_text, self._of_json, self._kept]
        )()

    def _kept(self) -> str:
        return f"a.{self._pick('l', 'ls', 'lr', 'lm', 'r', 'z', 'c')}"

    def _index(self) -> str:
        return (
            self._pick("0", "1", "2", "-1", "a.k", "5")
            if not self.flink
            else self._pick("1", "2", "1", "-1", "a.k", "9")
        )

    def _element(self) -> str:
        array = self._pick("a.l", "a.ls", "l", self._array())
        plain = "" if self.flink else f"get({array}, {self._index()})"
        return self.random.choice(
            [f"{array}[{self._index()}]", f"element_at({array}, {self._pick('1', '-1', '2', 'k')})", f"lm[{self._pick(chr(39) + 'a' + chr(39), 's', 'v')}]",
             f"try_element_at({array}, {self._pick('1', '9', '-2')})", plain or f"{array}[1]", f"element_at(lm, {self._text()})", f"lr[{self._index()}].y"]
        )  # fmt: skip

    def _array(self) -> str:
        a = self._pick("l", "a.l", "l", "array(k, i, 1)", "filter(l, e -> e IS NOT NULL)")
        one = self._pick("1", "2", "a.k", "a.i", "NULL")
        return self.random.choice(
            [f"transform({a}, e -> {self._pick('e + 1', 'e % 2', 'coalesce(e, k)', 'array(e, k)', 'CAST(e AS STRING)', 'e > 1')})",
             f"transform({a}, (e, i) -> {self._pick('i', 'i - 1', 'coalesce(e, 0) + i')})", f"filter({a}, {self._pick('e -> e > 1', '(e, i) -> i > 0', 'e -> e = k')})",
             f"sort_array({a}{self._pick('', ', true', ', false')})", f"array_distinct({a})", f"slice({a}, {self._pick('1', '2')}, {self._pick('0', '1', '9')})",
             f"concat({a}, {self._pick('array(1, 2)', 'l')})", f"array_remove({a}, {one})", f"array_append({a}, {one})", f"array_prepend({a}, {one})",
             f"flatten(array({a}, l))", f"reverse({a})", f"sequence({self._pick('1', 'k')}, {self._pick('5', 'k + 3', '-2')})", f"array({one}, 3, k)",
             f"split(s, '{self._pick(' ', 'a', '[ab]')}')", "map_keys(lm)", "map_values(lm)", f"array_sort({a})", "map_entries(lm)",
             f"transform(transform({a}, e -> array(e)), g -> g[0])"]
        )  # fmt: skip

    def _map(self) -> str:
        return self.random.choice(
            ["map_filter(lm, (k, v) -> v > 1)", "transform_values(lm, (x, v) -> coalesce(v, 0) + 1)", "transform_keys(lm, (x, v) -> concat(x, 'q'))",
             "map('p', k, 'q', i)", "map(k, s)", "map_from_arrays(array('x', 'y'), array(k, i))", "lm"]
        )  # fmt: skip

    def _row(self) -> str:
        a = self._pick("l", "array(k, i, 1)")
        return self.random.choice(
            ["r.x", "a.r.y", "named_struct('p', k, 'q', s)", "struct(k, s)", f"size({self._pick('l', 'ls', 'lm', 'lr')})", "cardinality(lm)", "r.x + 1",
             f"array_contains({a}, {self._pick('1', 'k', '2')})", f"array_position({a}, {self._pick('1', 'k')})", f"array_max({a})", f"array_min({a})",
             f"exists({a}, e -> e > 1)", f"forall({a}, e -> e > 0)", f"aggregate({a}, 0, (s1, e) -> s1 + coalesce(e % 10, 1))",
             f"aggregate({a}, 1, (s1, e) -> s1 + 1, s1 -> s1 * 2)", f"array_join(ls, ','{self._pick('', ', chr')})".replace("chr", "'none'"),
             f"map_contains_key(lm, {self._text()})", "map_from_arrays(ls, l)", "lr[0].x" if not self.flink else "lr[1].x"]
        )  # fmt: skip

    def _text(self) -> str:
        return self._pick("'a'", "'ab'", "'abcd'", "'x'", "''", "'b '", "s", "'abcde'")

    def _instant(self) -> str:
        return self._pick(
            "TIMESTAMP '2020-01-01 00:00:00'",
            "'2020-01-01 00:00:00'",
            "TIMESTAMP_LTZ '2024-06-01 12:00:00'",
            "z",
            "at",
            "day",
            "current_timestamp()",
        )

    def _time(self) -> str:
        return self._pick("z", "at", "ms", "day", "z", "ms", "CAST(day AS TIMESTAMP)", "CAST(z AS DATE)")

    def _of_time(self) -> str:
        t = self._time()
        return self.random.choice(
            [f"date_format({t}, '{self.random.choice(_FORMATS)}')", f"date_trunc('{self.random.choice(_UNITS)}', {t})",
             f"{self._pick('year', 'month', 'hour', 'minute', 'second', 'dayofweek', 'weekday', 'quarter', 'weekofyear', 'dayname', 'monthname')}({t})",
             f"CAST({t} AS {self._pick('STRING', 'DATE', 'TIMESTAMP', 'TIMESTAMP_NTZ', 'TIMESTAMP_LTZ')})", f"datediff({t}, {self._time()})",
             f"unix_timestamp({t})", "unix_millis(z)", f"from_unixtime({self._pick('k', 'n', '1700000000')})", "timestamp_seconds(k)", "timestamp_millis(n)",
             f"next_day(day, '{self._pick('MO', 'Sunday', 'wed', 'FRI')}')", "make_date(2000 + k % 50, 1 + h % 12, 3)", f"last_day({t})",
             f"to_date('{self._pick('2024-02-03', '2024-02-30', 'x')}')", f"to_timestamp('{self._pick('2024-02-03 01:02:03', '2024-02-03', '2024-02-03 01:02:03.5')}')",
             f"extract({self._pick('DOW', 'WEEK', 'DOY', 'HOUR')} FROM {t})", f"date_part('{self._pick('year', 'WEEK')}', {t})", f"greatest({t}, {self._time()})",
             f"coalesce({t}, {self._time()})", f"CAST('{self._pick('2024-03-31 02:30:00', '2024-10-27 02:30:00.25')}' AS TIMESTAMP)"]
        )  # fmt: skip

    def _of_text(self) -> str:
        s = self._pick("s", "v", "c", "concat(s, v)", "concat(v, k, s)")
        pattern = self.random.choice(_PATTERNS)
        return self.random.choice(
            [f"regexp_replace({s}, '{pattern}', '{self._pick('', 'x', '$1', '[$0]')}')", f"regexp_extract({s}, '{pattern}', {self._pick('0', '1')})",
             f"{s} RLIKE '{pattern}'", f"split({s}, '{pattern}')", f"regexp_count({s}, '{pattern}')", f"regexp_extract_all({s}, '{pattern}', 0)",
             f"split_part({s}, '{self._pick('a', ' ', 'ab')}', {self._pick('1', '2', '-1', '5')})", f"translate({s}, 'ab', '{self._pick('x', 'xyz', '')}')",
             f"substring_index({s}, '{self._pick('a', 'b', 'zz')}', {self._pick('1', '-1', '2', '0')})", f"locate('b', {s})", f"ascii({s})", f"md5({s})",
             f"initcap({s})", f"{s} ILIKE '{self._pick('a%', '%B%', '_')}'", f"sha2({s}, 256)", f"concat({self._pick('k', 'b', 'day', 'm', 'n')}, {s})",
             f"{s} LIKE '{self._pick('a%', '_b', '%')}'", f"length({s})", f"rpad({s}, 5, 'x')", f"concat_ws('-', {s}, v)", "CAST(m AS DECIMAL(5, 1))", f"sha1({s})",
             f"CAST({self._pick('i', 'd', 'e', 'n')} AS FLOAT)", f"CAST({self._pick('i', 'k', 'n')} AS BOOLEAN)", "bit_count(i)"]
        )  # fmt: skip

    def _of_json(self) -> str:
        path = self.random.choice(_PATHS)
        if self.flink and self._chance(0.6):
            return f"JSON_VALUE(j, '{path}')"
        return self._pick(f"get_json_object(j, '{path}')", f"get_json_object(j, '{path}')", "json_array_length(j)")
