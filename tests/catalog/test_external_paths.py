"""Data files outside the warehouse, as Java puts them with data-file.external-paths: read where the catalog allows the place."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, OutsideWarehouse
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.commit import TableCommit

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def scattered(tmp_path: Path) -> Path:
    """A warehouse with a table of two files, one of them at another place."""
    wb = paimon_nb.connect(str(tmp_path / "w"), options={"data-file.external-paths": f"file://{tmp_path}/away"})
    wb.run("CREATE TABLE t (k INT, v STRING)")
    table = wb.table("t")
    table.append(pa.table({"k": pa.array([1], pa.int32()), "v": ["near"]}))
    with TableWrite(table.store) as write:
        write.write(pa.table({"k": pa.array([2], pa.int32()), "v": ["far"]}), None)
        [message] = write.prepare_commit()
    [file] = message.new_files
    away = tmp_path / "away" / "bucket-0" / file.file_name
    away.parent.mkdir(parents=True)
    shutil.move(table.store.data_path(message.partition, message.bucket, file), away)
    moved = replace(message, new_files=(replace(file, external_path=f"file:{away}"),))
    TableCommit(table.store).commit([moved])
    return tmp_path


def test_an_allowed_place_is_read(scattered: Path) -> None:
    allowed = {"data-file.external-paths": f"file://{scattered}/nowhere, file://{scattered}/away"}
    wb = paimon_nb.connect(str(scattered / "w"), options=allowed)
    assert sorted(wb.table("t").to_arrow().column("v").to_pylist()) == ["far", "near"]
    path = str(scattered / "w" / "default.db" / "t")
    assert paimon_nb.open_table(path, options=allowed).to_arrow().num_rows == 2


def test_another_place_is_refused_with_the_option_that_allows_it(scattered: Path) -> None:
    with pytest.raises(OutsideWarehouse, match=r"data-file\.external-paths"):
        paimon_nb.connect(str(scattered / "w")).table("t").to_arrow()


# -- tables that put their files there


STRATEGIES = {
    "round-robin": ({}, r"(one|two)/bucket-0/{}"),
    "specific-fs": ({"specific-fs": "FILE"}, r"(one|two)/bucket-0/{}"),
    "weight-robin": ({"weights": "1,1000000"}, r"two/bucket-0/{}"),
    "entropy-inject": ({}, r"(one|two)/bucket-0/[01]{4}/[01]{4}/[01]{4}/[01]{8}/{}"),
}  # fmt: skip


def outside(tmp_path: Path, strategy: str, more: dict[str, str]) -> dict[str, str]:
    own = {"": f"file://{tmp_path}/away/one,file://{tmp_path}/away/two", ".strategy": strategy}
    return {f"data-file.external-paths{k}": v for k, v in {**own, **{f".{k}": v for k, v in more.items()}}.items()}


def made(tmp_path: Path, options: dict[str, str], allowed: str = "away") -> paimon_nb.Workbench:
    wb = paimon_nb.connect(str(tmp_path / "w"), options={"data-file.external-paths": f"file://{tmp_path}/{allowed}"})
    said = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
    wb.run(f"CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket' = '1', {said})")
    return wb


def rows(*keys: int, v: str = "x") -> pa.Table:
    return pa.table({"k": pa.array(keys, pa.int32()), "v": [v] * len(keys)})


def names_below(place: Path) -> list[str]:
    return sorted(str(p.relative_to(place)) for p in place.rglob("*") if p.is_file())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_new_files_go_where_the_strategy_says(tmp_path: Path, strategy: str) -> None:
    more, shape = STRATEGIES[strategy]
    wb = made(tmp_path, outside(tmp_path, strategy, more) | {"changelog-producer": "input"})
    for number in range(4):
        wb.table("t").upsert(rows(number, 9, v=str(number)))
    pattern = re.compile(shape.replace("{}", r"(data|changelog)-[^/]*\.parquet"))
    found = names_below(tmp_path / "away")
    assert len(found) == 8
    assert [n for n in found if not pattern.fullmatch(n)] == []
    assert {n.split("/")[0] for n in found} == ({"two"} if strategy == "weight-robin" else {"one", "two"})
    told = wb.run("SELECT file_path FROM `t$files`").arrow.column("file_path").to_pylist()
    assert sorted(t.removeprefix(f"file://{tmp_path}/away/") for t in told) == [n for n in found if "/data-" in n]
    assert {r["k"]: r["v"] for r in wb.table("t").to_arrow().to_pylist()} == {0: "0", 1: "1", 2: "2", 3: "3", 9: "3"}


def test_files_outside_live_and_die_with_the_table(tmp_path: Path) -> None:
    """Compacted, expired, with deletion vectors, indexes and a hash index beside them; nothing is left inside or outside."""
    options = outside(tmp_path, "round-robin", {}) | {
        "deletion-vectors.enabled": "true", "index-file-in-data-file-dir": "true",
        "file-index.bloom-filter.columns": "v", "file-index.in-manifest-threshold": "1 b",
    }  # fmt: skip
    wb = made(tmp_path, options)
    for number in range(3):
        wb.table("t").upsert(rows(number, 9, v=str(number)))
    wb.table("t").compact()
    assert any(n.rsplit("/", 1)[-1].startswith("index-") for n in names_below(tmp_path / "away"))
    wb.run("CALL sys.expire_snapshots(table => 'default.t', retain_max => 1, retain_min => 1)")
    live = {f["file_path"] for f in wb.run("SELECT file_path FROM `t$files`").arrow.to_pylist()}
    left = {
        f"file://{tmp_path}/away/{n}"
        for n in names_below(tmp_path / "away")
        if "/data-" in n and not n.endswith(".index")
    }
    assert left == live
    assert [n for n in names_below(tmp_path / "w/default.db/t") if "data-" in n or "/index-" in n] == []
    assert wb.table("t").to_arrow().num_rows == 4


@pytest.mark.parametrize("bucket", ["-1", "1"])
def test_index_files_beside_the_data(tmp_path: Path, bucket: str) -> None:
    wb = paimon_nb.connect(str(tmp_path))
    vectors = "" if bucket == "-1" else ", 'deletion-vectors.enabled' = 'true'"
    wb.run(
        "CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING) "
        f"WITH ('bucket' = '{bucket}', 'index-file-in-data-file-dir' = 'true'{vectors})"
    )
    for number in range(3):
        wb.table("t").upsert(rows(number, 9, v=str(number)))
    wb.table("t").compact()
    wb.table("t").upsert(rows(9, v="new"))
    wb.table("t").compact()
    assert any(n.startswith("bucket-0/index-") for n in names_below(tmp_path / "default.db/t"))
    assert not (tmp_path / "default.db/t/index").exists()
    assert {r["k"]: r["v"] for r in wb.table("t").to_arrow().to_pylist()} == {0: "0", 1: "1", 2: "2", 9: "new"}


@pytest.mark.parametrize(
    ("strategy", "more", "why"),
    [
        ("round-robin", {"": "/plain"}, "no scheme"),
        ("specific-fs", {"specific-fs": "oss"}, "no root has the scheme 'oss'"),
        ("weight-robin", {"weights": "1,2,3"}, "does not fit 2 roots"),
    ],
)
def test_roots_that_cannot_be_used_are_refused_with_the_table(
    tmp_path: Path, strategy: str, more: dict, why: str
) -> None:
    options = outside(tmp_path, strategy, {k: v for k, v in more.items() if k})
    with pytest.raises(BadOptionValue, match=why):
        made(tmp_path, options | ({"data-file.external-paths": more[""]} if "" in more else {}))
    assert paimon_nb.connect(str(tmp_path / "w")).run("SHOW TABLES").arrow.num_rows == 0


def test_a_statement_that_names_the_places_allows_them_in_its_session(tmp_path: Path) -> None:
    wb = made(tmp_path, outside(tmp_path, "round-robin", {}), allowed="elsewhere")
    wb.table("t").upsert(rows(1))
    wb.run(f"ALTER TABLE t SET ('data-file.external-paths' = 'file://{tmp_path}/other')")
    wb.table("t").upsert(rows(2))
    options = f"data-file.external-paths=file://{tmp_path}/third,compaction.force-rewrite-all-files=true"
    assert wb.table("t").to_arrow().num_rows == 2
    assert len(names_below(tmp_path / "away")) == len(names_below(tmp_path / "other")) == 1
    wb.run(f"CALL sys.compact(`table` => 't', options => '{options}')")
    assert wb.table("t").to_arrow().num_rows == 2
    assert len(names_below(tmp_path / "third")) == 1
    stranger = paimon_nb.connect(str(tmp_path / "w"))
    with pytest.raises(OutsideWarehouse, match=r"catalog option 'data-file\.external-paths'"):
        stranger.table("t").to_arrow()
    with pytest.raises(OutsideWarehouse):  # what a stored table says is not a statement of this session
        stranger.run("CREATE TABLE u LIKE t; INSERT INTO u VALUES (1, 'x')")


def test_a_purged_table_leaves_nothing_at_any_of_its_places(tmp_path: Path) -> None:
    """Also at those of older options and of branches; files of others stay."""
    options = {
        "data-file.external-paths": f"file://{tmp_path}/away/one",
        "data-file.external-paths.strategy": "round-robin",
    }
    wb = made(tmp_path, options)
    wb.table("t").append(rows(1))
    wb.run(
        f"CALL sys.create_branch('t', 'b'); ALTER TABLE t SET ('data-file.external-paths' = 'file://{tmp_path}/away/two')"
    )
    wb.table("t").append(rows(2))
    wb.run(f"ALTER TABLE `t$branch_b` SET ('data-file.external-paths' = 'file://{tmp_path}/away/three')")
    wb.table("t$branch_b").append(rows(3))
    (tmp_path / "away/two/bucket-0/data-of-another-table.parquet").write_text("")
    assert len(names_below(tmp_path / "away")) == 4
    wb.run("DROP TABLE t PURGE")
    assert names_below(tmp_path / "away") == ["two/bucket-0/data-of-another-table.parquet"]
    assert not (tmp_path / "away/one").exists()
