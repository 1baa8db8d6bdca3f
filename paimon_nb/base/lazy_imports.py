"""Lazy package exports (PEP 562): a submodule is imported when one of its names is first used."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_getattr(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The package's `__getattr__` (PEP 562).

    Args:
        modules: for each submodule its exported names, separated by blanks. A name equal to a submodule's name is not
            allowed: the loaded submodule would hide it.
    """
    home = {name: module for module, names in modules.items() for name in names.split()}
    assert not home.keys() & modules.keys()

    def import_and_cache(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return import_and_cache
