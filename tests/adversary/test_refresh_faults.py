"""A refresh of an incremental table whose n-th file call fails, reads too: the target has the old or the new result, and the next refresh is exact."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from statement_faults import WAYS, Faulty, InMemory, workbench
from test_statement_faults import forget

from paimon_nb import incremental
from paimon_nb.base import clock
from paimon_nb.base.errors import PaimonError
from paimon_nb.base.identifier import Identifier
from paimon_nb.format.schema import TableSchema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.incremental import RefreshResult
    from paimon_nb.workbench import Workbench

pytest.importorskip("duckdb")

QUERY = """
    SELECT c.name, count(*) AS n, sum(o.x) AS s, min(o.x) AS low, listagg(o.g, '-') AS l
    FROM o LEFT JOIN c ON o.g = c.g GROUP BY c.name
"""
BEFORE = """
    CREATE TABLE o (id INT, g STRING, x BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');
    CREATE TABLE c (g STRING, name STRING) WITH ('bucket' = '-1');
    INSERT INTO o VALUES (1, 'a', 10), (2, 'b', 20), (3, 'a', 5);
    INSERT INTO c VALUES ('a', 'Ann')
"""
CHANGE = "INSERT INTO o VALUES (1, 'b', 11), (4, 'a', 1); INSERT INTO c VALUES ('b', 'Bob')"
OLD = {("Ann", 2, 15, 5, "a-a"), (None, 1, 20, 20, "b")}
NEW = {("Ann", 2, 6, 1, "a-a"), ("Bob", 2, 31, 11, "b-b")}
FIRST = {("Ann", 3, 16, 1, "a-a-a")}
LAST = {("Ann", 3, 7, 1, "a-a-a"), ("Bob", 1, 11, 11, "b")}


def refresh(wb: Workbench) -> RefreshResult:
    return incremental.analyse(wb.session, QUERY).refresh("t")


def rows(wb: Workbench) -> set[tuple[Any, ...]]:
    found = wb.table("t").to_arrow().to_pylist()
    assert len(found) == len({tuple(r.values()) for r in found})
    return {tuple(r.values()) for r in found}


def before(built: bool) -> InMemory:
    """A warehouse just before the refresh: the first one, or one after changes."""
    place = InMemory()
    wb = workbench(place.files, place.root)
    wb.run(BEFORE)
    plan = incremental.analyse(wb.session, QUERY)
    fields = tuple(replace(f, type=f.type.with_nullable(True)) for f in plan.fields)
    schema = TableSchema(0, fields, len(fields) - 1, time_ms=clock.now_ms())
    wb.session.catalog.create_table(Identifier("default", "t"), schema)
    if built:
        plan.refresh("t")
        wb.run(CHANGE)
    return place


def wrong(place: InMemory, at: int, way: str, results: Sequence[set[tuple[Any, ...]]]) -> str:
    """What is wrong after call number `at` of a refresh has failed; empty: nothing. `results`: before the refresh, after it, and after a later one."""
    known, result, last = results
    copied = place.copy()
    forget()
    faulty = Faulty(copied.files, at, way)
    said = ""
    try:
        refresh(workbench(faulty, copied.root))
    except (PaimonError, OSError) as error:
        said = str(error)
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"
    forget()
    wb = workbench(copied.files, copied.root)
    found = rows(wb)
    if found not in (known, result) or (not said and found != result):
        return f"{said or 'succeeded'}, and the table has {found}"
    refresh(wb)
    if rows(wb) != result:
        return f"{said}, and the next refresh makes {rows(wb)}"
    wb.run("INSERT INTO o VALUES (2, 'a', 1)")
    refresh(wb)
    return "" if rows(wb) == last else f"{said}, and a later refresh makes {rows(wb)}"


def findings(*, built: bool, calls: slice) -> list[str]:
    """What is wrong after each of some calls has failed, each in one of the ways."""
    place = before(built)
    results = (OLD, NEW, LAST) if built else (set(), OLD, FIRST)
    counted = Faulty(place.copy().files)
    forget()
    refresh(workbench(counted, place.root))
    found = []
    for at in range(1, counted.calls + 1)[calls]:
        way = WAYS[at % len(WAYS)]
        if text := wrong(place, at, way, results):
            found.append(f"{way} call {at} of {counted.calls}, {counted.log[at - 1]}: {text}")
    return found


@pytest.mark.parametrize("built", [False, True])
def test_some_failed_calls_of_a_refresh(built: bool) -> None:
    assert findings(built=built, calls=slice(50, None, 231)) == []


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("built", [False, True])
def test_every_failed_call_of_a_refresh(built: bool, part: int) -> None:
    assert findings(built=built, calls=slice(part, None, 8)) == []
