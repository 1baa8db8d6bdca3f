"""The tutorials as pages: notebooks with the outputs that are stored in them."""

from __future__ import annotations

import html as html_module
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "notebooks"
_PLACE = re.compile(r"<p>pnb-output-(\d+)</p>")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_SQL = ("%%paimon", "%%sql")


@dataclass
class Page:
    """A tutorial as Markdown; outputs are put into the finished page, because they are HTML and SVG."""

    text: str = ""
    outputs: list[str] = field(default_factory=list)


def notebooks() -> list[Path]:
    """All tutorials in order."""
    return sorted(FOLDER.glob("[0-9]*.ipynb"))


def index() -> str:
    """The list of tutorials, each with its first paragraph."""
    parts = [
        "# Tutorials\n",
        "Each tutorial is a notebook that runs on its own; `make lab` opens JupyterLab on them. "
        "The pages here show the stored outputs.\n",
    ]
    for path in notebooks():
        first = "".join(_cells(path)[0]["source"])
        title, _, rest = first.partition("\n")
        parts.append(f"**[{title.lstrip('# ')}]({path.stem}.md).** {rest.strip().split(chr(10) * 2)[0]}\n")
    return "\n".join(parts)


def convert(path: Path) -> Page:
    """A notebook as a page."""
    page, parts = Page(), []
    for cell in _cells(path):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(_links(source))
            continue
        if cell["cell_type"] != "code" or not source.strip():
            continue
        language = "sql" if source.startswith(_SQL) else "python"
        parts.append(f"```{language}\n{source}\n```")
        for output in cell["outputs"]:
            rendered = _output(output)
            if rendered:
                parts.append(f"pnb-output-{len(page.outputs)}")
                page.outputs.append(rendered)
    page.text = "\n\n".join(parts) + "\n"
    return page


def with_outputs(html: str, outputs: list[str]) -> str:
    """The page with each output in its place."""
    return _PLACE.sub(lambda match: f'<div class="pnb-output">{outputs[int(match[1])]}</div>', html)


def _cells(path: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(path.read_text())["cells"]
    return cells


def _links(source: str) -> str:
    """Links to other tutorials and to pages of the docs, as they are on the site."""
    source = re.sub(r"\]\((\d\d-[\w-]+)\.ipynb", r"](\1.md", source)
    source = re.sub(r"\]\(START\.ipynb", "](index.md", source)
    return re.sub(r"\]\(\.\./docs/", "](../", source)


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        return "".join(data["text/html"])
    if "image/svg+xml" in data:
        return "".join(data["image/svg+xml"])
    if "image/png" in data:
        return f'<img alt="" src="data:image/png;base64,{"".join(data["image/png"]).strip()}">'
    text = "".join(data.get("text/plain", output.get("text", output.get("traceback", ""))))
    return f"<pre>{html_module.escape(_ANSI.sub('', text))}</pre>" if text.strip() else ""
