"""The history of COPY INTO: Java's files, byte by byte, and which files count as loaded."""

import pytest

from paimon_nb.fs import FileStatus
from paimon_nb.fs.local import LocalFileIO
from paimon_nb.table.write.load_history import LoadHistory


@pytest.fixture
def history(tmp_path) -> LoadHistory:
    return LoadHistory(LocalFileIO(), str(tmp_path))


def test_a_record_is_the_file_that_java_writes(history, tmp_path):
    file = FileStatus("file:/data/in/ä 1.csv", 14, 1795522663164, is_dir=False)
    history.record(file, 1795522695374, 7, 2)
    [record] = (tmp_path / "copy-into" / "history").iterdir()
    # The first 16 digits of: printf 'file:/data/in/ä 1.csv' | sha256sum
    assert record.name == "load-d2d633e46129c408-1795522695374"
    assert record.read_text() == (
        '{\n  "filePath" : "file:/data/in/ä 1.csv",\n  "fileSize" : 14,\n  "lastModified" : 1795522663164,\n'
        '  "loadedAt" : 1795522695374,\n  "snapshotId" : 7,\n  "rowsLoaded" : 2\n}'
    )


def test_a_file_with_another_size_or_time_is_new(history, tmp_path):
    loaded, other = (FileStatus(f"file:/data/{n}.csv", 14, 1000, is_dir=False) for n in ("a", "b"))
    assert history.loaded([loaded, other]) == []
    history.record(loaded, 1, 1, 2)
    larger, later = (FileStatus(loaded.path, *of, is_dir=False) for of in ((15, 1000), (14, 1001)))
    assert history.loaded([other, larger, later, loaded]) == [loaded]
    history.record(later, 2, 2, 2)
    assert history.loaded([loaded, later]) == [loaded, later]
    for record in (tmp_path / "copy-into" / "history").iterdir():
        record.write_text("{")
    assert history.loaded([loaded]) == []
