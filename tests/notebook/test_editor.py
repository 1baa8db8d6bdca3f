"""What the editor of a %%paimon cell shows while the user types, as the kernel answers it. Nothing runs and no Spark starts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from paimon_nb.notebook import editor
from paimon_nb.notebook.magics.active import current
from paimon_nb.sql import tokens
from paimon_nb.sql.formatting import format_sql
from paimon_nb.sql.functions import FUNCTIONS

if TYPE_CHECKING:
    from pathlib import Path

    from shell_kit import Shell

TABLES = """%%paimon -q
CREATE TABLE orders (id INT COMMENT 'order number', amount DECIMAL(10, 2), s ROW<a INT>, dt STRING, PRIMARY KEY (id, dt) NOT ENFORCED)
    PARTITIONED BY (dt) COMMENT 'the web shop' WITH ('bucket' = '1');
CREATE TABLE items (id INT, order_id INT, name STRING);
INSERT INTO orders VALUES (1, 2.5, NULL, 'x'), (3, NULL, NULL, 'x')"""


@pytest.fixture
def shop(shell: Shell) -> Shell:
    shell.value(TABLES)
    return shell


def ask(do: str, cell: str, **more: Any) -> dict[str, Any]:
    """The answer to a request, as the page gets it."""
    answer = editor.answer({"do": do, "cell": cell, **more})
    assert answer is not None
    assert not current.workbench or not current.workbench.session.spark_started
    return json.loads(json.dumps(answer))  # type: ignore[no-any-return]


def in_page(cell: str, start: int, stop: int) -> str:
    """A part of a text by offsets of JavaScript."""
    return cell.encode("utf-16-le", "surrogatepass")[2 * start : 2 * stop].decode("utf-16-le", "surrogatepass")


def problems(sql: str, head: str = "%%paimon") -> list[tuple[str, str, str]]:
    """Class, place and hint of each problem."""
    cell = f"{head}\n{sql}"
    found = ask("check", cell)["problems"]
    return [(p["kind"], in_page(cell, p["start"], p["stop"]), p["hint"]) for p in found]


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT id, o.s.a, amount * 2 AS twice FROM orders o WHERE upper(dt) = 'X' ORDER BY twice", []),
        ("SELEC 1", [("SqlSyntaxError", "SELEC", "did you mean 'SELECT'?")]),
        ("SELECT amout FROM orders", [("SqlAnalysisError", "amout", "did you mean `amount`?")]),
        ("SELECT * FROM ordrs", [("TableNotFound", "ordrs", "did you mean 'orders'?")]),
        ("SELECT * FROM orders$snapshot", [("TableNotFound", "orders$snapshot", "did you mean 'snapshots'?")]),
        ("SELECT * FROM nowhere.c.t", [("CatalogNotFound", "nowhere.c.t", "create it with CREATE CATALOG")]),
        ("WITH x AS (SELECT id AS k FROM orders) SELECT k, l FROM x", [("SqlAnalysisError", "l", "columns: k")]),
        ("SELECT 1 FROM orders o WHERE EXISTS (SELECT 1 FROM items WHERE order_id = o.id AND nme = '')", [("SqlAnalysisError", "nme", "did you mean `name`?")]),
        ("SELECT id FROM orders o JOIN items USING (id) WHERE o.nam = 1", [("SqlAnalysisError", "o.nam", "columns: id, amount, s, dt")]),
        ("INSERT INTO orders (id, amt) VALUES (1, 2)", [("ColumnNotFound", "amt", "did you mean 'amount'?")]),
        ("UPDATE orders SET amt = 1 WHERE idd = 1", [("ColumnNotFound", "amt", "did you mean 'amount'?"), ("SqlAnalysisError", "idd", "did you mean `id`?")]),
        ("CALL sys.compact(tabel => 'orders')", [("SqlAnalysisError", "tabel", "did you mean 'table'?")]),
        ("CREATE TABLE t (a INT, PRIMARY KEY (b) NOT ENFORCED)", [("ColumnNotFound", "b", "")]),
        ("CREATE TABLE t (a INT) WITH ('bucket' = 'x')", [("BadOptionValue", "'bucket'", "use a whole number; the default is -1")]),
        ("DROP TABLE itms; ALTER TABLE itms ADD COLUMN x INT", [("TableNotFound", "itms", "did you mean 'items'?")]),
        ("SELECT * FORM orders", [("SqlSyntaxError", "FORM", "did you mean FROM?")]),
        ("SELECT amount, FROM orders", [("SqlSyntaxError", ",", "remove the comma: it follows the last item")]),
        ("SELECT x.id FROM orders o", [("SqlAnalysisError", "x", "FROM has `o`")]),
        ("INSERT INTO items VALUES (1)", [("SchemaMismatch", "VALUES (1)", "the columns are id, order_id, name")]),
        ("INSERT INTO items (name) VALUES ('a', 2), ('b')", [("SchemaMismatch", "('a', 2)", "the columns are name")]),
        ("INSERT INTO items SELECT id FROM orders", [("SchemaMismatch", "id", "the columns are id, order_id, name")]),
        ("INSERT INTO items SELECT * FROM items", []),
        ("CREATE TABLE t (a INT) WITH ('bukcet' = '1')", [("UnknownOption", "'bukcet'", "did you mean 'bucket'?")]),
        # What the parser or the catalog cannot know is left to the run.
        ("CREATE TABLE t (a INT); SELECT a FROM t; SELECT b FROM t", [("SqlAnalysisError", "b", "columns: a")]),
        ("CREATE DATABASE d; SELECT * FROM d.t", []),
        ("USE other; SELECT * FROM orders", [("DatabaseNotFound", "orders", "CREATE DATABASE other; known: default")]),
        ("SELECT transform(array(1), x -> x + id), JSON_VALUE(dt, '$.a' NULL ON EMPTY), extract(YEAR FROM dt) FROM orders", []),
        ("SELECT k, e FROM orders LATERAL VIEW explode(array(1)) v AS e", []),
        ("SELECT window_start FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(dt), INTERVAL '1' DAY))", []),
        ("SELECT a FROM frame; SELECT * FROM 'x.csv'", []),
    ],
)  # fmt: skip
def test_problems_while_typing(shop: Shell, sql: str, found: list[tuple[str, str, str]]) -> None:
    shop.ip.user_ns["frame"] = current.workbench.table("orders").to_arrow() if current.workbench else None
    assert problems(sql) == found


@pytest.mark.parametrize(
    "sql",
    ["SELEC 1", "SELECT * FROM ordrs", "SELECT * FROM orders$x", "INSERT INTO orders (idd) VALUES (1)", "CALL sys.cmpct('a')",
     "CREATE TABLE t (a INTT)", "SELECT * FROM orders /*+ OPTIONS('scan.mod' = 'latest') */"],
)  # fmt: skip
def test_the_run_raises_the_same_error(shop: Shell, sql: str) -> None:
    (problem,) = ask("check", f"%%paimon\n{sql}")["problems"]
    kind, text = shop.error(f"%%paimon\n{sql}")
    assert kind == problem["kind"]
    assert text.splitlines()[0] == f"{kind}: {problem['message']}"
    assert text.splitlines()[-1] == f"  → {problem['hint']}"


def test_other_magics_assignments_and_options_of_the_cell(shop: Shell) -> None:  # noqa: ARG001
    assert problems("x << SELECT '😀', amout FROM orders", "\n%%time\n%%paimon -n 5") == [
        ("SqlAnalysisError", "amout", "did you mean `amount`?")
    ]
    assert problems("SELECT a FROM recent", "%%paimon --with recent") == []
    for head in ("%%paimon --engine duckdb", "%%paimon --nonsense", "# Python"):
        assert problems("SELEC 1", head) == []


def test_without_a_connection_only_the_syntax_is_checked(shell: Shell) -> None:
    current.workbench = None
    assert problems("SELECT * FROM t; SELEC 1") == [("SqlSyntaxError", "SELEC", "did you mean 'SELECT'?")]
    shell.value("%paimon connect wh")


@pytest.mark.parametrize(
    "sql", ["(" * 4000 + "SELECT 1", "SELECT '\ud800' FROM orders", "`" * 99, "<img src=x onerror=alert(1)>", "SELECT 'a\n;--", "\0;;\x1b[31m"]
)  # fmt: skip
def test_hostile_text(shop: Shell, sql: str) -> None:  # noqa: ARG001
    cell = f"%%paimon\n{sql}"
    for problem in ask("check", cell)["problems"]:
        assert 0 <= problem["start"] <= problem["stop"] <= len(cell)
    assert ask("format", cell).get("cell", cell) == cell or sql.startswith("(")
    for at in (-1, 0, 12, 10**9):
        ask("describe", cell, at=at)
        ask("complete", cell, at=at)
    assert editor.answer({"do": "describe", "cell": cell, "at": "1"}) is None


def test_documentation_of_names(shop: Shell) -> None:  # noqa: ARG001
    cell = "%%paimon\nSELECT '😀', sum(o.amount), id FROM orders o /*+ OPTIONS('scan.mode' = 'latest') */; CALL sys.compact('orders')"

    def shown(word: str) -> tuple[str, list[str]]:
        at = len(cell[: cell.index(word) + 1].encode("utf-16-le")) // 2
        found = ask("describe", cell, at=at)
        return found.get("title", ""), found.get("lines", [])

    assert shown("o.amount") == (
        "amount DECIMAL(10, 2)",
        ["column of default.orders", "min 2.50 · max 2.50", "1 NULL; from the statistics of the files"],
    )
    assert shown("id FROM") == (
        "id INT NOT NULL",
        ["primary key of default.orders", "order number", "min 1 · max 3", "0 NULL; from the statistics of the files"],
    )
    title, lines = shown("orders o")
    assert (title, lines[0], lines[1]) == (
        "default.orders", "primary-key table · deduplicate · partitioned by dt · 1 bucket", "the web shop",
    )  # fmt: skip
    assert lines[2].startswith("2 physical rows · ")
    assert shown("sum(") == ("sum(x)", [FUNCTIONS["sum"].doc])
    assert shown("compact")[0].startswith("CALL sys.compact(table, ")
    assert shown("SELECT") == ("", [])


def test_documentation_of_an_option_and_of_a_damaged_table(shop: Shell, tmp_path: Path) -> None:
    cell = "%%paimon\nALTER TABLE orders SET ('merge-engine' = 'first-row')"
    assert ask("describe", cell, at=cell.index("merge"))["title"] == "merge-engine"
    for manifest in (tmp_path / "wh" / "default.db" / "orders" / "manifest").iterdir():
        manifest.write_bytes(b"x")
    shop.value("import paimon_nb.notebook.editor as e; e._bounds.clear()")
    assert ask("describe", "%%paimon\nSELECT id FROM orders", at=17)["title"] == "id"


def test_completions_have_signatures_and_documentation(shop: Shell) -> None:  # noqa: ARG001
    def offered(sql: str) -> dict[str, list[str]]:
        cell = f"%%paimon\n{sql}"
        return {text: rest for text, *rest in ask("complete", cell, at=len(cell))["items"]}

    assert offered("SELECT * FROM orders WHERE i")["id"] == ["column", "INT NOT NULL · key", "order number"]
    assert offered("SELECT * FROM orders WHERE date_t")["date_trunc("] == [
        "function", "date_trunc(unit, ts)", FUNCTIONS["date_trunc"].doc,
    ]  # fmt: skip
    assert offered("ALTER TABLE orders SET ('merge-eng")["merge-engine"][:2] == ["option", "deduplicate"]
    assert offered("CALL sys.create_tag(")["tag => "] == ["argument", "text", ""]
    assert offered("CALL sys.create_t")["sys.create_tag"][1].startswith("create_tag(table, tag")


# -- format

LONG = """-- top
select o.id, o.amount*2 twice, count(*) filter (where o.x > 1) cnt, upper(c.name) -- the name
from orders o left join customers /* c */ c on o.cid=c.id and c.active=true
where o.dt between 'a' and 'b' and (o.state in ('a','b') or o.amount>100) and exists (select 1 from x where x.id=o.id and x.foo is not null)
group by o.id having count(*)>1 order by twice desc limit 10;
create table if not exists db.t (id bigint not null, v map<string,int>, `order` timestamp(3), primary key (id) not enforced) with ('bucket'='4','k'='v');

