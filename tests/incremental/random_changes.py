"""Random queries over three tables, and random changes of these: inserts, updates, deletes, NULLs, skewed keys, empty tables."""

from __future__ import annotations

import datetime as dt
import math
import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import paimon_nb

TABLES = """
    CREATE TABLE o (id INT, g STRING, k INT, x BIGINT, p DECIMAL(10, 2), d DOUBLE, day DATE, ts TIMESTAMP(3),
        PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2');
    CREATE TABLE c (cid INT, g STRING, k INT, name STRING, PRIMARY KEY (cid) NOT ENFORCED) WITH ('bucket' = '1');
    CREATE TABLE e (g STRING, k INT, v BIGINT, ts TIMESTAMP(3));
    CREATE TABLE p (day DATE, id INT, g STRING, k INT, d DOUBLE, PRIMARY KEY (day, id) NOT ENFORCED) PARTITIONED BY (day) WITH ('bucket' = '-1');
"""
COLUMNS = {
    "o": {"id": "int", "g": "text", "k": "int", "x": "int", "p": "decimal", "d": "double", "day": "date", "ts": "time"},
    "c": {"cid": "int", "g": "text", "k": "int", "name": "text"},
    "e": {"g": "text", "k": "int", "v": "int", "ts": "time"},
    "p": {"day": "date", "id": "int", "g": "text", "k": "int", "d": "double"},
}


class Changes:
    """Makes statements that change the tables."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def _value(self, kind: str) -> Any:
        r = self.random
        if r.random() < 0.12:
            return None
        match kind:
            case "text":
                return r.choice(["a", "a", "a", "b", "c", "", "x|y", "#", "\\N"])
            case "int":
                return r.choice([0, 1, 1, 1, 2, 3, -1, 7, r.randint(-50, 50)])
            case "decimal":
                return Decimal(r.choice(["0.00", "1.50", "-2.25", "99999999.99", f"{r.randint(-999, 999) / 100:.2f}"]))
            case "double":
                return r.choice([0.0, -0.0, 1.5, -2.25, 1024.0, r.randint(-64, 64) / 8, math.nan])
            case "date":
                return dt.date(2024, r.randint(1, 3), r.randint(10, 13))
            case "time":
                return dt.datetime(2024, 1, r.randint(1, 2), r.randint(0, 3), r.choice([0, 0, 5, 30, 59]))
        raise ValueError(kind)

    def _cell(self, table: str, kind: str) -> Any:
        value = self._value(kind)
        return dt.date(2024, 1, 10) if value is None and table == "p" and kind == "date" else value

    def _rows(self, table: str, count: int) -> pa.Table:
        key = {"o": "id", "c": "cid", "p": "id"}.get(table)
        size = 14 if table == "o" else 7
        rows = [
            {
                n: self.random.randint(1, size) if n == key else self._cell(table, kind)
                for n, kind in COLUMNS[table].items()
            }
            for _ in range(count)
        ]
        return pa.Table.from_pylist(rows, pa.schema([(n, _arrow_type(table, n, k)) for n, k in COLUMNS[table].items()]))

    def change(self, wb: paimon_nb.Workbench) -> None:
        """One change. Python's table methods, because some statements need Spark."""
        r = self.random
        name = r.choice(["o", "o", "o", "c", "c", "e", "p"])
        table = wb.table(name)
        kind = r.random()
        if kind < 0.68:
            table.append(self._rows(name, r.choice([1, 1, 2, 3, 8])))
        elif kind < 0.88:
            table.delete(where=r.choice(["g = 'a'", "g = 'b'", "k = 1", "k = 0", "k IS NULL", "k > 5", "g IS NULL"]))
        elif kind < 0.94:
            table.update({"g": self._value("text"), "k": self._value("int")}, where=f"k = {r.choice([0, 1, 2, 7])}")
        elif kind < 0.96:
            table.truncate()
        elif kind < 0.98:
            table.overwrite(self._rows(name, 3))
        else:
            table.compact()

    def apply(self, wb: paimon_nb.Workbench) -> None:
        """Some changes."""
        for _ in range(self.random.choice([0, 1, 1, 2, 3])):
            self.change(wb)


