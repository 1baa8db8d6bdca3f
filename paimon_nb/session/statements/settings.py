"""SET and RESET: which of Flink's settings mean something here, which are Spark's, and what is only kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.redact import redact_options
from paimon_nb.plan import ResetOption, SetOption, Span
from paimon_nb.session.core.result import Result, rows, summary
from paimon_nb.session.query.hints import unknown_option_note

if TYPE_CHECKING:
    from paimon_nb.session.core.session import Session
    from paimon_nb.session.executor import StatementContext

MODE = "execution.runtime-mode"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one of Flink's settings is here."""

    here: str
    sparks: str | None = None
    """Spark's setting that it becomes."""
    used: bool = True


FLINK_SETTINGS: Mapping[str, Meaning] = {
    MODE: Meaning("batch or streaming"),
    "execution.checkpointing.interval": Meaning("time between the commits of a streaming INSERT"),
    "execution.checkpointing.dir": Meaning("folder where streaming jobs keep their progress"),
    "state.checkpoints.dir": Meaning("folder where streaming jobs keep their progress"),
    "pipeline.name": Meaning("name of the jobs that follow"),
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
    "table.exec.": "Spark plans the query",
    "table.optimizer.": "Spark plans the query",
    "pipeline.": "Spark plans the query",
}
"""Beginnings of settings that have no effect, and why not."""


def effect(key: str) -> str:
    """One sentence: what becomes of a setting."""
    known = FLINK_SETTINGS.get(key)
    if known is not None and known.sparks:
        return f"Spark's {known.sparks}: {known.here}"
    if known is not None:
        return ("" if known.used else "no effect here: ") + known.here
    if key.startswith("spark."):
        return "Spark's own"
    if key.startswith("paimon."):
        return "an option of the tables it names"
    why = next((why for start, why in FLINK_FAMILIES.items() if key.startswith(start)), "nothing here uses it")
    return f"no effect here: {why}"


def set_option(job: StatementContext, statement: SetOption) -> Result:
    """SET k = v. `paimon.*` and Flink's keys stay here; everything else is Spark's."""
    session, key, value = job.session, statement.key, statement.value
    if key is None:
        shown = sorted(session.settings.items())
        return rows({"key": [k for k, _ in shown], "value": list(redact_options(dict(shown)).values())})
    if value is None:
        current = session.settings.get(key)
        if current is None and session.spark_started:
            current = session.spark.conf.get(key, None)
        return rows({"key": [key], "value": [redact_options({key: current})[key] if current else "<undefined>"]})
    notes = keep(session, key, value, job.text, statement.span)
    return Result("rows", arrow=rows({"key": [key], "value": [redact_options({key: value})[key]]}).arrow, notes=notes)


def keep(session: Session, key: str, value: str, text: str, span: Span) -> list[str]:
    """Set one; returns what the user may not expect. Raises: BadOptionValue; for Spark's own keys as Spark does."""
    from paimon_nb.session.core.session import split_setting

    notes: list[str] = []
    known = FLINK_SETTINGS.get(key)
    if key == MODE and value.lower() not in ("batch", "streaming", "automatic"):
        raise BadOptionValue(f"{MODE} cannot be {value!r}", hint="'batch' or 'streaming'", option=key, value=value)
    if key == "parallelism.default" and not (value.isdecimal() and int(value)):
        raise BadOptionValue(f"{key} cannot be {value!r}", hint="a whole number from 1", option=key, value=value)
    if key == MODE and not session.flink_semantics:
        notes.append(f"from here on 7 / 2 is 3, as in Flink; RESET '{MODE}' for Spark's 3.5")
    if key.startswith("spark.") or (known is not None and known.sparks):
        from paimon_nb.spark.errors import spark_errors

        with spark_errors(text, span):
            session.set_spark(known.sparks if known is not None and known.sparks else key, value)
    elif known is None and not key.startswith("paimon."):
        notes.append(f"{key} is kept; {effect(key)}")
    elif key.startswith("paimon."):
        notes += unknown_option_note(split_setting(key.removeprefix("paimon."))[1])
    session.settings[key] = value
    return notes


def reset_option(job: StatementContext, statement: ResetOption) -> Result:
    """RESET [k]: Spark's settings, too, become what they were before SET changed them."""
    session = job.session
    if statement.key is None:
        _forget(session, [*session.settings])
        return summary("all settings reset")
    had = statement.key in session.settings or statement.key.startswith("spark.")
    _forget(session, [statement.key])
    return summary(f"{statement.key} reset" if had else f"{statement.key} was not set")


def _forget(session: Session, keys: Sequence[str]) -> None:
    sparks: dict[str, None] = {}  # two keys may have set one of Spark's
    for key in keys:
        session.settings.pop(key, None)
        known = FLINK_SETTINGS.get(key)
        name = known.sparks if known is not None and known.sparks else key
        if name.startswith("spark."):
            sparks[name] = None
    for name in sparks:
        session.reset_spark(name)
