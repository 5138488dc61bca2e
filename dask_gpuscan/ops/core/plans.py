"""What calls share: operations, made once for the same arguments, and plans for frames and columns of some dtypes.

A plan depends on no values. A planned operation is checked once for columns of a class and of some dtypes; errors are
raised each time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from ...frames.registry import library_of
from ...frames.types import Column
from ...kernels.arrays import DTYPE
from ...kernels.bounded_cache import BoundedCache

T = TypeVar("T")

OfArray = Callable[[np.ndarray], Any]
"""Returns the answers for all rows of a NumPy array; None for one that it does not take, such as a long one."""


def refuse(array: np.ndarray) -> None:
    """Return None, as a function that takes no array."""


PLAIN = frozenset((bool, int, float, str, type(None)))
"""Types of arguments that hold no object of the caller."""

LONGEST = 1024
"""Characters of arguments that are kept, at most."""

MADE: BoundedCache[tuple[Any, ...], Any] = BoundedCache()


def made_once(make: Callable[..., T], *given: Any, **options: Any) -> T:
    """Return what a function makes of arguments: for the same plain ones the same object, which must not be changed.

    Errors are raised each time.
    """
    types = tuple(map(type, (*given, *options.values()) if options else given))
    if not PLAIN.issuperset(types):
        return make(*given, **options)
    # types tell 1 from 1.0 and True
    facts: Any = (given, *options.items()) if options else given
    if float in types:
        facts = _text(facts)  # which tells 0.0 from -0.0
    key = make, types, facts
    found: T | None = MADE.get(key)
    if found is None:
        found = make(*given, **options)
        if len(_text(facts)) <= LONGEST:
            MADE.store(key, found)
    return found


Signature = tuple[type, tuple[Hashable, ...], tuple[Any, ...], tuple[Hashable, ...]]

LABELS = frozenset((int, str, type(None)))
"""Types of labels that are the same if they are equal."""

MOST_LABELS = 1 << 16
"""Labels of frames whose plans are kept at once, about: a sum and a running sum of groups keep 380 bytes for each."""

SHARED: BoundedCache[Any, BoundedCache[Any, Any]] = BoundedCache()


def signature_of(frame: Any) -> Signature | None:
    """Return the class, labels and dtypes of a frame or series, and the names of its index; None if these are no key.

    A dtype with categories is no key: those of pandas take long to hash, and those of cuDF have no hash, as others.
    """
    library, one = library_of(frame), frame.ndim == 1
    names = (frame.name,) if one else tuple(library.names(frame))
    dtypes = (frame.dtype,) if one else tuple(library.dtypes(frame))
    levels = tuple(library.index_names(frame))
    if len(names) > LONGEST or not LABELS.issuperset(map(type, (*names, *levels))):
        return None
    for dtype in dtypes:
        if not isinstance(dtype, np.dtype) and (hasattr(dtype, "categories") or not dtype.__hash__):
            return None
    return type(frame), names, dtypes, levels


def shared_plans(
    signature: Signature | None, labels: tuple[Any, ...], *facts: Hashable
) -> BoundedCache[Any, Any]:
    """Return the plans of calls for frames of one signature, with the same labels and facts as arguments.

    Plans are the caller's alone without a signature, and for labels that may be equal and not the same.
    """
    if signature is None or not LABELS.issuperset(map(type, labels)):
        return BoundedCache()
    key = signature, labels, facts
    found = SHARED.get(key)
    if found is None:
        if len(SHARED) * len(signature[1]) >= MOST_LABELS:
            SHARED.clear()
        found = SHARED.store(key, BoundedCache())
    return found


def _text(facts: Any) -> str:
    """Return the text of arguments; one that is too long to be kept for integers of too many digits."""
    try:
        return repr(facts)
    except ValueError:
        return " " * (LONGEST + 1)


class Planned:
    """An object that keeps the plans that it made; they are not a field, and not in tokens or pickles."""

    by_name: ClassVar[bool] = False
    """Whether the plan for a column depends on its name."""

    def bound(self, column: Column) -> OfArray | None:
        """Return a function that answers all rows of columns of a dtype as one group; None if there is none."""
        return None

    if TYPE_CHECKING:

        @property
        def plans(self) -> BoundedCache[Any, Any]:
            """The plans, by what they are for."""

    else:

        def __getattr__(self, name: str) -> Any:
            if name != "plans":
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return vars(self).setdefault(name, BoundedCache())

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "plans"}


class PlannedOperation(Planned):
    """An operation whose check looks at dtypes alone: dtypes are checked and planned for when they are first met."""

    if TYPE_CHECKING:

        def dtype(self, columns: Sequence[Column]) -> Any:
            """Dtype of the answer; raises what the user should see before anything is computed."""

    def plan(self, columns: Sequence[Column]) -> Any:
        """Return the operation for columns of their dtypes, which it checks."""
        return self

    def bound(self, column: Column) -> OfArray | None:
        plan, _ = self.planned([column])
        found: OfArray | None = None if plan is self else plan.bound(column)
        return found

    def planned(self, columns: Sequence[Column]) -> tuple[Any, Any]:
        """Return the operation for these columns and the dtype of its answer; raises what users should see.

        A dtype with categories has no plan: those of pandas take long to hash, and a plan would keep them; those of
        cuDF have no hash.
        """
        dtypes = tuple(map(DTYPE, columns))
        key: tuple[Any, ...] | None = (*map(type, columns[:1]), *dtypes)
        for dtype in dtypes:
            if hasattr(dtype, "categories"):
                key = None
                break
        found = None if key is None else self.plans.get(key)
        if found is None:
            plan = self.plan(columns)
            found = plan, plan.dtype(columns)
            if key is not None:
                self.plans.store(key, found)
        return found

    def planned_each(self, columns: Sequence[Column]) -> tuple[list[Any], list[Any]]:
        """Return what `planned` returns for each of some columns, as two lists."""
        # no names are kept, unless they matter: frames may have ever new ones
        facts = NAME_AND_DTYPE if self.by_name else DTYPE
        key = ("each", *map(type, columns[:1]), *map(facts, columns))
        has_plan = True
        for column in columns:
            if hasattr(column.dtype, "categories"):
                has_plan = False
        found = self.plans.get(key) if has_plan else None
        if found is None:
            pairs = [self.planned([column]) for column in columns]
            found = [plan for plan, _ in pairs], [dtype for _, dtype in pairs]
            if has_plan:
                self.plans.store(key, found)
        return found


NAME_AND_DTYPE = attrgetter("name", "dtype")
