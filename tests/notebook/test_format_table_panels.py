"""What panels say about a format table: what it lacks and which panel works."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from paimon_nb.notebook.catalog_tree import table_facts, tree_children
from paimon_nb.notebook.home_model import home_of

if TYPE_CHECKING:
    from shell_kit import Shell

NEED_METADATA = (
    "snapshots", "files", "tags", "branches", "options", "schemas", "partitions", "buckets", "manifests", "consumers",
    "lsm", "timeline", "due", "compact", "watch", "skip", "compare", "live", "doctor",
)  # fmt: skip


@pytest.fixture
def plain_files(shell: Shell) -> Shell:
    shell.value("%%paimon -q\nCREATE TABLE f (id INT, dt STRING) USING csv PARTITIONED BY (dt)")
    return shell


def test_a_panel_without_metadata_names_what_works(plain_files: Shell) -> None:
    for command in (*(f"{word} f" for word in NEED_METADATA), "why f id=1", "skip f id = 1", "doctor f --read-files"):
        kind, text = plain_files.error(f"%paimon {command}")
        first, hint = text.splitlines()
        assert (kind, first.partition(": ")[2].partition(": ")[0]) == (
            "UnsupportedOperation",
            "default.f is a format table, a directory of csv files",
        ), command
        assert hint.startswith(("  → %paimon explore default.f", "  → %paimon explain SELECT", "  → SHOW PARTITIONS", "  → INSERT")), command  # fmt: skip


def test_the_explorer_shows_columns_and_options(plain_files: Shell) -> None:
    explorer = plain_files.value("%paimon explore f")
    assert explorer.still_text().splitlines() == [
        "default.f",
        "  primary key: none",
        "  partitioned by: dt",
        "  kind: format table, csv files, partitioned by dt",
        "  columns",
        "    id  INT",
        "    dt  STRING",
        "  schemas (1)",
        "  options (4)",
    ]


def test_the_side_bar_and_the_home_card_show_its_kind(plain_files: Shell) -> None:
    wb = plain_files.value("%paimon workbench")
    path = ("paimon", "default", "f")
    (facts,), _ = table_facts(wb, [path])
    assert (facts.note, facts.health, facts.tip.splitlines()[0]) == (
        "format table", "unknown", "format table · csv files · partitioned by dt",
    )  # fmt: skip
    assert [n.label for n in tree_children(wb, "table", path).nodes] == ["id", "dt"]
    assert [(t.kind, t.error) for t in home_of(wb).tables] == [("format table · csv files · partitioned by dt", "")]
