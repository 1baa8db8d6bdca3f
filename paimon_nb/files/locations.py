"""The files that a path names: one, a pattern, a folder with Hive's partitions, or a URL of a local file."""

from __future__ import annotations

import datetime as dt
import glob
import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from paimon_nb.base.errors import SourceUnavailable
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.files import formats

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PATTERN = re.compile(r"[*?\[]")
_DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"
_INTEGER = re.compile(r"-?(0|[1-9]\d{0,17})")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")

Constant = tuple[str, str, str | None]
"""Name, DuckDB's type, and text of a column that has one value in a file: a partition of its path, or its name."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file, and the columns that its path gives.

    Args:
        path: where it can be read. name: as messages call it.
    """

    path: Path
    name: str
    constants: tuple[Constant, ...] = ()

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.path.stat().st_size


def find_files(
    paths: Sequence[str],
    *,
    partitions: bool | None = None,
    filename: bool = False,
    path_column: str = "",
    download: Callable[[str], Path] | None = None,
) -> list[Found]:
    """The files of paths, in the order of their names.

    Args:
        paths: each absolute, or relative to the working directory; `*`, `?`, `[ab]` and `**` are patterns; a folder means all data files in it;
            `~` is the home directory; `file://` URLs are local files.
        partitions: whether folders `a=1` are columns; None: if all files have the same ones.
        filename: whether the name of the file is a column, too.
        path_column: the name of a column with the file's URL; '': none.
        download: makes a local copy of a file in an object store.

    Raises:
        SourceUnavailable: no such file.
    """
    files: list[Path] = []
    names: list[str] = []
    for path in paths:
        local = _local_path(path, download)
        found = _matching(path, local)
        files += found
        names += [_name(path, local, file) for file in found]
    columns = _partition_columns(files) if partitions is not False else [()] * len(files)
    if filename:
        columns = [(*c, ("filename", "VARCHAR", n)) for c, n in zip(columns, names, strict=True)]
    if path_column:
        urls = [n if _REMOTE.match(n) else f.absolute().as_uri() for f, n in zip(files, names, strict=True)]
        columns = [(*c, (path_column, "VARCHAR", url)) for c, url in zip(columns, urls, strict=True)]
    return [Found(f, n, c) for f, n, c in zip(files, names, columns, strict=True)]


def bucket_and_key_of(url: str) -> str:
    """Bucket and key of an object's URL."""
    return str(PurePosixPath(url.partition("://")[2]))


def folder_without_pattern(url: str) -> tuple[str, bool]:
    """The folder in which all files of a URL are, and whether the URL has a pattern."""
    pattern = _PATTERN.search(url)
    return (url[: pattern.start()].rpartition("/")[0], True) if pattern else (url.rstrip("/"), False)


def unused_partitions(found: Sequence[Found]) -> str:
    """What is said of folders `a=1` that are no columns, because not all files are in folders of these names; '' if there are none."""
    roots = len(Path(os.path.commonpath([f.path.parent.absolute() for f in found])).parts)
    own = {p.partition("=")[0] for f in found for p in f.path.parent.absolute().parts[roots:] if "=" in p[1:]}
    unused = sorted(own - {unquote(n) for f in found for n, _, _ in f.constants})
    names = ", ".join(f"{n}=..." for n in unused)
    return f"folders {names} are not columns, because not all files are in such folders" if unused else ""


def _name(path: str, local: str, file: Path) -> str:
    """The name of a file as messages call it: the URL of a local copy."""
    if not _REMOTE.match(path) or path.startswith("file:"):
        return str(file)
    copies = local.removesuffix(bucket_and_key_of(path))
    return f"{path.partition('://')[0]}://{str(file).removeprefix(copies)}"


def is_path(text: str) -> bool:
    """Whether a text can name a data file: by its ending, a pattern, or a file that is there."""
    return bool(formats.kind_of_name(text))


def _local_path(path: str, download: Callable[[str], Path] | None) -> str:
    if path.startswith("file:"):
        return unquote(urlparse(path).path)
    if _REMOTE.match(path):
        if download is None:
            raise SourceUnavailable(
                f"{path!r} is not a local file", hint="download it, or read it with wb.spark.read", path=path
            )
        return str(download(path))
    return str(Path(path).expanduser())


def _matching(path: str, local: str) -> list[Path]:
    whole = Path(local)
    if _PATTERN.search(local) and not whole.exists():
        found = map(Path, glob.glob(local, recursive=True))  # noqa: PTH207  absolute patterns
        files = sorted(p for p in found if p.is_file() and not _is_hidden(p, local))
        if not files:
            raise SourceUnavailable(
                f"no file matches {path!r}", hint=f"the working directory is {Path.cwd()}", path=path
            )
        return files
    if whole.is_dir():
        files = sorted(p for p in whole.rglob("*") if p.is_file() and _is_data(p, whole))
        if not files:
            raise SourceUnavailable(
                f"{path!r} is a directory without data files", hint=f"name its files: '{path}/*.parquet'", path=path
            )
        return files
    if not whole.is_file():
        near = _near_names(whole)
        raise SourceUnavailable(
            f"no file {path!r}",
            hint=f"did you mean {near!r}?" if near else f"the working directory is {Path.cwd()}",
            path=path,
        )
    return [whole]


def _near_names(whole: Path) -> str | None:
    from difflib import get_close_matches

    try:
        names = [p.name for p in whole.parent.iterdir()] if whole.parent.is_dir() else []
    except OSError:
        return None
    near = get_close_matches(whole.name, names, 1, 0.75)
    return str(whole.with_name(near[0])) if near else None


def _is_hidden(file: Path, pattern: str) -> bool:
    """Whether a pattern with ** found a marker or a temporary file: _SUCCESS, .part.crc."""
    return "**" in pattern and file.name.startswith(("_", "."))


def _is_data(file: Path, folder: Path) -> bool:
    parts = file.relative_to(folder).parts
    return (
        not any(p.startswith((".", "_")) and "=" not in p for p in parts)
        and formats.kind_of_name(file.name) is not None
    )


def _partition_columns(files: Sequence[Path]) -> list[tuple[Constant, ...]]:
    """The columns `a=1` of the files' folders, if all files have the same; types are those of all values."""
    found = [_pairs(f) for f in files]
    names = [n for n, _ in found[0]]
    if not names or any([n for n, _ in pairs] != names for pairs in found) or len(set(names)) < len(names):
        return [()] * len(files)
    types = [_type_of([pairs[i][1] for pairs in found]) for i in range(len(names))]
    return [tuple((n, t, v) for (n, v), t in zip(pairs, types, strict=True)) for pairs in found]


def _pairs(file: Path) -> list[tuple[str, str | None]]:
    parts = [p.partition("=") for p in file.parent.parts if "=" in p and not p.startswith("=")]
    return [(unquote(n), None if v == _DEFAULT_PARTITION else unquote(v)) for n, _, v in parts]


def _type_of(values: Sequence[str | None]) -> str:
    known = [v for v in values if v is not None]
    if known and all(_INTEGER.fullmatch(v) and v != "-0" for v in known):
        return "BIGINT"
    if known and all(_DATE.fullmatch(v) and _is_date(v) for v in known):
        return "DATE"
    return "VARCHAR"


def _is_date(text: str) -> bool:
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True
