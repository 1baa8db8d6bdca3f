"""Plugins: connectors, message formats, procedures and more that other packages add, by entry point or by the name of a module.

A package that is installed beside this one declares entry points in its `pyproject.toml`:

    [project.entry-points."paimon_nb.procedures"]
    hello = "my_package:HELLO"

A module that is not installed is named when a workbench is opened, `connect(options={"plugins": "my_module"})`. It has a
dictionary `PAIMON_NB_PLUGINS`: group -> name -> object. Only `connect` takes that option: a text that is stored in a warehouse or
catalog never names code.

docs/plugins.md lists the groups and what each expects.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PluginError
from paimon_nb.base.plugins import PluginGroup
from paimon_nb.base.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PANELS: Registry[Callable[[Any, str], Any]] = Registry(
    "panel",
    {},
    plugins=PluginGroup("panels", "a function from a Workbench and a text to something that Jupyter displays"),
)
"""`%paimon NAME ...` calls one with the workbench and the rest of the line. The built-in panels are in `notebook`."""

ATTRIBUTE = "PAIMON_NB_PLUGINS"
"""The dictionary in a module that is named by the option `plugins`."""
_REGISTRIES = (
    "catalog.open:METASTORES",
    "connectors.formats.registry:ENCODERS",
    "connectors.formats.registry:ROW_DECODERS",
    "connectors.registry:SINKS",
    "connectors.registry:SOURCES",
    "fs.open:FILE_SYSTEMS",
    "plugins:PANELS",
    "procedures:PROCEDURES",
    "table.lsm.merge.aggregate:AGGREGATES",
    "table.tables.system.registry:SYSTEM_TABLES",
    "table.write.maintenance.mark_done:PARTITION_DONE_ACTIONS",
)
"""Where plugins are registered. Imported only for the option `plugins` and for docs: entry points are found by each registry."""


def plugin_groups() -> dict[str, PluginGroup]:
    """All groups by name."""
    groups = {}
    for address in _REGISTRIES:
        module, _, name = address.partition(":")
        group: PluginGroup = getattr(import_module(f"paimon_nb.{module}"), name).plugins
        groups[group.name] = group
    return groups


def load_plugins(modules: str) -> None:
    """Add the plugins of modules to this process.

    Args:
        modules: names of modules, separated by commas.

    Raises:
        PluginError: a module cannot be imported, has no `PAIMON_NB_PLUGINS`, or an entry is not what its group expects.
            Nothing of that module is added then.
    """
    groups = plugin_groups()
    for module in filter(None, (m.strip() for m in modules.split(","))):
        declared = _declared_by(module)
        for group, plugins in declared.items():
            if group not in groups:
                raise PluginError(
                    f"module {module!r}: there is no group of plugins {group!r}",
                    hint=f"groups: {', '.join(sorted(groups))}",
                    module=module,
                )
            groups[group].check(module, plugins)
        for group, plugins in declared.items():
            groups[group].add(module, plugins)


def _declared_by(module: str) -> Mapping[str, Mapping[str, Any]]:
    try:
        declared = getattr(import_module(module), ATTRIBUTE, None)
    except Exception as error:
        raise PluginError(
            f"module {module!r} of the option 'plugins' cannot be imported: {type(error).__name__}: {error}",
            hint="install it, or correct the name",
            module=module,
        ) from error
    if not isinstance(declared, dict) or not all(isinstance(v, dict) for v in declared.values()):
        raise PluginError(
            f"module {module!r} has no dictionary {ATTRIBUTE}: group -> name -> object",
            hint="docs/plugins.md shows one",
            module=module,
        )
    return declared
