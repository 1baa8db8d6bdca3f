"""Chain tables in SQL: lookup joins with one as the dimension, streams of one, and reads by Spark's tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from paimon_nb.base.errors import UnsupportedOperation

if TYPE_CHECKING:
    import paimon_nb

pytestmark = pytest.mark.spark
CHAIN = """CREATE TABLE dim (k INT, n INT, v STRING, dt STRING) PARTITIONED BY (dt) WITH ('primary-key' = 'dt,k', 'bucket' = '2',
    'bucket-key' = 'k', 'sequence.field' = 'n', 'chain-table.enabled' = 'true', 'partition.timestamp-pattern' = '$dt',
    'partition.timestamp-formatter' = 'yyyyMMdd')"""
JOIN = "SELECT s.id, d.v FROM s LEFT JOIN dim {} FOR SYSTEM_TIME AS OF s.at AS d ON {}"


@pytest.fixture
def chain(swb: paimon_nb.Workbench) -> paimon_nb.Workbench:
    """The dimension has 1 to 3 in the snapshot branch, and 2 and 4 in the partition after it; the stream has 1 to 5."""
    swb.run(CHAIN)
    swb.run("CALL sys.create_branch('dim', 'full'); CALL sys.create_branch('dim', 'delta')")
    for name in ("dim", "`dim$branch_full`", "`dim$branch_delta`"):
        swb.run(
            f"ALTER TABLE {name} SET ('scan.fallback-snapshot-branch' = 'full', 'scan.fallback-delta-branch' = 'delta')"
        )
    swb.run("INSERT INTO `dim$branch_full` VALUES (9, 1, 'old', '20250807')")
    swb.run(
        "INSERT INTO `dim$branch_full` VALUES (1, 1, 'one', '20250808'), (2, 1, 'two', '20250808'), (3, 1, 'three', '20250808')"
    )
    swb.run("INSERT INTO `dim$branch_delta` VALUES (2, 2, 'two b', '20250809'), (4, 1, 'four', '20250809')")
    swb.run("CREATE TABLE s (id INT, dt STRING, at AS PROCTIME())")
    swb.run("INSERT INTO s VALUES (1, '20250808'), (2, '20250808'), (3, '20250808'), (4, '20250808'), (5, '20250808')")
    return swb


def rows(wb: paimon_nb.Workbench, text: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(r.values()) for r in wb.run(text).frame.toArrow().to_pylist()), key=repr)


def test_a_lookup_finds_what_a_stream_begins_with(chain: paimon_nb.Workbench) -> None:
    found = [(1, "one"), (2, "two b"), (2, "two"), (3, "three"), (4, "four"), (5, None)]
    assert rows(chain, JOIN.format("", "s.id = d.k")) == found
    assert rows(chain, JOIN.format("/*+ OPTIONS('lookup.cache' = 'full') */", "s.id = d.k AND d.v <> 'one'")) == [
        (1, None), *found[1:]
    ]  # fmt: skip
    chain.run("INSERT INTO `dim$branch_delta` VALUES (5, 1, 'five', '20250810')")
    assert rows(chain, JOIN.format("", "s.id = d.k"))[-1] == (5, "five")
    merged = [(1, "one"), (2, "two b"), (3, "three"), (4, "four")]
    chain.run("ALTER TABLE dim SET ('chain-table.streaming.merge-snapshot' = 'true')")
    assert rows(chain, JOIN.format("", "s.id = d.k")) == [*merged, (5, "five")]


@pytest.mark.parametrize(
    ("hint", "condition", "said"),
    [
        ("", "s.dt = d.dt", "partition keys"),
        ("", "s.id = d.k AND s.dt = d.dt", "partition keys"),
        ("/*+ OPTIONS('lookup.cache' = 'memory') */", "s.id = d.k", "cache mode"),
        ("/*+ OPTIONS('scan.mode' = 'latest') */", "s.id = d.k", "scan.mode=latest"),
        ("/*+ OPTIONS('consumer-id' = 'me') */", "s.id = d.k", "consumer-id=me"),
    ],
)
def test_what_a_lookup_refuses(chain: paimon_nb.Workbench, hint: str, condition: str, said: str) -> None:
    with pytest.raises(UnsupportedOperation, match=said):
        chain.run(JOIN.format(hint, condition)).frame.toArrow()


def test_spark_reads_merged_partitions(chain: paimon_nb.Workbench) -> None:
    assert rows(chain, "SELECT k, v FROM dim WHERE dt = '20250809' AND k * 2 > 3") == [
        (2, "two b"),
        (3, "three"),
        (4, "four"),
    ]
    chain.run("SET 'execution.runtime-mode' = 'streaming'")
    chain.run("CREATE TABLE copy (k INT, v STRING, dt STRING)")
    job = chain.run("INSERT INTO copy SELECT k, v, dt FROM dim").job
    begun = [(1, "one"), (2, "two"), (2, "two b"), (3, "three"), (4, "four")]

    def copied() -> list[tuple[Any, ...]]:
        return sorted(tuple(r.values())[:2] for r in chain.table("copy").to_arrow().to_pylist())

    assert job.wait_for(lambda: copied() == begun)
    job.stop()
