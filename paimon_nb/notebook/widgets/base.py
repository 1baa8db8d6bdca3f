"""What our widgets share: data in, drawings made by our own script, and a still picture for pages without a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget

from paimon_nb.notebook.svg import framed, standalone

_HERE = Path(__file__).parent


def script(*names: str) -> str:
    """The drawing functions followed by the view's own code: one module, nothing imported from elsewhere."""
    return "\n".join((_HERE / name).read_text() for name in ("picture.js", *names))


STYLE = (_HERE / "style.css").read_text()


class Picture(anywidget.AnyWidget):  # type: ignore[misc]
    """A widget that is also text and a still picture."""

    _css = STYLE

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
