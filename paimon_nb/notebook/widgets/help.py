"""The card of `%paimon help`: the commands, each a button that inserts it as a cell."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import anywidget
import traitlets

from paimon_nb.notebook.widgets.base import STYLE, script

_LINE = re.compile(r"^(\S.*?)(?:\s{2,}(.*))?$")


class HelpCard(anywidget.AnyWidget):
    """What `%paimon help` shows in a front end.

    Args:
        text: the same help as plain text: a command, two spaces or more, what it does.
    """

    _esm = script("panel.js", "help.js")
    _css = STYLE
    commands: traitlets.List[list[str]] = traitlets.List().tag(sync=True)
    """[what is written, the cell that a click inserts, what it does]."""

    def __init__(self, text: str) -> None:
        self._text = text
        super().__init__(commands=command_rows(text))

    def __repr__(self) -> str:
        return self._text

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        live = super()._repr_mimebundle_(**kwargs)
        data, meta = live if isinstance(live, tuple) else (live or {}, {})
        rows = "".join(f"<tr><td><code>{escape(c)}</code></td><td>{escape(t)}</td></tr>" for c, _, t in self.commands)
        still = f'<div class="pnb"><style>{STYLE}</style><table>{rows}</table></div>'
        return {**data, "text/plain": self._text, "text/html": still}, meta


def command_rows(text: str) -> list[list[str]]:
    """The commands of a help text.

    Examples:
        >>> command_rows("%paimon tables [DATABASE]       list tables")
        [['%paimon tables [DATABASE]', '%paimon tables', 'list tables']]
    """
    rows = []
    for line in text.splitlines():
        match = _LINE.match(line.strip())
        if match is None:
            continue
        command, what = match[1], match[2] or ""
        if not command.startswith("%"):
            rows.append(["", "", line.strip()])
            continue
        # What is optional is left out, of several commands the first is taken; words in capitals are to be replaced.
        cell = re.sub(r"\s*\[[^\]]*\]", "", command).split(";")[0]
        cell = re.sub(r"\|\S+", "", cell).strip()
        rows.append([command, cell + ("\n" if cell.startswith("%%") else ""), what])
    return rows
