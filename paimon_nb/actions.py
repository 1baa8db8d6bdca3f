"""Table actions on the command line, with the arguments of Flink's action jar: `compact --path ... --table_conf k=v`."""

from __future__ import annotations

import argparse
import os
import re
from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, PaimonError, ProcedureNotFound, SqlAnalysisError
from paimon_nb.base.identifier import quote
from paimon_nb.base.registry import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.procedures import Procedure
    from paimon_nb.procedures.procedure import Argument
    from paimon_nb.workbench import Workbench

_FLINKS = {
    "branch": "branch_name", "tag": "tag_name", "target_tag": "target_tag_name", "next_snapshot_id": "next_snapshot",
    "including_databases": "database", "database_or_table": "identifier", "connector": "source_type",
    "options": "table_conf", "table_options": "table_conf", "target_alias": "target_as", "source_sqls": "source_sql",
    "merge_condition": "on", "matched_upsert_setting": "matched_upsert_set",
    "not_matched_by_source_upsert_setting": "not_matched_by_source_upsert_set",
}  # fmt: skip
"""Arguments whose names differ between Flink's actions and its procedures."""

_MERGES = {
    "matched-upsert": ("matched_upsert_condition", "matched_upsert_setting"),
    "matched-delete": ("matched_delete_condition",),
    "not-matched-insert": ("not_matched_insert_condition", "not_matched_insert_values"),
    "not-matched-by-source-upsert": ("not_matched_by_source_upsert_condition", "not_matched_by_source_upsert_setting"),
    "not-matched-by-source-delete": ("not_matched_by_source_delete_condition",),
}
"""Values of `--merge_actions`, and the arguments that each of them uses."""

_WHERE = "--path WAREHOUSE/database.db/table, or --warehouse W --database d --table t"


def run_action(name: str, arguments: Sequence[str], commands: Sequence[str]) -> int:
    """Run a procedure by its action name; print its rows and notes. `commands`: other commands, for suggestions.

    Raises: ProcedureNotFound: no such action; with the nearest name. PaimonError: what the procedure raises.
    """
    from paimon_nb.procedures import PROCEDURES, UNSUPPORTED, call_procedure, find_procedure
    from paimon_nb.session.execute.procedure_context import ProcedureContext
    from paimon_nb.session.executor import run_statement
    from paimon_nb.statements import Call, Span

    normalized = name.lower().replace("-", "_")
    if normalized in UNSUPPORTED:
        find_procedure(normalized)  # raises with the reason
    procedure = PROCEDURES.get(normalized)
    if procedure is None:
        raise ProcedureNotFound(
            f"no command {name!r}", hint=did_you_mean(name, [*PROCEDURES, *commands]) or "paimon-nb --help"
        )
    parsed = vars(_argument_parser(name, procedure).parse_args(_with_underscores(arguments)))
    try:
        called, named, connection = _bind_arguments(name, procedure, parsed)
        with _connect(connection) as wb:
            context = ProcedureContext(wb.session, run_statement)
            rows = call_procedure(context, Call(name, Span(0, 0), called, None, (), named)).to_pylist()
            for row in rows:
                print(", ".join(f"{k}: {v}" for k, v in row.items()))
            for note in context.notes:
                print(f"note: {note}")
            if not rows and not context.notes:
                print("nothing to do")
            return _wait_for_started_jobs(wb)
    except PaimonError as error:
        if error.hint and procedure.usage in error.hint:  # the CALL syntax does not apply to the command line
            error.hint = error.hint.replace(procedure.usage, f"paimon-nb {name} --help")
        raise


def delete(arguments: Sequence[str]) -> int:
    """Flink's `delete` action: delete the rows that match a condition, which can read tables and views of `--source_sql`.

    Raises: SqlAnalysisError: no table, a blank condition, or a source statement that fails. The error has its number only,
    for it can contain passwords of other systems.
    """
    parser = argparse.ArgumentParser(prog="paimon-nb delete", description="Delete the rows that match a condition.")
    _add_table_options(parser, "path", "warehouse", "database", "table", "catalog_conf")
    parser.add_argument("--where", required=True, help="condition, as in SQL DELETE")
    parser.add_argument(
        "--source_sql", action="append", metavar="SQL", help="statement to run first, such as CREATE TEMPORARY VIEW"
    )
    parser.add_argument("--sink_parallelism", type=int, help="accepted, without effect here")
    parsed = vars(parser.parse_args(_with_underscores(arguments)))
    table = _table_argument_text(parsed)
    if table is None:
        raise SqlAnalysisError("delete needs a table", hint=_WHERE)
    if not parsed["where"].strip():
        raise SqlAnalysisError(
            "delete needs a deletion filter", hint="--where 'id = 1'; TRUNCATE TABLE deletes all rows"
        )
    with _connect(parsed) as wb:
        database, name = table.split(".", 1) if "." in table else (wb.session.current_database, table)
        target = ".".join(map(quote, (wb.session.current_catalog, database, name)))
        _run_source_statements(wb, parsed["source_sql"] or ())
        result = wb.run(f"DELETE FROM {target} WHERE {parsed['where']}")
        for row in result.arrow.to_pylist() if result.arrow is not None else ():
            print(", ".join(map(str, row.values())))
        for note in result.notes:
            print(f"note: {note}")
    return 0


