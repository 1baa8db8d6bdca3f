"""The words that the JupyterLab extension highlights are those of the package."""

from __future__ import annotations

import json
from pathlib import Path

from paimon_nb.options import TABLE_OPTIONS
from paimon_nb.sql.functions import FUNCTIONS
from paimon_nb.sql.keywords import KEYWORDS, TYPE_NAMES

WORDS = Path(__file__).parents[2] / "labextension" / "src" / "editor" / "words.json"


def test_the_words_of_the_editor_are_current() -> None:
    """To update: write `json.dumps(words, indent=1)` with a line break to the file, then `make labextension`."""
    words = {
        "keywords": sorted(KEYWORDS),
        "types": sorted(TYPE_NAMES),
        "functions": sorted(FUNCTIONS),
        "options": sorted(TABLE_OPTIONS),
    }
    assert json.loads(WORDS.read_text()) == words
