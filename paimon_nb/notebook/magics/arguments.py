"""Words of a %paimon line: flags, pairs, tables."""

from __future__ import annotations

import argparse
import difflib
import re
import shlex
from typing import TYPE_CHECKING, Any, NoReturn

from IPython.core.error import UsageError

from paimon_nb.base.errors import PaimonError
from paimon_nb.notebook.magics.current import workbench

if TYPE_CHECKING:
    from paimon_nb.format.types import DataField
    from paimon_nb.table.table import Table


class Arguments(argparse.ArgumentParser):
    """Arguments of a magic: a wrong one is a UsageError with the nearest right one."""

    def error(self, message: str) -> NoReturn:
        known = [s for a in self._actions for s in a.option_strings]
        wrong = re.search(r"unrecognized arguments: (\S+)", message)
        near = difflib.get_close_matches(wrong[1].split("=")[0], known, 1) if wrong else []
        raise UsageError(
            f"{self.prog}: {message}" + (f"; did you mean {near[0]}?" if near else f"; known: {' '.join(known)}")
        )


def typed(field: DataField, text: str) -> Any:
    """A value as it is written in a line, as the column's type has it."""
    from paimon_nb.format.data import cast_text

    try:
        return text if field.type.root in ("CHAR", "VARCHAR") else cast_text(text, field.type).as_py()
    except PaimonError:
        raise UsageError(f"%paimon why: {text!r} is no {field.type} for {field.name}") from None


def need_table(command: str, rest: str) -> None:
    if not rest:
        raise UsageError(f"%paimon {command} TABLE: which table? %paimon tables lists them")


def pairs(rest: str, usage: str) -> tuple[Table, dict[str, str]]:
    """`TABLE a=1 b='x y'` as the table and the pairs."""
    words = shlex.split(rest)
    wrong = [w for w in words[1:] if "=" not in w]
    if not words or wrong:
        raise UsageError(f"%paimon {usage}" + (f"; {wrong[0]!r} is no pair" if wrong else ""))
    return workbench().table(words[0]), {w.split("=", 1)[0]: w.split("=", 1)[1] for w in words[1:]}
