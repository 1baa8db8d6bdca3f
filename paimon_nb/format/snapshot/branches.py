"""Branches: a branch owns schemas, snapshots, tags and consumers; data and manifests are shared. docs/spec/format.md section 15."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from paimon_nb.base.errors import BranchNotFound, InvalidName
from paimon_nb.base.identifier import MAIN_BRANCH, check_name
from paimon_nb.base.registry import did_you_mean

if TYPE_CHECKING:
    from paimon_nb.fs import FileIO

_PREFIX = "branch-"


class BranchDirectory:
    """`<table root>/branch/branch-<name>/`; the main branch has no directory."""

    def __init__(self, fs: FileIO, table_root: str) -> None:
        self.fs, self.table_root = fs, table_root
        self.directory = posixpath.join(table_root, "branch")

    def root(self, name: str) -> str:
        """Where the branch keeps its metadata."""
        if name == MAIN_BRANCH:
            return self.table_root
        return posixpath.join(self.directory, _PREFIX + check_name(name, "branch"))

    def names(self) -> list[str]:
        """Without main, and without directories of branches that are being made: the first schema comes last."""
        found = [s for s in self.fs.list(self.directory) if s.is_dir and s.name.startswith(_PREFIX)]
        return [s.name[len(_PREFIX) :] for s in found if self.fs.exists(posixpath.join(s.path, "schema", "schema-0"))]

    def created_ms(self) -> dict[str, int]:
        """When each branch's directory was last changed, which is all that the format knows."""
        changed = {s.name[len(_PREFIX) :]: s.modified_ms for s in self.fs.list(self.directory)}
        return {name: changed[name] for name in self.names() if name in changed}

    def exists(self, name: str) -> bool:
        return name == MAIN_BRANCH or name in self.names()

    def need(self, name: str) -> str:
        """The branch's root. Raises `BranchNotFound` with the nearest name."""
        if not self.exists(name):
            known = [MAIN_BRANCH, *self.names()]
            raise BranchNotFound(
                f"no branch {name!r}", hint=did_you_mean(name, known) or f"branches: {', '.join(known)}", name=name
            )
        return self.root(name)

    @staticmethod
    def check_new(name: str) -> str:
        """A name that a new branch may have. Raises `InvalidName`."""
        check_name(name, "branch")
        if name == MAIN_BRANCH or name.isdecimal():
            raise InvalidName(
                f"branch name {name!r} is {'taken' if name == MAIN_BRANCH else 'a number'}",
                hint="use another name",
                name=name,
            )
        return name
