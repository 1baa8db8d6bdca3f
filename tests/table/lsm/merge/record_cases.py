"""Ask real Flink and Paimon for the answers of the cases: `python record_cases.py path/to/run_flink_sql.sh [NAME...]` writes golden.json."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_cases import CASES

from paimon_nb.format.types import Array, DataType, Map, Row, VarBinary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from merge_case import Case

HERE = Path(__file__).resolve().parent
GOLDEN = HERE / "golden.json"
ALL_TIME = "'incremental-between-timestamp' = '0,9999999999999'"
PARTS = ("rows", "levels", "audit", "binlog")


def literal(value: Any, t: DataType, type_text: str) -> str:
    """The value as a Flink SQL expression of this type."""
    return f"CAST({_bare(value, t)} AS {type_text.removesuffix(' NOT NULL')})"


def _bare(value: Any, t: DataType) -> str:
    if value is None:
        return "NULL"
    if isinstance(t, Array):
        inner = str(t.element)
        return f"ARRAY[{', '.join(literal(v, t.element, inner) for v in value)}]"
    if isinstance(t, Map):
        parts = [literal(x, kind, str(kind)) for pair in value for x, kind in zip(pair, (t.key, t.value), strict=True)]
        return f"MAP[{', '.join(parts)}]"
    if isinstance(t, Row):
        return f"ROW({', '.join(literal(v, f.type, str(f.type)) for v, f in zip(value, t.fields, strict=True))})"
    if isinstance(t, VarBinary) or t.root == "BINARY":
        return f"X'{value}'"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return repr(value) if "e" in repr(value) else f"{value!r}e0"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def script(warehouse: str, cases: Sequence[Case]) -> str:
    """The whole SQL text."""
    lines = [
        f"CREATE CATALOG p WITH ('type' = 'paimon', 'warehouse' = '{warehouse}');",
        "USE CATALOG p;",
        "CREATE DATABASE d;",
        "USE d;",
    ]
    for case in cases:
        lines += _table(case)
    return "\n".join(lines)


def _table(case: Case) -> list[str]:
    columns = ", ".join(f"`{n}` {t}" for n, t in case.columns.items())
    keys = ", ".join(f"`{k}`" for k in case.keys)
    options = ", ".join(f"'{k}' = '{v}'" for k, v in case.table_options.items())
    out = [f"CREATE TABLE {case.name} ({columns}, PRIMARY KEY ({keys}) NOT ENFORCED) WITH ({options});"]
    types = list(zip(case.columns.values(), case.types.values(), strict=True))
    for rows in case.batches:
        values = [
            "(" + ", ".join(literal(v, t, text) for v, (text, t) in zip(r, types, strict=True)) + ")" for r in rows
        ]
        if len(rows) == 1 or any(isinstance(t, Row) for _, t in types):
            out.append(f"INSERT INTO {case.name} VALUES {', '.join(values)};")
            continue
        # Rows of VALUES come in any order: sorted by their number they come as they stand.
        numbered = [f"({i}, {v[1:]}" for i, v in enumerate(values)]
        names = ", ".join(f"`{n}`" for n in case.columns)
        rows_sql = f"(VALUES {', '.join(numbered)}) AS x(`row number`, {names})"
        out.append(f"INSERT INTO {case.name} SELECT {names} FROM {rows_sql} ORDER BY `row number`;")
    out += [f"-- @q {case.name}.rows", f"SELECT * FROM {case.name};"]
    if not case.merged_on_read:
        out += [
            f"-- @q {case.name}.levels",
            f"SELECT level, record_count FROM `{case.name}$files` ORDER BY level, record_count;",
        ]
    for part in ("audit", "binlog") if case.log else ():
        out += [
            f"-- @q {case.name}.{part}",
            f"SELECT * FROM `{case.name}${part.replace('audit', 'audit_log')}` /*+ OPTIONS({ALL_TIME}) */;",
        ]
    return out


def refused(output: str) -> dict[str, str]:
    """Why statements of each table failed: the innermost cause."""
    found: dict[str, str] = {}
    for statement, why in re.findall(r"^ERR  (.*)\n     => (.*)$", output, re.MULTILINE):
        name = re.search(r"(?:INTO|TABLE|FROM) `?(\w+)", statement)
        found.setdefault(name.group(1) if name else statement, why.split(" <- ")[-1])
    return found


def asked(runner: str, cases: Sequence[Case]) -> dict[str, Any]:
    """The answers of one Java process."""
    with tempfile.TemporaryDirectory() as place:
        sql = Path(place) / "cases.sql"
        sql.write_text(script(place + "/warehouse", cases))
        run = subprocess.run([runner, "--out", place + "/out", str(sql)], check=False, capture_output=True, text=True)
        why = refused(run.stdout)
        answers: dict[str, Any] = {}
        for case in cases:
            paths = {part: Path(place) / "out" / f"{case.name}.{part}.jsonl" for part in PARTS}
            answers[case.name] = {
                part: [json.loads(line) for line in path.read_text().splitlines() if line]
                for part, path in paths.items()
                if path.exists()
            }
            if case.name in why:
                answers[case.name] = {"refused": why[case.name]}
            if case.fails != (case.name in why):
                print(f"{case.name}: {why.get(case.name, 'not refused')}")
        print(run.stdout.splitlines()[-1])
        return answers


def main(runner: str, *names: str) -> None:
    """Run the script, gather the answers; say what is not as the case expects."""
    cases = [c for c in CASES if not names or c.name in names]
    answers = json.loads(GOLDEN.read_text()) if names and GOLDEN.exists() else {}
    # Paimon 1.3 caches generated comparators without their direction: in one process with tables of the same types
    # the first direction used decides for all (`CodeGenUtils.ClassKey`). So descending tables get their own.
    for group in ([c for c in cases if c.descending], [c for c in cases if not c.descending]):
        answers |= asked(runner, group) if group else {}
    order = [c.name for c in CASES]
    lines = [f" {json.dumps(n)}: {json.dumps(answers[n], ensure_ascii=False)}" for n in order if n in answers]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(cases)} asked, {len(lines)} of {len(order)} kept")


if __name__ == "__main__":
    main(*sys.argv[1:])
