"""An input whose value is bound to `:name` in SQL cells."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import traitlets

from paimon_nb.notebook.svg import text_svg
from paimon_nb.notebook.widgets.base import Panel, script

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.notebook.inputs import InputSpec


class InputView(Panel):
    """`%paimon input`. JupyterLab runs the cells with `:name` again after a change; elsewhere they take the value when they are run.

    Args:
        bind: makes a value that of the Python variable.
        value: at first.
    """

    _esm = script("panel.js", "input.js")
    view = traitlets.Dict().tag(sync=True)

    def __init__(self, spec: InputSpec, value: Any, bind: Callable[[str, Any], None]) -> None:
        self.spec, self.value, self._bind = spec, value, bind
        bind(spec.name, value)
        super().__init__(view=self._view_data())

    def _view_data(self) -> dict[str, Any]:
        s = self.spec
        return {
            "name": s.name, "kind": s.kind, "choices": [str(c) for c in s.choices], "low": s.low, "high": s.high, "step": s.step,
            "value": s.to_page(self.value),
        }  # fmt: skip

    def set_value(self, sent: Any) -> None:
        """Bind what the page sends. Raises SqlAnalysisError: the input cannot have it."""
        self.value = self.spec.from_page(sent)
        self._bind(self.spec.name, self.value)
        self.view = self._view_data()

    def on_message(self, content: Any) -> None:
        match content:
            case {"value": sent}:
                self.set_value(sent)
                self.send({"bound": self.spec.name})

    def still_text(self) -> str:
        return f":{self.spec.name} = {self.value!r}"

    def still_svg(self) -> str:
        return text_svg(self.still_text(), f"input {self.spec.name}")

    def still_html(self) -> str:
        return f"<code>{escape(self.still_text())}</code>"
