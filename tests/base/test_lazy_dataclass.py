"""Classes of `paimon_nb.base.lazy_dataclass` behave as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
from dataclasses import field
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

import paimon_nb
from paimon_nb.base import lazy_dataclass

PACKAGE = Path(paimon_nb.__file__).parent


def _classes(dataclass):
    """The same classes, made by one of the two decorators."""

    @dataclass(frozen=True, slots=True)
    class Point:
        """Two numbers."""

        x: int
        y: float = 0.5

    @dataclass(frozen=True, slots=True)
    class Empty:
        """No field."""

    @dataclass(frozen=True)
    class Named:
        """With a factory, fields that do not count, and a computed one."""

        limit: ClassVar[int] = 3
        name: str
        tags: list[str] = field(default_factory=list, compare=False)
        note: str | None = field(default=None, compare=False, repr=False)
        text: str = field(init=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "text", self.name.upper())

    @dataclass(frozen=True)
    class Longer(Named):
        """Inherits fields."""

        length: int = field(kw_only=True)

    @dataclass(slots=True)
    class Counter:
        """Changes."""

        count: int = 0
        history: list[int] = field(default_factory=list)
        started: int = field(init=False, default=7)

    @dataclass
    class Own:
        """Methods of its own stay."""

        a: int

        def __repr__(self) -> str:
            return "mine"

        def __eq__(self, other: object) -> bool:
            return True

    @dataclass(frozen=True, kw_only=True)
    class Keywords:
        """No positions."""

        a: int
        b: int = 2

    return SimpleNamespace(**{k: v for k, v in locals().items() if isinstance(v, type)})


OURS, STANDARD = _classes(lazy_dataclass.dataclass), _classes(dataclasses.dataclass)


@lazy_dataclass.dataclass(frozen=True, slots=True)
class Stored:
    """Of the module, so that pickle finds it."""

    a: int
    b: tuple[int, ...] = ()


def _outcome(act):
    try:
        return act()
    except Exception as error:
        return type(error), str(error)


MADE = {
    "defaults": lambda c: c.Point(1),
    "positions": lambda c: c.Point(1, 2.0),
    "no field": lambda c: c.Empty(),
    "a factory": lambda c: c.Named("a"),
    "inherited fields": lambda c: c.Longer("a", ["t"], "n", length=4),
    "mutable": lambda c: c.Counter(3),
    "methods of its own": lambda c: c.Own(1),
    "keywords": lambda c: c.Keywords(a=1),
    "too many": lambda c: c.Point(1, 2, 3),
    "missing": lambda c: c.Longer("a"),
    "unknown": lambda c: c.Counter(other=1),
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_objects_are_those_of_the_standard_decorator(make, compiled):
    ours = _classes(lazy_dataclass.dataclass)  # no object was made of these

    def seen(classes):
        if compiled:
            for cls in vars(classes).values():
                inspect.signature(cls)
        made = _outcome(lambda: make(classes))
        if isinstance(made, tuple):
            return made  # the error
        cls = type(made)
        names = [f.name for f in dataclasses.fields(made)]
        return {
            "values": {n: getattr(made, n) for n in names},
            "text": repr(made),
            "equal": (made == make(classes), made == copy.copy(made), made == 1),
            "hash": _outcome(lambda: hash(made) == hash(make(classes))),
            "assign a field": [_outcome(lambda n=n: setattr(make(classes), n, 1)) for n in names],
            "delete": [_outcome(lambda n=n: delattr(make(classes), n)) for n in names],
            "signature": str(inspect.signature(cls)),
            "annotations": cls.__init__.__annotations__,
            "match": cls.__match_args__,
            "doc": cls.__doc__,
            "name": cls.__init__.__qualname__,
            "dict": hasattr(made, "__dict__"),
        }

    assert seen(ours) == seen(STANDARD)


def test_fields_that_do_not_compare_are_left_out():
    named = OURS.Named("a", ["x"], "n")

    assert named == OURS.Named("a")
    assert hash(named) == hash(OURS.Named("a"))
    assert dataclasses.replace(named, name="b") == OURS.Named("b")
    assert OURS.Named("a").tags is not OURS.Named("a").tags


def test_subclasses_of_a_frozen_class_may_have_attributes_of_their_own():
    class More(OURS.Named):
        pass

    more = More("a")
    more.extra = 1

    assert more.extra == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        more.name = "b"


def test_frozen_objects_without_a_dict_are_pickled():
    stored = Stored(1, (2, 3))

    assert pickle.loads(pickle.dumps(stored)) == stored
    assert copy.deepcopy(stored) == stored


def test_init_is_compiled_for_the_third_object():
    @lazy_dataclass.dataclass(frozen=True, slots=True)
    class Late:
        """Not used yet."""

        a: int

    compiled = [(Late(n).a, inspect.isfunction(vars(Late)["__init__"])) for n in range(3)]

    assert compiled == [(0, False), (1, False), (2, True)]


def test_every_class_of_the_package_is_made_by_it():
    files = [f for f in PACKAGE.rglob("*.py") if f.name != "lazy_dataclass.py"]
    standard = re.compile(r"^ *(?:from dataclasses import .*\bdataclass\b|@dataclasses\.dataclass)", re.MULTILINE)
    assert [str(f) for f in files if standard.search(f.read_text(encoding="utf-8"))] == []
