"""Reading ORC data files. They are decoded in another process, as corrupt bytes may end the one that decodes them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.format.data.orc_process import OrcFile
from paimon_nb.format.data.schema_cast import without_columns
from paimon_nb.format.types.arrow_builders import empty_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.format.types import DataField
    from paimon_nb.fs import FileIO
    from paimon_nb.options import TableOptions

_LEGACY = "orc.timestamp-ltz.legacy.type"


class OrcReader:
    """One open file; columns are found by name. Its row groups are stripes."""

    def __init__(self, fs: FileIO, path: str, fields: Sequence[DataField], options: TableOptions | None = None) -> None:
        self.path, self.fields = path, tuple(fields)
        legacy = (options.raw if options else {}).get(_LEGACY, "true").lower() != "false"
        self._source = fs.open(path)
        try:
            self._file = OrcFile(self._source, path, fields, legacy)
            self.num_rows = int(self._file.value("num_rows"))
        except BaseException:
            self._source.close()
            raise

    @cached_property
    def row_groups(self) -> list[int]:
        """Rows of each stripe."""
        return list(self._file.value("row_groups"))

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of the file, as they are stored."""
        return self._file.value("schema").schema

    def read(self, groups: Sequence[int] | None = None) -> pa.Table:
        """All rows, or those of some stripes, in file order."""
        if not self.fields:
            return without_columns(sum(self.row_groups[g] for g in _or_all(groups, self.row_groups)))
        return pa.concat_tables([empty_table(self.fields), *self._file.rows(groups)])

    def batches(self, rows: int, groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
        """In batches of at most `rows` rows; a large file is decoded batch by batch, others stripe by stripe."""
        if not self.fields:
            yield from self.read(groups).to_batches(rows)
            return
        for table in self._file.batches(rows, groups):
            yield from table.to_batches()

    def close(self) -> None:
        self._file.close()
        self._source.close()


def _or_all(groups: Sequence[int] | None, sizes: Sequence[int]) -> Sequence[int]:
    return range(len(sizes)) if groups is None else groups
