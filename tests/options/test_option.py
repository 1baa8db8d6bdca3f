"""One option: reading, defaults, messages; nothing here needs a table."""

from __future__ import annotations

import pytest

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.options import CATALOG_OPTIONS, CONNECTOR_OPTIONS, PATTERNS, TABLE_OPTIONS
from paimon_nb.options import table as opt
from paimon_nb.options.option import at_least, between, choice, integer, text

ALL = [*TABLE_OPTIONS.values(), *CONNECTOR_OPTIONS.values(), *CATALOG_OPTIONS.values()]


@pytest.mark.parametrize("option", ALL, ids=lambda o: o.key)
def test_every_option_tells_about_itself_and_takes_its_own_default(option):
    assert option.doc
    assert option.kind
    displayed = option.default_text
    if displayed and displayed != "infinite":
        assert option.value(displayed) == option.default


def test_no_key_is_told_twice():
    table = [*TABLE_OPTIONS, *(f for o in TABLE_OPTIONS.values() for f in o.fallback_keys if f != "snapshot-id")]
    assert len(table) == len(set(table))


def test_an_older_key_counts_only_where_the_newer_is_absent():
    old = {"partial-update.ignore-delete": "true"}
    assert opt.IGNORE_DELETE.read(old) is True
    assert opt.IGNORE_DELETE.read({**old, "ignore-delete": "false"}) is False
    assert opt.SCAN_SNAPSHOT_ID.read({"snapshot-id": "10"}) == 10


def test_an_error_names_the_key_that_was_written():
    with pytest.raises(BadOptionValue) as raised:
        opt.IGNORE_DELETE.read({"first-row.ignore-delete": "maybe"})
    assert raised.value.option == "first-row.ignore-delete"


@pytest.mark.parametrize(
    ("option", "value", "message", "hint"),
    [
        (opt.BUCKET, "0", "option 'bucket' cannot be '0': a bucket number is at least 1, or -1 (dynamic), or -2 (postponed)", "use a whole number; the default is -1"),
        (opt.BUCKET, "many", "option 'bucket' cannot be 'many': it is not a whole number", "use a whole number; the default is -1"),
        (opt.MERGE_ENGINE, "dedup", "option 'merge-engine' cannot be 'dedup': it is one of deduplicate, partial-update, aggregation, first-row", "use deduplicate | partial-update | aggregation | first-row"),
        (opt.TARGET_FILE_SIZE, "12 parsecs", "option 'target-file-size' cannot be '12 parsecs': 'parsecs' is not a unit; the units are b, bytes, k, kb, kibibytes, m, mb, mebibytes, g, gb, gibibytes, t, tb, tebibytes", "use a size such as '128 mb'; no default"),
        (opt.SNAPSHOT_TIME_RETAINED, "PT1H", "option 'snapshot.time-retained' cannot be 'PT1H': it is not a time span such as '1 h'", "use a time span such as '1 h'; the default is 1 h"),
        (opt.FILE_FORMAT_PER_LEVEL, "0:avro,top:orc", "option 'file.format.per.level' cannot be '0:avro,top:orc': 'top' is not a level", "use a list of pairs such as '0:avro,3:parquet'; no default"),
    ],
)  # fmt: skip
def test_a_wrong_value_says_what_is_allowed(option, value, message, hint):
    with pytest.raises(BadOptionValue) as raised:
        option.value(value)
    assert (raised.value.message, raised.value.hint) == (message, hint)


def test_a_secret_is_never_shown():
    secret = text("s3.secret-key", None, "", check=lambda _v: "it is too short")
    with pytest.raises(BadOptionValue) as raised:
        secret.value("hunter2")
    assert secret.secret
    assert "hunter2" not in str(raised.value)
    assert "hunter2" not in repr(raised.value.facts)


def test_choices_in_any_case_and_nothing_else():
    colour = choice("colour", "red", "red dark-green", "")
    assert [colour.value(t) for t in ("RED", "Dark-Green")] == ["red", "dark-green"]
    with pytest.raises(BadOptionValue):
        colour.value("dark_green")


def test_ranges():
    assert integer("n", None, "", check=at_least(1)).value("1") == 1
    assert integer("n", None, "", check=between(1, 22)).value("22") == 22
    for wrong in ("0", "23"):
        with pytest.raises(BadOptionValue):
            integer("n", None, "", check=between(1, 22)).value(wrong)


def test_a_map_may_be_written_pair_by_pair():
    assert opt.FILE_FORMAT_PER_LEVEL.read({"file.format.per.level.0": "avro"}) == {"0": "avro"}
    assert opt.FILE_FORMAT_PER_LEVEL.read({"file.format.per.level": "1:orc", "file.format.per.level.0": "avro"}) == {
        "1": "orc"
    }
    with pytest.raises(BadOptionValue):
        opt.FILE_FORMAT_PER_LEVEL.read({"file.format.per.level.x": "avro"})


def test_every_family_of_keys_has_its_option():
    keys = [p.template.replace("<column>", "price").replace("<kind>", "btree").replace("<n>", "1").replace("<parameter>", "x").replace("*", "x") for p in PATTERNS]  # fmt: skip
    assert [k for k, p in zip(keys, PATTERNS, strict=True) if not p.matches(k)] == []
