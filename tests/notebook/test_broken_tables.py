"""Broken, half-written, dropped and growing tables in every command and widget: a picture or a short error, and the kernel lives."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sampling import sampled
from shell_kit import KEYED, Shell, rows

from paimon_nb.base.errors import PaimonError
from paimon_nb.notebook.magics.active import current, workbench
from paimon_nb.notebook.widgets.compaction import Compaction
from paimon_nb.notebook.widgets.compare import CompareView
from paimon_nb.notebook.widgets.explore import Explorer
from paimon_nb.notebook.widgets.funnel import FunnelView
from paimon_nb.notebook.widgets.live import LiveTable
from paimon_nb.notebook.widgets.lsm import LsmView
from paimon_nb.notebook.widgets.timeline import Timeline
from paimon_nb.notebook.widgets.why import WhyView

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.notebook.widgets.base import Panel
    from paimon_nb.table.tables.table import Table
    from paimon_nb.workbench import Workbench

COMMANDS = (
    "lsm t", "timeline t", "explore t", "explore t snapshot/4", "compact t", "due t", "watch t", "skip t WHERE id = 1", "why t id=1", "compare t",
    "compare t 1 4", "live t", "doctor t", "doctor t --read-files", "snapshots t", "files t", "tags t", "options t", "schemas t",
    "partitions t", "buckets t", "manifests t", "consumers t", "describe t",
)  # fmt: skip


def cut(pattern: str) -> Callable[[Path], None]:
    """Half of each such file is there: what a crash or a full disk leaves where files are not published whole."""

    def do(table: Path) -> None:
        found = sorted(table.glob(pattern))
        assert found, pattern
        for path in found:
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    return do


def gone(pattern: str) -> Callable[[Path], None]:
    def do(table: Path) -> None:
        found = sorted(table.glob(pattern))
        assert found, pattern
        for path in found:
            path.unlink()

    return do


def hints_of_nonsense(table: Path) -> None:
    for name in ("LATEST", "EARLIEST"):
        (table / "snapshot" / name).write_text("soon")


BROKEN = {
    "schema cut": cut("schema/schema-0"),
    "no schema": gone("schema/schema-*"),
    "newest snapshot cut": cut("snapshot/snapshot-4"),
    "newest snapshot empty": lambda t: (t / "snapshot/snapshot-4").write_bytes(b""),
    "all snapshots cut": cut("snapshot/snapshot-*"),
    "snapshots gone, hints stay": gone("snapshot/snapshot-*"),
    "hints of nonsense": hints_of_nonsense,
    "manifest lists cut": cut("manifest/manifest-list-*"),
    "manifest lists gone": gone("manifest/manifest-list-*"),
    "manifests cut": cut("manifest/manifest-[0-9a-f]*"),
    "manifests gone": gone("manifest/manifest-[0-9a-f]*"),
    "data files cut": cut("bucket-0/data-*.parquet"),
    "data files empty": lambda t: [p.write_bytes(b"") for p in t.glob("bucket-0/*.parquet")],
    "data files gone": gone("bucket-0/data-*.parquet"),
    "tag cut": cut("tag/tag-kept"),
    "a half-written file more": lambda t: (t / "bucket-0" / "data-half.parquet").write_bytes(b"PAR1"),
    "temporary files of writers": lambda t: (t / "snapshot" / ".snapshot-5.abc.tmp").write_text('{"version": 3, "i'),
}


def three_loads(wb: Workbench) -> Table:
    """Snapshots 1 to 4: three loads and a compaction."""
    wb.run(KEYED.format("t"))
    table = wb.table("t")
    for i in range(3):
        table.upsert(rows([1, 2, 3 + i], f"load {i}"))
    table.tags.create("kept", 1)
    table.compact()
    return table


@pytest.mark.parametrize("how", sampled(BROKEN, 3))
def test_each_command_shows_or_says(shell: Shell, how: str) -> None:
    table = three_loads(workbench())
    BROKEN[how](Path(table.path))
    shell.value("%paimon connect wh")  # nothing is remembered from before
    answers = {}
    for command in COMMANDS:
        done = shell.run(f"%paimon {command}")
        error = done.error_in_exec or done.error_before_exec
        if error is None:
            answers[command] = "shown"
            if isinstance(done.result, LiveTable):
                done.result.stop()
            assert done.result is None or done.result._repr_mimebundle_()
            continue
        assert isinstance(error, PaimonError), (command, repr(error))
        said = "\n".join(error._render_traceback_())
        assert 1 <= said.count("\n") + 1 <= 4, (command, said)  # what, the place in a statement, the next step
        answers[command] = said
    assert shell.value("1 + 1") == 2
    if how in ("hints of nonsense", "a half-written file more", "temporary files of writers"):
        assert set(answers.values()) == {"shown"}
    if how in ("schema cut", "newest snapshot cut", "manifest lists cut", "manifests gone"):
        named = {"schema cut": "schema-0", "newest snapshot cut": "snapshot-4"}.get(how, "manifest-")
        assert named in answers["lsm t"]


# -- what changes while it is looked at

LOOKS: dict[str, tuple[Callable[[Table], Panel], tuple[dict[str, Any], ...]]] = {
    "lsm": (LsmView, ({"reload": True},)),
    "timeline": (Timeline, ({"reload": True},)),
    "explore": (Explorer, ({"reload": True},)),
    "compact": (Compaction, ({"reload": True}, {"option": "compaction.size-ratio", "value": "3"}, {"run": "full"})),
    "skip": (FunnelView, ({"where": "id = 1"},)),
    "why": (lambda t: WhyView(t, {"id": 1}), ({"key": {"id": "1"}},)),
    "compare": (CompareView, ({"reload": True}, {"before": "1", "after": "4"})),
}


def troubles(view: Panel) -> str:
    """What the page says went wrong."""
    return view.trouble or getattr(view, "view", {}).get("error", "")


def after(view: Panel, message: dict[str, Any]) -> str:
    view._handle_custom_msg(message, [])
    if isinstance(view, Compaction) and view._thread is not None:
        view._thread.join(20)
    return troubles(view)


@pytest.mark.parametrize("what", LOOKS)
def test_a_table_dropped_while_it_is_looked_at_is_said(wb: Workbench, what: str) -> None:
    table = three_loads(wb)
    make, messages = LOOKS[what]
    view = make(table)
    wb.run("DROP TABLE t")
    for message in messages:
        assert "dropped" in after(view, message), message
    assert view.still_text()  # what was seen is still there
    assert view._repr_mimebundle_()


def test_a_snapshot_of_a_dropped_table_is_said(wb: Workbench) -> None:
    view = Timeline(three_loads(wb))
    wb.run("DROP TABLE t")
    view.position = 1
    assert "dropped" in view.trouble


@pytest.mark.parametrize("what", ["lsm", "timeline", "explore", "compact", "compare"])
def test_a_table_that_grows_is_seen_when_one_looks_again(wb: Workbench, what: str) -> None:
    table = three_loads(wb)
    view = LOOKS[what][0](table)
    wb.table("t").upsert(rows([9], "later"))
    assert after(view, {"reload": True}) == ""
    seen = {
        "lsm": lambda v: v.model.snapshot, "timeline": lambda v: v.snapshot, "compact": lambda v: v.snapshot.id,
        "explore": lambda v: int(next(p.id for p in v._inspector.children("snapshots")).removeprefix("snapshot/")),
        "compare": lambda v: int(v.view["snapshots"][1][0]),
    }  # fmt: skip
    assert seen[what](view) == 5


def test_the_chosen_snapshot_stays_chosen(wb: Workbench) -> None:
    table = three_loads(wb)
    view = Timeline(table)
    view.position = 1
    wb.table("t").upsert(rows([9]))
    assert (after(view, {"reload": True}), view.snapshot, view.picture["snapshot"]) == ("", 2, 2)
    wb.run("CALL sys.expire_snapshots(`table` => 'default.t', retain_max => 1)")
    view.position = 2
    assert "snapshot 3" in view.trouble.lower()  # it has expired since
    assert (after(view, {"reload": True}), view.snapshot) == ("", 5)
    assert [c["id"] for c in view.history["commits"]] == [1, 5]  # the tag keeps the first one


def test_a_table_made_anew_is_another_one(wb: Workbench) -> None:
    view = LsmView(three_loads(wb))
    wb.run("DROP TABLE t")
    wb.run(KEYED.format("t"))
    assert "created again" in after(view, {"reload": True})


def test_a_folder_taken_away_under_the_hands(wb: Workbench) -> None:
    table = three_loads(wb)
    views = {what: make(table) for what, (make, _) in LOOKS.items()}
    shutil.rmtree(table.path)
    for what, view in views.items():
        for message in LOOKS[what][1]:
            assert "dropped" in after(view, message), what


def test_what_breaks_in_a_widget_has_a_stack_to_ask_for(wb: Workbench) -> None:
    view = LsmView(three_loads(wb))
    view.selected = 99
    assert view.trouble.startswith("IndexError: ")
    assert isinstance(current.error, IndexError)
    view.selected = 0
    assert view.trouble == ""
    current.error = None


@pytest.mark.parametrize(
    "line",
    ["why t id='1", "lsm 'a b", "lsm t --bucket x", "lsm t --nothing", "compare t 1", "explore nosuch", "explore a.b.c.d", "skip t WHERE (",
     "lsm ../t", "timeline `", "doctor t x", "compact t nonsense=1", "due t bucket", "live t scan.mode=never", "create a b", "-5", "''"],
)  # fmt: skip
def test_wrong_words_are_answered_without_a_stack(shell: Shell, line: str) -> None:
    three_loads(workbench())
    kind, said = shell.error(f"%paimon {line}")
    assert kind == "UsageError" or issubclass(type(current.error), PaimonError), (kind, said)
    assert "Traceback" not in said
    assert said.count("\n") <= 3, said
