"""Names of the metadata columns that a query may use: where a row is stored. They are paimon-spark's names."""

FILE_PATH = "__paimon_file_path"
ROW_INDEX = "__paimon_row_index"
PARTITION = "__paimon_partition"
BUCKET = "__paimon_bucket"
