"""A table's options: typed access, what is derived from others, checks of all at once."""

from __future__ import annotations

import pytest

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.options import TableOptions, validate_table_options
from paimon_nb.options import table as opt
from paimon_nb.options.option import INT_MAX

MB = 1 << 20


def test_typed_access():
    options = TableOptions(
        {"bucket": "4", "target-file-size": "32 mb", "snapshot.time-retained": "2 h", "sequence.field": "a, b"}
    )
    assert options.get(opt.BUCKET) == 4
    assert options.get(opt.TARGET_FILE_SIZE) == 32 * MB
    assert options.get(opt.SNAPSHOT_TIME_RETAINED) == 7_200_000
    assert options.get(opt.SNAPSHOT_NUM_RETAINED_MAX) == INT_MAX
    assert options.names(opt.SEQUENCE_FIELD) == ("a", "b")
    assert options.has(opt.BUCKET)
    assert not options.has(opt.MERGE_ENGINE)


def test_with_leaves_the_first_as_it_was():
    first = TableOptions({"bucket": "1"})
    second = first.with_({"bucket": "2"})
    assert (first.bucket, second.bucket) == (1, 2)
    assert first != second
    assert {first: 1, TableOptions({"bucket": "1"}): 2} == {first: 2}


def test_derived_values_as_in_java():
    plain = TableOptions({})
    assert (plain.num_levels, plain.stop_trigger) == (6, 8)
    assert (plain.target_file_size(True), plain.target_file_size(False)) == (128 * MB, 256 * MB)
    assert plain.compaction_file_size(True) == int(128 * MB * 0.7)
    assert (plain.split_target_size, plain.split_open_file_cost) == (128 * MB, 4 * MB)
    assert (plain.changelog_num_retained_min, plain.changelog_num_retained_max) == (10, INT_MAX)
    assert plain.changelog_time_retained_ms == 3_600_000
    assert (plain.changelog_outlives_snapshots, plain.need_lookup, plain.wait_for_compaction) == (False, False, False)


def test_derived_values_follow_what_they_derive_from():
    low = TableOptions({"num-sorted-run.compaction-trigger": "2"})
    assert (low.num_levels, low.stop_trigger) == (3, 5)
    below = low.with_({"num-sorted-run.stop-trigger": "1"})
    assert below.stop_trigger == 2
    assert TableOptions({"changelog.time-retained": "2 h"}).changelog_outlives_snapshots
    assert TableOptions({"changelog.num-retained.min": "11"}).changelog_outlives_snapshots
    assert not TableOptions({"changelog.num-retained.max": "5"}).changelog_outlives_snapshots


@pytest.mark.parametrize(
    "raw",
    [{"changelog-producer": "lookup"}, {"merge-engine": "first-row"}, {"deletion-vectors.enabled": "true"}, {"force-lookup": "true"}],
    ids=str,
)  # fmt: skip
def test_who_needs_lookup(raw):
    assert TableOptions(raw).need_lookup
    assert TableOptions(raw).wait_for_compaction
    assert not TableOptions({**raw, "lookup-wait": "false"}).wait_for_compaction


def test_options_of_columns():
    options = TableOptions({"fields.a.b.aggregate-function": "sum", "fields.g1,g2.sequence-group": "x,y"})
    assert options.field("a.b", "aggregate-function") == "sum"
    assert options.field("a", "aggregate-function") is None
    assert options.sequence_groups() == {("g1", "g2"): ("x", "y")}


def test_repr_hides_secrets():
    assert "hunter2" not in repr(TableOptions({"s3.secret-key": "hunter2"}))


GOOD = {
    "bucket": "-2",
    "file.format.per.level": "0:avro,5:orc",
    "file.compression.per.level.0": "lz4",
    "fields.price.aggregate-function": "sum",
    "fields.g1,g2.sequence-group": "a,b",
    "fields.x.stats-mode": "truncate(20)",
    "file-index.bloom-filter.columns": "a,b",
    "file-index.bloom-filter.a.fpp": "0.01",
    "parquet.page.size": "1 mb",
    "orc.compress": "zstd",
    "metadata.iceberg.storage": "disabled",
    "scan.infer-parallelism": "true",
    "changelog-producer.lookup-wait": "false",
    "tag.callback.com.example.Call.param": "x",
    "write-mode": "change-log",
    "compaction.max.file-num": "50",
    "branch": "b",
    "path": "/x",
}


