"""The door of a room whose modules are loaded when a name of theirs is first asked for: who needs one rule loads that rule only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_getattr(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The room's `__getattr__` (PEP 562).

    Args:
        modules: for each module of the room the names that it gives to the door, with blanks between. A name that is a module's
            own would be hidden by that module once it is loaded, so it cannot be among them.
    """
    home = {name: module for module, names in modules.items() for name in names.split()}
    assert not home.keys() & modules.keys()

    def fetch(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return fetch
