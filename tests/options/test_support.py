"""Every option of Paimon 2.1 is supported, harmless or refused by name; `java/core_options_2.1.json` lists them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from sampling import sampled

import paimon_nb
from paimon_nb import UnsupportedFormat
from paimon_nb.options import TABLE_OPTIONS, find_option
from paimon_nb.options.support import HARMLESS, UNSUPPORTED, Access

ROOM = Path(paimon_nb.__file__).parent
CORE = json.loads((Path(__file__).parent / "java/core_options_2.1.json").read_text())
SOURCE = "".join(
    p.read_text() for p in ROOM.rglob("*.py") if p.parent != ROOM / "options" / "table" and p.name != "support.py"
)
WORDS = frozenset(re.findall(r"\w+", SOURCE))
ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int32()), "v": ["a", "b", "c"]})
NEWER = pa.table({"id": pa.array([3, 4], pa.int32()), "v": ["C", "d"]})

ASKING = {
    "batch-scan-mode": "compact", "commit.callbacks": "org.example.Call", "data-evolution.compaction.rewrite-row-ids": "true", "metadata.iceberg.storage": "some-later-catalog",
    "partition.mark-done-action.custom.class": "org.example.Call", "partition.timestamp-format.strict": "true",
    "pk-clustering-override": "true", "pk-vector.index.columns": "v",
    "query-auth.enabled": "true", "sequence.snapshot-ordering": "true", "stream-scan-mode": "file-monitor",
    "tag.callbacks": "org.example.Call", "type": "object-table",
}  # fmt: skip
"""A value of each unsupported option that asks for what it does."""
WITH = {
    "partition.mark-done-action.custom.class": {"partition.mark-done-action": "custom"},
}


def supported(key: str) -> bool:
    """Whether code outside the option tables asks for it."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", key).upper()
    return name in WORDS or f'"{key}"' in SOURCE


@pytest.mark.parametrize("key", sorted(CORE))
def test_each_option_is_supported_harmless_or_refused(key):
    assert find_option(key.replace("#", "0")) is not None, "it is not known"
    kinds = [
        name
        for name, found in (
            ("supported", supported(key)),
            ("harmless", key in HARMLESS),
            ("refused", key in UNSUPPORTED),
        )
        if found
    ]
    assert kinds[-1:] in (["supported"], ["harmless"], ["refused"]), f"{key} is none of them"
    assert not (key in HARMLESS and key in UNSUPPORTED)


def test_nothing_else_is_listed():
    beyond = {"metadata.iceberg.storage", "partition.mark-done-action.custom.class"}
    assert (set(HARMLESS) | set(UNSUPPORTED)) - set(CORE) <= beyond
    assert set(ASKING) == set(UNSUPPORTED)


def made(tmp_path, options: dict[str, str], keyed: bool = True, rows: pa.Table = ROWS):
    """A table with rows, given the options behind them (as another writer would have)."""
    wb = paimon_nb.connect(str(tmp_path / "w"))
    key = ", PRIMARY KEY (id) NOT ENFORCED" if keyed else ""
    bucket = options.get("bucket", "1" if keyed else "-1")
    wb.run(f"CREATE TABLE t (id INT, v STRING{key}) WITH ('bucket' = '{bucket}')")
    t = wb.table("t")
    t.append(rows)
    schema = tmp_path / "w/default.db/t/schema/schema-0"
    found = json.loads(schema.read_text())
    found["options"] |= options
    schema.write_text(json.dumps(found))
    return paimon_nb.connect(str(tmp_path / "w")).table("t")


def does(t, access: Access) -> None:
    match access:
        case Access.READ:
            t.to_arrow()
        case Access.WRITE:
            t.append(NEWER)
        case Access.COMPACT:
            t.compact()
        case Access.TAG:
            t.tags.create("now")


@pytest.mark.parametrize("key", sorted(ASKING))
def test_refused_for_what_it_would_change_and_nothing_else(tmp_path, key):
    entry = UNSUPPORTED[key]
    stored = key.replace("*", "v")
    t = made(tmp_path, {stored: ASKING[key], **WITH.get(key, {})})
    before = t.latest_snapshot().id
    for access in Access:
        if access in entry.accesses:
            with pytest.raises(UnsupportedFormat, match=re.escape(stored)) as caught:
                does(t, access)
            assert caught.value.option == stored
            assert "paimon-nb.ignore-unsupported-options" in caught.value.hint
    assert t.latest_snapshot().id == before
    t.system("files")
    t.system("options")
    for ignored in (stored, "all"):
        known = t.copy({"paimon-nb.ignore-unsupported-options": ignored})
        known.to_arrow()
    known.append(NEWER)
    assert known.latest_snapshot().id > before


