"""Mutated metadata files of every kind: a value that survives its own round trip, or a plain format error. Never a hang."""

import random
from contextlib import suppress
from pathlib import Path

import pytest
from manifest_kit import INDEXES, KINDS
from sampling import sampled

from paimon_nb.base.errors import FormatError
from paimon_nb.format.avro.container import compress_container, parse_container
from paimon_nb.format.manifest import (
    read_index_manifest,
    read_manifest,
    read_manifest_list,
    write_index_manifest,
    write_manifest,
    write_manifest_list,
)
from paimon_nb.format.schema import TableSchema
from paimon_nb.format.snapshot import ConsumerDirectory, Snapshot, Statistics, TagDirectory
from paimon_nb.fs.memory import MemoryFileIO

GOLDEN = Path(__file__).parents[2] / "golden" / "java-1.3.1"
ROUNDS = 150


def mutated(data: bytes, rng: random.Random) -> bytes:
    """One to three flips, cuts, repeats or runs of one byte."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(out)) if out else 0
        match rng.randrange(6):
            case 0 | 1:
                out[at : at + 1] = bytes([rng.randrange(256)])
            case 2:
                out[at : at + 1] = bytes([(out[at] ^ 1 << rng.randrange(8)) if out else 0])
            case 3:
                del out[at : at + rng.randint(1, 20)]
            case 4:
                out[at:at] = out[at : at + rng.randint(1, 20)]
            case _:
                out[at : at + 10] = rng.choice([b"\xff", b"\x80", b"\x00", b"9", b"["]) * 10
    return bytes(out)


def golden(pattern: str) -> bytes:
    return sorted(GOLDEN.glob(pattern))[-1].read_bytes()


def plain(data: bytes) -> bytes:
    """Without compression, so that mutations reach the rows."""
    made = parse_container(data, "f")
    return compress_container(made.plain, made.schema, "null")


def manifests(read, write):
    def check(data: bytes) -> None:
        fs = MemoryFileIO()
        fs.write("memory:/a", data)
        value = read(fs, "memory:/a")
        write(fs, "memory:/b", value)
        again = read(fs, "memory:/b")
        if write is write_index_manifest:  # it holds the live set: whatever was read is ADD now
            value = [v for v in value if v.kind == 0]
            again = [v for v, old in zip(again, read(fs, "memory:/a"), strict=True) if old.kind == 0]
        assert again == value

    return check


def texts(parse):
    def check(data: bytes) -> None:
        value = parse(data, "f")
        assert parse(value.to_json(), "f") == value or value.version < 3

    return check


def statistics(data: bytes) -> None:
    value = Statistics.from_json(data, "f")
    assert Statistics.from_json(value.to_json(), "f") == value


def tag(data: bytes) -> None:
    fs = MemoryFileIO()
    tags = TagDirectory(fs, "memory:/t")
    fs.overwrite(tags.path("a"), data)
    value = tags.get("a")
    tags.create("b", value.snapshot, value.create_time, value.retained_ms)
    again = tags.get("b")
    assert (again.snapshot, again.create_time, again.retained_ms) == (
        value.snapshot,
        value.create_time,
        value.retained_ms,
    )


def consumer(data: bytes) -> None:
    consumers = ConsumerDirectory(MemoryFileIO(), "memory:/t")
    consumers.fs.overwrite(consumers.path("a"), data)
    assert consumers.next_snapshot("a") >= 0


def index_manifest() -> bytes:
    fs = MemoryFileIO()
    write_index_manifest(fs, "memory:/i", INDEXES)
    return fs.read("memory:/i")


def orc_manifest() -> bytes:
    return (Path(__file__).parent / "manifest-1.3.1.orc").read_bytes()


MANIFEST = manifests(read_manifest, write_manifest)
FUZZED = {
    "schema": (lambda: golden("part_comp/schema/schema-0"), texts(TableSchema.from_json)),
    "snapshot": (lambda: golden("tagged/snapshot/snapshot-*"), texts(Snapshot.from_json)),
    "tag": (lambda: golden("tagged/tag/tag-t3"), tag),
    "consumer": (lambda: b'{\n  "nextSnapshot" : 2\n}', consumer),
    "statistics": (
        lambda: (
            b'{"snapshotId":1,"schemaId":0,"mergedRecordCount":3,"colStats":{"a":{"colId":0,"min":"1","nullCount":0}}}'
        ),
        statistics,
    ),
    "manifest": (lambda: golden("tagged/manifest/manifest-2*-1"), MANIFEST),
    "manifest, plain": (lambda: plain(golden("tagged/manifest/manifest-2*-1")), MANIFEST),
    "manifest, ORC": (orc_manifest, MANIFEST),
    "manifest list": (
        lambda: golden("tagged/manifest/manifest-list-*"),
        manifests(read_manifest_list, write_manifest_list),
    ),
    "manifest list, plain": (
        lambda: plain(golden("tagged/manifest/manifest-list-*")),
        manifests(read_manifest_list, write_manifest_list),
    ),
    "index manifest": (index_manifest, manifests(read_index_manifest, write_index_manifest)),
    "index manifest, plain": (lambda: plain(index_manifest()), manifests(read_index_manifest, write_index_manifest)),
}


def fuzz(kind: str, seed: int, rounds: int) -> None:
    make, check = FUZZED[kind]
    data, rng = make(), random.Random(f"{kind} {seed}")
    check(data)
    for _ in range(rounds):
        with suppress(FormatError):
            check(mutated(data, rng))


@pytest.mark.parametrize("kind", sampled(FUZZED, 3))
def test_mutated_bytes(kind):
    fuzz(kind, 0, ROUNDS)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1, 9))
@pytest.mark.parametrize("kind", FUZZED)
def test_mutated_bytes_all_night(kind, seed):
    fuzz(kind, seed, 5000)


def test_every_kind_of_manifest_is_fuzzed():
    assert {k for k in FUZZED if k in KINDS} == set(KINDS)
