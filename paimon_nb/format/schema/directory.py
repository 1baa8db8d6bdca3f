"""All schema versions of one table or branch."""

from __future__ import annotations

import posixpath
import re

from paimon_nb.base.errors import CorruptFile, MissingFile
from paimon_nb.format.schema.table_schema import TableSchema
from paimon_nb.fs import FileIO

_NAME = re.compile(r"schema-(\d{1,18})")


class SchemaDirectory:
    """`<branch root>/schema/schema-<n>`; versions are dense from 0 and never change, so each is read once."""

    def __init__(self, fs: FileIO, branch_root: str) -> None:
        self.fs, self.root = fs, posixpath.join(branch_root, "schema")
        self._read: dict[int, TableSchema] = {}

    def path(self, schema_id: int) -> str:
        return posixpath.join(self.root, f"schema-{schema_id}")

    def ids(self) -> list[int]:
        """Ascending."""
        matches = (_NAME.fullmatch(s.name) for s in self.fs.list(self.root) if not s.is_dir)
        return sorted(int(m[1]) for m in matches if m)

    def latest(self) -> TableSchema | None:
        """The newest version, or None if the table does not exist."""
        ids = self.ids()
        return self.get(ids[-1]) if ids else None

    def get(self, schema_id: int) -> TableSchema:
        """Raises `CorruptFile`, also when a schema that others name is missing."""
        if schema_id not in self._read:
            path = self.path(schema_id)
            try:
                self._read[schema_id] = TableSchema.from_json(self.fs.read(path), path)
            except MissingFile:
                raise CorruptFile(path, "it is missing, but files name it", hint="restore it from a backup") from None
        return self._read[schema_id]

    def all(self) -> list[TableSchema]:
        return [self.get(i) for i in self.ids()]

    def create(self, schema: TableSchema) -> bool:
        """Publish a version. False if another writer has taken its id."""
        return self.fs.put_if_absent(self.path(schema.id), schema.to_json())

    def delete(self, schema_id: int) -> None:
        """For fast-forward of branches only."""
        self._read.pop(schema_id, None)
        self.fs.delete(self.path(schema_id))
