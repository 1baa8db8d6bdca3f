"""The pictures: models against the table, text goldens, SVG that is well formed whatever the names say."""

from __future__ import annotations

import dataclasses
import itertools
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hostile import PAYLOADS, live_nodes, svg_tags
from many_files import append_many, write_many
from sampling import sampled
from shell_kit import KEYED, rows

from paimon_nb.format.row import serialize
from paimon_nb.notebook import lsm_model
from paimon_nb.notebook.lsm_model import BINS, FileMark, Lane, LsmPicture, entries_by_bucket, lsm_picture, lsm_text
from paimon_nb.notebook.svg import WIDTH, flag_positions, framed, lsm_svg, standalone_svg, text_svg, timeline_svg
from paimon_nb.notebook.timeline_model import Commit, TimelineModel, timeline_of_snapshots, timeline_text
from paimon_nb.notebook.widgets.timeline import stacked_svgs
from paimon_nb.table.lsm.levels import key_decoder
from paimon_nb.table.read.live_files import live_entries

if TYPE_CHECKING:
    from paimon_nb.workbench import Workbench

DRAWN = {"svg", "text", "rect", "circle", "line", "title", "style"}


@pytest.fixture
def keyed(wb: Workbench):
    wb.run(KEYED.format("t"))
    table = wb.table("t")
    for low, high in ((0, 100), (10, 30), (60, 90)):
        table.upsert(rows(list(range(low, high))))
    return table


def test_the_tree_in_characters(keyed) -> None:
    assert lsm_text(lsm_picture(keyed.store)) == (
        "t · snapshot 3 · bucket 0: 3 files, 150 physical rows\n"
        "  L0 · 1 |                            ███████████████     | 1 file, 30 rows\n"
        "  L0 · 2 |    ██████████                                  | 1 file, 20 rows\n"
        "  L0 · 3 |████████████████████████████████████████████████| 1 file, 100 rows"
    )
    keyed.compact()
    assert lsm_text(lsm_picture(keyed.store)) == (
        "t · snapshot 4 · bucket 0: 1 file, 100 physical rows\n"
        "  L5     |████████████████████████████████████████████████| 1 file, 100 rows"
    )


def test_one_row_is_a_row(wb: Workbench) -> None:
    wb.run(KEYED.format("t"))
    wb.table("t").upsert(rows([7]))
    assert lsm_text(lsm_picture(wb.table("t").store)).splitlines()[-1].endswith("| 1 file, 1 row")


def test_the_history_in_characters(keyed) -> None:
    keyed.tags.create("first", 1)
    keyed.compact()
    assert timeline_text(timeline_of_snapshots(keyed.store)) == (
        "t: 4 snapshots\n"
        "  +    1 APPEND          +100 rows  = 100  [first]\n"
        "  +    2 APPEND           +20 rows  = 120\n"
        "  +    3 APPEND           +30 rows  = 150\n"
        "  ▾    4 COMPACT          -50 rows  = 100"
    )


def test_branches_and_readers_stand_on_their_commits(keyed, wb: Workbench) -> None:
    keyed.tags.create("release", 2)
    wb.run("CALL sys.create_branch('default.t', 'fix', 'release')")
    keyed.store.consumers.set("dashboard", 3)
    assert [c.flags for c in timeline_of_snapshots(keyed.store).commits] == [
        (),
        ("⚑ release", "↳ fix"),
        ("▸ dashboard",),
    ]


def test_the_numbers_are_those_of_the_system_tables(keyed) -> None:
    keyed.compact()
    keyed.upsert(rows([1, 2, 3]))
    picture, files = lsm_picture(keyed.store), keyed.files()
    marks = sorted((m.name, m.level, m.rows, m.bytes) for lane in picture.lanes for m in lane.marks)
    paths = [Path(p).name for p in files["file_path"].to_pylist()]
    others = (files[c].to_pylist() for c in ("level", "record_count", "file_size_in_bytes"))
    assert marks == sorted(zip(paths, *others, strict=True))
    snapshots = keyed.snapshots()
    assert [(c.id, c.kind, c.total_rows, c.delta_rows) for c in timeline_of_snapshots(keyed.store).commits] == list(
        zip(
            *(
                snapshots[c].to_pylist()
                for c in ("snapshot_id", "commit_kind", "total_record_count", "delta_record_count")
            ),
            strict=True,
        )
    )


def test_an_empty_table_is_a_picture_too(wb: Workbench) -> None:
    wb.run(KEYED.format("t"))
    store = wb.table("t").store
    assert lsm_text(lsm_picture(store)).endswith("(no files)")
    assert svg_tags(lsm_svg(lsm_picture(store))) <= DRAWN
    assert timeline_text(timeline_of_snapshots(store)) == "t: 0 snapshots"
    assert svg_tags(stacked_svgs(timeline_svg(timeline_of_snapshots(store)), lsm_svg(lsm_picture(store)))) <= DRAWN


def test_an_append_table_shows_its_files(wb: Workbench) -> None:
    wb.run("CREATE TABLE log (id INT, v STRING, p STRING) PARTITIONED BY (p)")
    table = wb.table("log")
    for p in ("a", "b", "b"):
        table.append(rows([1, 2]).append_column("p", [[p, p]]))
    picture = lsm_picture(table.store)
    assert (picture.partition, picture.files, [lane.label for lane in picture.lanes]) == ("p=b", 2, ["files"])
    assert sorted(entries_by_bucket(table.store, table.store.latest())) == [("p=a", 0), ("p=b", 0)]


