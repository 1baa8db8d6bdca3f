"""Ten million rows of a thousand columns, looked at in every way: what goes to the browser stays small, and nothing is read for it."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.notebook.magics.active import workbench

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shell_kit import Shell

    from paimon_nb.table.tables.table import Table

COLUMNS, FILES, ROWS_A_FILE = 1000, 200, 50_000
MAX_BYTES = 1_000_000
PATIENT_S = 3
"""Of this process: other work on the machine does not count."""
LOOKS = (
    "lsm wide", "timeline wide", "explore wide", "explore wide schema/0", "compact wide", "due wide", "skip wide WHERE c7 = 'x'", "why wide id=1",
    "compare wide", "describe wide", "snapshots wide", "files wide", "schemas wide", "manifests wide", "buckets wide",
)  # fmt: skip


def write_wide(path: str) -> None:
    """Metadata of 10 million rows by 1,000 columns in 200 files of 50 MB; one file is there."""
    from paimon_nb.format.row import EMPTY_ROW, serialize
    from paimon_nb.table.write.commit import CommitMessage

    with paimon_nb.connect(path) as wb:
        columns = ", ".join(f"c{i} STRING COMMENT 'the column number {i}'" for i in range(1, COLUMNS))
        wb.run(
            f"CREATE TABLE wide (id BIGINT, {columns}, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')"
        )
        table = wb.table("wide")
        with table.write() as writing:
            some = {f"c{i}": ["x" * 50] * 3 for i in range(1, COLUMNS)}
            writing.write(pa.table({"id": pa.array([1, 2, 3], pa.int64()), **some}))
            (made,) = writing.prepare_commit()
        types = [table.schema.field("id").type]

        def file(i: int) -> object:
            low, high = (serialize(types, (i * ROWS_A_FILE + k,)) for k in (0, ROWS_A_FILE - 1))
            return replace(
                made.new_files[0], file_name=f"data-wide-{i}-0.parquet", file_size=50_000_000, row_count=ROWS_A_FILE, level=5, min_key=low, max_key=high,
            )  # fmt: skip

        for part in (range(FILES // 2), range(FILES // 2, FILES)):
            files = tuple(file(i) for i in part)
            table.commit().commit([CommitMessage(EMPTY_ROW, 0, 1, new_files=files)])


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("wide") / "wh")
    write_wide(path)
    return path


@pytest.fixture
def looking(shell: Shell, wide: str) -> Iterator[Shell]:
    shell.value(f"%paimon connect {wide}")
    return shell


def sent(view: object) -> int:
    """Bytes of the stored forms and, for a widget, of the state that the page gets."""
    bundle = view._repr_mimebundle_()  # type: ignore[attr-defined]
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    state = view.get_state() if hasattr(view, "get_state") else {}
    drawn = {k: v for k, v in state.items() if not k.startswith("_")}
    return len(json.dumps(data, default=str)) + len(json.dumps(drawn, default=str))


@pytest.mark.parametrize("look", sampled(LOOKS, 3))
def test_a_look_at_it_stays_small(looking: Shell, look: str) -> None:
    began = time.process_time()
    done = looking.run(f"%paimon {look}")
    error = done.error_in_exec
    if look.startswith("why"):  # the versions of a key are in the files; these are not there
        assert "missing" in str(error)
        return
    assert error is None, error
    assert 100 < sent(done.result) < MAX_BYTES, look
    assert time.process_time() - began < PATIENT_S


@pytest.mark.usefixtures("looking")
def test_it_is_as_large_as_it_says() -> None:
    table: Table = workbench().table("wide")
    began = time.process_time()
    files = table.files()  # the statistics of 200,000 columns as text
    assert time.process_time() - began < PATIENT_S
    assert sum(files["record_count"].to_pylist()) == 10_000_000
    assert len(table.schema.fields) == COLUMNS


@pytest.mark.nightly
@pytest.mark.spark
def test_a_query_of_it_shows_its_first_rows(shell: Shell) -> None:
    columns = ", ".join(f"repeat('x', 40) || (id + {i}) AS c{i}" for i in range(COLUMNS))
    shell.value("%paimon SELECT 1")  # the JVM is there
    rows = shell.value(f"%%paimon -n 1000\nSELECT {columns} FROM range(10000000)")
    page = rows._repr_mimebundle_()
    assert sum(len(text.encode()) for text in page.values()) < MAX_BYTES
    assert "800 columns not shown" in page["text/html"]
    assert page["text/html"].count("<tr>") > 10
