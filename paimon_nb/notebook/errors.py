"""Errors in a cell: what, the place in the user's own text, the next step. The stack only on request."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import Any

from paimon_nb.base.errors import Cancelled, PaimonError
from paimon_nb.base.redact import redact_text

WHOLE_OR_NOT = "a commit happens whole or not at all: %paimon snapshots TABLE lists those that did"


def short(error: PaimonError) -> str:
    """Two lines and, for SQL, the line with a caret."""
    lines = [f"{type(error).__name__}: {redact_text(error.message)}"]
    lines += caret(error.facts.get("sql"), error.facts.get("start"), error.facts.get("stop"))
    if error.hint:
        lines.append(f"  → {redact_text(error.hint)}")
    return "\n".join(lines)


def interrupted(error: BaseException, committed: Sequence[tuple[str, int]] = ()) -> Cancelled:
    """An interrupt in words.

    Args:
        error: a KeyboardInterrupt, or what the engine made of it. committed: (table, snapshot) of statements that had ended.
    """
    said = error.message if isinstance(error, Cancelled) else "interrupted"
    hint = error.hint if isinstance(error, Cancelled) else WHOLE_OR_NOT
    if not committed:
        return Cancelled(said, hint=hint)
    done = ", ".join(f"{table} in snapshot {snapshot}" for table, snapshot in committed)
    return Cancelled(f"{said}; committed before that: {done}", hint="%paimon undo takes it back")


def sentence(error: BaseException) -> str:
    """One line for a page: what happened and, where it is known, the next step."""
    if not isinstance(error, PaimonError):
        return redact_text(f"{type(error).__name__}: {error}")
    return redact_text(f"{error.message}; {error.hint}" if error.hint else error.message)


def caret(sql: Any, start: Any, stop: Any) -> list[str]:
    """The line of `sql` that holds `start`, with the place underlined."""
    if not isinstance(sql, str) or not isinstance(start, int) or not 0 <= start <= len(sql):
        return []
    line_start = sql.rfind("\n", 0, start) + 1
    line_end = sql.find("\n", start)
    line = sql[line_start : line_end if line_end >= 0 else len(sql)]
    length = max(1, min(stop if isinstance(stop, int) else start + 1, line_start + len(line)) - start)
    offset = start - line_start
    number = sql.count("\n", 0, start) + 1
    if offset > 90:  # keep the place on the page
        line, offset = "…" + line[offset - 60 :], 61
    line = line[:160]
    return [
        f"  line {number}: {redact_text(line)}",
        "  " + " " * (len(f"line {number}: ") + offset) + "^" * min(length, max(1, len(line) - offset)),
    ]


def shown(error: PaimonError) -> PaimonError:
    """The same error, which IPython prints short. It still fails the cell."""
    kind = type(error)
    quiet = type(
        kind.__name__,
        (kind,),
        {"_render_traceback_": lambda self: short(self).split("\n"), "__module__": kind.__module__},
    )
    error.__class__ = quiet
    return error


def full(error: BaseException) -> str:
    """The whole stack, secrets masked."""
    return redact_text("".join(traceback.format_exception(error)))
