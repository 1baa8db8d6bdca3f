"""MkDocs hooks: pages that are generated, links that leave `docs/`, and the check of public docstrings.

MkDocs loads this file by its path, see `hooks` in mkdocs.yml.
"""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import option_page  # noqa: E402
import public_api  # noqa: E402
import tutorials  # noqa: E402

from hatch_build import project_url  # noqa: E402

log = logging.getLogger("mkdocs.hooks.paimon_nb")
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>\.\./[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
_outputs: dict[str, list[str]] = {}


def on_config(config: Any) -> Any:
    """The repository's address, where there is one."""
    if project_url():
        config.repo_url = project_url()
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages. Warnings end a strict build."""
    for problem in public_api.problems():
        log.warning("public API: %s", problem)
    pages = {
        "reference/options.md": option_page.page(),
        "tutorials/index.md": tutorials.index(),
    }
    for notebook in tutorials.notebooks():
        page = tutorials.convert(notebook)
        pages[f"tutorials/{notebook.stem}.md"] = page.text
        _outputs[f"tutorials/{notebook.stem}.md"] = page.outputs
    for place, text in pages.items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """A link to a file outside `docs/` leads to its page on the site, else to the repository, else is only its text."""
    source = page.file.src_uri

    def outside(match: re.Match[str]) -> str:
        place = (ROOT / "docs" / source).parent / match["target"]
        if place.resolve().is_relative_to(ROOT / "docs"):
            return match[0]
        if not place.exists():
            log.warning("%s links to %s, which is not there", source, match["target"])
            return match[0]
        inside = place.resolve().relative_to(ROOT)
        if inside.suffix == ".ipynb" and inside.parts[0] == "notebooks":
            name = "index" if inside.stem == "START" else inside.stem
            up = "../" * (len(Path(source).parts) - 1)
            return f"[{match['text']}]({up}tutorials/{name}.md)"
        if project_url():
            return f"[{match['text']}]({project_url()}/blob/main/{inside}{match['anchor'] or ''})"
        return match["text"]

    return _LINK.sub(outside, markdown)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Put the stored outputs of a tutorial in their places."""
    outputs = _outputs.get(page.file.src_uri)
    return tutorials.with_outputs(html, outputs) if outputs else html