def _arrow_type(table: str, name: str, kind: str) -> pa.DataType:
    if kind == "int":
        return pa.int64() if (table, name) in (("o", "x"), ("e", "v")) else pa.int32()
    return {
        "text": pa.string(),
        "decimal": pa.decimal128(10, 2),
        "double": pa.float64(),
        "date": pa.date32(),
        "time": pa.timestamp("ms"),
    }[kind]


class Questions:
    """Makes random queries."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._number = 0

    def _chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def _alias(self) -> str:
        self._number += 1
        return f"z{self._number}"

    def next(self) -> str:
        """A query whose columns are called r0, r1 ..."""
        kind = self.random.random()
        if kind < 0.1:
            return self._set_operation()
        if kind < 0.2:
            return self._twice()
        return self.select(2)

    def _set_operation(self) -> str:
        op = self.random.choice(["UNION ALL", "UNION", "INTERSECT", "EXCEPT"])
        sides = []
        for table in self.random.sample(["o", "c", "e"], 2):
            where = f" WHERE {self.condition(table, COLUMNS[table])}" if self._chance(0.5) else ""
            sides.append(f"SELECT g AS r0, k AS r1 FROM {table}{where}")
        return f" {op} ".join(sides)

    def _twice(self) -> str:
        inner = self.select(1)
        return f"WITH w AS ({inner}) SELECT a.r0 AS r0, b.r1 AS r1 FROM w AS a {self.random.choice(['', 'LEFT ', 'FULL '])}JOIN w AS b ON a.r0 = b.r0"

    def source(self, depth: int) -> tuple[str, str, dict[str, str]]:
        """A part of FROM, its alias, and its columns."""
        alias = self._alias()
        if depth > 0 and self._chance(0.3):
            columns: dict[str, str] = {}
            text = self.select(depth - 1, columns)
            return f"({text}) AS {alias}", alias, columns
        if self._chance(0.12):
            return self._windows(alias)
        table = self.random.choice(["o", "o", "c", "e", "p"])
        return f"{table} AS {alias}", alias, COLUMNS[table]

    def _windows(self, alias: str) -> tuple[str, str, dict[str, str]]:
        """A table with its windows of time."""
        table = self.random.choice(["o", "e"])
        by = self.random.choice(["", " PARTITION BY g", " PARTITION BY g, k"])
        text = self.random.choice(
            [
                f"TUMBLE(TABLE {table}, DESCRIPTOR(ts), INTERVAL '1' HOUR)",
                f"HOP(TABLE {table}, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '3' HOURS)",
                f"CUMULATE(TABLE {table}, DESCRIPTOR(ts), INTERVAL '6' HOURS, INTERVAL '1' DAY)",
                f"SESSION(TABLE {table}{by}, DESCRIPTOR(ts), INTERVAL '1' HOUR)",
            ]
        )
        return f"TABLE({text}) AS {alias}", alias, COLUMNS[table] | {"window_start": "time", "window_end": "time"}

    def select(self, depth: int, out: dict[str, str] | None = None) -> str:
        """A SELECT. `out`: gets its columns with their kinds."""
        text, columns = self._from(depth)
        out = {} if out is None else out
        where = f" WHERE {self._where(columns, depth)}" if self._chance(0.5) else ""
        kind = self.random.random()
        if kind < 0.45:
            return self._grouped(text, where, columns, out)
        if kind < 0.55:
            return self._ranked(text, where, columns, out)
        chosen = self._chosen(columns, 2, 4)
        items = []
        for at, (name, of) in enumerate(chosen):
            items.append(f"{self.expression(name, of)} AS r{at}")
            out[f"r{at}"] = of
        distinct = "DISTINCT " if self._chance(0.25) and "list" not in out.values() else ""
        limit = ""
        if not distinct and self._chance(0.08):
            limit = f" ORDER BY {', '.join(f'r{i}' for i in range(len(items)))} LIMIT {self.random.randint(1, 5)}"
        return f"SELECT {distinct}{', '.join(items)} FROM {text}{where}{limit}"

    def _chosen(self, columns: dict[str, str], least: int, most: int) -> list[tuple[str, str]]:
        names = list(columns.items())
        self.random.shuffle(names)
        found = names[: self.random.randint(least, most)]
        while len(found) < 2:
            found.append(found[0])
        return found

    def _from(self, depth: int) -> tuple[str, dict[str, str]]:
        text, alias, columns = self.source(depth)
        known = {f"{alias}.{n}": k for n, k in columns.items()}
        for _ in range(self.random.choice([0, 0, 0, 1, 1, 2])):
            other, name, others = self.source(depth - 1)
            right = {f"{name}.{n}": k for n, k in others.items()}
            pairs = [
                (a, b)
                for a, ka in known.items()
                for b, kb in right.items()
                if ka == kb and ka in ("int", "text", "date")
            ]
            if not pairs:
                continue
            left_column, right_column = self.random.choice(pairs)
            op = "<=>" if self._chance(0.1) else "="
            on = f"{left_column} {op} {right_column}"
            if self._chance(0.15):
                on += f" AND {self.condition(None, right)}"
            kind = self.random.choice(["", "", "LEFT ", "RIGHT ", "FULL ", "LEFT SEMI ", "LEFT ANTI "])
            text += f" {kind}JOIN {other} ON {on}"
            if not kind.startswith(("LEFT S", "LEFT A")):
                known |= right
        return text, known

    def _grouped(self, text: str, where: str, columns: dict[str, str], out: dict[str, str]) -> str:
        columns = {n: k for n, k in columns.items() if k != "list"} or columns
        keys = self._chosen(columns, 1, 2)[: self.random.choice([0, 1, 1, 2])]
        items, names = [], []
        for at, (name, kind) in enumerate(dict(keys).items()):
            items.append(f"{name} AS r{at}")
            names.append(name)
            out[f"r{at}"] = kind
        aggregates = []
        while len(items) < len(names) + self.random.choice([1, 2, 3]) or len(items) < 2:
            call, kind = self.aggregate(columns)
            aggregates.append(call)
            out[f"r{len(items)}"] = kind
            items.append(f"{call} AS r{len(items)}")
        group = f" GROUP BY {self._sets(names)}" if names else ""
        having = ""
        if self._chance(0.25):
            having = f" HAVING {self.random.choice(['count(*) > 1', 'count(*) < 3', f'{aggregates[0]} IS NOT NULL'])}"
        return f"SELECT {', '.join(items)} FROM {text}{where}{group}{having}"

    def _sets(self, names: list[str]) -> str:
        """The keys of a GROUP BY, sometimes several sets of them."""
        plain = ", ".join(names)
        if self._chance(0.85):
            return plain
        sets = f"GROUPING SETS (({plain}), ({names[0]}), ({names[-1]}), ())"
        return self.random.choice([f"ROLLUP ({plain})", f"CUBE ({plain})", sets])

    def aggregate(self, columns: dict[str, str]) -> tuple[str, str]:
        """A call, and the kind of its result."""
        name, kind = self.random.choice(list(columns.items()))
        condition = ""
        if self._chance(0.1):
            condition = f" FILTER (WHERE {self.condition(None, columns)})"
        choice = self.random.random()
        if choice < 0.15:
            return f"count(*){condition}", "int"
        if choice < 0.3:
            return f"count({name}){condition}", "int"
        if choice < 0.42:
            return f"count(DISTINCT {name}){condition}", "int"
        if choice < 0.46 and kind in ("text", "int"):
            distinct = self.random.choice(["", "DISTINCT "]) if kind == "text" else ""
            return f"listagg({distinct}{name}, '-') WITHIN GROUP (ORDER BY {name}){condition}", "text"
        if choice < 0.5 and kind in ("text", "int", "date", "time"):
            function = self.random.choice(["array_agg", "collect_list", "collect_set"])
            return f"{function}({name} ORDER BY {name}){condition}", "list"
        if kind == "list":
            return f"count({name}){condition}", "int"
        if choice < 0.65 or kind in ("text", "date", "time", "other"):
            return f"{self.random.choice(['min', 'max'])}({name}){condition}", kind
        function = self.random.choice(["sum", "avg", "sum"])
        result = {"int": "int" if function == "sum" else "double", "decimal": "decimal", "double": "double"}[kind]
        return f"{function}({name}){condition}", "other" if result != "int" else "int"

    def _ranked(self, text: str, where: str, columns: dict[str, str], out: dict[str, str]) -> str:
        inner = ", ".join(f"{n} AS c{i}" for i, n in enumerate(columns))
        kinds = {f"c{i}": k for i, k in enumerate(columns.values())}
        partition = self.random.choice(list(kinds))
        order = ", ".join(f"{n} {self.random.choice(['ASC', 'DESC'])}" for n in kinds)
        function = self.random.choice(["row_number()", "rank()", "count(*)", "lag(c0)", "max(c1)"])
        over = f"PARTITION BY {partition} ORDER BY {order}"
        out |= {"r0": kinds[partition], "r1": kinds["c0"] if function != "max(c1)" else kinds["c1"], "r2": kinds["c1"]}
        if function in ("row_number()", "rank()", "count(*)"):
            out["r1"] = "int"
        ranked = f"SELECT {partition} AS r0, {function} OVER ({over}) AS r1, c1 AS r2 FROM (SELECT {inner} FROM {text}{where})"
        if out["r1"] == "int" and self._chance(0.6):
            return f"SELECT r0, r1, r2 FROM ({ranked}) WHERE r1 <= {self.random.randint(1, 3)}"
        return ranked

    def _where(self, columns: dict[str, str], depth: int) -> str:
        kind = self.random.random()
        if depth > 0 and kind < 0.3:
            return self._subquery(columns)
        if kind < 0.4:
            numbers = [n for n, k in columns.items() if k == "int"]
            if numbers:
                table, column = self.random.choice([("o", "x"), ("c", "k"), ("e", "v")])
                return f"{self.random.choice(numbers)} > (SELECT {self.random.choice(['min', 'max', 'count'])}({column}) FROM {table})"
        return self.condition(None, columns)

    def _subquery(self, columns: dict[str, str]) -> str:
        usable = [n for n, k in columns.items() if k in ("int", "text")]
        if not usable:
            return "TRUE"
        name = self.random.choice(usable)
        table = self.random.choice(list(COLUMNS))
        inner = "k" if columns[name] == "int" else "g"
        if self._chance(0.25):
            column = {"o": "x", "c": "k", "e": "v", "p": "id"}[table]
            numbers = [n for n, k in columns.items() if k == "int"]
            if numbers:
                call = self.random.choice([f"max(y.{column})", "count(*)", f"sum(y.{column})"])
                return f"{numbers[0]} < (SELECT {call} FROM {table} AS y WHERE y.{inner} = {name})"
        word = self.random.choice(["", "NOT "])
        if self._chance(0.5):
            extra = f" WHERE {self.condition(None, dict(COLUMNS[table]))}" if self._chance(0.4) else ""
            return f"{name} {word}IN (SELECT {inner} FROM {table}{extra})"
        return f"{word}EXISTS (SELECT 1 FROM {table} AS y WHERE y.{inner} = {name})"

    def condition(self, _table: str | None, columns: dict[str, str]) -> str:
        """A condition on columns."""
        name, kind = self.random.choice(list(columns.items()))
        r = self.random
        match kind:
            case "int":
                return r.choice(
                    [f"{name} > {r.randint(-2, 4)}", f"{name} = 1", f"{name} IN (1, 2, 7)", f"{name} IS NOT NULL"]
                )
            case "text":
                return r.choice([f"{name} = 'a'", f"{name} <> 'a'", f"{name} IS NULL", f"{name} LIKE 'a%'"])
            case "decimal":
                return f"{name} > 0.5"
            case "double":
                return f"{name} > 0e0"
            case "date":
                return f"{name} >= DATE '2024-02-01'"
            case "time":
                return f"CAST({name} AS DATE) = DATE '2024-01-01'"
        return f"{name} IS NOT NULL"

    def expression(self, name: str, kind: str) -> str:
        """An expression of a column, of the same kind."""
        if not self._chance(0.3):
            return name
        match kind:
            case "int":
                return self.random.choice([f"coalesce({name}, 0)", f"CASE WHEN {name} > 1 THEN {name} ELSE 0 END"])
            case "text":
                return self.random.choice([f"upper({name})", f"coalesce({name}, 'none')"])
        return name
