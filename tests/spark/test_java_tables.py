"""Tables that real Java Paimon wrote come into Spark by every way as our own reader gives them."""

import shutil

import pytest
from spark_tables import as_rows

from paimon_nb.base.identifier import Identifier
from paimon_nb.fs import RootedFileIO, open_fs
from paimon_nb.spark.runtime.arrow_interop import to_arrow
from paimon_nb.spark.scan.table_scan import to_dataframe
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.read.strategy.planned_scan import plan_table_scan, with_routes
from paimon_nb.table.read.strategy.routes import ScanStrategy, StrategyLimits
from paimon_nb.table.tables.table import Table

pytestmark = [pytest.mark.spark, pytest.mark.java]


@pytest.fixture(scope="module")
def tables(shared, tmp_path_factory):
    home = tmp_path_factory.mktemp("java") / "fx.db"
    shutil.copytree(shared / "oracle/fixtures/warehouse/fx.db", home)
    out = []
    for folder in sorted(home.iterdir()):
        fs = RootedFileIO(open_fs(str(folder), {}), str(folder))
        out.append(Table(TableStore.open(fs, fs.root), name=Identifier("fx", folder.name)))
    return out


@pytest.mark.parametrize("one_of", [4, pytest.param(1, marks=pytest.mark.nightly)])
def test_every_way_gives_what_our_reader_gives(spark, tables, one_of):
    """By the way that is chosen, every second or all of them; by tasks, which take every table the same way, one of so many."""
    wrong, ways = [], set()
    for number, table in enumerate(tables[:: min(one_of, 2)]):
        try:
            expected = as_rows(table.to_arrow())
        except Exception as error:
            wrong.append((str(table.name), f"{type(error).__name__}: {error}"[:300]))
            continue
        best = plan_table_scan(table, limits=StrategyLimits(inline_bytes=-1))
        ways |= {r.strategy for r in best.routes}
        by_tasks = number % one_of == 0 and any(r.strategy is not ScanStrategy.TASKS for r in best.routes)
        for chosen in (best, with_routes(best, ScanStrategy.TASKS))[: 1 + by_tasks]:
            try:
                got = as_rows(to_arrow(to_dataframe(spark, chosen), chosen.fields))
            except Exception as error:  # all tables are told at once
                got = [f"{type(error).__name__}: {error}"[:200]]
            if got != expected:
                new, gone = [g for g in got if g not in expected][:1], [e for e in expected if e not in got][:1]
                wrong.append(
                    (
                        str(table.name),
                        [f"{r.strategy.value}: {r.why}" for r in chosen.routes][:2],
                        len(got),
                        len(expected),
                        new,
                        gone,
                    )
                )
    assert wrong == []
    assert ways == {ScanStrategy.NATIVE, ScanStrategy.MASKED, ScanStrategy.TASKS}
