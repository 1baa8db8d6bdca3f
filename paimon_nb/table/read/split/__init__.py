"""Reading splits: data files, deletion vectors, merging and schema evolution."""
