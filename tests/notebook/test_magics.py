"""%paimon and %%paimon in a real IPython."""

from __future__ import annotations

import re

import pytest
from shell_kit import KEYED, Shell

from paimon_nb.notebook.display import Rows
from paimon_nb.notebook.magics.active import current, workbench


@pytest.fixture
def t(shell: Shell) -> Shell:
    """A shell whose table `t` holds two commits."""
    shell.value("%%paimon -q\n" + KEYED.format("t"))
    shell.value(
        "import pyarrow as pa\nw = %paimon workbench\n"
        "for ids in ([1, 2], [2, 3]):\n"
        "    w.table('t').upsert(pa.table({'id': pa.array(ids, pa.int32()), 'v': ['x', 'y']}))\n"
    )
    return shell


def test_status_says_where_we_are(shell: Shell) -> None:
    said = shell.printed("%paimon")
    assert re.findall(r"^(\w+)", said, re.M) == ["warehouse", "current", "Spark"]
    assert "paimon.default" in said
    assert "starts with the first query" in said


def test_help_names_every_command(shell: Shell) -> None:
    from paimon_nb.notebook.magics.paimon import PaimonMagics

    said = shell.printed("%paimon help")
    commands = {n.removeprefix("_do_") for n in dir(PaimonMagics) if n.startswith("_do_")} - {
        "status",
        "system",
        "help",
    }
    assert [c for c in sorted(commands) if f"%paimon {c}" not in said] == []


def test_a_definition_and_metadata_need_no_spark(t: Shell) -> None:
    assert repr(t.value("%%paimon\nSHOW TABLES")).splitlines()[-1].split() == ["default", "t", "false"]
    assert repr(t.value("%paimon tables")) == repr(t.value("%%paimon\nSHOW TABLES"))
    assert "the value" in repr(t.value("%paimon describe t"))
    assert t.value("%paimon snapshots t").to_arrow()["snapshot_id"].to_pylist() == [1, 2]
    assert t.value("%paimon files t").to_arrow()["record_count"].to_pylist() == [2, 2]
    assert not workbench().session.spark_started


def test_a_python_cell_shows_a_result_as_a_sql_cell_does(t: Shell) -> None:
    result = t.value("w.run('SELECT * FROM t')")

    data, _ = t.ip.display_formatter.format(result)

    assert data["text/plain"] == repr(t.value("%%paimon\nSELECT * FROM t"))
    assert "<td" in data["text/html"]


def test_results_are_kept_by_out_and_by_arrows(t: Shell) -> None:
    assert t.value("%%paimon --out a\nSHOW TABLES") is None
    assert t.value("%%paimon\nb << SHOW TABLES") is None
    assert isinstance(t.ip.user_ns["a"], Rows)
    assert t.ip.user_ns["a"].to_arrow() == t.ip.user_ns["b"].to_arrow()
    assert t.ip.user_ns["_paimon"] is t.ip.user_ns["b"]
    assert t.value("%%paimon --quiet\nSHOW TABLES") is None


def test_limit_cuts_and_says_so(t: Shell) -> None:
    for name in ("t2", "t3"):
        t.value("%%paimon -q\n" + KEYED.format(name))
    shown = repr(t.value("%%paimon --limit 2\nSHOW TABLES"))
    assert shown.splitlines()[-1] == "... Showing the first 2 rows; show more with --limit"
    assert "t3" not in shown


def test_dry_run_changes_nothing(shell: Shell) -> None:
    said = shell.printed("%%paimon --dry-run\n" + KEYED.format("never") + ";\nSHOW TABLES")
    assert said == "2 statements parse: CreateTable, Show\n"
    assert "never" not in repr(shell.value("%paimon tables"))


def test_a_cell_in_duckdbs_dialect(shell: Shell) -> None:
    pytest.importorskip("duckdb")
    shell.run("%%paimon\nCREATE TABLE t (id INT); INSERT INTO t VALUES (1), (2)")
    shell.run("least = 2")
    shell.run("%%paimon --engine duckdb -o found\nFROM t SELECT id * 2 AS twice WHERE id >= :least")
    assert shell.value("found.to_arrow().to_pylist()") == [{"twice": 4}]
    shown = shell.value("get_ipython().run_cell_magic('paimon', '--engine duckdb', \"SELECT 'a' AS result\")")
    assert repr(shown).splitlines() == ["result", "------", "a"]
    assert shown.preview.is_query  # a page shows it in a grid
    assert shell.error("%%paimon --engine duckdb\nDROP TABLE t")[0] == "UnsupportedOperation"
    assert shell.error("%%paimon --engine duckdb --view v\nFROM t")[0] == "UsageError"
    assert shell.error("%%paimon --engine local\nSELECT char_length('a') FROM t")[0] == "BadOptionValue"
    assert shell.value("%paimon SELECT count(*) AS n FROM t").to_arrow().to_pylist() == [{"n": 2}]