def _run_source_statements(wb: Workbench, statements: Sequence[str]) -> None:
    for number, statement in enumerate(statements, 1):
        try:
            wb.run(statement)
        except PaimonError as error:
            raise SqlAnalysisError(
                f"source SQL statement {number} failed: {type(error).__name__}",
                hint="run it by itself in paimon-nb sql to see why",
            ) from None


# -- arguments


def _with_underscores(arguments: Sequence[str]) -> list[str]:
    """`--order-by` becomes `--order_by`; values after '=' stay unchanged."""
    return [re.sub(r"^--[^=]*", lambda m: "--" + m[0][2:].replace("-", "_"), a) for a in arguments]


def _add_table_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add the options that locate the table."""
    for name in names:
        if name == "catalog_conf":
            parser.add_argument(
                "--catalog_conf", action="append", metavar="K=V", help="catalog option, such as metastore=jdbc"
            )
        else:
            also = ("--identifier",) if name == "table" else ()
            parser.add_argument(
                f"--{name}",
                *also,
                dest=name,
                help="WAREHOUSE/database.db/table; replaces --warehouse, --database and --table"
                if name == "path"
                else None,
            )


def _argument_parser(name: str, procedure: Procedure) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"paimon-nb {name}", description=procedure.doc)
    names = {a.name for a in procedure.arguments}
    own = {"catalog_conf"} & names
    location = ["warehouse"]
    if _table_argument(procedure) or "table" in names:
        location += ["path", "database", "table"]
    elif "database" in names:
        location += ["database"]
    _add_table_options(parser, *location, *({"catalog_conf"} - own))
    if names & {"partition", "partitions"}:
        parser.add_argument("--partition", "--partitions", action="append", help="a=1,b=2; can be repeated")
    taken = (*location, "partition", "partitions", *(("identifier",) if "table" in location else ()))
    for argument in procedure.arguments:
        if argument.name in ("partition", "partitions", *location):
            continue
        spellings = dict.fromkeys(
            [argument.name, *map(_to_snake_case, argument.also), _FLINKS.get(argument.name, argument.name)]
        )
        many = argument.many or _FLINKS.get(argument.name) in ("table_conf", "source_sql")
        parser.add_argument(
            *(f"--{s}" for s in spellings if s not in taken), dest=argument.name,
            help=argument.doc.replace("%", "%%"), metavar="V", action="append" if many else "store",
        )  # fmt: skip
    if "target_catalog_conf" in names and "target_warehouse" not in names:  # as in Flink's action
        parser.add_argument("--target_warehouse", help="same as --target_catalog_conf warehouse=...")
    if procedure.name == "merge_into":
        parser.add_argument("--merge_actions", help=f"actions to run: {', '.join(_MERGES)}")
    if procedure.name == "rollback_to":
        parser.add_argument("--version", help="snapshot id or tag")
    parser.add_argument("--force_start_flink_job", nargs="?", help="accepted for compatibility; has no effect")
    return parser


def _to_snake_case(text: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda m: "_" + m[1].lower(), text)


def _table_argument(procedure: Procedure) -> Argument | None:
    """The argument that takes `database.table` as one text, under any name."""
    if any(a.name == "database" for a in procedure.arguments):
        return None
    return next((a for a in procedure.arguments if "table" in (a.name, *a.also)), None)


def _bind_arguments(
    name: str, procedure: Procedure, parsed: dict[str, object]
) -> tuple[str, dict[str, object], dict[str, object]]:
    """(the procedure to call, its arguments by name, where to connect)."""
    names = {a.name for a in procedure.arguments}
    table = _table_argument_text(parsed)
    location = ("path", "warehouse", "database", "table", "partition", "force_start_flink_job")
    named: dict[str, object] = {
        k: _combine_repeated(k, v) if isinstance(v, list) else v
        for k, v in parsed.items()
        if v is not None and k not in location
    }
    connection = {"warehouse": parsed.get("warehouse")}
    if "catalog_conf" not in names:
        connection["catalog_conf"] = parsed.get("catalog_conf")
        named.pop("catalog_conf", None)
    elif (conf := named.get("catalog_conf")) and parsed.get("warehouse"):
        named["catalog_conf"] = {"warehouse": parsed["warehouse"], **conf}  # type: ignore[dict-item]
    if "target_warehouse" not in names and (to := named.pop("target_warehouse", None)):
        named["target_catalog_conf"] = {"warehouse": to, **named.get("target_catalog_conf", {})}  # type: ignore[dict-item]
    subject = _table_argument(procedure)
    if "database" in names:
        named |= {k: parsed[k] for k in ("database", "table") if parsed.get(k) and k in names}
    elif subject is not None and (target := table or _whole_database(procedure, parsed.get("database"))):
        named.setdefault(subject.name, target)
    if subject is not None and subject.required and subject.name not in named:
        raise SqlAnalysisError(f"{name} needs a table", hint=_WHERE)
    if partition := parsed.get("partition"):
        named["partitions" if "partitions" in names else "partition"] = ";".join(partition)  # type: ignore[arg-type]
    if actions_text := named.pop("merge_actions", None):
        named = _select_merge_clauses(str(actions_text), named)
    called = "rollback" if "version" in named and procedure.name == "rollback_to" else procedure.name
    return called, named, connection


def _whole_database(procedure: Procedure, database: object) -> str | None:
    """The identifier for actions on a whole database."""
    alone = {"repair": "{}", "remove_orphan_files": "{}.*"}
    return alone[procedure.name].format(database) if database and procedure.name in alone else None


def _table_argument_text(parsed: dict[str, object]) -> str | None:
    """`database.table`; a path also sets the warehouse. Raises: BadOptionValue: not a table path, or path and table both set."""
    path, table, database = parsed.get("path"), parsed.get("table"), parsed.get("database")
    if not path:
        if not table:
            return None
        return str(table) if "." in str(table) and not database else f"{database or 'default'}.{table}"
    if table or database or parsed.get("warehouse"):
        raise BadOptionValue("--path says which table, and so do the others", hint=_WHERE, option="path")
    location = str(path).rstrip("/")
    if ":" not in location.partition("/")[0]:
        location = os.path.abspath(location)  # noqa: PTH100  removes "..", but keeps symbolic links
    warehouse, _, rest = location.rpartition("/")[0].rpartition("/")
    if not rest.endswith(".db") or not warehouse:
        raise BadOptionValue(f"--path {path} is not a table path", hint=_WHERE, option="path", value=path)
    parsed.update(warehouse=warehouse, database=rest.removesuffix(".db"), table=location.rpartition("/")[2])
    return f"{parsed['database']}.{parsed['table']}"


def _combine_repeated(name: str, values: Sequence[str]) -> object:
    """Combine repeated arguments: `--mysql_conf k=v --mysql_conf k2=v2`, or texts."""
    if name in _FLINKS and _FLINKS[name] == "table_conf":
        return ",".join(values)
    if not name.endswith("_conf"):
        return ";".join(values)
    if wrong := [v for v in values if "=" not in v]:
        raise BadOptionValue(f"--{name} {wrong[0]!r} has no '='", hint=f"--{name} key=value", option=name)
    pairs = (v.partition("=") for v in values)
    return {k.strip(): v.strip() for k, _, v in pairs}


def _select_merge_clauses(actions_text: str, named: dict[str, object]) -> dict[str, object]:
    """The arguments for the actions in `--merge_actions`; a delete without a condition deletes all rows.

    Raises: BadOptionValue: unknown action.
    """
    actions = [a.strip().replace("_", "-") for a in actions_text.split(",")]
    for action in actions:
        if action not in _MERGES:
            raise BadOptionValue(
                f"--merge_actions cannot be {action!r}",
                hint=did_you_mean(action, _MERGES) or f"known: {', '.join(_MERGES)}",
            )
    left_out = {a for action, its in _MERGES.items() if action not in actions for a in its}
    selected = {k: v for k, v in named.items() if k not in left_out}
    for action in actions:
        if action.endswith("-delete"):
            selected.setdefault(_MERGES[action][0], "TRUE")
    return selected


# -- execution


def _connect(parsed: dict[str, object]) -> Workbench:
    from paimon_nb.workbench import connect

    options: dict[str, str] = dict(_combine_repeated("catalog_conf", parsed.get("catalog_conf") or ()))  # type: ignore[arg-type, call-overload]
    warehouse = options.pop("warehouse", None)
    return connect(str(parsed.get("warehouse") or warehouse or "warehouse"), options=options)


def _wait_for_started_jobs(wb: Workbench) -> int:
    """Wait for the jobs that the command started; Ctrl-C stops them without losing data."""
    try:
        for job in list(wb.session.jobs.all.values()):
            job.awaitTermination()
            print(f"{job.name}: {job.status}, {job.rows} rows")
    except KeyboardInterrupt:
        print("stopped")
    finally:
        wb.session.jobs.stop_all()
    return 0