def mark(i: int, n: int) -> FileMark:
    return FileMark(f"f{i}", 5, 0, 10, 1000, str(i), str(i + 1), i / n, (i + 1) / n, i / n, (i + 1) / n, 0, i, i)


@pytest.mark.parametrize("keyed_table", [True, False], ids=["keys", "append"])
def test_many_files_become_bins_that_lose_nothing(wb: Workbench, keyed_table: bool) -> None:
    if keyed_table:
        write_many(wb, "many", 4_000)
    else:
        wb.run("CREATE TABLE many (id BIGINT, v STRING)")
        append_many(wb, "many", 4_000)
    table = wb.table("many")
    picture = lsm_picture(table.store)
    files = table.files()
    assert picture.files == files.num_rows >= 4_000
    assert picture.rows == sum(files["record_count"].to_pylist())
    assert picture.bytes == sum(files["file_size_in_bytes"].to_pylist())
    for lane in picture.lanes:
        assert len(lane.marks) <= BINS
        assert sorted(m.s0 for m in lane.marks) == [m.s0 for m in lane.marks]
    deepest = picture.lanes[-1].marks
    assert (deepest[0].s0, deepest[-1].s1) == (0.0, 1.0)
    assert len(lsm_svg(picture)) < 700_000
    again = lsm_picture(table.store, keys={})
    assert again == picture


@pytest.mark.parametrize("seed", sampled(range(40), 4))
def test_sections_by_number_are_sections(keyed, seed: int) -> None:
    draw = random.Random(seed)
    types = [keyed.schema.field("id").type]
    pattern = live_entries(keyed.store, keyed.store.latest())[0].file
    files = []
    for i in range(draw.randint(1, 30)):
        low = draw.randint(-50, 150)
        low_key, high_key = (serialize(types, (k,)) for k in (low, low + draw.randint(0, 12)))
        files.append(dataclasses.replace(pattern, file_name=f"f{i}", min_key=low_key, max_key=high_key))
    key = key_decoder(types)
    assert list(lsm_model._sections_by_number(files, key)) == list(lsm_model._sections_by_key(files, key))


def commits(count: int, tags: tuple[str, ...]) -> tuple[Commit, ...]:
    return tuple(Commit(i, "APPEND", "u", 0, i, 1, 0, tags) for i in range(1, count + 1))


@pytest.mark.parametrize("count", [1, 2, 12, 60])
def test_flags_never_cover_each_other(count: int) -> None:
    step = min(72.0, (WIDTH - 40) / count)
    places = flag_positions(commits(count, ("a-rather-long-tag-name", "b")), step, 20)
    assert places
    spans = sorted((row, middle - 3.3 * len(text), middle + 3.3 * len(text)) for text, middle, _, row in places)
    for (row, _, end), (other, start, _) in itertools.pairwise(spans):
        assert row != other or start >= end + 8
    assert all(start >= -0.1 and end <= WIDTH + 0.1 for _, start, end in spans)


def test_what_a_picture_cuts_stands_whole_in_its_tip() -> None:
    long = "<" * 130
    svg = text_svg(f"{long}\nshort", "two lines")
    assert f">{'&lt;' * 119}…<title>{'&lt;' * 130}</title></text>" in svg
    assert (svg.count("<title>"), ">short</text>" in svg) == (1, True)


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_hostile_names_are_text_in_every_picture(payload: str) -> None:
    hostile = dataclasses.replace(mark(0, 1), name=payload, min_key=payload, max_key=payload, source=payload, deletes=3)
    picture = LsmPicture(
        payload, 1, payload, payload, 0, (Lane(0, payload, (hostile,)),), ((0.0, 1.0, 2),), 5, payload, payload
    )
    history = TimelineModel(
        payload, (Commit(1, payload, payload, 0, 1, 1, 0, (payload,), (payload,), (payload,)),), (payload,)
    )
    for svg in (
        lsm_svg(picture),
        lsm_svg(picture, "size"),
        timeline_svg(history, 1),
        stacked_svgs(timeline_svg(history), lsm_svg(picture)),
    ):
        assert svg_tags(svg) <= DRAWN
        assert svg_tags(standalone_svg(svg)) <= DRAWN
        assert live_nodes(framed(svg)) == []


def test_a_level_has_one_colour_in_every_picture() -> None:
    """Also beyond the last colour, in reports, still pictures and on the page."""
    from paimon_nb.notebook.reports import _level_badge
    from paimon_nb.notebook.svg import LEVEL_COLOURS, level_colour
    from paimon_nb.notebook.widgets.base import script

    assert [level_colour(n) for n in range(8)] == [*LEVEL_COLOURS, LEVEL_COLOURS[-1], LEVEL_COLOURS[-1]]
    assert all(level_colour(n) in _level_badge(n) for n in range(8))
    page = script()
    assert page.startswith(
        'const LEVELS = ["#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#0072B2", "#D55E00"], KINDS = {"APPEND": ["#009E73", "+"]'
    )
    assert page.count("#56B4E9") == 1
