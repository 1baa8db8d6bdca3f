"""`%paimon input`: widgets whose values are bound to `:name` in SQL."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest
from shell_kit import KEYED, rows

from paimon_nb.notebook.inputs import parse_input
from paimon_nb.notebook.magics.active import workbench

if TYPE_CHECKING:
    from shell_kit import Shell


def test_a_choice_is_bound_and_stays_when_its_cell_runs_again(shell: Shell) -> None:
    shell.value("%%paimon -q\n" + KEYED.format("t"))
    workbench().table("t").upsert(rows([1, 2], "EU"))
    workbench().table("t").upsert(rows([3], "US"))
    query = "%%paimon\nSELECT id FROM t WHERE v = :region ORDER BY id"
    panel = shell.value("%paimon input region = choice('EU', 'US')")
    assert (panel.view["choices"], panel.view["value"]) == (["EU", "US"], 0)
    assert shell.value(query).to_arrow().to_pydict() == {"id": [1, 2]}

    panel.on_message({"value": 1})

    assert shell.value(query).to_arrow().to_pydict() == {"id": [3]}
    again = shell.value("%paimon input region = choice('EU', 'US')")
    assert (again.value, repr(again)) == ("US", ":region = 'US'")
    assert shell.value("%paimon input region = choice('a', 'b')").value == "a"


@pytest.mark.parametrize(
    ("text", "start", "sent", "bound"),
    [
        ("n = slider(0, 10)", 0, 7, 7),
        ("n = slider(0, 1, 0.25, 0.5)", 0.5, 1, 1.0),
        ("d = date('2026-01-31')", dt.date(2026, 1, 31), "2024-02-29", dt.date(2024, 2, 29)),
        ("s = text('x')", "x", "it's; DROP TABLE t", "it's; DROP TABLE t"),
        ("c = choice([1, 2.5, True])", 1, 2, True),
    ],
)
def test_each_kind_binds_python_values(shell: Shell, text: str, start: object, sent: object, bound: object) -> None:
    panel = shell.value(f"%paimon input {text}")
    name = text[0]
    assert (shell.ip.user_ns[name], type(shell.ip.user_ns[name])) == (start, type(start))
    panel.on_message({"value": sent})
    assert (shell.ip.user_ns[name], type(shell.ip.user_ns[name])) == (bound, type(bound))


@pytest.mark.parametrize(
    ("text", "sent"),
    [("n = slider(0, 10)", 11), ("n = slider(0, 10)", "7"), ("d = date()", "yesterday"), ("c = choice('a')", 1), ("c = choice('a')", "a"), ("s = text()", 3)],
)  # fmt: skip
def test_a_page_cannot_bind_another_value(shell: Shell, text: str, sent: object) -> None:
    panel = shell.value(f"%paimon input {text}")
    before = shell.ip.user_ns[text[0]]
    panel._on_message(None, {"value": sent}, [])
    assert panel.is_refused
    heard: list[str] = []
    panel.observe(lambda change: heard.append(change["new"]), "trouble")
    panel._on_message(None, {"value": sent}, [])
    assert heard == ["", panel.trouble]  # else a form would not show the same reason again
    assert shell.ip.user_ns[text[0]] == before


@pytest.mark.parametrize(
    "text",
    ["", "region", "region = 'EU'", "class = text()", "1a = text()", "a = choice()", "a = choice(open('x'))", "a = slider(5, 1)", "a = slider('a', 'b')",
     "a = date('31.1.2026')", "a = pick(1)", "a = text('x', 'y')", "a = choice(None)", "a = slider(0, 10, 0)", "a == text()"],
)  # fmt: skip
def test_what_is_no_input_is_refused_with_its_form(shell: Shell, text: str) -> None:
    name, said = shell.error(f"%paimon input {text}")
    assert name == "UsageError"
    assert "(" in said or "Python name" in said
    with pytest.raises(ValueError, match=r"\w"):
        parse_input(text)
