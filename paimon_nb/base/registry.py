"""Registry of named entries, with a did-you-mean for unknown names. Other packages add entries as plugins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from paimon_nb.base.errors import UnknownName, UnsupportedOperation

if TYPE_CHECKING:
    from paimon_nb.base.plugins import PluginGroup

T = TypeVar("T")


def nearest_known_name(name: str, known: Iterable[str]) -> str | None:
    """The known name closest to `name`, or None if none is close."""
    import difflib

    folded = {k.lower(): k for k in known}
    match = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    return folded[match[0]] if match else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint sentence for a wrong name, or None."""
    near = nearest_known_name(name, known)
    return f"did you mean {near!r}?" if near else None


class Registry(Mapping[str, T], Generic[T]):
    """A name -> entry mapping with the kind of its entries: those given here, and the plugins of a group."""

    unsupported: Mapping[str, str] = {}
    """Names of other engines that have no entry here, with what to use instead."""

    def __init__(self, kind: str, entries: Mapping[str, T], *, plugins: PluginGroup | None = None) -> None:
        """Declares the entries.

        Args:
            kind: what the entries are, for messages.
            entries: the entries of this package. A plugin cannot replace them.
            plugins: where other packages register more.
        """
        self.kind = kind
        self._entries: dict[str, Any] = dict(entries)
        self.plugins = plugins

    def find(self, name: str) -> T:
        """The entry called `name`. Raises `UnknownName` with the nearest known name; UnsupportedOperation: one of `unsupported`."""
        if name not in self and name in self.unsupported:
            raise UnsupportedOperation(f"{self.kind} {name!r} is not supported", hint=self.unsupported[name])
        if name not in self:
            raise UnknownName(
                f"no {self.kind} {name!r}",
                hint=did_you_mean(name, self) or f"known: {', '.join(sorted(self))}",
                name=name,
            )
        return self[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries or any(name == plugin for plugin in self._plugin_names())

    def __getitem__(self, name: str) -> T:
        if name in self._entries:
            return self._own_entry(name)
        if self.plugins is None:
            raise KeyError(name)
        entry: T = self.plugins.load(name)
        return entry

    def _own_entry(self, name: str) -> T:
        entry: T = self._entries[name]
        return entry

    def _plugin_names(self) -> Iterable[str]:
        return () if self.plugins is None else self.plugins.names()

    def __iter__(self) -> Iterator[str]:
        yield from self._entries
        yield from (name for name in self._plugin_names() if name not in self._entries)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class LazyRegistry(Registry[T]):
    """A registry whose entries are imported when they are looked up. Listing and checking names imports nothing."""

    def __init__(
        self, kind: str, package: str, entries: Mapping[str, str], *, plugins: PluginGroup | None = None
    ) -> None:
        """Declares the entries.

        Args:
            kind: what the entries are, for messages.
            package: the package of their modules.
            entries: name -> `module:object`, the module relative to the package.
            plugins: where other packages register more.
        """
        super().__init__(kind, {}, plugins=plugins)
        self._package = package
        self._entries = dict(entries)

    def _own_entry(self, name: str) -> T:
        module, _, attribute = self._entries[name].partition(":")
        return cast("T", getattr(import_module(f"{self._package}.{module}"), attribute))
