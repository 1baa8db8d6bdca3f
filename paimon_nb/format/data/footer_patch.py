"""Changes the footer of a Parquet file while Arrow writes it, for what Arrow's writer does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class FooterPatch:
    """A sink that passes bytes through. After `hold`, it buffers the tail, which `release` corrects and writes."""

    def __init__(self, sink: Any, changes: Sequence[Callable[[bytes], bytes]]) -> None:
        """`changes`: each gets a footer (Thrift's FileMetaData) and returns another."""
        self._sink, self._changes = sink, changes
        self._tail: bytearray | None = None
        self.closed = False

    def write(self, data: Any) -> int:
        if self._tail is None:
            return int(self._sink.write(data))
        self._tail += bytes(data)
        return len(data)

    def tell(self) -> int:
        return int(self._sink.tell()) + (0 if self._tail is None else len(self._tail))

    def flush(self) -> None:
        """Arrow calls this; the sink's owner makes the file durable."""

    def close(self) -> None:
        """Arrow calls this; the sink's owner closes it."""

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def hold(self) -> None:
        """Buffer all further bytes."""
        self._tail = bytearray()

    def release(self) -> None:
        """Write the buffered bytes with the changed footer."""
        tail = bytes(self._tail or b"")
        size = int.from_bytes(tail[-8:-4], "little")
        start = len(tail) - 8 - size
        footer = tail[start:-8]
        for change in self._changes:
            footer = change(footer)
        self._sink.write(tail[:start] + footer + len(footer).to_bytes(4, "little") + tail[-4:])
        self._tail = None
