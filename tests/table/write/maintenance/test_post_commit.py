"""What a commit tidies by itself: automatic tags of every kind and period, consumers, partitions. Through real writes."""

from __future__ import annotations

import json
import logging
import os
from typing import TYPE_CHECKING, Any

import pytest
from history_kit import Ticking
from write_kit import make_table, put, rows_of

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.table.tables.table import Table
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.commit import BATCH_IDENTIFIER, TableCommit
from paimon_nb.table.write.maintenance import create_tag, reset_consumer
from paimon_nb.table.write.maintenance.auto_tags import create_due_tags

if TYPE_CHECKING:
    from pathlib import Path

    from paimon_nb.table.read.store import TableStore

HOUR = 3_600_000


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Ticking:
    return Ticking(monkeypatch)  # 2023-11-14 22:13:20 UTC


def table(tmp_path: Path, **options: str) -> TableStore:
    return make_table(f"{tmp_path}/t", {"k": "INT"}, bucket="-1", **options)


def write(store: TableStore, k: int = 1, **terms: Any) -> None:
    import pyarrow as pa

    with TableWrite(store) as writing:
        writing.write(pa.table({"k": pa.array([k], pa.int32())}))
        messages = writing.prepare_commit()
    TableCommit(store).commit(messages, **terms)


def tags(store: TableStore) -> dict[str, int]:
    return {name: store.tags.get(name).snapshot.id for name in store.tags.names()}


class TestPeriods:
    @pytest.mark.usefixtures("time")
    @pytest.mark.parametrize(
        ("options", "name"),
        [
            ({"tag.creation-period": "daily"}, "2023-11-13"),
            ({"tag.creation-period": "hourly"}, "2023-11-14 21"),
            ({"tag.creation-period": "two-hours"}, "2023-11-14 20"),
            ({"tag.creation-period": "daily", "tag.period-formatter": "without_dashes"}, "20231113"),
            ({"tag.creation-period": "hourly", "tag.period-formatter": "without_dashes"}, "20231114 21"),
            ({"tag.creation-period": "hourly", "tag.period-formatter": "without_dashes_and_spaces"}, "2023111421"),
            ({"tag.creation-period-duration": "10 min"}, "202311142200"),
        ],
        ids=str,
    )
    def test_the_name_is_the_period_that_ended(self, tmp_path: Path, options: dict[str, str], name: str) -> None:
        mode = {"tag.automatic-creation": "process-time", "sink.process-time-zone": "UTC"}
        store = table(tmp_path, **mode, **options)
        write(store)
        assert tags(store) == {name: 1}
        write(store)
        assert tags(store) == {name: 1}, "one a period"

    @pytest.mark.usefixtures("time")
    def test_the_zone_moves_the_day(self, tmp_path: Path) -> None:
        mode = {"tag.automatic-creation": "process-time", "sink.process-time-zone": "Asia/Shanghai"}
        store = table(tmp_path, **mode)
        write(store)
        assert tags(store) == {"2023-11-14": 1}  # there it is the 15th already

    @pytest.mark.usefixtures("time")
    def test_a_watermark_tells_the_time(self, tmp_path: Path) -> None:
        mode = {
            "tag.automatic-creation": "watermark",
            "sink.watermark-time-zone": "UTC",
            "tag.creation-period": "hourly",
        }
        store = table(tmp_path, **mode)
        write(store)
        assert tags(store) == {}, "no watermark, no tag"
        for hours in (10, 10.9, 11, 13.5):
            write(store, watermark=int(hours * HOUR))
        assert tags(store) == {"1970-01-01 09": 2, "1970-01-01 10": 4, "1970-01-01 12": 5}

    @pytest.mark.usefixtures("time")
    def test_a_delay_waits_for_late_rows(self, tmp_path: Path) -> None:
        mode = {
            "tag.automatic-creation": "watermark", "sink.watermark-time-zone": "UTC", "tag.creation-period": "hourly",
            "tag.creation-delay": "10 min",
        }  # fmt: skip
        store = table(tmp_path, **mode)
        for minutes in (60, 125, 131):
            write(store, watermark=minutes * 60_000)
        assert tags(store) == {"1970-01-01 00": 1, "1970-01-01 01": 3}

    @pytest.mark.usefixtures("time")
    def test_a_delay_as_long_as_the_period_is_refused(self, tmp_path: Path) -> None:
        mode = {"tag.automatic-creation": "process-time", "tag.creation-period": "hourly", "tag.creation-delay": "1 h"}
        with pytest.raises(BadOptionValue, match="must be shorter"):
            create_due_tags(table(tmp_path, **mode))

    def test_most_and_longest(self, tmp_path: Path, time: Ticking) -> None:
        mode = {
            "tag.automatic-creation": "process-time", "sink.process-time-zone": "UTC", "tag.creation-period": "hourly",
            "tag.num-retained-max": "3", "tag.default-time-retained": "150 min",
        }  # fmt: skip
        store = table(tmp_path, **mode)
        seen = []
        for i in range(6):
            write(store)
            if i == 0:
                create_tag(store.copy({"tag.default-time-retained": "9 d"}), "by-hand", 1)
            seen.append([n.removeprefix("2023-11-") for n in tags(store)])
            time.hours(1 if i < 3 else 3)
        assert seen == [
            ["14 21", "by-hand"],
            ["14 21", "14 22", "by-hand"],
            ["14 21", "14 22", "14 23", "by-hand"],
            ["14 22", "14 23", "15 00", "by-hand"],  # 21 is one too many
            ["15 03", "by-hand"],  # the others are older than 150 minutes
            ["15 06", "by-hand"],
        ]


