"""What our widgets share: data in, drawings made by our own script, troubles told, and a still picture for pages without a kernel."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from paimon_nb.base.errors import PaimonError
from paimon_nb.notebook.errors import sentence
from paimon_nb.notebook.magics.active import current
from paimon_nb.notebook.svg import framed, standalone

_HERE = Path(__file__).parent


def script(*names: str) -> str:
    """The drawing functions followed by the view's own code: one module, nothing imported from elsewhere."""
    return "\n".join((_HERE / name).read_text() for name in ("picture.js", *names))


STYLE = (_HERE / "style.css").read_text()


def told(answer: Callable[..., object]) -> Callable[..., None]:
    """A method that answers the page. What goes wrong in it is told there: no cell is running that could show it.

    The picture stays as it was; `%paimon traceback` has the stack.
    """

    @functools.wraps(answer)
    def answered(self: Picture, *given: Any) -> None:
        try:
            answer(self, *given)
        except Exception as error:  # a table may be dropped, expired or broken while it is looked at
            current.error = why = _the_reason(self, error)
            self.trouble = sentence(why)
        else:
            self.trouble = ""

    return answered


def _the_reason(picture: Picture, error: Exception) -> Exception:
    """That the table is gone says more than which of its files is."""
    table = getattr(picture, "_table", None)
    try:
        if table is not None:
            table.store.check_identity()
    except PaimonError as gone:
        return gone
    return error


class Picture(anywidget.AnyWidget):
    """A widget that is also text and a still picture."""

    _css = STYLE
    trouble = traitlets.Unicode("").tag(sync=True)
    """Why the last thing that was asked for is not on the page; '' when it is."""

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(self._hear)

    @told
    def _hear(self, _: Any, content: Any, buffers: Any) -> None:
        self.hear(content)

    def hear(self, content: Any) -> None:
        """A message from the page. It comes from whoever wrote the page: anything else than what is expected is ignored."""
        match content:
            case {"look": True}:
                self.look()

    def look(self) -> Any:
        """What is there now; the reader asks for it. Raises: TableReplaced: the table was dropped."""

    def still_text(self) -> str:
        """Plain text, the same for the same table."""
        raise NotImplementedError

    def still_svg(self) -> str:
        """The picture as it stands."""
        raise NotImplementedError

    def still_html(self) -> str:
        """What pages without a kernel show."""
        return framed(self.still_svg())

    def __repr__(self) -> str:
        return self.still_text()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        live = super()._repr_mimebundle_(**kwargs)
        data, meta = live if isinstance(live, tuple) else (live or {}, {})
        still = {
            "text/plain": self.still_text(),
            "text/html": self.still_html(),
            "image/svg+xml": standalone(self.still_svg()),
        }
        return {**data, **still}, meta
