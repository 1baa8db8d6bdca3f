"""Files of tables that are dropped, and of those that are created where files were left: moved to the trash, never deleted."""

from __future__ import annotations

import logging
import posixpath
from contextlib import suppress
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import MissingFile, PaimonError
from paimon_nb.format.schema import schema_directory
from paimon_nb.fs import DirectoryPin, move_surely

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.schema import SchemaDirectory, TableSchema
    from paimon_nb.fs import FileIO, FoundMove

log = logging.getLogger(__name__)
PURGED = ".purged"
"""Suffix of a directory in the trash whose files are being deleted: UNDROP TABLE does not take it."""


def move_to_trash(fs: FileIO, path: str, trash: str, suffix: str = "") -> str:
    """Move a directory to `<trash>@<milliseconds><suffix>`. Returns the new path. Raises MissingFile."""
    fs.make_dirs(posixpath.dirname(trash))
    dropped_ms = clock.now_ms()
    while True:
        target = f"{trash}@{dropped_ms}{suffix}"
        try:
            move_surely(fs, path, target)
            return target
        except FileExistsError:
            dropped_ms += 1  # dropped twice in one millisecond


def move_leftovers_to_trash(fs: FileIO, path: str, files: Sequence[str], trash: str) -> None:
    """Move files of a former table below `path`, which a killed writer may have left: its snapshot would hide the new table's rows."""
    target = f"{trash}.leftover@{clock.now_ms()}"
    for file in files:
        moved = target + file[len(path.rstrip("/")) :]
        fs.make_dirs(posixpath.dirname(moved))
        with suppress(MissingFile):
            fs.move(file, moved)
    log.warning("files of a former table in %s were moved to %s", path, target)


def files_below(fs: FileIO, path: str) -> list[str]:
    """Paths of all files below a directory, without those of writes under way; [] if it does not exist."""
    found = []
    for status in fs.list(path):
        if status.name.startswith("."):
            continue
        found += files_below(fs, status.path) if status.is_dir else [status.path]
    return found


def undo_creation(fs: FileIO, path: str, schemas: SchemaDirectory, schema: TableSchema) -> None:
    """Delete the schema file that was just written, and the directories if they are empty: another table may have moved there."""
    marker = schemas.path(schema.id)
    content = schema.to_json()
    fs.pinned(DirectoryPin(path, posixpath.relpath(marker, path), content)).delete_if_unchanged(marker, content)
    folder = posixpath.dirname(marker)
    while folder != path and fs.delete_empty_dir(folder):
        folder = posixpath.dirname(folder)
    fs.delete_empty_dir(path)


def remove_empty_dirs(fs: FileIO, path: str) -> None:
    """Delete empty directories below a path, and the path itself if it is empty."""
    for found in fs.list(path):
        if found.is_dir:
            remove_empty_dirs(fs, found.path)
    fs.delete_empty_dir(path)


def delete_empty_trash(fs: FileIO, trashed: str) -> None:
    """Delete the directories above a table that is not in the trash any more, where nothing else is in them."""
    database = posixpath.dirname(trashed)
    if fs.delete_empty_dir(database):
        fs.delete_empty_dir(posixpath.dirname(database))


def has_no_schema(fs: FileIO, path: str) -> bool:
    """Whether a deletion that failed has taken the table: its schema goes first. False where the store does not answer."""
    try:
        return schema_directory(fs, path).latest() is None
    except (OSError, PaimonError):
        return False


def arrives_at(path: str, move: FoundMove | None) -> bool:
    """Whether a move was found that makes a directory another table."""
    return move is not None and move.target == path and move.outcome != "taken back"
