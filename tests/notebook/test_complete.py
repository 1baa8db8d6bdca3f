"""What Tab offers in %%paimon cells."""

from __future__ import annotations

import pytest
from IPython.core.completer import provisionalcompleter
from sampling import sampled
from shell_kit import KEYED, Shell

from paimon_nb.notebook.complete import KEYWORDS
from paimon_nb.sql.functions import FUNCTIONS


@pytest.fixture
def typed(shell: Shell):
    """Types a cell and presses Tab at its end: the offered names."""
    shell.value("%%paimon -q\n" + KEYED.format("orders") + ";\n" + KEYED.format("`odd-name`"))
    shell.value(
        "%%paimon -q\nCREATE DATABASE archive; CREATE TABLE archive.`my table` (`order` INT, `a b` INT, plain INT)"
    )

    shell.value("wb = %paimon workbench\nimport pyarrow as pa\nt = wb.table('orders')")
    shell.value("t.upsert(pa.table({'id': [1], 'v': ['x']}).cast(t.schema.arrow)); t.tags.create('month-end')")
    shell.value("d = 3\ndays = [1]\nframe = pa.table({'a': [1]})\n")

    def tab(cell: str) -> list[str]:
        with provisionalcompleter():
            return [c.text for c in shell.ip.Completer.completions(cell, len(cell))]

    return tab


@pytest.mark.parametrize(
    ("cell", "offers", "not_offers"),
    sampled(
        [
            ("%%paimon\nSELECT * FROM ord", ["orders"], ["archive."]),
            ("%%paimon\nSELECT * FROM ", ["orders", "archive.", "frame"], ["d", "pa"]),
            ("%%paimon\nSELECT * FROM orders$", ["snapshots", "files", "audit_log"], []),
            ("%%paimon\nSELECT * FROM orders$sn", ["snapshots"], ["files"]),
            ("%%paimon\nCALL sys.comp", ["sys.compact", "sys.compact_database"], ["sys.create_tag"]),
            ("%%paimon\nCALL sys.create_tag(", ["table => ", "tag => "], []),
            ("%%paimon\nCREATE TABLE x (a INT) WITH ('merge", ["merge-engine"], ["bucket"]),
            ("%%paimon\nSELECT  FROM orders WHERE ", ["id", "v"], []),
            ("%%paimon\nUSE CATALOG ", ["paimon"], ["archive", "default"]),
            ("%%paimon\nCALL sys.create_tag(table => 'orders', t", ["tag => "], ["orders"]),
            ("%%paimon\nMERGE INTO orders USING archive.", ["archive.`my table`"], []),
            ("%%paimon\nUSE ", ["archive", "default", "paimon"], []),
            ("%%paimon\nSEL", ["SELECT"], ["FROM"]),
            ("%paimon tim", ["timeline"], ["lsm", "orders"]),
            ("%paimon lsm ", ["orders", "archive."], ["lsm"]),
            ("%paimon why or", ["orders"], ["archive."]),
            ("%paimon SELECT * FROM or", ["orders"], ["timeline"]),
            ("%%paimon\nSELECT * FROM odd", ["`odd-name`"], ["odd-name", "orders"]),
            ("%%paimon\nSELECT * FROM `odd", ["`odd-name`"], ["orders"]),
            ("%%paimon\nSELECT * FROM archive.", ["archive.`my table`"], []),
            ("%%paimon\nSELECT * FROM archive.`my t", ["archive.`my table`"], []),
            ("%%paimon\nSELECT * FROM archive.`my table` WHERE ", ["`order`", "`a b`", "plain"], ["order", "id"]),
            ("%%paimon\nSELECT `a b`, plain FROM archive.`my table` WHERE `a", ["`a b`"], ["plain"]),
            ("%%paimon\nSELECT * FROM orders o JOIN archive.`my table` AS m ON o.", ["id", "v"], ["plain", "SELECT"]),
            (
                "%%paimon\nSELECT * FROM orders o JOIN archive.`my table` AS m ON m.",
                ["plain", "`a b`"],
                ["id", "SELECT"],
            ),
            ("%%paimon\nSELECT * FROM orders WHERE orders.", ["id", "v"], ["SELECT"]),
            ("%%paimon\nSELECT id FROM orders; SELECT * FROM archive.`my table` WHERE ", ["plain"], ["id"]),
            ("%%paimon\nSELECT * FROM orders VERSION AS OF 1 WHERE V", ["v", "VALUES"], ["VERSION"]),
            (
                "%%paimon\nCREATE TABLE x (a INT) WITH ('merge-engine' = '",
                ["deduplicate", "first-row"],
                ["SELECT", "bucket"],
            ),
            ("%%paimon\nALTER TABLE orders SET ('write-only' = 't", ["true"], ["false"]),
            ("%%paimon\nSELECT * FROM orders VERSION AS OF '", ["'month-end"], ["SELECT"]),
            ("%%paimon\nSELECT * FROM orders VERSION AS OF ", ["'month-end'", "1"], ["SELECT"]),
            ("%%paimon\nSELECT * FROM orders WHERE id = :d", ["d", "days"], ["DESCRIBE"]),
            ("%%paimon\nSELECT * FROM orders WHERE up", ["upper(", "UPDATE"], ["id"]),
            ("%%paimon\nCREATE TABLE x (id BIG", ["BIGINT"], ["SELECT"]),
            ("%%paimon\nCREATE TABLE x (id BIGINT, name ST", ["STRING"], ["SELECT"]),
            ("%%paimon\nSELECT CAST(id AS STR", ["STRING"], ["SELECT"]),
        ],
        3,
    ),
)
def test_names_that_can_stand_there(typed, cell: str, offers: list[str], not_offers: list[str]) -> None:
    found = typed(cell)
    stripped = [f.split("$")[-1] for f in found]
    assert [o for o in offers if o not in found and o not in stripped] == []
    assert [n for n in not_offers if n in found or n in stripped] == []


