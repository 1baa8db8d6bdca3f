"""Files with changed bytes: an error of ours or an answer, and never the end of the process."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pytest
from mutation_kit import KINDS, prepare
from mutation_kit import run as run_mutations

import paimon_nb
from paimon_nb.base.errors import CorruptFile, FormatError, PaimonError
from paimon_nb.format.data import orc_process, read_data_file
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.fs import LocalFileIO

pytestmark = pytest.mark.unit

EACH_BYTE = """
import sys
from pathlib import Path
import paimon_nb
from paimon_nb.base.errors import PaimonError
target, first, doors = Path(sys.argv[2]), int(sys.argv[3]), 0
good = target.read_bytes()
for place in range(first, len(good) - 8):
    for value in ((good[place] - 1) % 256, (good[place] + 1) % 256):
        # Another name, so that no cache of the process knows the file.
        target.unlink()
        target.write_bytes(good[:place] + bytes([value]) + good[place + 1 :])
        table = paimon_nb.connect(sys.argv[1]).table("t")
        for read in (lambda: table.to_arrow(where="id = 5"), lambda: table.to_arrow(where="id BETWEEN 5 AND 20")):
            try:
                read()
            except PaimonError:
                pass
            doors += 1
print(doors)
"""


@pytest.mark.nightly
def test_each_byte_of_a_parquet_footer(tmp_path: Path) -> None:
    """pyarrow ends the process where the metadata of a column chunk is wrong, so nobody asks it for them."""
    rows = {"id": pa.array(range(40), pa.int32()), "v": [f"x{i}" for i in range(40)]}
    target = table_of(tmp_path, rows)
    data = target.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")

    done = run(EACH_BYTE, tmp_path, target, footer)

    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) == 4 * (len(data) - 8 - footer)


def test_some_changed_files_of_each_kind(tmp_path: Path) -> None:
    """Whatever the bytes of a file are: an answer or an error of ours, within 10 s of CPU and 2 GB.

    200 of each kind, each through one door in turn. The nightly run has many more, and three doors.
    """
    assert run_mutations(list(KINDS), 0, 200, tmp_path, each=1) == []


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_many_changed_files(tmp_path: Path, kind: str) -> None:
    """20,000 of each kind, 1,000 a night, in turn; `PAIMON_NB_FUZZ=first:last` does others. Its number repeats a change."""
    night = dt.date.today().toordinal() % 20
    first, last = map(int, os.environ.get("PAIMON_NB_FUZZ", f"{1000 * night}:{1000 * night + 1000}").split(":"))
    assert run_mutations([kind], first, last, tmp_path) == []


READ_BY_SPARK = [kind for kind, of in KINDS.items() if "select" in of.doors and "global" not in kind]


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.parametrize("kind", READ_BY_SPARK)
def test_changed_files_in_spark(tmp_path: Path, kind: str) -> None:
    """50 of each kind; `PAIMON_NB_FUZZ=first:last` does others. Spark reads some of them without Python."""
    first, last = map(int, os.environ.get("PAIMON_NB_FUZZ", "0:50").split(":"))
    assert run_mutations([kind], first, last, tmp_path, ("spark",)) == []


@pytest.mark.parametrize(("kind", "number"), [("full-text index", 100183), ("vector index", 100392)])
def test_a_library_that_panics_prints_nothing(tmp_path: Path, kind: str, number: int) -> None:
    """A panic of Rust is an error of ours; its message and backtrace are not printed, too."""
    pytest.importorskip("paimon_ftindex" if kind == "full-text index" else "paimon_vindex")
    assert run_mutations([kind], number, number + 1, tmp_path) == []


@pytest.mark.parametrize(("column", "value"), [("_VALUE_KIND", -121), ("_VALUE_KIND", 4), ("id", None)])
def test_row_kinds_and_keys_that_are_none_are_an_error(tmp_path: Path, column: str, value: int | None) -> None:
    """ORC files have no checksums: a changed byte made all rows of kind -121, another one turned the order of the keys."""
    target, _ = prepare("orc, keys", tmp_path / "w")
    file = str(tmp_path / "w" / target)
    rows = orc.read_table(file)
    changed = [value] * rows.num_rows if value is not None else [-k for k in rows.column("id").to_pylist()]
    at = rows.column_names.index(column)
    orc.write_table(
        rows.set_column(at, column, pa.array(changed, rows.schema.field(at).type)), file, compression="zstd"
    )
    table = paimon_nb.connect(str(tmp_path / "w")).table("t")

    for read in (lambda: table.why(id=80), table.compact) if value is not None else (table.compact,):
        with pytest.raises(FormatError, match=r"row is not one of 0 to 3|not in the order of their keys"):
            read()
    assert table.lookup(id=5).num_rows == 1  # of another file


def table_of(tmp_path: Path, rows: dict[str, Any], **options: str) -> Path:
    """A table `t` of these rows; returns its only data file."""
    text = ", ".join(f"'{k.replace('_', '.')}' = '{v}'" for k, v in {"bucket": "-1", **options}.items())
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run(f"CREATE TABLE t (id INT, v STRING) WITH ({text})")
    wb.table("t").append(pa.table(rows))
    (target,) = (tmp_path / "w").glob("default.db/t/bucket-0/data-*")
    return target


def run(code: str, tmp_path: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Python code in a process of its own."""
    command = [sys.executable, "-c", code, str(tmp_path / "w"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_orc_bytes_that_end_their_decoder_are_a_broken_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A length of theirs is beyond what was read, so it is what memory held before: with these, always something large.
    monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", "system")
    monkeypatch.setenv("MALLOC_PERTURB_", "11")
    orc_process.POOL.close()
    ends_arrow = tmp_path / "data-1.orc"
    shutil.copy(Path(__file__).parents[1] / "format/manifest/manifest-that-ends-arrow.orc", ends_arrow)
    columns = (
        "_PARTITION BYTES",
        "_BUCKET INT",
        "_FILE ROW<_FILE_NAME STRING, _EXTRA_FILES ARRAY<STRING>, _MIN_KEY BYTES>",
    )
    fields = [DataField(i, *_name_and_type(text)) for i, text in enumerate(columns)]

    with pytest.raises(CorruptFile, match=r"data-1\.orc is broken: not readable as ORC"):
        read_data_file(LocalFileIO(), str(ends_arrow), fields)
    orc_process.POOL.close()


def _name_and_type(text: str) -> tuple[str, Any]:
    name, _, of_type = text.partition(" ")
    return name, parse_type(of_type)


def test_a_schema_with_deep_types_is_an_error(tmp_path: Path) -> None:
    table_of(tmp_path, {"id": pa.array([1], pa.int32()), "v": ["a"]})
    schema = tmp_path / "w/default.db/t/schema/schema-0"
    node: Any = "INT"
    for _ in range(400):
        node = {"type": "ARRAY", "element": node}
    stored = json.loads(schema.read_text())
    stored["fields"][1]["type"] = node
    schema.write_text(json.dumps(stored))

    with pytest.raises(CorruptFile, match="inside each other"):
        paimon_nb.connect(str(tmp_path / "w")).table("t").to_arrow()


def test_a_deep_sql_type_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PaimonError, match="inside each other"):
        paimon_nb.connect(str(tmp_path / "w")).run(f"CREATE TABLE d (a {'ARRAY<' * 3000}INT{'>' * 3000})")


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_deep_json_row_is_an_error(tmp_path: Path, opening: str) -> None:
    target = table_of(
        tmp_path, {"id": pa.array([1], pa.int32()), "v": ["a"]}, file_format="json", file_compression="none"
    )
    target.write_text('{"id":"1","v":' + opening * 200_000)

    with pytest.raises(CorruptFile):
        paimon_nb.connect(str(tmp_path / "w")).table("t").to_arrow()


@pytest.mark.parametrize("kind", ["parquet", "orc", "avro", "csv", "json"])
def test_texts_that_are_not_utf8_are_an_error(tmp_path: Path, kind: str) -> None:
    """Arrow decodes such texts, and some call later raises what is not ours."""
    texts = {"id": pa.array([1, 2], pa.int32()), "v": ["abcdef", "ghijkl"]}
    target = table_of(tmp_path, texts, file_format=kind, file_compression="none")
    if kind == "parquet":  # ours have checksums
        import pyarrow.parquet as pq

        pq.write_table(pa.table(texts), target, compression="none", write_statistics=False)
    good = target.read_bytes()
    target.write_bytes(good.replace(b"abcdef", b"ab\xff\xfeef"))
    table = paimon_nb.connect(str(tmp_path / "w")).table("t")

    for read in (table.to_arrow, lambda: table.to_arrow(where="v = 'ghijkl'"), lambda: table.to_arrow(where="id = 1")):
        with pytest.raises(CorruptFile):
            read()
    table.append(pa.table(texts))
    with pytest.raises(CorruptFile):
        table.compact()


def test_an_orc_file_that_ends_its_decoder_in_a_select(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", "system")
    monkeypatch.setenv("MALLOC_PERTURB_", "11")
    orc_process.POOL.close()
    shutil.copy(Path(__file__).parents[1] / "format/manifest/manifest-that-ends-arrow.orc", tmp_path / "a.orc")

    with pytest.raises(PaimonError, match=r"a\.orc"):
        paimon_nb.connect(str(tmp_path / "w")).run(f"SELECT * FROM '{tmp_path}/a.orc'").to_arrow()
    orc_process.POOL.close()
