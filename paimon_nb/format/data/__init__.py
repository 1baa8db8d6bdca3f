"""Data files: their columns, the readers and writers of each format, and schema evolution on read."""

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_imports import lazy_getattr

if TYPE_CHECKING:
    from paimon_nb.format.data.cast import cast_column, cast_text, unquoted
    from paimon_nb.format.data.file_schema import (
        FORMATS,
        KEY_PREFIX,
        KIND_FIELD,
        PLAIN_FORMATS,
        ROW_ID_FIELD,
        SEQUENCE_FIELD,
        SEQUENCE_NUMBER,
        TRACKING_FIELDS,
        VALUE_KIND,
        DataWriter,
        FileLayout,
        WrittenFile,
        file_compression,
        file_extension,
        file_format,
        file_layout,
        format_of,
        key_value_fields,
        kv_columns,
        open_data_writer,
    )
    from paimon_nb.format.data.pushdown import RowFilter
    from paimon_nb.format.data.read import (
        ROW_POSITION,
        iter_data_file,
        iter_rows_at,
        may_have_rows,
        open_data_file,
        read_data_file,
    )
    from paimon_nb.format.data.wide_timestamps import numbers_as_times, python_values, times_as_numbers
else:
    __getattr__ = lazy_getattr(
        __name__,
        {
            "cast": "cast_column cast_text unquoted",
            "file_schema": "DataWriter FORMATS KEY_PREFIX KIND_FIELD PLAIN_FORMATS ROW_ID_FIELD SEQUENCE_FIELD SEQUENCE_NUMBER TRACKING_FIELDS VALUE_KIND FileLayout file_compression file_extension file_format file_layout format_of key_value_fields kv_columns open_data_writer WrittenFile",
            "read": "ROW_POSITION iter_data_file iter_rows_at may_have_rows open_data_file read_data_file",
            "pushdown": "RowFilter",
            "wide_timestamps": "numbers_as_times python_values times_as_numbers",
        },
    )  # fmt: skip

__all__ = [
    "FORMATS", "KEY_PREFIX", "KIND_FIELD", "PLAIN_FORMATS", "ROW_ID_FIELD", "ROW_POSITION", "SEQUENCE_FIELD", "SEQUENCE_NUMBER",
    "TRACKING_FIELDS", "VALUE_KIND", "DataWriter", "FileLayout", "RowFilter", "WrittenFile", "cast_column", "cast_text",
    "file_compression", "file_extension", "file_format", "file_layout", "format_of", "iter_data_file", "iter_rows_at", "key_value_fields",
    "kv_columns", "may_have_rows", "numbers_as_times", "open_data_file", "open_data_writer", "python_values",
    "read_data_file", "times_as_numbers", "unquoted",
]  # fmt: skip
