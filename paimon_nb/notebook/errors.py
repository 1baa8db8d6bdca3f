"""Error messages in a cell: what happened, the position in the user's SQL, the next step. Tracebacks only on request."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import Cancelled, PaimonError
from paimon_nb.base.redact import redact_text

if TYPE_CHECKING:
    from collections.abc import Sequence


class LastError:
    """The last error in this kernel, of a cell or of a panel. `%paimon traceback` prints it."""

    error: BaseException | None = None


last = LastError()
WHOLE_OR_NOT = "Commits are atomic: %paimon snapshots TABLE lists the ones that succeeded."


def short_error_text(error: PaimonError) -> str:
    """Two lines and, for SQL, the line with a caret."""
    lines = [f"{type(error).__name__}: {redact_text(error.message)}"]
    lines += lines_with_caret(error.facts.get("sql"), error.facts.get("start"), error.facts.get("stop"))
    if error.hint:
        lines.append(f"  → {redact_text(error.hint)}")
    return "\n".join(lines)


def error_of_interrupted_cell(
    error: BaseException, committed: Sequence[tuple[str, int]] = (), *, only_queries: bool = False, tasks: int = 0
) -> Cancelled:
    """The error for an interrupted cell.

    Args:
        error: a KeyboardInterrupt, or the engine's `Cancelled`. committed: (table, snapshot) of the statements that completed.
        only_queries: the cell writes nothing.
        tasks: number of Spark's tasks that still run.
    """
    if only_queries:
        if tasks or (isinstance(error, Cancelled) and error.facts.get("goes_on")):
            from paimon_nb.table.tables.inspect.formatting import count_text

            return Cancelled(
                f"Query cancelled, but {count_text(tasks, 'task')} of Spark did not stop"
                if tasks
                else "Query cancelled, but Spark has not stopped it yet",
                hint="Java cannot interrupt a regular expression: if a core stays busy, restart the kernel",
            )
        return Cancelled("Query cancelled.")
    what = error.message if isinstance(error, Cancelled) else "interrupted"
    hint = error.hint if isinstance(error, Cancelled) else WHOLE_OR_NOT
    if not committed:
        return Cancelled(what, hint=hint)
    done = ", ".join(f"{table} in snapshot {snapshot}" for table, snapshot in committed)
    return Cancelled(f"{what}; already committed: {done}", hint="%paimon undo reverts it")


def error_sentence(error: BaseException) -> str:
    """One line for a widget: what happened and, if known, the next step."""
    if not isinstance(error, PaimonError):
        return redact_text(f"{type(error).__name__}: {error}")
    return redact_text(f"{error.message}; {error.hint}" if error.hint else error.message)


def lines_with_caret(sql: Any, start: Any, stop: Any) -> list[str]:
    """The line of `sql` that contains `start`, with the error underlined."""
    if not isinstance(sql, str) or not isinstance(start, int) or not 0 <= start <= len(sql):
        return []
    line_start = sql.rfind("\n", 0, start) + 1
    line_end = sql.find("\n", start)
    line = sql[line_start : line_end if line_end >= 0 else len(sql)]
    length = max(1, min(stop if isinstance(stop, int) else start + 1, line_start + len(line)) - start)
    offset = start - line_start
    number = sql.count("\n", 0, start) + 1
    if offset > 90:  # keep the error visible in long lines
        line, offset = "…" + line[offset - 60 :], 61
    line = line[:160]
    return [
        f"  line {number}: {redact_text(line)}",
        "  " + " " * (len(f"line {number}: ") + offset) + "^" * min(length, max(1, len(line) - offset)),
    ]


def with_short_traceback(error: PaimonError) -> PaimonError:
    """The same error with a short traceback in IPython. It still fails the cell."""
    kind = type(error)
    short_kind = type(
        kind.__name__,
        (kind,),
        {"_render_traceback_": lambda self: short_error_text(self).split("\n"), "__module__": kind.__module__},
    )
    error.__class__ = short_kind
    return error


def traceback_of_python_cell(error: PaimonError) -> list[str]:
    """A short traceback of an error that Python code in a cell raised: the error, and the line of the cell."""
    last.error = error
    steps = [s for s in traceback.extract_tb(error.__traceback__) if _is_cell(s.filename)]
    line = [f"  line {steps[-1].lineno}: {redact_text((steps[-1].line or '')[:160])}"] if steps else []
    first, *rest = short_error_text(error).split("\n")
    return [first, *line, *rest, "  %paimon traceback prints all steps"]


def _is_cell(filename: str) -> bool:
    """Whether a code object belongs to a cell, by the name that IPython or the kernel gives it."""
    return filename.startswith("<ipython-input") or "ipykernel_" in filename


def full(error: BaseException) -> str:
    """The full traceback, secrets masked."""
    return redact_text("".join(traceback.format_exception(error)))
