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


def test_outside_ipython_nothing_changes(tmp_path: Path) -> None:
    look = "import IPython, paimon_nb; wb = paimon_nb.connect('wh'); print(hasattr(wb.run('SHOW TABLES'), '_repr_mimebundle_'))"
    done = subprocess.run([sys.executable, "-c", look], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"