@pytest.mark.parametrize("key", sorted(ASKING))
def test_what_is_switched_off_is_not_refused(tmp_path, key):
    off = {"type": "table", "metadata.iceberg.storage": "disabled"}
    default = str(CORE.get(key, {}).get("default") or "")
    t = made(tmp_path, {key.replace("*", "v"): off.get(key, default)})
    for access in Access:
        does(t, access)
    assert t.to_arrow().num_rows == 4


@pytest.mark.parametrize("kind", ["object-table", "iceberg-table", "lance-table", "some-later-table"])
def test_other_types_of_table_are_refused_by_name(tmp_path, kind):
    with pytest.raises(UnsupportedFormat, match=kind):
        made(tmp_path, {"type": kind}).to_arrow()


@pytest.mark.spark
def test_statements_are_refused_before_they_do_anything(tmp_path):
    t = made(tmp_path, {"sequence.snapshot-ordering": "true"})
    wb = paimon_nb.connect(str(tmp_path / "w"))
    for text in (
        "SELECT * FROM t",
        "INSERT INTO t VALUES (9, 'x')",
        "CALL sys.compact(`table` => 'default.t')",
        "SELECT count(*) FROM t",
    ):
        with pytest.raises(UnsupportedFormat, match="snapshot-ordering"):
            wb.run(text)
    assert t.latest_snapshot().id == 1
    hint = "/*+ OPTIONS('paimon-nb.ignore-unsupported-options' = 'sequence.snapshot-ordering') */"
    assert len(wb.sql(f"SELECT * FROM t {hint}").collect()) == 3


def test_rows_that_wait_for_their_bucket_are_refused_only_where_they_are_to_be_merged(tmp_path):
    assert made(tmp_path, {"postpone.merge-on-read": "true"}).to_arrow().num_rows == 3


def test_rows_that_wait_are_told_of_where_a_scan_is_explained(tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("""CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)
        WITH ('bucket' = '-2', 'postpone.batch-write-fixed-bucket' = 'false')""")
    t = wb.table("t")
    t.append(ROWS)
    plan = t.scan().plan
    assert plan.files == []
    assert "postponed rows" in str(plan.skipped) + repr(plan.skipped)


def test_one_bucket(tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '4')")
    t = wb.table("t")
    t.append(pa.table({"id": pa.array(range(40), pa.int32()), "v": [str(i) for i in range(40)]}))
    parts = [t.to_arrow(options={"scan.bucket": n}).column("id").to_pylist() for n in range(4)]
    assert all(parts)
    assert sorted(i for p in parts for i in p) == list(range(40))


VALUES = {
    "Boolean": ("true", "false"),
    "Integer": ("7",),
    "Long": ("7",),
    "Double": ("0.3",),
    "Float": ("0.3",),
    "MemorySize": ("3 mb",),
    "Duration": ("3 min",),
}
TEXTS = {
    "spill-compression": "lz4", "lookup.cache-spill-compression": "lz4", "commit.callback.#.param": "x", "tag.callback.#.param": "x",
    "partition.sink-strategy": "hash", "clustering.incremental.mode": "local-sort", "format-table.implementation": "engine",
    "sort-engine": "min-heap", "sort-compaction.range-strategy": "quantity", "snapshot.expire.execution-mode": "async",
    "consumer.mode": "at-least-once", "variant.shredding.inferenceMode": "adaptive", "metastore.tag-to-partition.preview": "process-time",
    "materialized-table.interval-freshness.time-unit": "day", "materialized-table.logical-refresh-mode": "full",
    "materialized-table.refresh-mode": "full", "materialized-table.refresh-status": "activated",
}  # fmt: skip


def other_value(key: str) -> str:
    """A value that is not the default."""
    if key in TEXTS:
        return TEXTS[key]
    option = TABLE_OPTIONS.get(key)
    if option is not None and option.choices and CORE[key]["type"] != "Boolean":
        return next(c for c in option.choices if c != str(CORE[key]["default"]))
    values = VALUES.get(CORE[key]["type"], ("v",))
    return next(v for v in values if v != CORE[key]["default"])


def told(root: Path, options: dict[str, str]) -> tuple[list[dict], list[bytes]]:
    """The rows, and the bytes of all data files, after writes and a compaction."""
    wb = paimon_nb.connect(str(root))
    t = made(root, options)
    t.append(NEWER)
    t.delete(pa.table({"id": pa.array([2], pa.int32())}))
    mid = sorted(p.read_bytes() for p in Path(t.path).rglob("data-*"))
    t.compact()
    after = sorted(p.read_bytes() for p in Path(t.path).rglob("data-*"))
    del wb
    return sorted(t.to_arrow().to_pylist(), key=str), [*mid, *after]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return told(tmp_path_factory.mktemp("plain"), {})


@pytest.mark.parametrize("key", sampled(sorted(HARMLESS), 4))
def test_a_harmless_option_changes_neither_rows_nor_bytes(tmp_path, plain, key):
    assert told(tmp_path, {key.replace("#", "0"): other_value(key)}) == plain