class TestBatch:
    @pytest.mark.usefixtures("time")
    def test_one_a_day_and_all_tags_count(self, tmp_path: Path) -> None:
        """As Flink with Paimon 1.3.1 did it: tags made by hand are dropped too."""
        plain = table(tmp_path)
        write(plain)
        create_tag(plain, "m1", 1)
        create_tag(plain, "m1b", 1)
        write(plain)
        create_tag(plain, "m2", 2)
        store = plain.copy({"tag.automatic-creation": "batch", "tag.num-retained-max": "2"})
        write(store)
        assert tags(store) == {"batch-write-2023-11-14": 3, "m2": 2}
        write(store)
        assert tags(store) == {"batch-write-2023-11-14": 4, "m2": 2}

    @pytest.mark.usefixtures("time")
    def test_only_at_the_end_of_a_batch(self, tmp_path: Path) -> None:
        store = table(tmp_path, **{"tag.automatic-creation": "batch", "tag.batch.customized-name": "mine"})
        write(store, identifier=1)
        assert tags(store) == {}
        write(store)
        assert tags(store) == {"mine": 2}

    def test_a_success_file(self, tmp_path: Path, time: Ticking) -> None:
        options = {"tag.automatic-creation": "batch", "tag.batch.customized-name": "mine"}
        store = table(tmp_path, **options, **{"tag.create-success-file": "true"})
        write(store)
        found = json.loads((tmp_path / "t/tag/tag-success-file/mine_SUCCESS").read_text())
        assert found == {"creationTime": time.ms, "modificationTime": time.ms}
        assert tags(store) == {"mine": 1}

    @pytest.mark.usefixtures("time")
    def test_write_only_leaves_it_to_others(self, tmp_path: Path) -> None:
        store = table(tmp_path, **{"tag.automatic-creation": "batch", "write-only": "true"})
        write(store)
        assert tags(store) == {}


