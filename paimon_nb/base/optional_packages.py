"""Packages that an extra installs. The error for a missing one has the command that installs it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from paimon_nb.base.errors import EnvironmentError_

if TYPE_CHECKING:
    from types import ModuleType


def import_optional(module: str, missing: str, *, install: str, package: str) -> ModuleType:
    """A module of a package that is not always installed.

    Args:
        missing: what to say without it. install: the requirement for pip, such as `paimon-nb[vector]`.
        package: its name on the package index.

    Raises: EnvironmentError_: it is not installed, or a library that it needs is missing.
    """
    try:
        return import_module(module)
    except (ImportError, OSError) as error:
        raise EnvironmentError_(missing, hint=f"pip install '{install}'", package=package) from error
