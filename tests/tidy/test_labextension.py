"""The committed bundle of the JupyterLab extension belongs to its sources. `make labextension-check` builds it again."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "labextension"
EXTENSION = ROOT / "paimon_nb" / "notebook" / "labextension"


def bundle() -> Path:
    """The file that JupyterLab loads."""
    described = json.loads((EXTENSION / "package.json").read_text())
    return EXTENSION / str(described["jupyterlab"]["_build"]["load"])


def digest() -> str:
    """The digest of the sources, as build.mjs computes it."""
    sources = sorted(f"src/{p.relative_to(SOURCES / 'src').as_posix()}" for p in (SOURCES / "src").rglob("*") if p.suffix in (".ts", ".css", ".json"))  # fmt: skip
    found = hashlib.sha256()
    for name in ("build.mjs", "package-lock.json", *sources):
        found.update(f"{name}\0".encode() + (SOURCES / name).read_bytes() + b"\0")
    return found.hexdigest()


def test_the_bundle_was_built_from_these_sources() -> None:
    built = re.search(r"^// sources: (\w+)$", bundle().read_text(), re.M)
    assert built is not None
    assert built[1] == digest(), "run make labextension and commit what it writes"


def test_another_content_has_another_name() -> None:
    """Servers let browsers keep the file for a year."""
    assert [p.name for p in (EXTENSION / "static").iterdir()] == [bundle().name]
    assert bundle().name == f"remoteEntry.{hashlib.sha256(bundle().read_bytes()).hexdigest()[:20]}.js"


def test_nothing_is_loaded_from_the_network() -> None:
    text = bundle().read_text()
    assert not re.search(r"https?://(?!www\.w3\.org/)", text)
    assert "innerHTML" not in text


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (SOURCES / "package-lock.json").read_text()