@pytest.mark.parametrize(
    ("cell", "near"),
    [
        ("%%paimon --limitt 3\nSHOW TABLES", "--limit"),
        ("%%paimon --ouput x\nSHOW TABLES", "--out"),
        ("%paimon tabels", "tables"),
        ("%paimon timline t", "timeline"),
        ("%paimon lsm t --bukcet 1", "--bucket"),
    ],
)
def test_a_wrong_word_is_a_usage_error_with_the_nearest_right_one(t: Shell, cell: str, near: str) -> None:
    kind, said = t.error(cell)
    assert kind == "UsageError"
    assert f"did you mean {near}?" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("given", ["-o 1x", "-o class", "--save 'a b'", "-n 0", "-n -3"])
def test_what_a_cell_cannot_do_is_said_before_it_runs(t: Shell, given: str) -> None:
    kind, said = t.error(f"%%paimon {given}\nDROP TABLE t")
    assert kind == "UsageError"
    assert given.split()[1].strip("'") in said
    assert "t" in t.printed("%paimon describe t")


@pytest.mark.parametrize(
    "command", ["lsm", "timeline", "snapshots", "files", "describe", "why", "due", "skip", "compare"]
)
def test_a_missing_table_name_is_asked_for(t: Shell, command: str) -> None:
    kind, said = t.error(f"%paimon {command}")
    assert kind == "UsageError"
    assert f"%paimon {command} TABLE" in said


def test_an_error_shows_the_place_and_the_next_step(t: Shell) -> None:
    kind, said = t.error("%%paimon\nSHOW TABLES;\n  SELEC * FROM t")
    assert kind == "SqlSyntaxError"
    assert said.splitlines() == [
        "SqlSyntaxError: unknown statement 'SELEC'",
        "  line 2:   SELEC * FROM t",
        "            ^^^^^",
        "  → did you mean 'SELECT'?",
    ]


def test_the_stack_is_there_on_request(t: Shell) -> None:
    kind, said = t.error("%paimon describe tt")
    assert (kind, "did you mean 't'?" in said, "Traceback" in said) == ("TableNotFound", True, False)
    assert "Traceback (most recent call last)" in t.printed("%paimon traceback")
    t.value("%config PaimonMagics.short_errors = False")
    assert "Traceback" in t.error("%paimon describe tt")[1]


def test_an_error_can_be_caught_by_its_public_class(t: Shell) -> None:
    t.value(
        "import paimon_nb\nfrom paimon_nb.base.errors import TableNotFound\ncaught = None\n"
        "try:\n    get_ipython().run_line_magic('paimon', 'describe tt')\nexcept TableNotFound as e:\n    caught = e.hint"
    )
    assert t.ip.user_ns["caught"] == "did you mean 't'?"


def test_dollar_and_braces_reach_sql_as_they_are(t: Shell) -> None:
    t.value("files = 'WRONG'")
    kind, said = t.error("%paimon describe {files}")  # IPython would have put WRONG there
    assert "WRONG" not in said
    assert kind != "NameError"


def test_config_is_checked(t: Shell) -> None:
    t.run("%config PaimonMagics.limit = 5000")
    assert t.value("get_ipython().magics_manager.registry['PaimonMagics'].limit") == 20
    t.value("%config PaimonMagics.limit = 1")
    assert t.value("get_ipython().magics_manager.registry['PaimonMagics'].limit") == 1


def test_pictures_read_as_text(t: Shell) -> None:
    assert repr(t.value("%paimon lsm t")).splitlines()[0] == "t · snapshot 2 · bucket 0: 2 files, 4 physical rows"
    assert repr(t.value("%paimon timeline t")).splitlines()[:3] == [
        "t: 2 snapshots",
        "  +    1 APPEND            +2 rows  = 2",
        "  +    2 APPEND            +2 rows  = 4",
    ]


def test_a_bucket_that_is_not_there_is_not_replaced_by_another(t: Shell) -> None:
    kind, said = t.error("%paimon lsm t --bucket 7")
    assert (kind, "Available: bucket 0" in said) == ("UnknownName", True)
    assert t.error("%paimon lsm t --partition p=1")[0] == "UnknownName"


def test_why_takes_the_key_as_written(t: Shell) -> None:
    lines = repr(t.value("%paimon why t id=2")).splitlines()
    assert len([line for line in lines if line.startswith("  +I")]) == 2  # the stored versions
    assert lines[-1] == "  = id=2, v='x'"
    assert t.error("%paimon why t id=two")[0] == "UsageError"


