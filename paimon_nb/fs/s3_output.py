"""New files of an S3 store: puts in the background, and uploads of many parts."""

from __future__ import annotations

import os
import threading
import uuid
from collections import deque
from concurrent.futures import wait
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from paimon_nb.fs.api import OutputFile, is_immutable
from paimon_nb.fs.object_cache import SMALL_BYTES
from paimon_nb.fs.s3_client import bucket_and_key, http_status, request_threads, translate_errors

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

TOKEN = "put-token"
"""Metadata that identifies our object: distinguishes a lost reply from a lost race."""
_PART = 16 << 20
"""Bytes of one part of a large upload; the store allows 10,000 parts."""
_PARTS_AT_ONCE = 4
"""Parts of one file that are uploaded at the same time; each is `_PART` bytes in memory."""
_BACKGROUND_BYTES = 64 << 20
"""Of files that are written in the background at the same time."""


class BackgroundWrites:
    """Puts of whole small files that are under way."""

    def __init__(self) -> None:
        self._futures: list[Future[None]] = []
        self._bytes: deque[tuple[Future[None], int]] = deque()
        self._in_flight = 0
        self._lock = threading.Lock()

    def start(self, put: Callable[[bytes], None], data: bytes) -> None:
        """Start a put; waits for the oldest ones while more than `_BACKGROUND_BYTES` are in flight."""
        future = request_threads(os.getpid()).submit(put, data)
        waits: list[Future[None]] = []
        with self._lock:
            self._futures.append(future)
            self._bytes.append((future, len(data)))
            self._in_flight += len(data)
            while self._in_flight > _BACKGROUND_BYTES:
                oldest, size = self._bytes.popleft()
                self._in_flight -= size
                waits.append(oldest)
        wait(waits)

    def finish(self) -> list[Future[None]]:
        """All puts, when they have ended."""
        wait(self._futures)
        return self._futures


background_writes: ContextVar[BackgroundWrites | None] = ContextVar("background writes", default=None)


class S3Output(OutputFile):
    """Small files are one conditional put at the end; larger ones are multipart uploads, visible when complete."""

    def __init__(self, fs: Any, path: str) -> None:
        """`fs`: the `S3FileIO` that creates the file."""
        self._fs, self._path = fs, path
        self._buffer, self._sent = bytearray(), 0
        self._upload: str | None = None
        self._token = uuid.uuid4().hex
        self._parts: list[Future[dict[str, Any]]] = []
        self._closed = False

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._buffer += view
        while len(self._buffer) >= _PART:
            self._start_part(bytes(self._buffer[:_PART]))
            del self._buffer[:_PART]
        return len(view)

    def _start_part(self, part: bytes) -> None:
        """Upload a part in the background; waits while `_PARTS_AT_ONCE` are under way."""
        with translate_errors(self._path):
            if self._upload is None:
                made = self._fs._client.create_multipart_upload(
                    **bucket_and_key(self._path), Metadata={TOKEN: self._token}
                )
                self._upload = made["UploadId"]
            if len(self._parts) >= _PARTS_AT_ONCE:
                self._parts[-_PARTS_AT_ONCE].result()
            number = len(self._parts) + 1
            self._parts.append(request_threads(os.getpid(), "parts").submit(self._upload_part, number, part))
            self._sent += len(part)

    def _upload_part(self, number: int, part: bytes) -> dict[str, Any]:
        done = self._fs._client.upload_part(
            **bucket_and_key(self._path), UploadId=self._upload, PartNumber=number, Body=part
        )
        return {"ETag": done["ETag"], "PartNumber": number}

    def tell(self) -> int:
        return self._sent + len(self._buffer)

    def close(self) -> None:
        if self._closed:
            return
        if self._upload is None:
            data, writes = bytes(self._buffer), background_writes.get()
            if writes is not None and is_immutable(self._path) and len(data) <= SMALL_BYTES:
                self._closed = True
                self._fs.keep_in_memory({self._path: data})
                writes.start(self._put_new, data)
                return
            made = self._fs._put_and_cache(self._path, data)
        else:
            if self._buffer:
                self._start_part(bytes(self._buffer))
                self._buffer.clear()
            made = self._complete_upload()
        self._closed = True
        if not made:
            raise FileExistsError(self._path)

    def _put_new(self, data: bytes) -> None:
        try:
            if not self._fs.put_if_absent(self._path, data):
                raise FileExistsError(self._path)
        except BaseException:
            self._fs.forget(self._path)
            raise

    def _complete_upload(self) -> bool:
        s3 = self._fs._client
        with translate_errors(self._path):
            parts = [part.result() for part in self._parts]
            try:
                s3.complete_multipart_upload(
                    **bucket_and_key(self._path),
                    UploadId=self._upload,
                    MultipartUpload={"Parts": parts},
                    IfNoneMatch="*",
                )
            except s3.exceptions.ClientError as error:
                if http_status(error) not in (404, 409, 412):
                    raise
                # The client repeats a request whose reply was lost; then the upload is complete, and the object our own.
                if self._fs._holds_token(self._path, self._token):
                    return True
                if http_status(error) == 404:
                    raise
                self.abort()
                return False
        return True

    def abort(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._upload is not None:
            wait(self._parts)
            with translate_errors(self._path):
                self._fs._client.abort_multipart_upload(**bucket_and_key(self._path), UploadId=self._upload)

    @property
    def closed(self) -> bool:
        return self._closed
