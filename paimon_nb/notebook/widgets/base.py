"""Base class of the widgets: synced data, client-side drawing, error reports, and a static picture for pages without a kernel."""

from __future__ import annotations

import functools
import json
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from paimon_nb.base.errors import (
    BadSourceValue,
    CatalogNotFound,
    ConfigError,
    DatabaseNotFound,
    NameError_,
    PaimonError,
    SqlError,
    TableNotFound,
    WriteError,
)
from paimon_nb.notebook.errors import error_sentence, last
from paimon_nb.notebook.svg import KIND_COLOURS, LEVEL_COLOURS, NARROWEST, WIDEST, WIDTH, framed, standalone_svg
from paimon_nb.notebook.timeline_model import SIGN

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.table.read.store import TableStore

_HERE = Path(__file__).parent
_COMMENT_OR_INDENTATION = re.compile(r"^[ \t]*(?://.*\n)?", re.MULTILINE)
"""Of a line of a script. No text of the scripts has several lines."""


def script(*names: str) -> str:
    """The shared drawing functions followed by the widget's own code, as one module without imports.

    Without comments and indentation, a quarter of it: each widget sends its script to the page.
    """
    kinds = {kind: [colour, SIGN[kind]] for kind, colour in KIND_COLOURS.items()}
    shared = f"const LEVELS = {json.dumps(LEVEL_COLOURS)}, KINDS = {json.dumps(kinds, ensure_ascii=False)};"
    whole = "\n".join((_HERE / name).read_text() for name in ("picture.js", *names))
    return f"{shared}\n{_COMMENT_OR_INDENTATION.sub('', whole)}"


def stylesheet(*names: str) -> str:
    """Style sheets, one after the other."""
    return "\n".join((_HERE / name).read_text() for name in names)


STYLE = stylesheet("style.css", "panels.css")
"""All panels; the grid, of which a page may have many, has only what it uses."""


def report_errors(answer: Callable[..., object]) -> Callable[..., None]:
    """Decorates a method that handles a message from the page: errors are shown in the widget, because no cell is running.

    The picture stays as it was; `%paimon traceback` has the traceback.
    """

    @functools.wraps(answer)
    def answer_or_report(self: Panel, *args: Any) -> None:
        self.trouble = ""  # else the same error again is no change, and a form would not show it
        try:
            answer(self, *args)
        except Exception as error:  # the table may be dropped, expired or damaged while the panel is open
            show_error(self, _root_cause(self, error))

    return answer_or_report


_REFUSED = (ConfigError, NameError_, SqlError, WriteError, BadSourceValue)
_MISSING = (TableNotFound, DatabaseNotFound, CatalogNotFound)
"""NameErrors that concern the whole panel: what it shows does not exist any more."""


def show_error(panel: Any, error: Exception) -> None:
    """Show an error in a panel.

    If only the request was refused, such as a name with a slash, the picture is still true: the page shows the reason beside
    the control that was used. Else it dims the picture.
    """
    last.error = error
    with panel.hold_sync():
        panel.is_refused = isinstance(error, _REFUSED) and not isinstance(error, _MISSING)
        panel.trouble = error_sentence(error)


def _root_cause(picture: Panel, error: Exception) -> Exception:
    """If the table was dropped, report that instead of the missing file."""
    table = getattr(picture, "_table", None)
    try:
        if table is not None:
            table.store.check_identity()
    except PaimonError as gone:
        return gone
    return error


class Panel(anywidget.AnyWidget):
    """A widget with a text and a static-picture form."""

    _css = STYLE
    trouble = traitlets.Unicode("").tag(sync=True)
    """The error of the last request; '' if it succeeded."""
    is_refused = traitlets.Bool(False).tag(sync=True)
    """Whether that request was refused and the panel still shows what is true."""

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(self._on_message)

    @report_errors
    def _on_message(self, _: Any, content: Any, _buffers: Any) -> None:
        self.on_message(content)

    def on_message(self, content: Any) -> None:
        """Handle a message from the page. Pages are untrusted: unexpected messages are ignored."""
        match content:
            case {"reload": True}:
                self.reload()

    def reload(self) -> Any:
        """Reload the table (the refresh button). Raises: TableReplaced: the table was dropped."""

    def still_text(self) -> str:
        """Plain text, deterministic for the same table."""
        raise NotImplementedError

    def still_svg(self) -> str:
        """The current picture."""
        raise NotImplementedError

    def still_html(self) -> str:
        """HTML for pages without a kernel."""
        return framed(self.still_svg())

    def save(self, path: str | Path) -> Path:
        """Write the panel as it is now as an HTML page of its own: no kernel, no network, light or dark.

        Args:
            path: of the file, such as 'orders.html'. It is overwritten.

        Returns:
            The path.

        Examples:
            >>> t.lsm().save("orders.html").name
            'orders.html'
        """
        target = Path(path)
        title = escape(self.still_text().split("\n", 1)[0])
        target.write_text(
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>{title}</title>'
            f"<style>body{{max-width:1100px;margin:24px auto;padding:0 16px;font-family:system-ui,sans-serif}}</style></head><body>{self.still_html()}</body></html>",
            encoding="utf-8",
        )
        return target

    def _repr_html_(self) -> str:
        """The panel for programs that show HTML and have no widgets: marimo, papermill, plain Python."""
        return self.still_html()

    def __repr__(self) -> str:
        return self.still_text()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        live = super()._repr_mimebundle_(**kwargs)
        data, meta = live if isinstance(live, tuple) else (live or {}, {})
        still = {
            "text/plain": self.still_text(),
            "text/html": self.still_html(),
            "image/svg+xml": standalone_svg(self.still_svg()),
        }
        return {**data, **still}, meta


class SnapshotPanel(Panel):
    """A panel that shows one snapshot, which the tabs of a window share."""

    selected_snapshot = traitlets.Int(None, allow_none=True)
    """The snapshot that is shown; None: the latest one. Not synced: the page has its own form of it."""

    def show_snapshot(self, snapshot: int | None) -> None:
        """Show another snapshot; None: the latest one.

        Raises:
            SnapshotNotFound, SnapshotExpired: it does not exist. TableReplaced: the table was dropped.
        """
        raise NotImplementedError


def none_if_latest(store: TableStore, snapshot: int | None) -> int | None:
    """None for the latest snapshot: a refresh of a panel that shows it shows the new latest one."""
    return None if snapshot == store.snapshots.latest_id() else snapshot


class DrawnPanel(Panel):
    """A panel whose pictures the kernel draws, as wide as the page says."""

    view = traitlets.Dict().tag(sync=True)
    width = traitlets.Int(WIDTH, min=NARROWEST, max=WIDEST).tag(sync=True)
    """Of the pictures, in pixels."""

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.observe(self._on_width_change, "width")

    @report_errors
    def _on_width_change(self, _: Any) -> None:
        self.view = {**self.view, **self.draw_pictures()}

    def draw_pictures(self) -> dict[str, Any]:
        """The pictures of `view`, as SVG of the width that the page has."""
        raise NotImplementedError