set 'a'   =  'b'"""
FORMATTED = """-- top
SELECT o.id, o.amount*2 twice, count(*) FILTER (WHERE o.x > 1) cnt, upper(c.name) -- the name
FROM orders o
LEFT JOIN customers /* c */ c ON o.cid = c.id AND c.active = TRUE
WHERE o.dt BETWEEN 'a' AND 'b'
  AND (o.state IN ('a', 'b') OR o.amount > 100)
  AND EXISTS (SELECT 1 FROM x WHERE x.id = o.id AND x.foo IS NOT NULL)
GROUP BY o.id
HAVING count(*) > 1
ORDER BY twice DESC
LIMIT 10;
CREATE TABLE IF NOT EXISTS db.t (
  id bigint NOT NULL,
  v map<string, int>,
  `order` timestamp(3),
  PRIMARY KEY (id) NOT ENFORCED
)
WITH (
  'bucket' = '4',
  'k' = 'v'
);

SET 'a'   =  'b'"""


def test_format_writes_keywords_and_line_breaks() -> None:
    assert format_sql(LONG).text == FORMATTED
    assert format_sql(FORMATTED).text == FORMATTED


@pytest.mark.parametrize(
    ("sql", "formatted"),
    [
        ("select Date, Key, `a  b` from t", "SELECT Date, Key, `a  b` FROM t"),
        ("select x'00', r'\\d', a - -1, -a from t where s like '%  %'", "SELECT x'00', r'\\d', a - -1, -a FROM t WHERE s LIKE '%  %'"),
        ("call sys.compact(table=>'a',order_by=>'b')", "CALL sys.compact(table => 'a', order_by => 'b')"),
        ("execute statement set begin insert into a select 1; insert into b select 2; end", "EXECUTE STATEMENT SET BEGIN\n  INSERT INTO a SELECT 1;\n  INSERT INTO b SELECT 2;\nEND"),
        ("select 1 -- a\n-- b\n/* c\n d */ from t", "SELECT 1 -- a\n-- b\n/* c\n d */\nFROM t"),
        ("SELECT 'two\n  lines'", "SELECT 'two\n  lines'"),
    ],
)  # fmt: skip
def test_format_changes_nothing_else(sql: str, formatted: str) -> None:
    made = format_sql(sql)
    assert (made.text, made.refused) == (formatted, "")
    assert [t.text.upper() for t in tokens(made.text)] == [t.text.upper() for t in tokens(sql)]


def test_a_text_that_cannot_be_formatted_stays(shop: Shell) -> None:  # noqa: ARG001
    assert ask("format", "%%paimon -q\nx << select 1") == {"cell": "%%paimon -q\nx << SELECT 1"}
    answer = ask("format", "%%paimon\nSELEC 1")
    assert "cell" not in answer
    assert answer["refused"] == "the text has an error: unknown statement 'SELEC'"
    assert [p["kind"] for p in answer["problems"]] == ["SqlSyntaxError"]
    assert ask("format", "x = 1") == {"refused": "this is not a %%paimon cell with SQL of Paimon"}
    assert format_sql("select 1" + " " * 300_000).refused == "the text is longer than 200,000 characters"
