"""200 hostile names as every kind of name: what the process asks of the operating system stays inside the warehouse."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice, product
from pathlib import Path

import pyarrow as pa
import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import PaimonError
from paimon_nb.base.identifier import quote

UP = ["..", "../..", "../../..", ".", "./.", "..\\..", "....//", "..%2f", "%2e%2e/", "..;", ".. ", " ..", "..\0", "\u2025", "．．", "..\n"]  # fmt: skip
TAILS = ["", "/", "/secret", "/secret/f", "\\secret", "//secret", "/./secret", "/secret\0.db"]
WHOLE = [
    "", " ", "\t", "\n", "\0", "/", "//", "\\", "~", "~root", "$HOME", "/etc/passwd", "file:///etc", "file:/etc", "s3://b/k", "C:\\x",
    "a/b", "a\\b", "a'b", 'a"b', "a`b", "a;b", "a--b", "a$b", "a$branch_b", "$files", "t$branch_../x", "t$branch_..", "a=b", "a%b",
    "a b", "á", "表", "🦀", "\u202ea", "\ud800", "x" * 300, "é" * 200, "CON", "null", "snapshot", "schema", "manifest", "bucket-0",
    ".hidden", "_x", "-rf", "*", "?", "{}", "${x}", "$(id)", "`id`", "|id", "&", "<script>", "'; DROP TABLE t; --", "a.b", "main", "db.db",
    "\x1b[31m", "a\rb", "1", "-1", "0", "a,b", "9" * 40, "1e9", "True", "a#b", "a?b", "%s%n", "{0}", "a\u0000b", "\uffff",
]  # fmt: skip
NAMES = list(islice(dict.fromkeys([*WHOLE, *(u + t for t, u in product(TAILS, UP))]), 200))

_watched: list[tuple[str, str]] | None = None
_PATH_EVENTS = {
    "open": 1, "os.mkdir": 1, "os.rmdir": 1, "os.remove": 1, "os.rename": 2, "os.link": 2, "os.symlink": 2, "os.listdir": 1,
    "os.scandir": 1, "shutil.rmtree": 1, "os.truncate": 1, "os.chmod": 1, "shutil.move": 2, "os.utime": 1,
}  # fmt: skip


_FOLDER_OF = {"os.mkdir": 2, "os.rmdir": 1, "os.remove": 1, "os.rename": 2, "os.link": 2, "shutil.rmtree": 1}
"""Where the arguments of an event have the descriptor of the directory that the first path is relative to."""
_opening = threading.local()
_really_open = os.open


def _opened(path, flags, mode=0o777, *, dir_fd=None):
    """`os.open`, whose event does not tell the descriptor."""
    _opening.folder = dir_fd
    try:
        return _really_open(path, flags, mode, dir_fd=dir_fd)
    finally:
        _opening.folder = None


def _hook(event: str, arguments: tuple) -> None:
    if _watched is None or event not in _PATH_EVENTS:
        return
    at = _FOLDER_OF.get(event)
    folders = arguments[at:] if at is not None else (getattr(_opening, "folder", None),)
    for number, path in enumerate(arguments[: _PATH_EVENTS[event]]):
        if isinstance(path, str | Path):
            folder = folders[min(number, len(folders) - 1)]
            inside = Path(f"/proc/self/fd/{folder}").readlink() if isinstance(folder, int) and folder >= 0 else ""
            _watched.append(
                (event, f"{inside}/{path}" if inside and not os.fspath(path).startswith("/") else os.fspath(path))
            )


sys.addaudithook(_hook)  # the interpreter tells every call that touches a path, whoever makes it


@contextmanager
def watching() -> Iterator[list[tuple[str, str]]]:
    global _watched
    _watched = seen = []
    os.open = _opened
    try:
        yield seen
    finally:
        _watched, os.open = None, _really_open


def statements(name: str) -> list[str]:
    n, text = quote(name), "'" + name.replace("'", "''") + "'"
    return [
        f"CREATE DATABASE {n}",
        f"CREATE TABLE {n} (a INT)",
        f"CREATE TABLE {n}.t (a INT)",
        f"DROP TABLE {n}",
        f"DROP DATABASE {n} CASCADE",
        f"ALTER TABLE t RENAME TO {n}",
        f"ALTER TABLE t ADD COLUMN {n} INT",
        f"DESCRIBE {n}",
        f"SHOW CREATE TABLE {n}.{n}",
        f"CALL sys.create_tag('default.t', {text})",
        f"CALL sys.create_branch('default.t', {text})",
        f"CALL sys.delete_tag('default.t', {text})",
        f"CALL sys.delete_branch('default.t', {text})",
        f"CALL sys.compact({text})",
        f"ALTER TABLE t SET ('data-file.prefix' = {text})",
        f"ALTER TABLE t SET ('branch' = {text})",
    ]


def tree(root: Path) -> dict[str, bytes | None]:
    return {str(p.relative_to(root)): p.read_bytes() if p.is_file() else None for p in sorted(root.rglob("*"))}


def test_there_are_200_names():
    assert len(NAMES) == len(set(NAMES)) == 200


@pytest.mark.parametrize("part", sampled(range(10), 4))
def test_no_call_leaves_the_warehouse(tmp_path, part, monkeypatch):
    outside, warehouse = tmp_path / "outside", tmp_path / "outside" / "warehouse"
    (outside / "secret").mkdir(parents=True)
    (outside / "secret" / "f").write_text("keep")
    monkeypatch.chdir(outside / "secret")  # relative paths would end here
    before = tree(outside)
    errors: list[BaseException] = []
    touched: list[tuple[str, str]] = []
    for number, name in enumerate(NAMES[part::10]):
        place = warehouse / f"w{number}"
        wb = paimon_nb.connect(str(place))
        wb.run("CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p)")
        named = pa.table({"a": pa.array([1], pa.int32()), "p": [name.encode("utf-8", "replace").decode()]})
        with watching() as seen:
            with suppress(PaimonError):  # the directory of a partition may be too long for the system
                wb.table("t").append(named)
            for statement in statements(name):
                try:
                    wb.run(statement)
                except PaimonError as error:
                    errors.append(error)
            with suppress(PaimonError):
                wb.table(name)
        touched += [(event, path) for event, path in seen if not _inside(path, place) and not _of_python(path)]
    assert touched == []
    assert {k: v for k, v in tree(outside).items() if not k.startswith("warehouse")} == before
    # Most are refused, each by an error of ours; anything else has failed above.
    assert len(errors) > len(NAMES[part::10])


@pytest.mark.parametrize("name", ["表", "🦀", "a b", "a'b", 'a"b', "á", "a=b", "a%b", "-rf", "a;b"])
def test_odd_names_that_are_fine_work(tmp_path, name):
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(f"CREATE DATABASE {quote(name)}")
    wb.run(f"CREATE TABLE {quote(name)}.{quote(name)} ({quote(name)} INT, p STRING) PARTITIONED BY (p)")
    table = wb.table(f"{quote(name)}.{quote(name)}")
    table.append(pa.table({name: pa.array([1], pa.int32()), "p": [name]}))
    assert table.to_arrow().to_pylist() == [{name: 1, "p": name}]
    assert wb.run(f"SHOW TABLES IN {quote(name)}").arrow.column("tableName").to_pylist() == [name]


def _inside(path: str, place: Path) -> bool:
    # A bare name is relative to an open directory while a tree is removed; the working directory is compared afterwards.
    absolute = os.path.abspath(path)  # noqa: PTH100  without following links
    return (os.sep not in path and path != "..") or absolute == str(place) or absolute.startswith(f"{place}/")


def _of_python(path: str) -> bool:
    """Modules that are imported on the way."""
    return (
        path.startswith((sys.prefix, sys.base_prefix, str(Path(paimon_nb.__file__).parents[1]))) or "zoneinfo" in path
    )
