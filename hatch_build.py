"""Build hook: project URLs and README badges, derived from one setting.

The setting is `[tool.paimon_nb] project-url` in pyproject.toml. It is empty until the project has a public address; then
the package metadata gets its URLs, the documentation site its repository link, and the README its badges and the line that clones.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

try:
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ImportError:  # the documentation and the tests import the functions without a build
    MetadataHookInterface = object  # type: ignore[assignment, misc]

PYPROJECT = Path(__file__).with_name("pyproject.toml")


def project_url() -> str:
    """The address of the repository without a trailing slash, or ''."""
    setting: str = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["paimon_nb"]["project-url"]
    return setting.rstrip("/")


def urls(address: str) -> dict[str, str]:
    """The URLs of the package's metadata."""
    if not address:
        return {}
    return {
        "Homepage": address,
        "Source": address,
        "Issues": f"{address}/issues",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
    }


def badges(address: str) -> str:
    """The README's line of badges."""
    return (
        f"[![ci]({address}/actions/workflows/ci.yml/badge.svg)]({address}/actions/workflows/ci.yml)" if address else ""
    )


def clone_command(address: str) -> str:
    """The README's first command; '' without an address."""
    return f"git clone {address} && cd {address.rsplit('/', 1)[1]}" if address else ""


class ProjectUrls(MetadataHookInterface):
    """Hatch calls it while it builds the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the project's URLs."""
        metadata["urls"] = urls(project_url())


def get_metadata_hook() -> type[MetadataHookInterface]:
    """Named by Hatch's plugin interface."""
    return ProjectUrls
