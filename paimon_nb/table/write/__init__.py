"""Writing a table: rows to data files, commit messages to snapshots, compaction and maintenance."""

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_imports import lazy_getattr

if TYPE_CHECKING:
    from paimon_nb.table.write.format_table_write import FormatTableWrite, StagedFile
    from paimon_nb.table.write.publish.changes import CommitMessage
    from paimon_nb.table.write.table_write import TableWrite, load_writer_state, total_buckets
else:
    __getattr__ = lazy_getattr(
        __name__,
        {
            "publish.changes": "CommitMessage",
            "format_table_write": "FormatTableWrite StagedFile",
            "table_write": "TableWrite load_writer_state total_buckets",
        },
    )

__all__ = ["CommitMessage", "FormatTableWrite", "StagedFile", "TableWrite", "load_writer_state", "total_buckets"]
