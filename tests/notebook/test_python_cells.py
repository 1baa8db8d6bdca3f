"""What Python cells show in a kernel that has not loaded the extension."""

import json
import subprocess
import sys
from pathlib import Path

CELLS = """
import paimon_nb, json
from IPython.core.interactiveshell import InteractiveShell

ip = InteractiveShell.instance()
cells = [
    "import paimon_nb; wb = paimon_nb.connect('wh')",
    "wb.run(\\"CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')\\")",
    "wb.run('INSERT INTO t VALUES ' + ', '.join(f'({n}, ' + repr('<b>') + ')' for n in range(30)))",
    "wb.run('SELECT id, v FROM t ORDER BY id')",
    "wb.table('t').lsm()",
]
shown = []
for cell in cells:
    done = ip.run_cell(cell)
    done.raise_error()
    data, _ = ip.display_formatter.format(done.result)
    shown.append({kind: data[kind] for kind in ("text/plain", "text/html") if kind in data})
with open("shown.json", "w") as file:
    json.dump(shown, file)
"""


def test_results_are_tables_and_panels_are_there(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", CELLS], cwd=tmp_path, check=True, capture_output=True)

    _, created, inserted, rows, panel = json.loads((tmp_path / "shown.json").read_text())

    assert created["text/plain"] == "table default.t created"
    assert inserted["text/plain"] == "30 rows inserted into default.t in snapshot 1"
    assert rows["text/html"].count("<tr>") == 21
    assert "&lt;b&gt;" in rows["text/html"]
    assert rows["text/plain"].splitlines()[-1] == "... Showing the first 20 rows; to_pandas() returns all rows"
    assert "<svg" in panel["text/html"]


SCRIPT = """
import sys
import paimon_nb
from IPython.core.getipython import get_ipython

wb = paimon_nb.connect("wh")
wb.run("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
print(wb.run("INSERT INTO t VALUES (1, NULL), (20, '<b>')"))
result = wb.run("SELECT id, v FROM t ORDER BY id")
print(result)
print(repr(result))
print("&lt;b&gt;" in result._repr_html_(), type(result._display_()).__name__, result.grid().visible.num_rows)
panels = [getattr(wb.table("t").show, name)() for name in ("lsm", "timeline", "explore", "compaction", "funnel", "compared")]
for panel in panels:
    page = panel.save(f"{type(panel).__name__}.html").read_text()
    assert page.startswith("<!doctype html>") and "<script" not in page and panel._repr_html_() in page
assert get_ipython() is None and "pyspark" not in sys.modules
print(paimon_nb.open_table("wh/default.db/t").lsm())
"""


def test_a_python_script_prints_tables_and_saves_panels(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "2 rows inserted into default.t in snapshot 1",
        "id  v",
        "--  ----",
        " 1  NULL",
        "20  <b>",
        "<Result: 2 rows, 2 columns>",
        "True Grid 2",
        "t · snapshot 1 · bucket 0: 1 file, 2 physical rows",
        done.stdout.splitlines()[-1],
    ]
    assert "| 1 file, 2 rows" in done.stdout.splitlines()[-1]
