"""Dataclasses whose methods are written late are dataclasses, whoever asks for what first, in many threads too."""

import dataclasses
import inspect
import multiprocessing
import os
import threading
from dataclasses import FrozenInstanceError, field, replace

import pytest

from dask_gpuscan.kernels.late_dataclass import _Late, dataclass
from helpers.threads import THREADS, at_once


@dataclass(frozen=True)
class Point:
    """A point."""

    x: int
    y: int = 2


@dataclass(frozen=True, eq=False)
class Named(Point):
    """A point with a name, and what follows from it."""

    names: list = field(default_factory=list)
    title: str = field(default="p", repr=False)

    def __post_init__(self):
        object.__setattr__(self, "twice", 2 * self.x)


@dataclass()
class Changing:
    """What may change."""

    x: int = 1


class Plain(Point):
    """No dataclass of its own."""


def pending():
    @dataclass(frozen=True)
    class Fresh:
        """One that nobody has used."""

        x: int
        y: tuple = field(default=())

    assert isinstance(vars(Fresh)["__init__"], _Late)
    return Fresh


def made_without_a_call(cls, **content):
    """As pickle makes an object."""
    found = cls.__new__(cls)
    vars(found).update(content)
    return found


ASKED = {
    "init": lambda cls: cls(1),
    "repr": lambda cls: repr(made_without_a_call(cls, x=1, y=())),
    "eq": lambda cls: made_without_a_call(cls, x=1, y=()) == made_without_a_call(cls, x=1, y=()),
    "hash": lambda cls: hash(made_without_a_call(cls, x=1, y=())),
    "fields": dataclasses.fields,
    "signature": inspect.signature,
    "match_args": lambda cls: cls.__match_args__,
    "replace": lambda cls: replace(made_without_a_call(cls, x=1, y=()), x=2),
}


@pytest.mark.parametrize("what", ASKED)
def test_what_is_asked_for_first_has_all_written(what):
    cls = pending()
    expected = dataclasses.dataclass(frozen=True)(
        type("Fresh", (), {"__annotations__": {"x": int, "y": tuple}, "y": ()})
    )
    found, wanted = ASKED[what](cls), ASKED[what](expected)
    if what in ("eq", "hash", "match_args"):
        assert found == wanted
    assert not any(isinstance(value, _Late) for value in vars(cls).values())
    assert cls(1) == cls(1) != cls(2)
    assert cls(1) in {cls(1)}
    assert cls(1).y == cls.y == ()


def test_fields_cannot_be_set():
    plain = Plain(1)
    plain.z = 3  # of a class that is no dataclass itself
    for change in (
        lambda: setattr(Point(1), "x", 3),
        lambda: setattr(Point(1), "z", 3),
        lambda: delattr(Point(1), "x"),
        lambda: setattr(plain, "x", 2),
    ):
        with pytest.raises(FrozenInstanceError, match=r"cannot (assign to|delete) field"):
            change()
    changing = Changing()
    changing.x = 2
    assert changing == Changing(2)
    with pytest.raises(TypeError, match="unhashable"):
        hash(changing)


def test_classes_that_inherit():
    named = Named(3)
    assert (named.x, named.y, named.names, named.title, named.twice) == (3, 2, [], "p", 6)
    assert repr(named) == "Named(x=3, y=2, names=[])"
    assert named == Named(3, names=[1])  # by the comparison of `Point`, as it has none of its own
    assert [each.name for each in dataclasses.fields(Named)] == ["x", "y", "names", "title"]
    assert Plain(1) == Plain(1) != Point(1)
    match Point(1, 5):
        case Point(1, y):
            assert y == 5


@pytest.mark.parametrize(
    "options",
    [{}, *({each: False} for each in ("init", "repr", "eq", "match_args"))]
    + [{each: True} for each in ("frozen", "kw_only", "unsafe_hash")],
)
def test_classes_have_what_those_of_dataclasses_have(options):
    made = []
    for maker in (dataclass, dataclasses.dataclass):

        class Some:
            """What has fields once it is made a dataclass."""

            x: int = 1

        cls = maker(**options)(Some)
        assert dataclasses.fields(cls)
        made.append(dict(vars(cls)))
        assert not any(isinstance(value, _Late) for value in vars(Some).values())
    mine, theirs = made
    assert mine.keys() == theirs.keys()
    for name in mine:
        for names in "__name__", "__qualname__":
            assert getattr(mine[name], names, None) == getattr(theirs[name], names, None)


@pytest.mark.parametrize("option", ["order", "slots", "weakref_slot", "no_such_option"])
def test_options_that_would_not_work_are_refused(option):
    with pytest.raises(TypeError, match=f"found {option}; dataclasses.dataclass takes others"):
        dataclass(frozen=True, **{option: True})


def test_threads_that_ask_at_once():
    for _ in range(30):
        cls = pending()
        asked = lambda cls=cls: (cls(1) == cls(1), cls(1).y, hash(cls(2)) == hash(cls(2)))  # noqa: E731
        assert at_once(asked) == [(True, (), True)] * THREADS


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*")
def test_forks_while_others_ask():
    """No child finds the lock held by a thread that it does not have."""
    ends = threading.Event()

    def ask():
        while not ends.is_set():
            pending()(1)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for each in threads:
        each.start()
    try:
        context = multiprocessing.get_context("fork")
        for _ in range(20):
            child = context.Process(target=lambda: pending()(1))
            child.start()
            child.join(20)
            assert child.exitcode == 0
    finally:
        ends.set()
        for each in threads:
            each.join()
