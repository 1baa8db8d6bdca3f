"""Streams of chain tables: the latest partition of the snapshot branch and the delta partitions after it, then changes of the delta branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import paimon_nb
from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.table.read.stream import StreamOffset

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS = {
    "chain-table.enabled": "true", "bucket": "2", "bucket-key": "k", "sequence.field": "n", "changelog-producer": "input",
    "partition.timestamp-pattern": "$dt", "partition.timestamp-formatter": "yyyyMMdd",
}  # fmt: skip


@pytest.fixture
def wb(tmp_path: Path) -> paimon_nb.Workbench:
    return paimon_nb.connect(str(tmp_path / "w"))


def create(wb: paimon_nb.Workbench, by: str = "dt", **more: str) -> None:
    options = {**OPTIONS, "primary-key": f"{by},k", **{name.replace("_", "-"): value for name, value in more.items()}}
    text = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
    columns = "k INT, n INT, v STRING, kind STRING, region STRING, dt STRING"
    wb.run(f"CREATE TABLE t ({columns}) PARTITIONED BY ({by}) WITH ({text}, 'rowkind.field' = 'kind')")
    wb.run("CALL sys.create_branch('t', 'full'); CALL sys.create_branch('t', 'delta')")
    for name in ("t", "`t$branch_full`", "`t$branch_delta`"):
        wb.run(
            f"ALTER TABLE {name} SET ('scan.fallback-snapshot-branch' = 'full', 'scan.fallback-delta-branch' = 'delta')"
        )


def put(wb: paimon_nb.Workbench, branch: str, *rows: tuple[int, int, str, str, str]) -> None:
    """Rows of (k, n, v, dt, kind); a region before a blank in dt."""
    values = []
    for k, n, v, day, kind in rows:
        region, _, dt = day.rpartition(" ")
        values.append(f"({k}, {n}, '{v}', '{kind}', '{region}', '{dt}')")
    wb.run(f"INSERT INTO `t$branch_{branch}` VALUES {', '.join(values)}")


def polled(stream: Any) -> list[str]:
    batch = stream.poll()
    if batch is None:
        return []
    return sorted(f"{r['rowkind']} {r['k']} {r['v']} {r['region']}{r['dt']}" for r in batch.rows.to_pylist())


def test_the_state_of_both_branches_then_the_changes_of_one(wb: paimon_nb.Workbench) -> None:
    create(wb)
    put(wb, "full", (6, 1, "old", "0107", "+I"))
    put(wb, "full", (1, 1, "base", "0108", "+I"), (2, 1, "base", "0108", "+I"))
    put(wb, "delta", (1, 2, "hidden", "0108", "+I"), (5, 1, "hidden", "0108", "+I"))
    put(wb, "delta", (2, 2, "new", "0109", "+I"), (9, 1, "new", "0109", "+I"))
    stream = wb.table("t").stream()
    assert polled(stream) == ["+I 1 base 0108", "+I 2 base 0108", "+I 2 new 0109", "+I 9 new 0109"]
    put(wb, "full", (7, 1, "unseen", "0109", "+I"))
    assert polled(stream) == []
    put(wb, "delta", (9, 1, "new", "0109", "-U"), (9, 2, "newer", "0109", "+U"), (3, 1, "x", "0110", "+I"))
    assert polled(stream) == ["+I 3 x 0110", "+U 9 newer 0109", "-U 9 new 0109"]
    position = StreamOffset.from_json(stream.position.to_json())
    put(wb, "delta", (4, 1, "y", "0111", "+I"))
    later = wb.table("t").stream(position=position)
    assert polled(later) == polled(stream) == ["+I 4 y 0111"]


def test_a_changed_row_keeps_its_row_kind_in_the_state(wb: paimon_nb.Workbench) -> None:
    create(wb)
    put(wb, "full", (1, 1, "base", "0108", "+I"))
    put(wb, "delta", (9, 1, "new", "0109", "-U"), (9, 2, "newer", "0109", "+U"), (3, 1, "x", "0109", "+I"))
    assert polled(wb.table("t").stream()) == ["+I 1 base 0108", "+I 3 x 0109", "+U 9 newer 0109"]


def test_what_a_position_began_with_stays(wb: paimon_nb.Workbench) -> None:
    create(wb)
    put(wb, "full", (1, 1, "base", "0108", "+I"))
    put(wb, "delta", (2, 1, "new", "0109", "+I"))
    begin = wb.table("t").stream().position
    put(wb, "full", (1, 1, "base", "0109", "+I"))
    put(wb, "delta", (2, 2, "newer", "0109", "+I"))
    stream = wb.table("t").stream(position=StreamOffset.from_json(begin.to_json()))
    assert (polled(stream), polled(stream)) == (["+I 1 base 0108", "+I 2 new 0109"], ["+I 2 newer 0109"])


def test_one_branch_is_empty(wb: paimon_nb.Workbench) -> None:
    create(wb)
    stream, early = wb.table("t").stream(), wb.table("t").stream()
    assert polled(early) == []
    put(wb, "full", (1, 1, "base", "0108", "+I"))
    assert polled(stream) == ["+I 1 base 0108"]
    assert polled(stream) == []
    put(wb, "delta", (2, 1, "new", "0109", "+I"))
    assert polled(stream) == ["+I 2 new 0109"]
    wb.run("DROP TABLE t")
    create(wb)
    put(wb, "delta", (2, 1, "new", "0109", "+I"))
    assert polled(wb.table("t").stream()) == ["+I 2 new 0109"]


def test_base_and_changes_are_merged_group_by_group(wb: paimon_nb.Workbench) -> None:
    merged = {"chain-table.chain-partition-keys": "dt", "chain-table.streaming.merge-snapshot": "true"}
    create(wb, "region,dt", **merged)
    put(wb, "full", (1, 1, "a", "CN 0109", "+I"), (2, 1, "b", "CN 0109", "+I"), (21, 1, "c", "UK 0108", "+I"))
    put(wb, "full", (22, 1, "d", "UK 0108", "+I"), (31, 1, "e", "FR 0108", "+I"))
    put(wb, "delta", (1, 2, "a", "CN 0110", "-D"), (2, 3, "b2", "CN 0111", "+U"), (3, 1, "new", "CN 0110", "+I"))
    put(wb, "delta", (11, 1, "x", "US 0111", "+I"), (12, 1, "y", "US 0111", "+I"), (21, 2, "c", "UK 0109", "-D"))
    put(wb, "delta", (11, 2, "x", "US 0112", "-D"))
    stream = wb.table("t").stream()
    assert polled(stream) == ["+I 12 y US0112", "+I 22 d UK0109", "+I 3 new CN0111", "+I 31 e FR0108", "+U 2 b2 CN0111"]
    put(wb, "delta", (11, 3, "x", "US 0113", "+I"))
    assert polled(stream) == ["+I 11 x US0113"]


def test_conditions_on_other_columns(wb: paimon_nb.Workbench) -> None:
    create(wb, **{"chain-table.streaming.merge-snapshot": "true"})
    put(wb, "full", (1, 1, "a", "0108", "+I"), (2, 1, "b", "0108", "+I"))
    put(wb, "delta", (1, 2, "a2", "0109", "+I"), (3, 1, "b", "0109", "+I"))
    assert polled(wb.table("t").stream(where="k = 1")) == ["+I 1 a2 0109"]
    assert polled(wb.table("t").stream(where="v = 'b'")) == ["+I 2 b 0109", "+I 3 b 0109"]
    with pytest.raises(UnsupportedOperation, match="cannot select partitions"):
        wb.table("t").stream(where="dt = '0109' AND k = 1")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scan.mode": "latest"}, "scan.mode=latest"),
        ({"scan.snapshot-id": "1"}, "scan.snapshot-id=1"),
        ({"scan.timestamp-millis": "1"}, "scan.timestamp-millis=1"),
        ({"consumer-id": "me", "consumer.expiration-time": "1 d"}, "consumer-id=me"),
        ({"source.checkpoint-align.enabled": "true"}, "source.checkpoint-align.enabled is not supported"),
        ({"scan.partitions": "dt=0108"}, "cannot select partitions"),
    ],
)
def test_a_start_elsewhere_is_refused(wb: paimon_nb.Workbench, options: dict[str, str], said: str) -> None:
    create(wb)
    with pytest.raises(UnsupportedOperation, match=said.replace(".", r"\.")):
        wb.table("t").stream(options)
    put(wb, "delta", (1, 1, "a", "0108", "+I"))
    if next(iter(options)) in ("scan.mode", "scan.snapshot-id", "scan.timestamp-millis"):
        wb.table("t$branch_delta").stream(options).close()


def test_other_merge_engines_of_the_delta_branch_are_refused(wb: paimon_nb.Workbench) -> None:
    create(wb)
    wb.run("ALTER TABLE `t$branch_delta` SET ('merge-engine' = 'partial-update')")
    with pytest.raises(UnsupportedOperation, match="needs the merge engine 'deduplicate'"):
        wb.table("t").stream()
