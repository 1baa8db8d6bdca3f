"""Manifests read as columns of NumPy or as lists of values: the same entries and columns as one record after the other, whatever was written by
whom; or left to that."""

import io
import json
import random
from dataclasses import replace
from pathlib import Path

import fastavro
import numpy as np
import pyarrow as pa
import pytest
from manifest_kit import ENTRIES
from sampling import sampled
from test_fuzz_metadata import GOLDEN, ROUNDS, mutated, plain

from paimon_nb.base.errors import CorruptFile, FormatError
from paimon_nb.format.avro.columnar import Lists, Texts, UnsupportedLayout, read_columns
from paimon_nb.format.avro.container import Container, parse_container
from paimon_nb.format.avro.records import compile_columns
from paimon_nb.format.manifest import (
    EMPTY_ROW,
    EMPTY_STATS,
    STATS_COLS,
    ConcatenatedEntries,
    DataFile,
    EntryList,
    ManifestEntry,
    SimpleStats,
    concat_entries,
    null_counts,
    read_entries,
    read_manifest,
    write_manifest,
)
from paimon_nb.format.manifest.decoded_entries import EntryValues, entries_by_values
from paimon_nb.format.manifest.entries import BYTES, NUMBERS
from paimon_nb.format.manifest.manifest_batch import EntryColumns, entries_by_columns
from paimon_nb.format.manifest.manifests import _SCHEMA_2_1, _entries_of_rows, checked_rows_of, schema_guarantees
from paimon_nb.fs.memory import MemoryFileIO

P = "memory:/t/manifest/m"


def one_by_one(container: Container) -> list[ManifestEntry]:
    """By fastavro. Raises FormatError."""
    return _entries_of_rows(checked_rows_of(b"", container, P, _SCHEMA_2_1, 2, "manifest"), P).objects()


def at_once(container: Container) -> EntryColumns | None:
    """By columns, however few there are."""
    if not schema_guarantees(container.record, _SCHEMA_2_1):
        return None
    return entries_by_columns(container, 2, worth=0)


def as_values(container: Container) -> EntryValues | None:
    """As lists of values, however many there are."""
    fields = compile_columns(container.schema)
    if fields is None or not schema_guarantees(container.record, _SCHEMA_2_1):
        return None
    return entries_by_values(container, fields, 2)


WAYS = {"columns": at_once, "values": as_values}
both = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())


def some_entries(rng: random.Random, count: int) -> list[ManifestEntry]:
    """Every field, sometimes null, sometimes short and sometimes long."""

    def raw(maximum: int) -> bytes:
        return rng.randbytes(rng.choice([0, 1, maximum]))

    def text(maximum: int = 70) -> str:
        return "".join(rng.choice("abcß漢-") for _ in range(rng.randint(1, maximum)))

    def texts() -> tuple[str, ...]:
        return tuple(text(5) for _ in range(rng.randint(0, 3)))

    def number(bits: int = 53) -> int:
        return rng.choice([0, 1, -1, rng.getrandbits(rng.randint(1, bits)), -rng.getrandbits(rng.randint(1, bits))])

    def stats() -> SimpleStats:
        counts = tuple(rng.choice([None, 0, 200]) for _ in range(rng.randint(0, 4)))
        return SimpleStats(raw(60), raw(rng.choice([100, 9000])), rng.choice([None, counts]))

    def perhaps(value):
        return rng.choice([None, value])

    return [
        ManifestEntry(
            rng.choice([0, 0, 1]), rng.choice([EMPTY_ROW, b"\0\0\0\1" + bytes(16)]), number(20), number(20),
            DataFile(
                text(), abs(number()), abs(number()), raw(20), raw(20), stats(), stats(), number(), number(),
                abs(number(9)), rng.randint(0, 5), texts(), perhaps(number(45)), perhaps(number(20)), perhaps(raw(500)),
                perhaps(1), perhaps(texts()), perhaps(text()), perhaps(number(40)), perhaps(texts()),
                perhaps((number(), number())),
            ),
        )
        for _ in range(count)
    ]  # fmt: skip


def columns_of(entries) -> dict:
    names = [*NUMBERS, STATS_COLS, *(null_counts(keys, i) for keys in (True, False) for i in range(4))]
    found = {name: entries.column(name) for name in [*names, *BYTES]}
    return {n: c.to_pylist() if isinstance(c, pa.Array) else c.tolist() for n, c in found.items()}


