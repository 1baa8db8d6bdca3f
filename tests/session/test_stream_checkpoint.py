"""A job goes on where its checkpoint stands, whichever way its folder is written."""

import pytest

from paimon_nb.session.streaming.checkpoints import checkpoint_bytes, start_offset_of
from paimon_nb.table.read.stream import StreamOffset


@pytest.mark.parametrize("scheme", ["", "file:", "file://"])
def test_the_newest_offset_counts(tmp_path, scheme):
    assert start_offset_of(f"{scheme}{tmp_path}") == "fresh"
    (tmp_path / "offsets").mkdir()
    for batch, snapshot in ((9, 4), (10, 7)):
        (tmp_path / "offsets" / str(batch)).write_text(f'v1\n{{"batchTimestampMs": 1}}\n{{"next": {snapshot}}}')
    assert start_offset_of(f"{scheme}{tmp_path}") == StreamOffset(7)


def test_the_state_of_a_job_is_all_files_of_its_checkpoint(tmp_path):
    assert checkpoint_bytes(f"file://{tmp_path}") == 0
    (tmp_path / "state" / "0").mkdir(parents=True)
    for name, size in (("metadata", 10), ("state/0/1.delta", 200), ("state/0/2.snapshot", 3000)):
        (tmp_path / name).write_bytes(bytes(size))
    assert checkpoint_bytes(f"file://{tmp_path}") == 3210
