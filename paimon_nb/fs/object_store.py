"""Objects of an S3 store as files. Publishing is a conditional put (`If-None-Match: *`): the store decides which writer wins.

Directories are key prefixes up to a '/'; an empty directory is an object whose key ends in '/', as in Hadoop's S3A.
"""

from __future__ import annotations

import os
import uuid
from concurrent.futures import wait
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from paimon_nb.base.errors import MissingFile, StoreError, TableReplaced
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.override import override
from paimon_nb.fs.api import DirectoryPin, FileIO, FileStatus, FoundMove, OutputFile, is_immutable
from paimon_nb.fs.directory_move import MARKERS, RECORD, move_directory, settle
from paimon_nb.fs.object_cache import MAX_BYTES, SMALL_BYTES, ObjectCache
from paimon_nb.fs.s3_client import (
    S3Settings,
    StoredObject,
    arrow_store,
    bucket_and_key,
    client,
    directory_prefix,
    http_status,
    request_threads,
    split_uri,
    translate_errors,
)
from paimon_nb.fs.s3_output import TOKEN, BackgroundWrites, S3Output, background_writes

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

_T = TypeVar("_T")
_PIN = "directory"
"""Metadata of objects that are not unique by name: the directory, by a digest of its marker, for which they were written."""
_SMALL_OBJECT_BYTES = 1 << 18
"""Files up to this size are moved by a conditional put, larger ones by a server-side copy."""
_BATCH = 1000
"""Maximum number of keys in one delete request."""
_BODY_TRIES = 5
"""Requests for one object whose reply broke off; the client itself repeats only requests without a reply."""
_OBJECTS = ObjectCache()
"""Shared by all tables of this process."""
_PREFETCH_BYTES = MAX_BYTES // 2
_NO_SUCH_RANGE = 416