@both
@pytest.mark.parametrize("seed", sampled(range(8), 4))
def test_random_entries(seed, way):
    rng, fs = random.Random(seed), MemoryFileIO()
    entries = some_entries(rng, rng.choice([1, 2, 30, 1500]))
    write_manifest(fs, P, entries, rng.choice(["zstd", "none", "snappy", "gzip"]))
    found = way(parse_container(fs.read(P), P))
    assert found.objects() == entries
    assert columns_of(found) == columns_of(EntryList(entries))
    selected = sorted(rng.sample(range(len(entries)), len(entries) // 2)) if len(entries) > 1 else [0]
    keep = [i in set(selected) for i in range(len(entries))]
    some = way(parse_container(fs.read(P), P)).filter(np.array(keep))
    assert list(some) == [entries[i] for i in selected]
    assert columns_of(some) == columns_of(EntryList([entries[i] for i in selected]))
    twice = ConcatenatedEntries([EntryList(entries), found])
    assert columns_of(twice) == columns_of(EntryList(entries * 2))
    assert twice[len(entries)] == entries[0]
    order = np.array(rng.sample(range(len(entries)), len(entries)))
    taken = some.whole.take(order) if len(some) < len(entries) else found.take(order)
    numbers, names = taken.partitions
    assert [names[n] for n in numbers] == [entries[i].partition for i in order]
    assert len(names) == len(set(numbers.tolist()))


def test_many_entries_are_read_by_columns_and_few_are_not():
    fs, entries = MemoryFileIO(), some_entries(random.Random(1), 3000)
    write_manifest(fs, P, entries)
    write_manifest(fs, P + "few", entries[:5])
    many, few = read_entries(fs, P), read_entries(fs, P + "few")
    assert (type(many), many, read_manifest(fs, P)) == (EntryColumns, entries, entries)
    assert (type(few), few, read_manifest(fs, P + "few")) == (EntryValues, entries[:5], entries[:5])


def test_small_manifests_together_are_one_sequence():
    """One of the schema of release 1.3, one of 2.1; the objects of their entries are created once."""
    fs, entries = MemoryFileIO(), some_entries(random.Random(7), 40)
    old = [replace(e, file=replace(e.file, write_cols_sequences=None)) for e in entries[:20]]
    entries = [*old, *entries[20:]]
    for name, some in (("old", entries[:20]), ("new", entries[20:])):
        write_manifest(fs, P + name, some)

    def read():
        return concat_entries([read_entries(fs, P + "old"), read_entries(fs, P + "new")])

    first = read()
    assert (type(first), first, columns_of(first)) == (EntryValues, entries, columns_of(EntryList(entries)))
    again = read()
    assert (type(again), again) == (EntryList, entries)
    assert all(one is other for one, other in zip(first, again, strict=True))
    mixed = concat_entries([EntryList(entries[:3]), read_entries(fs, P + "new")])
    assert (type(mixed), mixed) == (EntryList, [*entries[:3], *entries[20:]])


def written(schema, rows) -> Container:
    out = io.BytesIO()
    fastavro.writer(out, fastavro.parse_schema(schema), rows, sync_interval=2_000)
    return parse_container(out.getvalue(), P)


OPTIONAL = {f["name"] for f in _SCHEMA_2_1["fields"][-1]["type"]["fields"] if "default" in f}
UNKNOWN = [
    {"name": "_NEW_A", "type": ["null", "long"], "default": None},
    {"name": "_NEW_B", "type": {"type": "array", "items": {"type": "array", "items": "string"}}},
    {"name": "_NEW_C", "type": ["string", "null"]},
    {"name": "_NEW_D", "type": {"type": "record", "name": "d", "fields": [{"name": "x", "type": "bytes"}, {"name": "y", "type": "null"}]}},
    {"name": "_NEW_E", "type": {"type": "array", "items": ["null", "int"]}},
]  # fmt: skip
VALUES = {
    "_NEW_A": [None, 5],
    "_NEW_B": [[], [["a"], [], ["b", "c" * 80]]],
    "_NEW_C": [None, "ß"],
    "_NEW_D": [{"x": b"", "y": None}, {"x": b"123", "y": None}],
    "_NEW_E": [[], [1, None, -3]],
}


@both
@pytest.mark.parametrize("seed", range(12))
def test_writers_of_other_releases(seed, way):
    """Fields in any order, optional ones missing or never null, unknown ones among them, records in a union with null."""
    rng, fs = random.Random(seed), MemoryFileIO()
    write_manifest(fs, P, some_entries(rng, 60), "none")
    rows = list(fastavro.reader(io.BytesIO(fs.read(P))))
    schema = json.loads(json.dumps(_SCHEMA_2_1))
    file = schema["fields"][-1]["type"]
    missing = {n for n in sorted(OPTIONAL) if rng.random() < 0.3}
    new = [f for f in UNKNOWN if rng.random() < 0.5]
    file["fields"] = [f for f in file["fields"] if f["name"] not in missing] + new
    rng.shuffle(file["fields"])
    for row in rows:
        row["_FILE"] |= {f["name"]: rng.choice(VALUES[f["name"]]) for f in new}
        row["_FILE"] = {k: v for k, v in row["_FILE"].items() if k not in missing}
        row["_FILE"].setdefault("_WRITE_COLS_SEQUENCES", None)
    container = written(["null", schema] if rng.random() < 0.3 else schema, rows)
    found = way(container)
    nulls = isinstance(container.schema, list) or UNKNOWN[3] in new  # a nullable record, a type without values
    assert (found is None) == (way is as_values and nulls)
    if found is not None:
        assert found.objects() == one_by_one(container)


TYPES = ["int", "long", "string", "bytes", "null"]


def random_type(rng: random.Random, depth: int, names: list[str]):
    match rng.randrange(8 if depth else 5):
        case 5:
            inner = random_type(rng, depth - 1, names)
            return (
                rng.choice([["null", inner], [inner, "null"]]) if isinstance(inner, dict) or inner != "null" else "int"
            )
        case 6:
            return {"type": "array", "items": rng.choice(["int", "string", ["null", "long"]])}
        case 7:
            names.append(f"r{len(names)}")
            name = names[-1]
            fields = [{"name": f"f{i}", "type": random_type(rng, depth - 1, names)} for i in range(rng.randint(1, 4))]
            return {"type": "record", "name": name, "fields": fields}
        case n:
            return TYPES[n]


def random_value(rng: random.Random, t):
    if isinstance(t, list):
        return rng.choice([None, random_value(rng, next(x for x in t if x != "null"))])
    if isinstance(t, dict):
        if t["type"] == "array":
            return [random_value(rng, t["items"]) for _ in range(rng.choice([0, 1, 5]))]
        return {f["name"]: random_value(rng, f["type"]) for f in t["fields"]}
    match t:
        case "int":
            return rng.randint(-(2**31), 2**31 - 1) >> rng.randint(0, 31)
        case "long":
            return rng.randint(-(2**55), 2**55 - 1) >> rng.randint(0, 55)
        case "string":
            return "aß漢" * rng.choice([0, 1, 30])
        case "bytes":
            return rng.randbytes(rng.choice([0, 3, 200]))


def flat(value, t, path="") -> dict:
    """Path -> value, as columns tell it: of a record that is null, null."""
    if isinstance(t, list):
        return flat(value, next(x for x in t if x != "null"), path)
    if isinstance(t, dict) and t["type"] == "record":
        out = {}
        for f in t["fields"]:
            inner = None if value is None else value[f["name"]]
            out |= flat(inner, f["type"], f"{path}.{f['name']}" if path else f["name"])
        return out
    return {} if t == "null" else {path: value}


def told(column) -> list:
    if isinstance(column, Texts):
        values = column.arrow.to_pylist()
        values = [b"" if v is None else v for v in values]
    elif isinstance(column, Lists):
        items = told(column.items)
        values = [
            items[end - count : end] for end, count in zip(column.ends.tolist(), column.counts.tolist(), strict=True)
        ]
    else:
        values = column.values.tolist()
    if column.null is None:
        return values
    return [None if n else v for n, v in zip(column.null.tolist(), values, strict=True)]


def as_bytes(value):
    if isinstance(value, list):
        return [as_bytes(v) for v in value]
    return value.encode() if isinstance(value, str) else value


@pytest.mark.parametrize("seed", range(40))
def test_random_schemas(seed):
    rng, names = random.Random(seed), ["root"]
    fields = [{"name": f"f{i}", "type": random_type(rng, 3, names)} for i in range(rng.randint(1, 8))]
    schema = {"type": "record", "name": "root", "fields": [{"name": "first", "type": "int"}, *fields]}
    rows = [random_value(rng, schema) for _ in range(rng.choice([1, 7, 300]))]
    container = written(schema, rows)
    found = read_columns(container.schema, container.blocks, lanes=rng.choice([1, 10, 3000]), worth=0)
    expected = [flat(row, schema) for row in rows]
    assert {n: told(c) for n, c in found.items()} == {n: [as_bytes(w[n]) for w in expected] for n in expected[0]}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda row: row["_FILE"].update(_FILE_NAME="../x"), "a path for a name"),
        (lambda row: row["_FILE"].update(_EXTRA_FILES=["a", ".."]), "a path for a sidecar"),
        (lambda row: row["_FILE"].update(_ROW_COUNT=-1), "a negative count"),
        (lambda row: row.update(_KIND=2), "an unknown kind"),
        (lambda row: row.update(_VERSION=3), "another version"),
        (lambda row: row["_FILE"].update(_FILE_NAME="x" * 40 + "\0"), "a zero in a name"),
    ],
)  # fmt: skip
@both
def test_what_is_odd_is_left_to_the_other_way(change, why, way):
    fs = MemoryFileIO()
    write_manifest(fs, P, some_entries(random.Random(3), 50), "none")
    rows = list(fastavro.reader(io.BytesIO(fs.read(P))))
    assert way(written(_SCHEMA_2_1, rows)) is not None
    change(rows[17])
    assert way(written(_SCHEMA_2_1, rows)) is None, why


