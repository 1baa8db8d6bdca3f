"""Groups of plugins: what other packages add to a registry. `paimon_nb.plugins` has all groups."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from importlib.metadata import EntryPoint

PREFIX = "paimon_nb."
"""Of the names of entry point groups."""


class PluginGroup:
    """One kind of plugin.

    Args:
        name: the group, without `paimon_nb.`.
        expects: what an entry has to be, as the object of "is not"; used in errors and docs.
        is_valid: whether an object is that.
    """

    def __init__(self, name: str, expects: str, is_valid: Callable[[Any], bool] = callable) -> None:
        self.name, self.expects, self._is_valid = name, expects, is_valid
        self._named: dict[str, tuple[str, Any]] = {}  # name -> (module, object)
        self._loaded: dict[str, Any] = {}

    def names(self) -> Iterable[str]:
        """Names of all plugins. Loads none."""
        return dict.fromkeys((*self._named, *self._entry_points()))

    def load(self, name: str) -> Any:
        """The plugin of this name.

        Raises:
            KeyError: there is none.
            PluginError: it cannot be imported, is not what the group expects, or two packages have one of this name.
        """
        if name in self._named:
            return self._named[name][1]
        if name not in self._loaded:
            self._loaded[name] = self._load_entry_point(self._entry_points()[name])
        return self._loaded[name]

    def check(self, module: str, plugins: Mapping[str, Any]) -> None:
        """Raise PluginError if `add` cannot take these objects of a module."""
        for name, plugin in plugins.items():
            before = self._named.get(name)
            if before is not None and before[0] != module:
                raise self._ambiguous(name, before[0], module)
            self._check(plugin, name, module)

    def add(self, module: str, plugins: Mapping[str, Any]) -> None:
        """Add objects of a module by name, after `check`. The same module again replaces its own."""
        self._named.update((name, (module, plugin)) for name, plugin in plugins.items())

    def _entry_points(self) -> Mapping[str, tuple[EntryPoint, ...]]:
        return _entry_points(PREFIX + self.name)

    def _load_entry_point(self, found: tuple[EntryPoint, ...]) -> Any:
        point, *others = found
        origin = f"{point.value} of {_distribution(point)}"
        if others:
            raise self._ambiguous(point.name, origin, f"{others[0].value} of {_distribution(others[0])}")
        try:
            plugin = point.load()
        except Exception as error:
            raise PluginError(
                f"plugin {point.name!r} in {PREFIX}{self.name} ({origin}) cannot be loaded: {type(error).__name__}: {error}",
                hint=f"repair or uninstall {_distribution(point)}",
                name=point.name,
            ) from error
        self._check(plugin, point.name, origin)
        return plugin

    def _check(self, plugin: Any, name: str, origin: str) -> None:
        if not self._is_valid(plugin):
            raise PluginError(
                f"plugin {name!r} in {PREFIX}{self.name} ({origin}) is not {self.expects}",
                hint="docs/plugins.md shows one of each group",
                name=name,
            )

    def _ambiguous(self, name: str, first: str, second: str) -> PluginError:
        return PluginError(
            f"two plugins in {PREFIX}{self.name} are called {name!r}: {first} and {second}",
            hint="uninstall one of them",
            name=name,
        )


@cache
def _entry_points(group: str) -> Mapping[str, tuple[EntryPoint, ...]]:
    """By name. The metadata of installed packages is read once a process: that takes some milliseconds."""
    from importlib.metadata import entry_points

    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in entry_points(group=group):
        if point not in found.get(point.name, ()):
            found[point.name] = (*found.get(point.name, ()), point)
    return found


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "an unknown package"
