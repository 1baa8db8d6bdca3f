"""SET and RESET: Flink settings with an effect, settings that are passed to Spark, and settings without effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.named_servers import name_servers
from paimon_nb.base.redact import redact_options, remember_secrets
from paimon_nb.session.core.result import Result, message_result, rows_result
from paimon_nb.session.query.engine_choice import ENGINE_SETTINGS, check_engine_setting
from paimon_nb.session.query.hints import unknown_option_note

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.session.core.session import Session
    from paimon_nb.session.core.statement_context import StatementContext
    from paimon_nb.statements import ResetOption, SetOption, Span

MODE = "execution.runtime-mode"
DML_SYNC = "table.dml-sync"


@dataclass(frozen=True, slots=True)
class Meaning:
    """The effect of a Flink setting."""

    effect: str
    spark_key: str | None = None
    """The Spark setting that it maps to."""
    used: bool = True


FLINK_SETTINGS: Mapping[str, Meaning] = {
    MODE: Meaning("batch or streaming"),
    "execution.checkpointing.interval": Meaning("time between the commits of a streaming INSERT"),
    "execution.checkpointing.dir": Meaning("folder where streaming jobs keep their progress"),
    "state.checkpoints.dir": Meaning("folder where streaming jobs keep their progress"),
    "pipeline.name": Meaning("name of the jobs that follow"),
    DML_SYNC: Meaning("in streaming mode, false lets compact and compact_database follow new commits as a job"),
    "parallelism.default": Meaning("tasks of a shuffle", "spark.sql.shuffle.partitions"),
    "table.local-time-zone": Meaning("the session's time zone", "spark.sql.session.timeZone"),
    "sql-client.execution.result-mode": Meaning("answers are tables in every mode", used=False),
    "execution.checkpointing.mode": Meaning("every snapshot is committed exactly once", used=False),
}
FLINK_FAMILIES: Mapping[str, str] = {
    "state.": "Spark keeps the state of a stream, in its own way",
    "execution.checkpointing.": "a snapshot is the checkpoint",
    "taskmanager.": "no Flink process runs",
    "jobmanager.": "no Flink process runs",
    "rest.": "no Flink process runs",
    "cluster.": "no Flink process runs",
    "restart-strategy": "Spark tries a failed task again by itself",
    "sql-client.": "answers are shown by the notebook",
    "table.exec.sink.type-length-enforcer": "in Flink's modes, INSERT always cuts and pads texts and bytes to their column's length",
    "table.exec.": "Spark plans the query",
    "table.optimizer.": "Spark plans the query",
    "pipeline.": "Spark plans the query",
}
"""Prefixes of settings without effect, and the reason."""


def effect_of_setting(key: str) -> str:
    """A sentence about the effect of a setting."""
    known = FLINK_SETTINGS.get(key)
    if key in ENGINE_SETTINGS:
        return ENGINE_SETTINGS[key]
    if known is not None and known.spark_key:
        return f"Spark's {known.spark_key}: {known.effect}"
    if known is not None:
        return ("" if known.used else "no effect here: ") + known.effect
    if key.startswith("spark."):
        return "Spark's own"
    if key.startswith("paimon."):
        return "an option of the tables it names"
    why = next((why for start, why in FLINK_FAMILIES.items() if key.startswith(start)), "this setting is not used")
    return f"no effect here: {why}"


def set_option(context: StatementContext, statement: SetOption) -> Result:
    """SET k = v. The session stores `paimon.*` and Flink keys; all other keys go to Spark."""
    session, key, value = context.session, statement.key, statement.value
    if key is None:
        settings = sorted(session.settings.items())
        return rows_result({"key": [k for k, _ in settings], "value": list(redact_options(dict(settings)).values())})
    if value is None:
        current = session.settings.get(key)
        if current is None and session.spark_started:
            current = session.spark.conf.get(key, None)
        return rows_result({"key": [key], "value": [redact_options({key: current})[key] if current else "<undefined>"]})
    notes = apply_setting(session, key, value, context.text, statement.span)
    return Result(
        "rows", arrow=rows_result({"key": [key], "value": [redact_options({key: value})[key]]}).arrow, notes=notes
    )


def apply_setting(session: Session, key: str, value: str, text: str, span: Span) -> list[str]:
    """Apply one setting; returns notes. Raises BadOptionValue, and Spark's errors for Spark's keys."""
    from paimon_nb.session.core.session import split_setting

    remember_secrets({key: value})
    name_servers({key: value})
    notes: list[str] = []
    known = FLINK_SETTINGS.get(key)
    if key == MODE and value.lower() not in ("batch", "streaming", "automatic"):
        raise BadOptionValue(f"{MODE} cannot be {value!r}", hint="'batch' or 'streaming'", option=key, value=value)
    if key == "parallelism.default" and not (value.isdecimal() and int(value)):
        raise BadOptionValue(
            f"{key} cannot be {value!r}", hint="use a whole number of at least 1", option=key, value=value
        )
    if key == DML_SYNC and value.lower() not in ("true", "false"):
        raise BadOptionValue(f"{key} cannot be {value!r}", hint="'true' or 'false'", option=key, value=value)
    check_engine_setting(key, value)
    if key == MODE and not session.flink_semantics:
        notes.append(f"7 / 2 is now 3, as in Flink; RESET '{MODE}' for Spark's 3.5")
    if key.startswith("spark.") or (known is not None and known.spark_key):
        from paimon_nb.spark.errors import spark_errors

        with spark_errors(text, span):
            session.set_spark(known.spark_key if known is not None and known.spark_key else key, value)
    elif known is None and not key.startswith("paimon.") and key not in ENGINE_SETTINGS:
        notes.append(f"{key} is stored; {effect_of_setting(key)}")
    elif key.startswith("paimon."):
        notes += unknown_option_note(split_setting(key.removeprefix("paimon."))[1])
    session.settings[key] = value
    return notes


def reset_option(context: StatementContext, statement: ResetOption) -> Result:
    """RESET [k]: also restores Spark settings to their values before SET."""
    session = context.session
    if statement.key is None:
        _reset_settings(session, [*session.settings])
        return message_result("all settings reset")
    had = statement.key in session.settings or statement.key.startswith("spark.")
    _reset_settings(session, [statement.key])
    return message_result(f"{statement.key} reset" if had else f"{statement.key} was not set")


def _reset_settings(session: Session, keys: Sequence[str]) -> None:
    spark_keys: dict[str, None] = {}  # two keys may map to the same Spark setting
    for key in keys:
        session.settings.pop(key, None)
        known = FLINK_SETTINGS.get(key)
        name = known.spark_key if known is not None and known.spark_key else key
        if name.startswith("spark."):
            spark_keys[name] = None
    for name in spark_keys:
        session.reset_spark(name)