def test_a_number_of_nine_bytes():
    fs = MemoryFileIO()
    entries = some_entries(random.Random(3), 50)
    entries[17] = replace(entries[17], file=replace(entries[17].file, min_sequence=1 << 62))
    write_manifest(fs, P, entries)
    container = parse_container(fs.read(P), P)
    assert at_once(container) is None
    assert as_values(container).objects() == entries


def test_a_text_that_is_no_text_is_refused():
    container = written(
        {"type": "record", "name": "r", "fields": [{"name": "s", "type": "string"}]}, [{"s": "abc"}, {"s": "abß"}]
    )
    ((count, block),) = container.blocks
    with pytest.raises(UnsupportedLayout):
        read_columns(container.schema, [(count, block.replace("ß".encode(), b"\xff\xff"))], worth=0)


def both_ways(data: bytes, way) -> str:
    """How a file was read. Fails where the ways do not agree."""
    try:
        container = parse_container(data, P)
    except FormatError:
        return "broken"
    quick = way(container)
    if quick is None:
        return "left"
    assert quick.objects() == one_by_one(container)  # which raises for what is damaged
    return "read"


def fuzz(data: bytes, seed: str, rounds: int, way) -> set[str]:
    rng = random.Random(seed)
    return {both_ways(mutated(data, rng), way) for _ in range(rounds)}