@dataclass(frozen=True)
class S3FileIO(FileIO):
    """`s3://bucket/key` and `s3a://bucket/key`. Picklable with its settings; each process opens its own connections."""

    settings: S3Settings
    pin: DirectoryPin | None = field(default=None, compare=False)
    is_object_store = True

    def pinned(self, pin: DirectoryPin) -> S3FileIO:
        return replace(self, pin=pin)

    def read(self, path: str) -> bytes:
        if is_immutable(path):
            data = self._small_object(path, whole=True)
            if data is not None:
                return data
        return self._get_object(path)[0]

    @override
    def read_each(self, paths: Sequence[str]) -> list[bytes | None]:
        return self._in_request_threads(self._read_or_none, paths)

    @override
    def prefetch(self, files: Iterable[tuple[str, int]]) -> None:
        missing, total = [], 0
        for path, size in files:
            if not is_immutable(path) or _OBJECTS.has(key := (self.settings, path)):
                continue
            if size > SMALL_BYTES:
                _OBJECTS.put(key, None)
            elif total + size <= _PREFETCH_BYTES:
                total += size
                missing.append(path)
        self._in_request_threads(self._prefetch_one, missing)

    @override
    @contextmanager
    def writing_in_background(self) -> Iterator[None]:
        outer = background_writes.get()
        if outer is not None:
            try:
                yield  # the outer block waits
            except BaseException:
                outer.finish()  # what the caller cleans up must not appear later
                raise
            return
        writes = BackgroundWrites()
        before = background_writes.set(writes)
        try:
            yield
        except BaseException:
            writes.finish()  # what the caller cleans up must not appear later
            raise
        else:
            for future in writes.finish():
                future.result()
        finally:
            background_writes.reset(before)

    @override
    def finish_background_writes(self) -> None:
        writes = background_writes.get()
        if writes is not None:
            background_writes.set(None)
            for future in writes.finish():
                future.result()

    def forget(self, path: str) -> None:
        """Do not keep a file in memory that could not be written."""
        _OBJECTS.remove((self.settings, path))

    @override
    def keep_in_memory(self, files: Mapping[str, bytes]) -> None:
        for path, data in files.items():
            if is_immutable(path):
                _OBJECTS.put((self.settings, path), data)

    def open(self, path: str) -> Any:
        """A small object comes with one request; a large one is read by ranges."""
        data = self._small_object(path) if is_immutable(path) else self._fetch_small(path)
        if data is not None:
            import pyarrow as pa

            return pa.BufferReader(data)
        bucket, key = split_uri(path)
        try:
            return arrow_store(self.settings).open_input_file(f"{bucket}/{key}")
        except FileNotFoundError:
            raise MissingFile(path) from None
        except OSError as error:
            raise StoreError(f"{path}: {error}", hint="check 's3.endpoint' and the credentials", path=path) from None

    def put_if_absent(self, path: str, data: bytes) -> bool:
        token = uuid.uuid4().hex
        with translate_errors(path):
            made = self._put_new(path, bytes(data), token)
            if made and self._guards(path):
                self._check_directory(path, token)
            return made

    @override
    def sync_and_put_if_absent(self, named: Iterable[str], path: str, data: bytes) -> bool:
        """`put_if_absent` of a snapshot: the caller does other things while `check_after_put` waits for the reply."""
        with translate_errors(path):
            return self._put_new(path, bytes(data), uuid.uuid4().hex)

    def check_after_put(self) -> None:
        self.check_pinned()

    def _put_new(self, path: str, data: bytes, token: str) -> bool:
        """Put an object unless the name is taken by one of the same directory."""
        made = self._put_once(path, data, token)
        if not made and self._guards(path) and self._remove_foreign(path):
            made = self._put_once(path, data, token)
        return made

    def _put_once(self, path: str, data: bytes, token: str) -> bool:
        if self._put_object(path, data, token):
            return True
        # The client repeats a request whose reply was lost; then the existing object is our own.
        return self._holds_token(path, token)

    # -- the pinned directory: a prefix is no directory, so what was written too late is taken back

    def _guards(self, path: str) -> bool:
        return self.pin is not None and not is_immutable(path) and self.pin.guards(path)

    def _metadata(self, path: str, token: str) -> dict[str, str]:
        return {TOKEN: token, **({_PIN: _digest(self.pin.content)} if self.pin and self._guards(path) else {})}

    def check_pinned(self) -> None:
        if self.pin is not None:
            now = self._read_or_none(f"{self.pin.root}/{self.pin.marker}")
            if now != self.pin.content:
                raise self.pin.replaced(now)

    def _check_directory(self, path: str, token: str) -> None:
        """After a put: raise TableReplaced, without the object, if the directory was moved or deleted before.

        Who moves or deletes a directory removes its marker first and lists its objects then: one of the two sees the other.
        """
        try:
            self.check_pinned()
        except TableReplaced:
            found = self._head_object(path)
            if found is not None and self.has_token(found, token):
                self._delete_unchanged(path, found["ETag"])
            raise

    def _is_foreign(self, found: Mapping[str, Any]) -> bool:
        """Whether an object below the pinned directory was written for one that was at its path before, by a writer that then died."""
        owner_digest = found.get("Metadata", {}).get(_PIN)
        return self.pin is not None and owner_digest is not None and owner_digest != _digest(self.pin.content)

    def _remove_foreign(self, path: str) -> bool:
        """Delete an object that was written for another directory. Returns whether the name is free now."""
        found = self._head_object(path)
        if found is None:
            return True
        if not self._is_foreign(found):
            return False
        self.check_pinned()  # or ours is the one that is gone
        self._delete_unchanged(path, found["ETag"])
        return True

    def _delete_unchanged(self, path: str, etag: str) -> bool:
        from botocore.exceptions import ParamValidationError

        try:
            self._client.delete_object(**bucket_and_key(path), IfMatch=etag)
        except ParamValidationError:  # a client before conditional deletes
            self._client.delete_object(**bucket_and_key(path))
        except self._client.exceptions.ClientError as error:
            if http_status(error) == 501:  # a store before them
                self._client.delete_object(**bucket_and_key(path))
            elif http_status(error) in (404, 412):
                return False
            else:
                raise
        return True

    def _holds_token(self, path: str, token: str) -> bool:
        """Whether the object is the one that was put with this token."""
        found = self._head_object(path)
        return found is not None and self.has_token(found, token)

    def _put_and_cache(self, path: str, data: bytes) -> bool:
        """`put_if_absent`; this process then reads an immutable file from memory."""
        made = self.put_if_absent(path, data)
        if made and is_immutable(path):
            _OBJECTS.put((self.settings, path), data)
        return made

    def _put_object(self, path: str, data: bytes, token: str, more: Mapping[str, str] | None = None) -> bool:
        metadata = {**self._metadata(path, token), **(more or {})}
        for last in (False, False, False, True):
            try:
                self._client.put_object(**bucket_and_key(path), Body=data, IfNoneMatch="*", Metadata=metadata)
                return True
            except self._client.exceptions.ClientError as error:
                if http_status(error) == 412:
                    return False
                if http_status(error) != 409 or last:  # 409: two concurrent requests; the store requires both to retry
                    raise
        return False

    @override
    def overwrite(self, path: str, data: bytes, *, durable: bool = True) -> None:
        _OBJECTS.remove((self.settings, path))
        token = uuid.uuid4().hex
        with translate_errors(path):
            self._client.put_object(**bucket_and_key(path), Body=bytes(data), Metadata=self._metadata(path, token))
            if durable and self._guards(path):
                self._check_directory(path, token)

    def create(self, path: str) -> OutputFile:
        return S3Output(self, path)

    def list(self, path: str) -> list[FileStatus]:
        parent, start = path.rstrip("/"), directory_prefix(path)
        found = []
        for page in self._list_pages(path, Delimiter="/"):
            folders = (item["Prefix"] for item in page.get("CommonPrefixes", ()))
            found += [FileStatus(f"{parent}/{prefix[len(start) : -1]}", 0, 0, True) for prefix in folders]
            for item in page.get("Contents", ()):
                if item["Key"] != start:
                    modified = int(item["LastModified"].timestamp() * 1000)
                    found.append(FileStatus(f"{parent}/{item['Key'][len(start) :]}", item["Size"], modified, False))
        return sorted(found, key=lambda s: s.path)

    def exists(self, path: str) -> bool:
        with translate_errors(path):
            children = request_threads(os.getpid()).submit(self._has_children, path)
            return self._head_object(path) is not None or children.result()

    def size(self, path: str) -> int:
        known = _OBJECTS.peek((self.settings, path))
        if known is not None:
            return len(known)
        with translate_errors(path):
            return int(self._client.head_object(**bucket_and_key(path))["ContentLength"])

    def delete(self, path: str) -> bool:
        _wait_for_writes()
        _OBJECTS.remove((self.settings, path))
        with translate_errors(path):
            found = self._head_object(path)
            if found is None or (self._guards(path) and self._is_foreign(found)):
                return False
            if self._guards(path) and _PIN not in found.get("Metadata", {}):
                self.check_pinned()  # another engine wrote it
            self._client.delete_object(**bucket_and_key(path))
            return True

    @override
    def delete_if_unchanged(self, path: str, data: bytes) -> bool:
        _OBJECTS.remove((self.settings, path))
        with translate_errors(path):
            try:
                found = self._client.get_object(**bucket_and_key(path))
            except self._client.exceptions.ClientError as error:
                if http_status(error) == 404:
                    return False
                raise
            if (self._guards(path) and self._is_foreign(found)) or found["Body"].read() != data:
                return False
            return self._delete_unchanged(path, found["ETag"])

    @override
    def delete_each(self, paths: Iterable[str]) -> None:
        _wait_for_writes()
        by_bucket: dict[str, list[str]] = {}
        for path in paths:
            _OBJECTS.remove((self.settings, path))
            by_bucket.setdefault(split_uri(path)[0], []).append(path)
        for some in by_bucket.values():
            with translate_errors(some[0]):
                self._delete_keys(some[0], [split_uri(path)[1] for path in some])

    @override
    def write_each(self, files: Mapping[str, bytes]) -> None:
        self._in_request_threads(lambda path: self.write(path, files[path]), list(files))

    def delete_tree(self, path: str) -> None:
        _wait_for_writes()
        _OBJECTS.remove_below(self.settings, path)
        if self._guards(path):
            self.check_pinned()
        with translate_errors(path):
            # The marker first: a writer that comes after it notices, see `_check_directory`. A record would restore it.
            self._delete_keys(path, [f"{directory_prefix(path)}{name}" for name in (RECORD, *MARKERS)])
            self._delete_keys(path, [*(found.key for found in self._objects_below(path)), split_uri(path)[1]])

    def delete_empty_dir(self, path: str) -> bool:
        with translate_errors(path):
            mark = {"Bucket": split_uri(path)[0], "Key": directory_prefix(path)}
            if self.list(path) or not self._has_children(path):
                return False
            self._client.delete_object(**mark)
            return True

    def make_dirs(self, path: str) -> None:
        bucket, key = split_uri(path)
        if key:
            with translate_errors(path):
                self._client.put_object(Bucket=bucket, Key=directory_prefix(path), Body=b"")

    def move(self, source: str, target: str) -> None:
        """Copies, then deletes. Of several moves to one target one wins. A directory: see `directory_move`."""
        with translate_errors(source):
            found = self._head_object(source)
            if found is None:
                if not self._has_children(source):
                    raise MissingFile(source)
                try:
                    move_directory(self, source.rstrip("/"), target.rstrip("/"))
                finally:
                    _OBJECTS.remove_below(self.settings, source)
                return
            if self.exists(target):
                raise FileExistsError(target)
            bucket, key = split_uri(source)
            self._copy_object(bucket, key, int(found["ContentLength"]), target)
            self._delete_keys(source, [key])
            _OBJECTS.remove((self.settings, source))

    @override
    def settle_move(self, path: str) -> FoundMove | None:
        with translate_errors(path):
            return settle(self, path)

    def _copy_object(self, bucket: str, key: str, size: int, target_path: str, owner_digest: str | None = None) -> None:
        """Copy one object. `owner_digest`: of the directory's marker, for objects that other engines wrote."""
        with translate_errors(f"s3://{bucket}/{key}"):
            if size <= _SMALL_OBJECT_BYTES:
                found = self._client.get_object(Bucket=bucket, Key=key)
                digest = found.get("Metadata", {}).get(_PIN) or (None if is_immutable(key) else owner_digest)
                data = found["Body"].read()
                if key.endswith("/"):
                    self.make_dirs(target_path)
                elif not self._put_copy(target_path, data, {_PIN: digest} if digest else {}):
                    raise FileExistsError(target_path)
                return
            target_bucket, target_key = split_uri(target_path)
            self._client.copy({"Bucket": bucket, "Key": key}, target_bucket, target_key)

    def _put_copy(self, path: str, data: bytes, metadata: dict[str, str]) -> bool:
        token = uuid.uuid4().hex
        return self._put_object(path, data, token, metadata) or self._holds_token(path, token)

    # -- records of moves

    def _get_with_times(self, path: str) -> tuple[bytes, str, datetime, datetime | None]:
        """(content, ETag, when it was written, now), both times by the store's clock; None if its replies have no date."""
        with translate_errors(path):
            found = self._client.get_object(**bucket_and_key(path))
            now = found["ResponseMetadata"].get("HTTPHeaders", {}).get("date")
            return (
                found["Body"].read(),
                found["ETag"],
                found["LastModified"],
                parsedate_to_datetime(now) if now else None,
            )

    def _put_record(self, path: str, data: bytes) -> str | None:
        """Put a new object. Returns its ETag; None if there is one."""
        token = uuid.uuid4().hex
        if not self._put_object(path, data, token) and not self._holds_token(path, token):
            return None
        found = self._head_object(path)
        return found["ETag"] if found is not None and self.has_token(found, token) else None

    def _replace_unchanged(self, path: str, data: bytes, etag: str) -> str | None:
        """Replace an object that still has this ETag. Returns the new one; None if another process has replaced or deleted it.

        `data` must be different each time, since ETags are digests.
        """
        from botocore.exceptions import ParamValidationError

        try:
            for last in (False, False, False, True):
                try:
                    return str(self._client.put_object(**bucket_and_key(path), Body=data, IfMatch=etag)["ETag"])
                except self._client.exceptions.ClientError as error:
                    if http_status(error) != 409 or last:  # 409: two concurrent requests
                        raise
        except ParamValidationError:  # a client before conditional replacements
            pass
        except self._client.exceptions.ClientError as error:
            if http_status(error) not in (404, 412, 501):
                raise
            if http_status(error) != 501:  # 501: a store before them
                with suppress(MissingFile):
                    now, new_etag, *_ = self._get_with_times(path)
                    return new_etag if now == data else None  # the first reply may have been lost
                return None
        found = self._head_object(path)
        if found is None or found["ETag"] != etag:
            return None
        return str(self._client.put_object(**bucket_and_key(path), Body=data)["ETag"])

    def _objects_below_but_record(self, path: str) -> Iterator[StoredObject]:
        record = f"{directory_prefix(path)}{RECORD}"
        return (found for found in self._objects_below(path) if found.key != record)

    @staticmethod
    def digest(marker: bytes) -> str:
        """What objects that were written for a directory carry: of its marker."""
        return _digest(marker)

    @staticmethod
    def has_token(found: Mapping[str, Any], token: str) -> bool:
        """Whether an object is the one that was put with this token."""
        return bool(found.get("Metadata", {}).get(TOKEN) == token)

    # -- requests

    @property
    def _client(self) -> Any:
        return client(self.settings)

    def _get_object(self, path: str, byte_range: str | None = None) -> tuple[bytes, int]:
        """(bytes, size of the whole object). A reply that breaks off is requested again."""
        from botocore.exceptions import IncompleteReadError, ReadTimeoutError, ResponseStreamingError

        ranged = {} if byte_range is None else {"Range": byte_range}
        with translate_errors(path):
            for tries_left in reversed(range(_BODY_TRIES)):
                try:
                    reply = self._client.get_object(**bucket_and_key(path), **ranged)
                    if self._guards(path) and self._is_foreign(reply):
                        with suppress(StoreError, TableReplaced, self._client.exceptions.ClientError):
                            self._remove_foreign(path)
                        raise MissingFile(path)
                    body: bytes = reply["Body"].read()
                    size = reply.get("ContentRange", "").rpartition("/")[2]
                    return body, int(size) if size.isdecimal() else len(body)
                except (IncompleteReadError, ReadTimeoutError, ResponseStreamingError):
                    if not tries_left:
                        raise
        raise AssertionError

    def _fetch_small(self, path: str) -> bytes | None:
        """The object by one request for its last bytes; None if these are not all of it."""
        try:
            data, size = self._get_object(path, f"bytes=-{SMALL_BYTES}")
        except StoreError as error:
            if error.facts.get("status") == _NO_SUCH_RANGE:  # an empty object has no last bytes
                return b""
            raise
        return data if len(data) == size else None

    def _small_object(self, path: str, *, whole: bool = False) -> bytes | None:
        """An immutable object, from memory or by one request; None if it is too large to keep.

        whole: request all of it, whatever its size.
        """
        fetched: list[bytes] = []

        def fetch_object() -> bytes | None:
            if not whole:
                return self._fetch_small(path)
            fetched.append(self._get_object(path)[0])
            return fetched[0]

        data = _OBJECTS.get((self.settings, path), fetch_object)
        return fetched[0] if fetched else data

    def _read_or_none(self, path: str) -> bytes | None:
        try:
            return self.read(path)
        except MissingFile:
            return None

    def _prefetch_one(self, path: str) -> None:
        with suppress(MissingFile, StoreError):  # the reader that needs the file reports it
            self._small_object(path)

    def _in_request_threads(self, work: Callable[[str], _T], paths: Sequence[str]) -> builtins.list[_T]:
        """`work` of each path, side by side, in order. `work` must not call this again: the threads are shared."""
        if len(paths) <= 1:
            return [work(path) for path in paths]
        futures = [request_threads(os.getpid()).submit(work, path) for path in paths]
        wait(futures)  # also after an error: what the caller cleans up must not appear later
        return [future.result() for future in futures]

    def _head_object(self, path: str) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = self._client.head_object(**bucket_and_key(path))
        except self._client.exceptions.ClientError as error:
            if http_status(error) == 404:
                return None
            raise
        return found

    def _has_children(self, path: str) -> bool:
        bucket = split_uri(path)[0]
        return bool(
            self._client.list_objects_v2(Bucket=bucket, Prefix=directory_prefix(path), MaxKeys=1).get("KeyCount")
        )

    def _list_pages(self, path: str, **more: str) -> Iterator[dict[str, Any]]:
        with translate_errors(path):
            pages = self._client.get_paginator("list_objects_v2")
            yield from pages.paginate(Bucket=split_uri(path)[0], Prefix=directory_prefix(path), **more)

    def _objects_below(self, path: str) -> Iterator[StoredObject]:
        """All objects below a directory, including its marker."""
        for page in self._list_pages(path):
            for item in page.get("Contents", ()):
                yield StoredObject(item["Key"], item["Size"], item["ETag"])

    def _delete_keys(self, path: str, keys: Sequence[str]) -> None:
        bucket = split_uri(path)[0]
        objects = [{"Key": key} for key in keys if key]
        for start in range(0, len(objects), _BATCH):
            done = self._client.delete_objects(
                Bucket=bucket, Delete={"Objects": objects[start : start + _BATCH], "Quiet": True}
            )
            if failed := done.get("Errors"):
                raise StoreError(
                    f"{path}: {len(failed)} objects were not deleted, {failed[0].get('Key')!r} among them: "
                    f"{failed[0].get('Message')}",
                    hint="check the permission s3:DeleteObject",
                    path=path,
                )


def _wait_for_writes() -> None:
    """Before a deletion: a write that is under way must not bring the file back."""
    writes = background_writes.get()
    if writes is not None:
        writes.finish()


@cache
def _digest(marker: bytes) -> str:
    import hashlib

    return hashlib.sha256(marker).hexdigest()[:32]