def test_state_tables_are_not_offered(typed, shell: Shell) -> None:
    shell.value(
        "%%paimon -q\nCREATE TABLE `orders__state_2_groups` (k INT) COMMENT 'incremental state of default.orders'"
    )
    found = typed("%%paimon\nSELECT * FROM ord")
    assert "orders" in found
    assert [f for f in found if "state" in f] == []


def test_python_cells_are_left_alone(typed) -> None:
    assert "orders" not in typed("x = 1\nord")


def test_a_broken_table_takes_nothing_else_away(typed, tmp_path) -> None:
    for schema in (tmp_path / "wh" / "default.db" / "orders" / "schema").iterdir():
        schema.write_bytes(b"{")
    assert "SELECT" in typed("%%paimon\nSELECT id FROM orders WHERE SEL")


def test_each_offer_names_its_kind(shell: Shell) -> None:
    shell.value("%%paimon -q\n" + KEYED.format("orders"))
    with provisionalcompleter():
        cell = "%%paimon\nSELECT * FROM orders WHERE "
        kinds = {c.text: c.type for c in shell.ip.Completer.completions(cell, len(cell))}
    assert [kinds[w] for w in ("id", "GROUP BY", "upper(")] == ["column", "keyword", "function"]


def test_columns_come_first_then_aliases_keywords_and_functions(shell: Shell) -> None:
    shell.value("%%paimon -q\n" + KEYED.format("orders"))
    with provisionalcompleter():
        cell = "%%paimon\nSELECT v AS first, upper(v) AS `in capitals` FROM orders AS other ORDER BY "
        offered = [c.text for c in shell.ip.Completer.completions(cell, len(cell))]
    assert offered[:6] == ["id", "v", "other", "first", "`in capitals`", KEYWORDS[0]]
    assert offered[-1] == list(FUNCTIONS)[-1] + "("