def made(count: int) -> bytes:
    fs = MemoryFileIO()
    write_manifest(fs, P, some_entries(random.Random(count), count), "none")
    return fs.read(P)


SOURCES = {
    "Java's": lambda: plain(sorted(GOLDEN.glob("tagged/manifest/manifest-2*-1"))[-1].read_bytes()),
    "few": lambda: plain(made(5)),
    "more": lambda: plain(made(12)),
}


@both
@pytest.mark.parametrize("source", sampled(SOURCES, 3))
def test_mutated_bytes_both_ways(source, way):
    assert fuzz(SOURCES[source](), source, ROUNDS if source == "Java's" else 200, way) == {"broken", "left", "read"}


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("source", SOURCES)
@both
def test_mutated_bytes_both_ways_all_night(source, seed, way):
    assert fuzz(SOURCES[source](), f"{source} {seed}", 5000, way) == {"broken", "left", "read"}


def test_damage_is_named_as_before():
    fs = MemoryFileIO()
    write_manifest(fs, P, some_entries(random.Random(5), 2000), "none")
    data = bytearray(fs.read(P))
    data[len(data) // 2 : len(data) // 2 + 40_000] = b"\xff" * 40_000
    fs.overwrite(P, bytes(data))
    with pytest.raises(CorruptFile) as error:
        read_entries(fs, P)
    assert error.value.facts["path"] == P


def test_javas_manifests_both_ways(shared):
    tables = shared / "oracle" / "fixtures" / "warehouse"
    files = [
        f for home in (tables, GOLDEN) for f in sorted(Path(home).rglob("manifest/manifest-*")) if "list" not in f.name
    ]
    assert len(files) > 200
    for file in files:
        if (data := file.read_bytes())[:3] != b"ORC":
            container = parse_container(data, str(file))
            assert at_once(container).objects() == one_by_one(container), file


@pytest.mark.usefixtures("tmp_path")
def test_entries_are_what_they_were():
    """Those of the kit: with every field, without any, with empty statistics."""
    fs = MemoryFileIO()
    entries = [e for e in ENTRIES if e.file.max_sequence < 1 << 54] * 3
    write_manifest(fs, P, entries)
    found = at_once(parse_container(fs.read(P), P))
    assert (found, found[1], found[-1]) == (entries, entries[1], entries[-1])
    assert EMPTY_STATS in {e.file.key_stats for e in found}
