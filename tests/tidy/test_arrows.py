"""Imports go down only: base, options < fs < format < table < catalog, statements < sql, spark < workbench < notebook."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from source_kit import PACKAGE, nodes, package_files

LEVEL = {
    "base": 0, "options": 0, "fs": 1, "syntax": 1, "format": 2, "table": 3, "catalog": 4, "statements": 4, "sql": 5, "spark": 5,
    "files": 4, "connectors": 5, "procedures": 6, "workbench": 6, "session": 6, "incremental": 6, "doctor": 6, "warm_up": 7, "notebook": 7, "cli": 7, "actions": 6, "mcp_server": 7, "job_runner": 7, "plugins": 6, "refresh_command": 7,
}  # fmt: skip
NO_SPARK = {"base", "options", "fs", "format", "table", "catalog", "statements", "sql"}


def imports() -> Iterator[tuple[Path, str]]:
    """(file, imported module) for every import statement of the package, also those inside functions."""
    for file in package_files():
        for node in nodes(file):
            if isinstance(node, ast.Import):
                yield from ((file, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file}: relative import"
                yield file, node.module or ""


def room(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_no_import_looks_up():
    wrong = [
        f"{file.relative_to(PACKAGE)} imports {module}"
        for file, module in imports()
        if module.startswith("paimon_nb.") and room(file) != "__init__"
        and (LEVEL[module.split(".")[1]] > LEVEL[room(file)] or {module.split(".")[1], room(file)} == {"sql", "spark"})
    ]  # fmt: skip
    assert wrong == []


def test_every_room_has_a_level():
    rooms = {p.name.removesuffix(".py") for p in PACKAGE.iterdir() if p.suffix in ("", ".py")} - {
        "__init__",
        "__pycache__",
    }
    assert {r for r in rooms if not r.startswith(".")} <= set(LEVEL)


def test_the_lower_rooms_know_no_spark_and_no_notebook():
    wrong = [
        f"{file.relative_to(PACKAGE)} imports {module}"
        for file, module in imports()
        if room(file) in NO_SPARK and module.split(".")[0] in {"pyspark", "IPython", "ipywidgets", "plotly", "py4j"}
    ]
    assert wrong == []


def test_importing_the_package_loads_nothing_heavy():
    heavy = ["pyspark", "pyarrow", "pandas", "numpy", "plotly", "ipywidgets", "IPython", "fastavro"]
    code = f"import sys, paimon_nb; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


ANEW = """
import sys
for part in {parts!r}:
    for known in [m for m in sys.modules if m.startswith("paimon_nb.table")]:
        del sys.modules[known]
    __import__("paimon_nb.table." + part)
"""


def test_every_part_of_the_table_room_may_be_the_first_that_is_imported() -> None:
    parts = sorted(p.parent.name for p in (PACKAGE / "table").glob("*/__init__.py"))
    assert "write" in parts
    done = subprocess.run([sys.executable, "-c", ANEW.format(parts=parts)], capture_output=True, text=True)
    assert done.stderr == ""


PYSPARK_PRIVATE = re.compile(
    r"\._(?:collect_as_arrow|jdf|jvm|jsparkSession|jsc|jc|jsq|jreader|jwrite|gateway|active_spark_context|instantiatedSession|activeSession)\b|java_gateway"
)


def test_private_names_of_pyspark_are_used_in_one_module() -> None:
    users = {str(f.relative_to(PACKAGE)) for f in PACKAGE.rglob("*.py") if PYSPARK_PRIVATE.search(f.read_text())}
    assert users == {"spark/runtime/jvm_bridge.py"}