def test_connect_elsewhere_leaves_the_old_warehouse(t: Shell) -> None:
    assert t.printed("%paimon connect other") == "connected to other\n"
    assert repr(t.value("%paimon tables")).endswith("(no rows)")
    t.value("%paimon connect wh")
    assert "t" in t.value("%paimon tables").to_arrow()["tableName"].to_pylist()


def test_unload_takes_completion_away_and_load_brings_it_back(shell: Shell) -> None:
    from paimon_nb.notebook.complete import paimon_matcher

    shell.value("%unload_ext paimon_nb")
    assert paimon_matcher not in shell.ip.Completer.custom_matchers
    assert current.workbench is None
    shell.value("%load_ext paimon_nb")
    shell.value("%reload_ext paimon_nb")
    assert shell.ip.Completer.custom_matchers.count(paimon_matcher) == 1


@pytest.mark.spark
def test_values_are_bound_never_glued(t: Shell) -> None:
    t.value('key, text = 9, "it\'s; DROP TABLE t --"')
    said = repr(t.value("%%paimon\nINSERT INTO t VALUES (:key, :text)"))
    assert said == "1 row inserted into default.t in snapshot 3"
    assert t.value("%%paimon -o got\nSELECT v FROM t WHERE id = :key AND v <> ':text'") is None
    assert t.ip.user_ns["got"].to_arrow().to_pylist() == [{"v": "it's; DROP TABLE t --"}]
    kind, said = t.error("%%paimon\nSELECT :nobody")
    assert (kind, ":nobody has no value" in said) == ("SqlAnalysisError", True)
    assert t.value("%%paimon -n 2 -v seen\nSELECT * FROM t ORDER BY id").preview.more_rows
    assert t.value("%%paimon\nSELECT count(*) AS n FROM seen").to_arrow().to_pylist() == [{"n": 4}]


@pytest.mark.parametrize("line", ["--help", "-h", "help"])
def test_help_is_found_as_everywhere(shell, line):
    assert shell.printed(f"%paimon {line}").startswith(
        "%paimon                         home card: the connection, tables, recent commits, jobs"
    )


def test_a_command_tells_its_own_form(shell):
    for word, form in (
        ("lsm", "%paimon lsm TABLE [--bucket N]"),
        ("connect", "%paimon connect PATH"),
        ("tags", "%paimon snapshots|files|tags|"),
    ):
        said = shell.printed(f"%paimon {word} --help")
        assert (said.startswith(form), len(said.splitlines())) == (True, 1)


def test_the_cells_help_runs_nothing(shell):
    said = shell.printed("%%paimon --help\nCREATE TABLE never (id INT)")
    assert "--dry-run" in said
    assert shell.value("%paimon tables").to_arrow().num_rows == 0


def test_connect_takes_one_path(shell):
    assert shell.error("%paimon connect a b")[0] == shell.error("%paimon connect --warehouse")[0] == "UsageError"


def test_a_table_without_rows_has_no_snapshot_none(shell):
    shell.run("%%paimon\nCREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    for line in ("lsm t", "timeline t", "compact t", "why t id=1"):
        assert "None" not in str(shell.value(f"%paimon {line}"))


def test_a_cell_finds_frames_of_the_notebook(shell: Shell) -> None:
    shell.value("import pandas as pd\nsales = pd.DataFrame({'id': [1, 2], 'v': ['a', 'b']})")
    assert shell.value("%%paimon\nSELECT v FROM sales WHERE id = 2").to_arrow().to_pylist() == [{"v": "b"}]
    assert shell.value("%paimon SELECT count(*) AS n FROM _").to_arrow().to_pylist() == [{"n": 1}]
    shell.value("wb = %paimon workbench")
    assert shell.value("wb.run('SELECT count(*) AS n FROM sales').arrow.to_pylist()") == [{"n": 2}]
    shell.value("%%paimon\nCREATE TABLE sales (id INT)")
    shown = shell.value("%paimon SELECT * FROM sales")
    assert "the table was read" in repr(shown)
    assert "the table was read" in shown._repr_mimebundle_()["text/html"]


def test_help_is_a_card_in_a_front_end(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from paimon_nb.notebook.magics import paimon as magics

    monkeypatch.setattr(magics, "has_front_end", lambda: True)
    card = shell.value("%paimon help")
    assert repr(card).startswith(magics.HELP)
    cells = {command.split()[1]: cell for command, cell, _ in card.commands if command.startswith("%paimon ")}
    assert (cells["connect"], cells["why"], cells["lsm"]) == (
        "%paimon connect PATH", "%paimon why TABLE KEY=VALUE", "%paimon lsm TABLE",
    )  # fmt: skip
    assert all(what or "|" in command for command, _, what in card.commands)
    html = card._repr_mimebundle_()[0]["text/html"]
    assert html.count("<tr>") == len(card.commands) > 25
    assert [c[0].split()[1] for c in shell.value("%paimon help undo").commands] == ["undo"]
