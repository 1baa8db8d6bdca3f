"""A store with the semantics of S3 in this process, behind the interface of boto3's client: its clock and its processes stop at will."""

# ruff: noqa: ARG002, N803  the names are those of boto3
from __future__ import annotations

import hashlib
import io
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from paimon_nb.workbench import Workbench


class Killed(BaseException):
    """The process has ended: none of its requests reaches the store any more."""


@dataclass(frozen=True)
class Stored:
    data: bytes
    metadata: dict[str, str]
    modified: datetime

    @property
    def etag(self) -> str:
        return f'"{hashlib.md5(self.data).hexdigest()}"'


@dataclass
class MemoryS3:
    """The objects of one bucket."""

    objects: dict[str, Stored] = field(default_factory=dict)
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    lock: Any = field(default_factory=threading.RLock)

    def copy(self) -> MemoryS3:
        return MemoryS3(dict(self.objects), self.now)

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Process:
    """The client of one process. `at` is called with the number and the name of each request, before it has its effect."""

    exceptions = SimpleNamespace(ClientError=ClientError)

    def __init__(self, store: MemoryS3) -> None:
        self.store = store
        self.at: Callable[[int, str], None] | None = None
        self.calls: list[str] = []
        self.is_dead = False
        self._counts = threading.Lock()

    def kill(self) -> None:
        self.is_dead = True
        raise Killed

    def _request(self, name: str, key: str = "") -> None:
        if self.is_dead:
            raise Killed
        with self._counts:
            self.calls.append(f"{name} {key}")
            number = len(self.calls)
        if self.at is not None:
            self.at(number, self.calls[number - 1])

    def _meta(self) -> dict[str, Any]:
        return {"HTTPStatusCode": 200, "HTTPHeaders": {"date": format_datetime(self.store.now, usegmt=True)}}

    def _found(self, name: str, key: str) -> Stored:
        if key not in self.store.objects:
            raise _refused(name, 404, "NoSuchKey")
        return self.store.objects[key]

    def get_object(self, *, Bucket: str, Key: str, Range: str | None = None) -> dict[str, Any]:
        self._request("GET", Key)
        with self.store.lock:
            found = self._found("GetObject", Key)
            data, size = found.data, len(found.data)
            if Range is not None:
                first, _, last = Range.removeprefix("bytes=").partition("-")
                data = data[-int(last) :] if not first else data[int(first) : int(last) + 1 if last else None]
            return {
                "Body": io.BytesIO(data), "ETag": found.etag, "Metadata": found.metadata, "LastModified": found.modified,
                "ContentRange": f"bytes 0-{len(data) - 1}/{size}", "ResponseMetadata": self._meta(),
            }  # fmt: skip

    def head_object(self, *, Bucket: str, Key: str) -> dict[str, Any]:
        self._request("HEAD", Key)
        with self.store.lock:
            found = self._found("HeadObject", Key)
            return {"ETag": found.etag, "Metadata": found.metadata, "ContentLength": len(found.data)}

    def put_object(
        self, *, Bucket: str, Key: str, Body: bytes, IfNoneMatch: str | None = None, IfMatch: str | None = None,
        Metadata: dict[str, str] | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        self._request("PUT", Key)
        with self.store.lock:
            now = self.store.objects.get(Key)
            if IfNoneMatch and now is not None:
                raise _refused("PutObject", 412, "PreconditionFailed")
            if IfMatch:
                if now is None:
                    raise _refused("PutObject", 404, "NoSuchKey")
                if now.etag != IfMatch:
                    raise _refused("PutObject", 412, "PreconditionFailed")
            self.store.objects[Key] = made = Stored(bytes(Body), Metadata or {}, self.store.now)
            return {"ETag": made.etag}

    def delete_object(self, *, Bucket: str, Key: str, IfMatch: str | None = None) -> dict[str, Any]:
        self._request("DELETE", Key)
        with self.store.lock:
            now = self.store.objects.get(Key)
            if IfMatch and (now is None or now.etag != IfMatch):
                raise _refused("DeleteObject", 404 if now is None else 412, "PreconditionFailed")
            self.store.objects.pop(Key, None)
            return {}

    def delete_objects(self, *, Bucket: str, Delete: dict[str, Any]) -> dict[str, Any]:
        self._request("DELETE", " ".join(one["Key"] for one in Delete["Objects"]))
        with self.store.lock:
            for one in Delete["Objects"]:
                self.store.objects.pop(one["Key"], None)
            return {}

    def list_objects_v2(
        self,
        *,
        Bucket: str,
        Prefix: str = "",
        Delimiter: str | None = None,
        MaxKeys: int = 1000,
    ) -> dict[str, Any]:
        self._request("LIST", Prefix)
        with self.store.lock:
            keys = sorted(key for key in self.store.objects if key.startswith(Prefix))
            folders: dict[str, None] = {}
            contents = []
            for key in keys:
                rest = key[len(Prefix) :]
                if Delimiter and Delimiter in rest:
                    folders[Prefix + rest.partition(Delimiter)[0] + Delimiter] = None
                else:
                    found = self.store.objects[key]
                    contents.append(
                        {"Key": key, "Size": len(found.data), "LastModified": found.modified, "ETag": found.etag}
                    )
            return {
                "Contents": contents, "CommonPrefixes": [{"Prefix": p} for p in folders],
                "KeyCount": min(MaxKeys, len(contents) + len(folders)),
            }  # fmt: skip

    def get_paginator(self, _name: str) -> Any:
        return SimpleNamespace(paginate=lambda **named: iter([self.list_objects_v2(**named)]))


def _refused(operation: str, status: int, code: str) -> ClientError:
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, operation)


class Processes:
    """Sessions of processes that share a store. Use it inside a test, whose monkeypatch ends it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._clients: dict[str, Process] = {}
        monkeypatch.setattr("paimon_nb.fs.object_store.client", lambda settings: self._clients[settings.endpoint])

    def start(self, store: MemoryS3, **options: str) -> tuple[Workbench, Process]:
        """A new process: its session, and its client."""
        endpoint = f"http://process-{len(self._clients)}.invalid"
        process = self._clients[endpoint] = Process(store)
        named = {key.replace("_", "-"): value for key, value in options.items()}
        return paimon_nb.connect("s3://lake/w", options={"s3.endpoint": endpoint, **named}), process
