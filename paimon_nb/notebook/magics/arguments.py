"""Arguments of %paimon commands: flags, KEY=VALUE pairs, tables."""

from __future__ import annotations

import argparse
import difflib
import re
import shlex
from typing import TYPE_CHECKING, Any, NoReturn

from IPython.core.error import UsageError

from paimon_nb.base.registry import nearest_known_name
from paimon_nb.notebook.key_values import InvalidKeyValue, key_value
from paimon_nb.notebook.magics.active import workbench
from paimon_nb.options import TABLE_OPTIONS, find_option

if TYPE_CHECKING:
    from paimon_nb.format.types import DataField
    from paimon_nb.table.tables.table import Table


_BACKTICKS = re.compile(r"`(?:[^`]|``)*`")
_PAIR = re.compile(r"(`(?:[^`]|``)*`|[^=]*)=(.*)", re.S)


class Arguments(argparse.ArgumentParser):
    """Argument parser of a magic: an unknown argument raises UsageError with the closest valid one."""

    def error(self, message: str) -> NoReturn:
        known = [s for a in self._actions for s in a.option_strings]
        wrong = re.search(r"unrecognized arguments: (\S+)", message)
        near = difflib.get_close_matches(wrong[1].split("=")[0], known, 1) if wrong else []
        raise UsageError(
            f"{self.prog}: {message}" + (f"; did you mean {near[0]}?" if near else f"; known: {' '.join(known)}")
        )


def typed_key_value(field: DataField, text: str) -> Any:
    """A value from the command line, converted to the column's type. Raises: UsageError."""
    try:
        return key_value(field, text)
    except InvalidKeyValue as error:
        raise UsageError(f"%paimon why: {error}") from None


def split_arguments(line: str) -> list[str]:
    """Split a line into arguments; quotes and backticks keep spaces together, backticks stay. Raises: UsageError."""
    quoted: list[str] = _BACKTICKS.findall(line)
    try:
        found = shlex.split(_BACKTICKS.sub("\0", line))
    except ValueError as error:
        raise UsageError(f"%paimon {line[:60]}: {str(error)[:1].lower()}{str(error)[1:]}") from None
    names = iter(quoted)
    return [re.sub("\0", lambda _: next(names), argument) for argument in found]


def checked_what_if_options(command: str, options: dict[str, str]) -> dict[str, str]:
    """Check the options of a what-if command. Raises: UsageError: unknown option."""
    for key in options:
        if find_option(key) is None:
            near = nearest_known_name(key, TABLE_OPTIONS)
            raise UsageError(f"%paimon {command}: unknown option {key!r}" + (f"; did you mean {near}?" if near else ""))
    return options


def need_table(command: str, rest: str) -> None:
    if not rest:
        raise UsageError(f"%paimon {command} TABLE: table name missing; %paimon tables lists the tables")


def table_and_pairs(rest: str, usage: str) -> tuple[Table, dict[str, str]]:
    """Parse `TABLE a=1 b='x y'` into the table and its pairs; a key may be in backticks."""
    name, *arguments = split_arguments(rest) or [""]
    found = [(argument, _PAIR.fullmatch(argument)) for argument in arguments]
    wrong = [argument for argument, pair in found if pair is None]
    if not name or wrong:
        raise UsageError(f"%paimon {usage}" + (f": expected KEY=VALUE, got {wrong[0]!r}" if wrong else ""))
    return workbench().table(name), {_without_backticks(pair[1]): pair[2] for _, pair in found if pair is not None}


def _without_backticks(key: str) -> str:
    return key[1:-1].replace("``", "`") if key.startswith("`") and key.endswith("`") else key
