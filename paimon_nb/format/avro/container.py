"""Whole Avro files of metadata, which may be anybody's: decompressed within a limit, with a schema whose records end.

Source: Avro 1.11 specification, "Schema Declaration".
"""

from __future__ import annotations

import gc
import io
import json
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import CorruptFile, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.avro.blocks import Blocks, BlockSink
from paimon_nb.format.file_errors import broken_file, is_out_of_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MAX_PLAIN = 1 << 30
"""Maximum uncompressed bytes of one metadata file. Java rolls manifests at 8 MB compressed."""
_DEPTH = 32
_SMALLEST = {"null": 0, "boolean": 1, "int": 1, "long": 1, "float": 4, "double": 8, "bytes": 1, "string": 1, "enum": 1}


@dataclass(frozen=True, slots=True)
class Container:
    """A container file, decompressed."""

    schema: Any
    """The writer's schema without logical types, so that times stay numbers: a record, or a union of null and a record.
    """
    blocks: tuple[tuple[int, bytes], ...]
    """Number of records and uncompressed bytes of each block."""

    @property
    def record(self) -> dict[str, Any]:
        """The schema of the records."""
        return _record_schema_of(self.schema)

    @property
    def records(self) -> int:
        """Number of records."""
        return sum(count for count, _ in self.blocks)

    @property
    def plain(self) -> bytes:
        """The same records as a container without compression."""
        return _container_of(self.schema, "null", self.blocks)


def parse_container(data: bytes, path: str) -> Container:
    """Parse and decompress a container. Raises `CorruptFile`; `UnsupportedFormat` for codecs that Avro does not define."""
    try:
        file = Blocks(io.BytesIO(data))
    except LookupError as error:
        codec = str(error)
        raise UnsupportedFormat(
            f"{path}: unknown Avro codec {codec!r:.40}", hint="rewrite it with zstd", feature=codec
        ) from None
    except ValueError as error:
        raise CorruptFile(path, f"its Avro header is invalid ({error!s:.80})") from None
    try:
        schema, smallest = _parsed_schema(file.header.get(b"avro.schema", b""))
        if smallest < 1 or not _record_schema_of(schema)["fields"]:
            raise ValueError("records without bytes")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise CorruptFile(path, f"its Avro header is invalid ({error!s:.80})") from None
    return Container(schema, tuple(_each_block(file, path, smallest)))


def uncompressed_container(data: bytes, path: str) -> bytes:
    """The same container without compression: its schema and its other header entries are as they were."""
    blocks = parse_container(data, path).blocks
    file = Blocks(io.BytesIO(data))
    more = {k.decode(): v.decode() for k, v in file.header.items() if k not in (b"avro.schema", b"avro.codec")}
    return _container_of(file.schema, "null", blocks, more)


def _record_schema_of(schema: Any) -> dict[str, Any]:
    """The only record schema of a union. pypaimon-rust writes unions, Java plain records."""
    branches = [b for b in schema if b != "null"] if isinstance(schema, list) else [schema]
    if len(branches) != 1 or not isinstance(branches[0], dict) or branches[0]["type"] != "record":
        raise ValueError("its rows are not records")
    return branches[0]


def _each_block(file: Blocks, path: str, smallest: int) -> Iterator[tuple[int, bytes]]:
    try:
        for count, block in file.plain(MAX_PLAIN, "file"):
            if not 0 <= count <= len(block) // smallest:
                raise ValueError(f"a block of {len(block)} bytes declares {count} records")
            yield count, block
    except Exception as error:  # each codec has its own errors for broken bytes
        if is_out_of_memory(error):
            raise broken_file(path, error) from None
        raise CorruptFile(path, f"a block cannot be read ({error!s:.80})") from None


def compress_container(
    container: bytes, schema: dict[str, Any], codec: str, header: Mapping[str, str] | None = None
) -> bytes:
    """Compress a container with `codec`, and store exactly this text of the schema and these further header entries."""
    return _container_of(schema, codec, Blocks(io.BytesIO(container)).framed(), header)


def _container_of(
    schema: Any, codec: str, blocks: Iterable[tuple[int, bytes]], header: Mapping[str, str] | None = None
) -> bytes:
    """A container of uncompressed blocks."""
    out = io.BytesIO()
    sink = BlockSink(out, schema, codec, header=header)
    for count, block in blocks:
        sink.write(count, block)
    return out.getvalue()


@lru_cache(maxsize=16)
def _parsed_schema(text: bytes) -> tuple[Any, int]:
    """`_plain_schema` of a header. Cached: the manifests of a table have one schema. Callers do not change it."""
    return _plain_schema(json.loads(text), {}, 0)


def _plain_schema(node: Any, known: dict[str, int], depth: int) -> tuple[Any, int]:
    """The schema without logical types, and the minimum bytes of one value. Raises `ValueError` if decoding might not
    end.

    Rejected: recursive types, and arrays of values without bytes, where a few bytes can declare billions of items.
    """
    if depth > _DEPTH:
        raise ValueError("types are nested too deeply")
    if isinstance(node, list):
        branches = [_plain_schema(b, known, depth + 1)[0] for b in node]
        return branches, 1
    if isinstance(node, str):
        return node, _SMALLEST[node] if node in _SMALLEST else known[node]
    kind = node["type"]
    if kind == "record":
        fields, total = [], 0
        for field in node["fields"]:
            inner, minimum = _plain_schema(field["type"], known, depth + 1)
            fields.append({"name": field["name"], "type": inner})
            total += minimum
        out = {k: node[k] for k in ("type", "name", "namespace") if k in node}
        known[node["name"]] = known[f"{node.get('namespace', '')}.{node['name']}"] = total
        return out | {"fields": fields}, total
    if kind in ("array", "map"):
        part = "items" if kind == "array" else "values"
        inner, minimum = _plain_schema(node[part], known, depth + 1)
        if kind == "array" and minimum < 1:
            raise ValueError("an array of items without bytes")
        return {"type": kind, part: inner}, 1
    if kind == "fixed":
        if not 0 <= node["size"] <= MAX_PLAIN:
            raise ValueError("a fixed type with an invalid size")
        known[node["name"]] = node["size"]
        return {k: node[k] for k in ("type", "name", "namespace", "size") if k in node}, node["size"]
    if kind == "enum":
        known[node["name"]] = 1
        return {k: node[k] for k in ("type", "name", "namespace", "symbols") if k in node}, 1
    return _plain_schema(kind, known, depth + 1)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Rows hold no cycles; looking for some among 100,000 of them costs a third of the time."""
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()
