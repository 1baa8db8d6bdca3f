"""Table functions that read what changed: between two automatic tags, by their names."""

import pytest


@pytest.mark.spark
def test_changes_up_to_an_automatic_tag(swb):
    """A watermark is the clock of the tags: each commit tags the day that ended before it. No tag, no rows."""
    swb.run("""
        CREATE TABLE t (a INT, b STRING)
        TBLPROPERTIES ('primary-key' = 'a', 'bucket' = '1', 'tag.automatic-creation' = 'watermark', 'tag.creation-period' = 'daily')
    """)
    # 2024-12-02, -03 and -05, each at 10:00 UTC
    for watermark, row in ((1733133600000, "1, 'a'"), (1733220000000, "2, 'b'"), (1733392800000, "3, 'c'")):
        swb.run(f"INSERT INTO t /*+ OPTIONS('end-input.watermark' = '{watermark}') */ VALUES ({row})")
    tags = swb.table("t").store.tags
    assert {n: tags.get(n).snapshot.id for n in tags.names()} == {"2024-12-01": 1, "2024-12-02": 2, "2024-12-04": 3}

    def changes(tag: str) -> list[tuple]:
        return [tuple(r) for r in swb.sql(f"SELECT * FROM paimon_incremental_to_auto_tag('t', '{tag}')").collect()]

    assert [changes(f"2024-12-0{day}") for day in (1, 2, 3, 4)] == [[], [(2, "b")], [], [(3, "c")]]
