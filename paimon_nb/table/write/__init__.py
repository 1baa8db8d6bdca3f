"""Writing rows: from Arrow tables to data files and commit messages. Publishes nothing."""

from paimon_nb.table.publish.changes import CommitMessage
from paimon_nb.table.write.format_table_write import FormatTableWrite, StagedFile
from paimon_nb.table.write.table_write import TableWrite, load_writer_state, total_buckets

__all__ = ["CommitMessage", "FormatTableWrite", "StagedFile", "TableWrite", "load_writer_state", "total_buckets"]
