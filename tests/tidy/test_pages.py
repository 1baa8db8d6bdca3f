"""The pages for users say what the code does now."""

import re

from procedure_page import EXAMPLES, PAGE, page

from paimon_nb.procedures import PROCEDURES
from paimon_nb.session.execute.show import _SHOW
from paimon_nb.sql.flink.functions import FUNCTION_EDITS
from paimon_nb.sql.parse import SPARK_ONLY, STATEMENTS, parse
from paimon_nb.table.tables.system import SYSTEM_TABLES
from paimon_nb.table.tables.system.global_tables import GLOBAL_TABLES

SQL_PAGE = PAGE.with_name("sql.md")


def test_every_procedure_has_an_example():
    assert sorted(EXAMPLES) == sorted(PROCEDURES)
    silent = [(p.name, a.name) for p in PROCEDURES.values() for a in p.arguments if not a.doc]
    assert silent == []


def test_the_page_of_procedures_is_what_they_answer(tmp_path):
    assert PAGE.read_text() == page(tmp_path), "run tests/tidy/procedure_page.py"


def test_the_page_of_sql_names_all_that_is_understood():
    text = re.sub(r"```.*?```", "", SQL_PAGE.read_text(), flags=re.DOTALL).replace("`` ", "").replace(" ``", "")
    table = "\n".join(line.split(" | ")[0] for line in text.splitlines() if line.startswith("| `"))
    begun = {word for code in re.findall(r"`([^`]+)`", table) for word in code.split()[:1]}
    assert [w for w in (*STATEMENTS, *SPARK_ONLY) if w not in begun] == []
    named = set(re.findall(r"`([^`]+)`", text))
    wanted = [*(w.upper() for w in _SHOW), *SYSTEM_TABLES, *(f"sys.{t}" for t in GLOBAL_TABLES), *FUNCTION_EDITS]
    assert [w for w in wanted if w not in named] == []


def test_its_examples_are_statements():
    blocks = re.findall(r"```sql\n(.*?)```", SQL_PAGE.read_text(), re.DOTALL)
    assert sum(len(parse(b)) for b in blocks) > 30


def test_what_people_paste_is_told_row_by_row():
    rows = re.findall(r"^\| (\d+) \| .+ \| .+ \|$", SQL_PAGE.read_text(), re.MULTILINE)
    assert [int(r) for r in rows] == list(range(1, 84))