def test_known_options_of_every_kind_pass_quietly():
    assert validate_table_options(GOOD) == []


def test_unknown_keys_are_warnings_with_the_nearest_name():
    wrong = {"merge-engin": "x", "fields.a.agregate-function": "sum", "sink.paralelism": "2", "entirely.mine": "1"}
    assert validate_table_options(wrong) == [
        "unknown option 'merge-engin' is stored but has no effect; did you mean 'merge-engine'?",
        "unknown option 'fields.a.agregate-function' is stored but has no effect; did you mean 'fields.a.aggregate-function'?",
        "unknown option 'sink.paralelism' is stored but has no effect; did you mean 'sink.parallelism'?",
        "unknown option 'entirely.mine' is stored but has no effect",
    ]


@pytest.mark.parametrize(
    ("raw", "option"),
    [
        ({"bucket": "0"}, "bucket"),
        ({"bucket": " 1"}, "bucket"),
        ({"file.format": "parket"}, "file.format"),
        ({"file.compression": "zip"}, "file.compression"),
        ({"file.format.per.level": "0:parket"}, "file.format.per.level"),
        ({"file.format.per.level.0": "parket"}, "file.format.per.level.0"),
        ({"file.compression.zstd-level": "23"}, "file.compression.zstd-level"),
        ({"metadata.stats-mode": "truncate(0)"}, "metadata.stats-mode"),
        ({"metadata.stats-mode.per.level": "0:all"}, "metadata.stats-mode.per.level"),
        ({"fields.a.stats-mode": "some"}, "fields.a.stats-mode"),
        ({"fields.a.distinct": "yes"}, "fields.a.distinct"),
        ({"file-index.bloom-filter.a.fpp": "1"}, "file-index.bloom-filter.a.fpp"),
        ({"snapshot.num-retained.min": "0"}, "snapshot.num-retained.min"),
        ({"snapshot.num-retained.max": "infinite"}, "snapshot.num-retained.max"),
        ({"snapshot.num-retained.min": "20", "snapshot.num-retained.max": "10"}, "snapshot.num-retained.min"),
        ({"changelog.num-retained.min": "20", "changelog.num-retained.max": "10"}, "changelog.num-retained.min"),
        ({"merge-engine": "first-row", "changelog-producer": "input"}, "changelog-producer"),
        ({"merge-engine": "first-row", "deletion-vectors.enabled": "true"}, "deletion-vectors.enabled"),
        ({"deletion-vectors.enabled": "true", "changelog-producer": "full-compaction"}, "deletion-vectors.enabled"),
        ({"streaming-read-overwrite": "true", "changelog-producer": "lookup"}, "streaming-read-overwrite"),
        ({"scan.parallelism": "0"}, "scan.parallelism"),
        ({"partial-update.ignore-delete": "1"}, "partial-update.ignore-delete"),
    ],
    ids=str,
)
def test_wrong_values_are_errors(raw, option):
    with pytest.raises(BadOptionValue) as raised:
        validate_table_options(raw)
    assert raised.value.option == option
    assert raised.value.hint


@pytest.mark.parametrize("value", ["false", "true", "FALSE", "1"])
def test_the_switch_of_dictionaries_takes_what_java_takes(value):
    """An Integer by Java's list of options, a boolean to the writer that reads it."""
    assert validate_table_options({"parquet.enable.dictionary": value}) == []


def test_the_switch_of_dictionaries_is_no_word():
    with pytest.raises(BadOptionValue, match="true or false"):
        validate_table_options({"parquet.enable.dictionary": "off"})


def test_a_format_may_be_written_in_capitals():
    assert validate_table_options({"file.format": "ORC", "file.compression": "ZSTD"}) == []
    assert TableOptions({"file.format": "ORC"}).get(opt.FILE_FORMAT) == "orc"
