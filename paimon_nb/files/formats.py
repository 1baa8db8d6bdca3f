"""Kinds of data files: by the ending of the name, else by the first bytes."""

from __future__ import annotations

from pathlib import PurePath

CSV, JSON, PARQUET, ORC, AVRO, ARROW, EXCEL, TEXT = "csv", "json", "parquet", "orc", "avro", "arrow", "xlsx", "text"

KIND_OF_ENDING = {
    ".csv": CSV, ".tsv": CSV, ".tab": CSV, ".psv": CSV, ".tbl": CSV, ".txt": CSV, ".dat": CSV,
    ".json": JSON, ".jsonl": JSON, ".ndjson": JSON, ".geojson": JSON, ".topojson": JSON,
    ".parquet": PARQUET, ".pq": PARQUET, ".parq": PARQUET, ".orc": ORC, ".avro": AVRO,
    ".arrow": ARROW, ".arrows": ARROW, ".feather": ARROW, ".ipc": ARROW, ".stream": ARROW, ".arrow_file": ARROW,
    ".xlsx": EXCEL,
}  # fmt: skip
"""Kind by the ending of a file's name."""
KINDS = (CSV, JSON, PARQUET, ORC, AVRO, ARROW, EXCEL, TEXT)
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".xz": "lzma"}
"""Codec by the ending of a compressed text file."""
DELIMITERS = {".tsv": "\t", ".tab": "\t", ".psv": "|", ".tbl": "|"}
"""The delimiter that an ending promises."""
_MAGIC = {
    b"PAR1": PARQUET,
    b"PARE": PARQUET,
    b"ORC": ORC,
    b"Obj\x01": AVRO,
    b"ARROW1": ARROW,
    b"\xff\xff\xff\xff": ARROW,
}


def ending_of(name: str) -> str:
    """The ending that names the format, in lower case: '.csv' of 'a.csv.gz'; '' if there is none."""
    suffixes = [s.lower() for s in PurePath(name).suffixes]
    if len(suffixes) > 1 and suffixes[-1] in COMPRESSIONS:
        return suffixes[-2]
    return suffixes[-1] if suffixes else ""


def compression_of(name: str) -> str | None:
    """The codec of a compressed file by its ending."""
    return COMPRESSIONS.get(PurePath(name).suffix.lower())


def kind_of_name(name: str) -> str | None:
    """The kind that a name promises; None: its ending is not known."""
    return KIND_OF_ENDING.get(ending_of(name))


def kind_of_bytes(start: bytes) -> str | None:
    """The kind of a file that begins with these bytes; None: not known."""
    return next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
