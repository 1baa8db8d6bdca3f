"""scan.fallback-branch: another branch answers for the partitions that this one does not have, as real Paimon does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from write_kit import make_table, put

from paimon_nb.base.errors import BranchNotFound, UnsupportedOperation
from paimon_nb.format.schema import SchemaDirectory
from paimon_nb.table.tables.table import Table
from paimon_nb.table.write.maintenance import create_branch, create_tag

if TYPE_CHECKING:
    from pathlib import Path

    from paimon_nb.table.read.store import TableStore

COLUMNS = {"dt": "STRING", "k": "INT", "v": "STRING"}


@pytest.fixture(params=[[], ["dt", "k"]], ids=["append", "keys"])
def two(request: pytest.FixtureRequest, tmp_path: Path) -> TableStore:
    """The table of the Flink run whose answers are below: main has a, the branch has a and b with another bucket count."""
    keys = request.param
    store = make_table(f"{tmp_path}/t", COLUMNS, keys, ["dt"], bucket="2", bucket_key="k")
    put(store, [row("a", 1, "m")])
    create_branch(store, "old")
    alter(store.on_branch("old"), bucket="1")
    put(store.on_branch("old"), [row("a", 100, "o"), row("b", 200, "o"), row("b", 201, "x")])
    alter(store, **{"scan.fallback-branch": "old"})
    return store.refreshed()


def row(dt: str, k: int, v: str) -> dict[str, Any]:
    return {"dt": dt, "k": k, "v": v}


def alter(store: TableStore, **options: str) -> None:
    from dataclasses import replace

    new = replace(store.schema, id=store.schema.id + 1, options={**store.schema.options, **options})
    assert SchemaDirectory(store.fs, store.branch_root).create(new)


def read(store: TableStore, where: str | None = None, **travel: Any) -> list[tuple[str, int, str]]:
    rows = Table(store).to_arrow(where=where, **travel).to_pylist()
    return sorted((r["dt"], r["k"], r["v"]) for r in rows)


def test_missing_partitions_come_from_the_branch(two: TableStore) -> None:
    assert read(two) == [("a", 1, "m"), ("b", 200, "o"), ("b", 201, "x")]
    assert read(two, snapshot=1) == read(two), "a past moment too"
    assert [r["rowkind"] for r in Table(two).system("audit_log").to_pylist()] == ["+I"] * 3
    assert read(two.on_branch("old")) == [("a", 100, "o"), ("b", 200, "o"), ("b", 201, "x")]
    assert Table(two).system("files").num_rows == 1


def test_a_tag_is_each_branchs_own(two: TableStore) -> None:
    """Java's answers: a branch without the tag answers nothing; a number is the branch's own snapshot of that number."""
    put(two, [row("c", 3, "m")])
    create_tag(two, "t", 1)
    own, filled = [("a", 1, "m")], [("b", 200, "o"), ("b", 201, "x")]
    assert read(two, tag="t") == own
    assert [r["partition"] for r in Table(two).system("partitions", options={"scan.tag-name": "t"}).to_pylist()] == [
        "dt=a"
    ]
    old = two.on_branch("old")
    create_tag(old, "t", 1)
    put(old, [row("d", 4, "o")])
    assert read(two, tag="t") == own + filled
    assert read(two, options={"scan.version": "1"}) == own + filled
    assert read(two, options={"scan.version": "2"}) == [*own, *filled, ("c", 3, "m"), ("d", 4, "o")]


def test_what_is_fully_compacted_comes_from_both(tmp_path: Path) -> None:
    store = make_table(f"{tmp_path}/t", COLUMNS, ["dt", "k"], ["dt"], bucket="1")
    put(store, [row("a", 1, "m")])
    create_branch(store, "old")
    put(store.on_branch("old"), [row("a", 9, "o"), row("b", 2, "o")])
    for one in (store, store.on_branch("old")):
        Table(one).compact()
        put(one, [row("b" if one is not store else "a", 5, "level 0")])
    found = Table(store.copy({"scan.fallback-branch": "old"})).system("ro").to_pylist()
    assert sorted(tuple(r.values()) for r in found) == [("a", 1, "m"), ("b", 2, "o")]


def test_partitions_of_the_branch_are_listed(two: TableStore) -> None:
    def listed(**options: str) -> list[tuple[str, int]]:
        rows = Table(two).system("partitions", options=options).to_pylist()
        return [(r["partition"], r["record_count"]) for r in rows]

    assert listed() == listed(**{"scan.snapshot-id": "1"}) == [("dt=a", 1), ("dt=b", 2)]


def test_a_condition_brings_no_hidden_rows_to_light(two: TableStore) -> None:
    assert read(two, "v = 'o'") == [("b", 200, "o")]
    assert read(two, "k = 100") == []
    assert read(two, "dt = 'b' AND k > 200") == [("b", 201, "x")]


def test_a_written_partition_is_the_tables_own(two: TableStore) -> None:
    put(two, [row("b", 1, "new")])
    assert read(two) == [("a", 1, "m"), ("b", 1, "new")]
    Table(two).drop_partitions([{"dt": "b"}])
    assert read(two) == [("a", 1, "m"), ("b", 200, "o"), ("b", 201, "x")]


def test_statistics_count_the_tables_own_rows(two: TableStore) -> None:
    Table(two).maintain.analyze()
    [found] = Table(two).system("statistics").to_pylist()
    assert found["mergedRecordCount"] == 1


def test_an_empty_table_is_all_fallback(tmp_path: Path) -> None:
    store = make_table(f"{tmp_path}/t", COLUMNS, [], ["dt"], bucket="-1")
    create_branch(store, "old")
    put(store.on_branch("old"), [row("b", 200, "o")])
    assert read(store.copy({"scan.fallback-branch": "old"})) == [("b", 200, "o")]
    assert read(store) == []


def test_branches_that_cannot_answer(tmp_path: Path) -> None:
    store = make_table(f"{tmp_path}/t", COLUMNS, ["dt", "k"], ["dt"], bucket="1")
    create_branch(store, "old")
    put(store, [row("a", 1, "m")])
    with pytest.raises(BranchNotFound):
        read(store.copy({"scan.fallback-branch": "odl"}))
    from dataclasses import replace

    branch = store.on_branch("old")
    fewer = replace(branch.schema, id=1, fields=branch.schema.fields[:2])
    assert SchemaDirectory(branch.fs, branch.branch_root).create(fewer)
    with pytest.raises(UnsupportedOperation, match="columns differ"):
        read(store.copy({"scan.fallback-branch": "old"}))


def test_a_primary_branch_hides_the_tables_own_partitions(two: TableStore) -> None:
    """`scan.primary-branch`, the other way round: the branch has a and b, and the table's own c is added."""
    put(two, [row("c", 3, "m")])
    store = two.copy({"scan.fallback-branch": "", "scan.primary-branch": "old"})
    assert read(store) == [("a", 100, "o"), ("b", 200, "o"), ("b", 201, "x"), ("c", 3, "m")]
    assert read(store, "k = 1") == [], "a row that the branch hides does not come to light"
    assert read(store, "dt = 'c' OR k = 200") == [("b", 200, "o"), ("c", 3, "m")]
    assert [r["partition"] for r in Table(store).system("partitions").to_pylist()] == ["dt=a", "dt=b", "dt=c"]
    assert read(store.without_fallback()) == [("a", 1, "m"), ("c", 3, "m")]
