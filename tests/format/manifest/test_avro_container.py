"""Avro containers made to hurt: bombs, endless counts, types that contain themselves."""

import bz2
import json
import lzma
import struct
import zlib

import pytest
import zstandard

from paimon_nb.base.errors import CorruptFile, UnsupportedFormat
from paimon_nb.format.avro import container
from paimon_nb.format.avro.container import parse_container, zigzag_varint

ONE = {"type": "record", "name": "r", "fields": [{"name": "a", "type": "long"}]}


def built(schema=ONE, codec=b"null", blocks=((1, b"\2"),), sync=b"s" * 16):
    text = schema if isinstance(schema, bytes) else json.dumps(schema).encode()
    out = b"Obj\1" + zigzag_varint(2)
    for item in (b"avro.schema", text, b"avro.codec", codec):
        out += zigzag_varint(len(item)) + item
    out += b"\0" + sync
    for count, block in blocks:
        out += zigzag_varint(count) + zigzag_varint(len(block)) + block + sync
    return out


def test_a_sound_one():
    made = parse_container(built(blocks=((1, b"\2"), (2, b"\2\4"))), "f")
    assert (made.schema, made.blocks) == (ONE, ((1, b"\2"), (2, b"\2\4")))


def deflated(data):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("codec", "pack"),
    [(b"deflate", deflated), (b"bzip2", bz2.compress), (b"xz", lzma.compress), (b"zstandard", zstandard.compress)],
    ids=lambda x: x if isinstance(x, bytes) else "",
)
def test_bombs_are_stopped_before_they_unfold(monkeypatch, codec, pack):
    monkeypatch.setattr(container, "MAX_PLAIN", 1 << 20)
    sound = built(codec=codec, blocks=((1, pack(b"\2")),))
    assert parse_container(sound, "f").blocks == ((1, b"\2"),)
    with pytest.raises(CorruptFile, match="decompresses to more than 1 MB"):
        parse_container(built(codec=codec, blocks=((1, pack(bytes(40 << 20))),)), "f")


def test_many_blocks_count_together(monkeypatch):
    monkeypatch.setattr(container, "MAX_PLAIN", 1 << 20)
    block = zstandard.compress(bytes(1 << 19))
    with pytest.raises(CorruptFile, match="decompresses to more"):
        parse_container(built(codec=b"zstandard", blocks=((1, block),) * 3), "f")


def test_snappy_says_its_length_first():
    for claimed in (b"\xff\xff\xff\xff\x0f", b"\x80\x80\x80\x40"):
        with pytest.raises(CorruptFile, match="wrong length"):
            parse_container(built(codec=b"snappy", blocks=((1, claimed + b"abcd"),)), "f")


HURTING = {
    "records without bytes": built({"type": "record", "name": "r", "fields": [{"name": "a", "type": "null"}]}),
    "no fields": built({"type": "record", "name": "r", "fields": []}, blocks=((1 << 60, b""),)),
    "more records than bytes": built(blocks=((1 << 60, b"\2"),)),
    "negative count": built(blocks=((-1, b"\2"),)),
    "array of nothing": built(
        {"type": "record", "name": "r", "fields": [{"name": "a", "type": {"type": "array", "items": "null"}}]},
        blocks=((1, zigzag_varint(1 << 60)),),
    ),
    "contains itself": built({"type": "record", "name": "r", "fields": [{"name": "a", "type": ["null", "r"]}]}),
    "too deep": built(json.loads('{"type":"array","items":' * 60 + '"int"' + "}" * 60)),
    "deeper than the parser": built(b"[" * 50_000),
    "not JSON": built(b"{"),
    "no record": built("long"),
    "unknown type": built({"type": "record", "name": "r", "fields": [{"name": "a", "type": "longer"}]}),
    "fixed of -1": built(
        {"type": "record", "name": "r", "fields": [{"name": "a", "type": {"type": "fixed", "name": "f", "size": -1}}]}
    ),
    "endless number": b"Obj\1" + b"\xff" * 50,
    "endless header": b"Obj\1" + zigzag_varint(1 << 40),
    "huge string": b"Obj\1" + zigzag_varint(1) + zigzag_varint(1 << 40),
    "negative string": b"Obj\1" + zigzag_varint(1) + zigzag_varint(-40) + b"abc",
    "only magic": b"Obj\1",
    "cut in a block": built()[:-3],
    "other sync": built()[:-1] + b"x",
    "huge block": built(blocks=()) + zigzag_varint(1) + zigzag_varint(1 << 40),
    "negative block": built(blocks=()) + zigzag_varint(1) + zigzag_varint(-5),
    "broken zstd": built(codec=b"zstandard", blocks=((1, b"abcdef"),)),
    "broken deflate": built(codec=b"deflate", blocks=((1, struct.pack("<q", -1)),)),
    "broken xz": built(codec=b"xz", blocks=((1, b"abcdef"),)),
}


@pytest.mark.parametrize("data", HURTING.values(), ids=HURTING)
def test_hurting_files(data):
    with pytest.raises(CorruptFile) as caught:
        parse_container(data, "t/manifest/m")
    assert caught.value.path == "t/manifest/m"


def test_an_unknown_codec_is_named():
    with pytest.raises(UnsupportedFormat, match="'lzo'"):
        parse_container(built(codec=b"lzo"), "f")
