"""The tutorials as they lie in the repository: executed in order, with outputs. nbval alone passes an unexecuted one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
LEAST_WITH_OUTPUTS = 0.6


def faults(notebook: dict[str, Any]) -> list[str]:
    """What a reader on GitHub would miss; empty when the notebook may be published."""
    cells = [c for c in notebook["cells"] if c["cell_type"] == "code" and "".join(c["source"]).strip()]
    if not cells:
        return ["no code at all"]
    found = []
    counts = [c.get("execution_count") for c in cells]
    if counts != list(range(1, len(cells) + 1)):
        found.append(f"cells were not run once each, in order: {counts}")
    silent = [i for i, c in enumerate(cells, 1) if not c.get("outputs")]
    if len(silent) > len(cells) * (1 - LEAST_WITH_OUTPUTS):
        found.append(f"{len(silent)} of {len(cells)} code cells have no output: {silent}")
    for i, cell in enumerate(cells, 1):
        tags = cell.get("metadata", {}).get("tags", [])
        for output in cell.get("outputs", ()):
            if output["output_type"] == "error" and "raises-exception" not in tags:
                found.append(f"cell {i} ended in an error: {output['ename']}")
            if output.get("name") == "stderr":
                found.append(f"cell {i} wrote to stderr: {''.join(output['text'])[:80]!r}")
            if "application/vnd.jupyter.widget-view+json" in output.get("data", {}):
                missing = {"text/plain", "image/svg+xml"} - set(output["data"])
                found += [f"cell {i}: a widget without {m}" for m in sorted(missing)]
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_is_stored_with_its_outputs(path: Path) -> None:
    assert faults(json.loads(path.read_text())) == []


def test_there_are_notebooks() -> None:
    assert next(p.stem for p in NOTEBOOKS) == "01-quickstart"


def code(count: int | None, outputs: list[dict[str, Any]]) -> dict[str, Any]:
    return {"cell_type": "code", "source": ["1"], "execution_count": count, "metadata": {}, "outputs": outputs}


PRINTED = {"output_type": "stream", "name": "stdout", "text": ["1\n"]}


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ([], "no code"),
        ([code(None, []), code(None, [])], "not run"),
        ([code(2, [PRINTED]), code(1, [PRINTED])], "in order"),
        ([code(1, [PRINTED]), code(2, []), code(3, [])], "no output"),
        ([code(1, [{"output_type": "error", "ename": "E", "evalue": "", "traceback": []}])], "error"),
        ([code(1, [{**PRINTED, "name": "stderr"}])], "stderr"),
        ([code(1, [{"output_type": "display_data", "data": {"application/vnd.jupyter.widget-view+json": {}}}])], "SVG"),
    ],
    ids=["no-code", "never-run", "out-of-order", "mostly-silent", "failed", "stderr", "widget-only"],
)
def test_the_check_refuses(cells: list[dict[str, Any]], says: str) -> None:
    assert says.lower() in " ".join(faults({"cells": cells})).lower()
