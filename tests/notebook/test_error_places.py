"""Where an error is: the caret under the user's SQL, the line of the user's Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from shell_kit import Shell

SALES = "CREATE TABLE sales (`order id` INT, customer STRING, amount DECIMAL(10, 2), PRIMARY KEY (`order id`) NOT ENFORCED) WITH ('bucket' = '1')"


def marked(shown: str) -> str:
    """The part of the SQL that the caret underlines."""
    lines = shown.splitlines()
    at = next(i for i, line in enumerate(lines) if set(line.strip()) == {"^"})
    start = lines[at].index("^")
    return lines[at - 1][start : start + lines[at].count("^")]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("sql", "part", "hint"),
    [
        ("SELECT amout FROM sales", "amout", "did you mean `amount`?"),
        ("SELECT order_id FROM sales", "order_id", "did you mean `order id`?"),
        ("SELECT DISTINCT customer, sum(amount) FROM sales", "customer", "add GROUP BY with the columns outside aggregate functions"),
        ("SELECT max(amount), lower(customer), customer AS c FROM sales", "customer", "add GROUP BY"),
        ("SELECT * FROM sales WHERE amount > 'abc' AND customer IS NOT NULL", "'abc'", "try_cast returns NULL"),
        ("INSERT INTO sales VALUES ('x1', 'Ann', 1.5)", "'x1'", "try_cast returns NULL"),
        ("INSERT INTO sales VALUES (1, 'Ann', 2), (2, 'Ben'), (3, 'Cy', 4)", "(2, 'Ben')", "row 2 has 2 values, the first row 3"),
        ("SELECT * FROM VALUES (1, 2), (3) AS t(a, b)", "(3)", "row 2 has 1 values"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("spark")
def test_the_caret_is_under_the_part_that_is_wrong(shell: Shell, sql: str, part: str, hint: str) -> None:
    shell.value(f"%%paimon\n{SALES};\nINSERT INTO sales VALUES (1, 'Ann', 2.5)")
    shown = shell.error(f"%%paimon\n{sql}")[1]
    assert marked(shown) == part
    assert f"→ {hint}" in shown


def test_errors_of_the_python_api_name_the_line_of_the_cell(shell: Shell) -> None:
    shell.value("import paimon_nb\nwb = %paimon workbench")
    kind, shown = shell.error("name = 'no' + 'where'\n\nwb.table(name)")
    assert kind == "TableNotFound"
    assert shown.splitlines() == [
        "TableNotFound: no table default.nowhere in catalog 'paimon'",
        "  line 3: wb.table(name)",
        "  → database default has no tables",
        "  %paimon traceback prints all steps",
    ]
    assert "in _open_store" in shell.printed("%paimon traceback")


def test_an_error_inside_a_function_names_the_innermost_line_of_a_cell(shell: Shell) -> None:
    shell.value("wb = %paimon workbench\ndef broken():\n    return wb.run('SELEC 1')")
    assert "  line 3: return wb.run('SELEC 1')" in shell.error("broken()")[1].splitlines()


def test_full_tracebacks_are_one_setting_away(shell: Shell) -> None:
    shell.value("wb = %paimon workbench")
    shell.value("%config PaimonMagics.short_errors = False")
    assert "Traceback (most recent call last)" in shell.error("wb.table('nowhere')")[1]


def test_errors_look_as_ever_without_the_extension(shell: Shell) -> None:
    shell.value("wb = %paimon workbench\n%unload_ext paimon_nb")
    assert "Traceback (most recent call last)" in shell.error("wb.table('nowhere')")[1]
    shell.value("%load_ext paimon_nb")
