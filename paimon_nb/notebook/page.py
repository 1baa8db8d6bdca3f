"""Exports a notebook as one self-contained HTML page: pictures, a playable history, no network access, light or dark.

Also `jupyter nbconvert --to paimon-page` and an entry of JupyterLab's "Save and Export Notebook As".
"""

from __future__ import annotations

import copy
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import DictLoader
from nbconvert import HTMLExporter
from traitlets.config import Config

from paimon_nb.notebook.story import FRAMES, STORY_STYLE, story_html, story_script

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

WIDGET = "application/vnd.jupyter.widget-view+json"
MAX_PAGE_BYTES = 2_000_000
"""Maximum size of a page. JupyterLab's own style takes a third of a megabyte."""

# nbconvert's page names require.js, MathJax and Mermaid on other hosts; nothing of ours needs them. Lab's dark theme only sets
# variables, so the one page can carry both and the reader's system chooses.
_TEMPLATE = """\
{%- extends 'lab/index.html.j2' -%}
{%- block html_head_js -%}<meta name="color-scheme" content="light dark">{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
{%- block notebook_css -%}
{{ super() }}
{{ resources.include_css("static/theme-dark.css") | replace('<style', '<style media="(prefers-color-scheme: dark)"') }}
<style type="text/css">
body.jp-Notebook {
  background: var(--jp-layout-color0);
  color: var(--jp-content-font-color1);
}
.highlight pre {
  white-space: pre-wrap;
  overflow-wrap: anywhere;
}
main {
  max-width: 1100px;
  margin: 0 auto;
}
{% if resources.story_script %}{{ resources.story_style }}{% endif %}
</style>
{%- endblock -%}
{%- block footer_js -%}
{{ super() }}
{% if resources.story_script %}<script>{{ resources.story_script }}</script>{% endif %}
{%- endblock -%}
"""


class PageExporter(HTMLExporter):
    """nbconvert's JupyterLab-style HTML page without network access and without live widgets."""

    export_from_notebook = "Paimon page (offline, light and dark)"

    def __init__(self, **options: Any) -> None:
        super().__init__(extra_loaders=[DictLoader({"paimon-page.html.j2": _TEMPLATE})], **options)  # type: ignore[no-untyped-call]

    def _template_file_default(self) -> str:
        return "paimon-page.html.j2"

    @property
    def default_config(self) -> Config:
        own = Config(
            {"HTMLExporter": {"embed_images": True}, "HighlightMagicsPreprocessor": {"languages": {"%%paimon": "sql"}}}
        )
        config: Config = super().default_config.copy()
        config.merge(own)
        return config

    def from_notebook_node(self, nb: Any, resources: Any = None, **kw: Any) -> tuple[Any, dict[str, Any]]:
        """The HTML, and nbconvert's resources."""
        plain = without_widgets(nb)
        resources = dict(resources or {})
        if any(FRAMES in output.get("data", {}) for output in _outputs(nb)):
            resources |= {"story_script": story_script(), "story_style": STORY_STYLE}
        return super().from_notebook_node(plain, resources, **kw)


def without_widgets(notebook: Any) -> Any:
    """A copy with still pictures, and histories that play, instead of live widgets, which need a kernel."""
    plain = copy.deepcopy(notebook)
    for output in _outputs(plain):
        data = output.get("data", {})
        data.pop(WIDGET, None)
        if frames := data.pop(FRAMES, None):
            data["text/html"] = story_html(frames)
    plain.metadata.pop("widgets", None)
    return plain


def _outputs(notebook: Any) -> Iterator[Any]:
    """All outputs of a notebook node."""
    return (output for cell in notebook.cells for output in cell.get("outputs", ()))


def write_page(notebook: Any, target: Path, pages: Collection[str] = ()) -> int:
    """Write the page.

    Args:
        notebook: a notebook node of format 4, with outputs.
        pages: stems of notebooks exported to the same folder; links to them are rewritten.

    Returns: its size in bytes.
    """
    body, _ = _page_exporter().from_notebook_node(notebook, {"metadata": {"name": target.stem}})
    target.write_text(_LINK.sub(lambda m: f'href="{m[1]}.html"' if m[1] in pages else m[0], body), encoding="utf-8")
    return target.stat().st_size


@cache
def _page_exporter() -> PageExporter:
    """One exporter for all pages, so that templates are compiled once."""
    return PageExporter()


_LINK = re.compile(r'href="([\w.-]+)\.ipynb"')