class TestConsumers:
    def test_those_that_stand_still_go(self, tmp_path: Path, time: Ticking) -> None:
        store = table(tmp_path, **{"consumer.expiration-time": "1 h"})
        write(store)
        for name, age_ms in (("still", 2 * HOUR), ("moving", HOUR // 2)):
            reset_consumer(store, name, 1)
            path = tmp_path / f"t/consumer/consumer-{name}"
            os.utime(path, ((time.ms - age_ms) / 1000,) * 2)
        write(store)
        assert store.consumers.ids() == ["moving"]

    @pytest.mark.usefixtures("time")
    def test_without_the_option_all_stay(self, tmp_path: Path) -> None:
        store = table(tmp_path)
        write(store)
        reset_consumer(store, "still", 1)
        os.utime(tmp_path / "t/consumer/consumer-still", (0, 0))
        write(store)
        assert store.consumers.ids() == ["still"]


class TestPartitions:
    OPTIONS = {"partition.expiration-time": "7 d", "partition.timestamp-formatter": "yyyy-MM-dd"}  # noqa: RUF012

    def days(self, tmp_path: Path, **options: str) -> list[str]:
        store = make_table(
            f"{tmp_path}/t", {"dt": "STRING", "k": "INT"}, [], ["dt"], bucket="-1", **self.OPTIONS, **options
        )
        put(store, [{"dt": dt, "k": 1} for dt in ("2020-01-01", "2023-11-14", "soon", None)])
        return sorted(str(r["dt"]) for r in rows_of(store))

    @pytest.mark.usefixtures("time")
    @pytest.mark.parametrize(
        "options",
        [{"partition.expiration-check-interval": "0 s"}, {"end-input.check-partition-expire": "true"}],
        ids=str,
    )
    def test_a_batch_that_is_told_to(self, tmp_path: Path, options: dict[str, str]) -> None:
        assert self.days(tmp_path, **options) == ["2023-11-14", "None", "soon"]

    @pytest.mark.usefixtures("time")
    def test_a_batch_that_is_not(self, tmp_path: Path) -> None:
        assert self.days(tmp_path) == ["2020-01-01", "2023-11-14", "None", "soon"]

    def test_a_committer_that_lives_long_looks_once_an_interval(self, tmp_path: Path, time: Ticking) -> None:
        store = make_table(f"{tmp_path}/t", {"dt": "STRING", "k": "INT"}, [], ["dt"], bucket="-1", **self.OPTIONS)
        commit, seen = TableCommit(store), []
        for turn in range(4):
            with TableWrite(store) as writing:
                import pyarrow as pa

                writing.write(pa.table({"dt": ["2020-01-01"], "k": pa.array([turn], pa.int32())}))
                messages = writing.prepare_commit()
            commit.commit(messages, identifier=turn)
            seen.append(len(rows_of(store)))
            time.ms += HOUR * 2 // 3
        assert seen == [1, 2, 0, 1]

    @pytest.mark.usefixtures("time")
    def test_a_few_at_a_time(self, tmp_path: Path) -> None:
        store = make_table(
            f"{tmp_path}/t", {"dt": "STRING", "k": "INT"}, [], ["dt"], bucket="-1", **self.OPTIONS,
            **{
                "partition.expiration-check-interval": "0 s", "partition.expiration-max-num": "3",
                "partition.expiration-batch-size": "2",
            },
        )  # fmt: skip
        put(store, [{"dt": f"2020-01-0{i}", "k": i} for i in range(1, 6)])
        assert sorted(r["dt"] for r in rows_of(store)) == ["2020-01-04", "2020-01-05"]
        assert store.latest().id == 3  # type: ignore[union-attr]


def test_one_broken_step_does_not_stop_the_others(
    tmp_path: Path, time: Ticking, caplog: pytest.LogCaptureFixture
) -> None:
    mode = {"tag.automatic-creation": "process-time", "tag.creation-period": "hourly", "tag.creation-delay": "2 h"}
    store = table(
        tmp_path,
        **mode,
        **{"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "2", "snapshot.time-retained": "1 ms"},
    )
    with caplog.at_level(logging.WARNING):
        for k in range(4):
            write(store, k)
            time.ms += 1000
    assert "maintenance after the commit failed" in caplog.text
    store.snapshots.invalidate_cache()
    assert len(store.snapshots.ids()) <= 2
    assert len(rows_of(store)) == 4


class TestMarks:
    def marked(self, tmp_path: Path, *, identifier: int = BATCH_IDENTIFIER, **options: str) -> list[str]:
        import pyarrow as pa

        store = make_table(f"{tmp_path}/t", {"dt": "STRING", "k": "INT"}, [], ["dt"], bucket="-1", **options)
        with TableWrite(store) as writing:
            writing.write(pa.table({"dt": ["a", "b"], "k": pa.array([1, 2], pa.int32())}))
            TableCommit(store).commit(writing.prepare_commit(), identifier)
        return sorted(str(p.parent.name) for p in (tmp_path / "t").rglob("_SUCCESS"))

    @pytest.mark.parametrize("more", [{}, {"write-only": "true"}], ids=str)
    def test_a_batch_that_is_told_to_marks_its_partitions(self, tmp_path: Path, more: dict[str, str]) -> None:
        assert self.marked(tmp_path, **{"partition.end-input-to-done": "true"}, **more) == ["dt=a", "dt=b"]

    def test_a_stream_does_not(self, tmp_path: Path) -> None:
        assert self.marked(tmp_path, identifier=1, **{"partition.end-input-to-done": "true"}) == []

    def test_an_action_that_is_not_possible_here_is_left(self, tmp_path: Path) -> None:
        options = {"partition.end-input-to-done": "true", "partition.mark-done-action": "done-partition"}
        assert self.marked(tmp_path, **options) == []


def test_a_batch_has_the_watermark_that_was_asked_for(tmp_path: Path) -> None:
    store = table(tmp_path)
    marks = []
    for asked in ("1000", None, "500", "2000"):
        write(store.copy({"end-input.watermark": asked} if asked else {}))
        marks.append(store.latest().watermark)  # type: ignore[union-attr]
    assert marks == [1000, 1000, 1000, 2000]


@pytest.mark.parametrize(("options", "made"), [({}, []), ({"snapshot.ignore-empty-commit": "false"}, [2])], ids=str)
def test_a_batch_without_rows_makes_a_snapshot_where_it_is_asked_for(
    tmp_path: Path, options: dict[str, str], made: list[int]
) -> None:
    store = table(tmp_path, **options)
    write(store)
    assert Table(store).append(store.schema.arrow.empty_table()) == made
    assert len(rows_of(store)) == 1
