"""Tags: a snapshot's JSON with two more fields, stored under a name. Source: docs/spec/format.md section 15."""

from __future__ import annotations

import datetime as dt
import posixpath
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import AlreadyExists, CorruptFile, FormatError, MissingFile, TagNotFound
from paimon_nb.base.identifier import check_name
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.metadata_json import JsonObject, java_json
from paimon_nb.format.snapshot.directory import Snapshot
from paimon_nb.fs import put_surely

if TYPE_CHECKING:
    from paimon_nb.fs import FileIO

_PREFIX = "tag-"


@dataclass(frozen=True, slots=True)
class Tag:
    """A named snapshot."""

    name: str
    snapshot: Snapshot
    create_time: dt.datetime | None = None
    """Local wall clock; None for tags without retention and old ones."""
    retained_ms: int | None = None


class TagDirectory:
    """`<branch root>/tag/tag-<name>`."""

    def __init__(self, fs: FileIO, branch_root: str) -> None:
        self.fs, self.root = fs, posixpath.join(branch_root, "tag")

    def path(self, name: str) -> str:
        return posixpath.join(self.root, _PREFIX + check_name(name, "tag"))

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(
            s.name[len(_PREFIX) :] for s in self.fs.list(self.root) if not s.is_dir and s.name.startswith(_PREFIX)
        )

    def get(self, name: str) -> Tag:
        """The tag of this name. Raises `TagNotFound` with the nearest name, `CorruptFile`."""
        try:
            return self._tag_of_file(name, self.fs.read(self.path(name)))
        except MissingFile:
            known = self.names()
            raise TagNotFound(
                f"no tag {name!r}",
                hint=did_you_mean(name, known) or f"tags: {', '.join(known[:10]) or 'none'}",
                name=name,
            ) from None

    def _tag_of_file(self, name: str, data: bytes) -> Tag:
        path = self.path(name)
        node = JsonObject(data, path)
        return Tag(
            name,
            Snapshot.from_json(data, path),
            _parse_java_time(node.node.get("tagCreateTime"), path),
            _parse_java_duration_ms(node.node.get("tagTimeRetained"), path),
        )

    def all(self) -> list[Tag]:
        """All tags, sorted by name."""
        names = self.names()
        files = self.fs.read_each([self.path(name) for name in names])
        # A tag without a file was deleted in the meantime.
        return [self._tag_of_file(name, data) for name, data in zip(names, files, strict=True) if data is not None]

    def readable(self) -> list[Tag]:
        """All tags whose files are not broken, sorted by name."""
        found = []
        for name in self.names():
            with suppress(FormatError, TagNotFound):  # broken, or deleted in the meantime
                found.append(self.get(name))
        return found

    def create(
        self,
        name: str,
        snapshot: Snapshot,
        create_time: dt.datetime | None = None,
        retained_ms: int | None = None,
        *,
        replace: bool = False,
    ) -> None:
        """Write a tag. Raises `AlreadyExists` unless `replace`."""
        node = snapshot.to_node()
        if create_time is not None:
            node["tagCreateTime"] = _jackson_time_array(create_time)
        data = java_json(node)
        if retained_ms is not None:
            # Jackson writes a Duration as decimal seconds with nine digits, which a float cannot represent.
            seconds = f"{retained_ms // 1000}.{retained_ms % 1000 * 1_000_000:09d}"
            data = data[: data.rindex(b"\n}")] + f',\n  "tagTimeRetained" : {seconds}\n}}'.encode()
        if replace:
            self.fs.overwrite(self.path(name), data)
        elif not put_surely(self.fs, self.path(name), data):
            raise AlreadyExists(
                f"tag {name!r} exists already", hint="replace_tag moves it, delete_tag removes it", name=name
            )

    def delete(self, name: str) -> None:
        """Raises `TagNotFound`."""
        if not self.fs.delete(self.path(name)):
            self.get(name)

    def rename(self, name: str, new_name: str) -> None:
        """Raises `TagNotFound`, `AlreadyExists`."""
        try:
            data = self.fs.read(self.path(name))
        except MissingFile:
            self.get(name)
            raise
        if not self.fs.put_if_absent(self.path(new_name), data):
            raise AlreadyExists(f"tag {new_name!r} exists already", hint="choose another name", name=new_name)
        self.fs.delete(self.path(name))


def _jackson_time_array(time: dt.datetime) -> list[int]:
    """[y, M, d, H, m(, s(, nanos))]: Jackson omits zero seconds and nanos."""
    out = [time.year, time.month, time.day, time.hour, time.minute]
    if time.second or time.microsecond:
        out.append(time.second)
    if time.microsecond:
        out.append(time.microsecond * 1000)
    return out


def _parse_java_time(value: Any, path: str) -> dt.datetime | None:
    if value is None:
        return None
    try:
        if isinstance(value, str):
            return dt.datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", value)).replace(tzinfo=None)
        parts = [int(v) for v in value]
        year, month, day, hour, minute, second, nanos = parts + [0] * (7 - len(parts))
        return dt.datetime(year, month, day, hour, minute, second, nanos // 1000)
    except (ValueError, TypeError, OverflowError):
        raise CorruptFile(path, f"tagCreateTime is not a time: {value!r:.60}") from None


def _parse_java_duration_ms(value: Any, path: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, str):
        match = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?", value)
        if match and any(match.groups()):
            hours, minutes, seconds = (float(g or 0) for g in match.groups())
            return int(((hours * 60 + minutes) * 60 + seconds) * 1000)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15:
        return round(value * 1000)
    raise CorruptFile(path, f"tagTimeRetained is not a duration: {value!r:.60}")
