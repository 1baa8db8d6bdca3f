"""A secret in options, addresses and statements comes out nowhere: no answer, error, log line, widget state or stored output has it."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook, new_output
from shell_kit import KEYED, Shell, rows

from paimon_nb.notebook.magics.active import workbench
from paimon_nb.notebook.page import write_page

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

CANARY = "c4n4ry-7f3"
SECRETS = {
    "s3.secret-key": CANARY,
    "s3.access-key": CANARY,
    "jdbc.password": CANARY,
    "token": CANARY,
    "fs.azure.account.key.auth": CANARY,
    "uri": f"jdbc:mysql://reader:{CANARY}@db/lake",
    "kafka.properties.sasl.jaas.config": f'Module required username="u" password="{CANARY}";',
}
CATALOG = "CREATE CATALOG two WITH ('type' = 'paimon', 'warehouse' = 'two', {options})"
STATEMENTS = (
    "DESCRIBE CATALOG two", "DESCRIBE CATALOG EXTENDED two", "SHOW CATALOGS", "SHOW CREATE CATALOG two", "SHOW CREATE TABLE t", "DESCRIBE EXTENDED t",
    "SHOW TBLPROPERTIES t", "DESCRIBE FORMATTED t", f"SET 's3.secret-key' = '{CANARY}'", "SET", "SET 's3.secret-key'", "RESET 's3.secret-key'",
    f"ALTER TABLE t SET ('token' = '{CANARY}')", f"CREATE TABLE t2 (a INT) WITH ('jdbc.password' = '{CANARY}')", "CREATE TABLE t3 LIKE t", "SHOW CREATE TABLE t3",
    # wrong ones: an error shows the place in the text
    f"CREATE CATALOG bad WITH ('type' = 'nothing', 's3.secret-key' = '{CANARY}')", f"CREATE TABLE b (a INTT) WITH ('jdbc.password' = '{CANARY}')",
    f"CREATE TABLE b (a INT) WITH ('jdbc.password' = '{CANARY}', 'bucket' = 'x')", f"CREATE TABLE b (a INT) WITH ('jdbc.password' = '{CANARY}'",
    f"ALTER TABLE nowhere SET ('token' = '{CANARY}')", f"ALTER TABLE t SET ('token' = '{CANARY}', 'bucket' = '-7')", f"SET 's3.secret-key' = '{CANARY}' nonsense",
    f"CREATE CATALOG x WITH ('type' = 'paimon', 'metastore' = 'jdbc', 'uri' = 'jdbc:nothing://u:{CANARY}@h/d', 'jdbc.password' = '{CANARY}', 'warehouse' = 'x')",
    f"CALL sys.nothing(mysql_conf => 'hostname=db,username=u,password={CANARY}')",
    f"CALL sys.mysql_sync_table(`table` => 'default.t', mysql_conf => 'hostname=127.0.0.1,port=1,username=u,password={CANARY},database-name=d,table-name=t')",
    f"CALL sys.postgres_sync_table(`table` => 'default.t', postgres_conf => 'hostname=127.0.0.1,port=1,username=u,password={CANARY},database-name=d,table-name=t,slot.name=s')",
)  # fmt: skip
COMMANDS = (
    "status", "options t", "schemas t", "describe t", "explore t", "explore t options", "explore t schema/0", "lsm t",
    "timeline t", "compact t", "doctor", "doctor t", "snapshots t", "why t id=1", "compare t", "create", "undo", "why", "jobs", "queries",
    "snippets", "live t",
)  # fmt: skip


def everything(value: Any) -> str:
    """All that a notebook would store of a cell's result, and what the page is sent."""
    if value is None:
        return ""
    said = [repr(value), str(value)]
    shown = (getattr(value, name) for name in ("_repr_html_", "_repr_mimebundle_") if hasattr(value, name))
    said += [json.dumps(show(), default=repr) for show in shown]
    if hasattr(value, "get_state"):
        said.append(repr(value.get_state()))
    return "\n".join(said)


def cell_of(formatter: Any, source: str, value: Any, error: BaseException | None, traceback: str, printed: str) -> Any:
    """The cell as a notebook stores it after it ran."""
    outputs = [new_output("stream", text=printed)] if printed else []
    if error is not None:
        outputs.append(
            new_output("error", ename=type(error).__name__, evalue=str(error), traceback=traceback.splitlines())
        )
    if value is not None:
        data, _ = formatter.format(value)
        outputs.append(new_output("execute_result", data, execution_count=1))
    return new_code_cell(source, outputs=outputs)


def convert(notebook: Any, target: Path) -> None:
    """The page of nbconvert itself."""
    target.write_text(HTMLExporter().from_notebook_node(notebook)[0])


def test_it_comes_out_nowhere(
    shell: Shell, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    options = ", ".join(f"'{key}' = '{value}'" for key, value in SECRETS.items())
    shell.value(f"%%paimon\n{CATALOG.format(options=options)}")
    shell.value(f"%%paimon\n{KEYED.format('t')}")
    shell.value(f"%%paimon\nALTER TABLE t SET ({options})")
    wb = workbench()
    wb.table("t").upsert(rows([1, 2]))
    said: dict[str, str] = {}

    cells: list[Any] = []

    def keep(what: str, done: Any) -> None:
        error = done.error_in_exec or done.error_before_exec
        told = (
            "" if error is None else "\n".join([str(error), repr(error), *getattr(error, "_render_traceback_", list)()])
        )
        out = capsys.readouterr()
        said[what] = "\n".join((everything(done.result), told, out.out, out.err))
        cells.append(cell_of(shell.ip.display_formatter, what, done.result, error, told, out.out + out.err))

    capsys.readouterr()
    for statement in STATEMENTS:
        keep(statement.replace(CANARY, "..."), shell.run(f"%%paimon\n{statement}"))
    for command in COMMANDS:
        keep(command, shell.run(f"%paimon {command}"))
    table = wb.table("t")
    for name in ("options", "schemas"):
        said[f"t${name}"] = str(table.system(name).to_pylist())
    said["reprs"] = "\n".join(
        everything(v) for v in (wb, wb.session.catalog, table, table.options, table.store, table.schema)
    )
    said["log"] = caplog.text
    for name, export in (("page", write_page), ("nbconvert", convert)):
        target = tmp_path / f"{name}.html"
        export(new_notebook(cells=cells), target)
        said[name] = target.read_text()
    assert [what for what, text in said.items() if CANARY in text] == []
    shown = [what for what, text in said.items() if "***" in text]
    assert {"DESCRIBE CATALOG two", "SHOW CREATE TABLE t", "explore t options"} <= set(shown), shown
