"""A job goes on where its checkpoint stands, whichever way its folder is written."""

import pytest

from paimon_nb.session.streaming.checkpoints import start_offset_of
from paimon_nb.table.read.stream import StreamOffset


@pytest.mark.parametrize("scheme", ["", "file:", "file://"])
def test_the_newest_offset_counts(tmp_path, scheme):
    assert start_offset_of(f"{scheme}{tmp_path}") == "fresh"
    (tmp_path / "offsets").mkdir()
    for batch, snapshot in ((9, 4), (10, 7)):
        (tmp_path / "offsets" / str(batch)).write_text(f'v1\n{{"batchTimestampMs": 1}}\n{{"next": {snapshot}}}')
    assert start_offset_of(f"{scheme}{tmp_path}") == StreamOffset(7)
