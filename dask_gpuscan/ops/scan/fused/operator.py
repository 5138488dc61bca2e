"""One operator of several, whose state is their states side by side.

Each is a `Lane`. A lane may take flags for rows that are left out or missing, may answer with the state before
each row rather than after it, and may write nulls itself. The texts that are evaluated here are made of counts alone;
functions of operators and of users are captured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .... import kernels
from ....kernels import Operator
from ....kernels.late_dataclass import dataclass
from ....kernels.nulls import NAT

Function = Callable[..., Any]


@dataclass(frozen=True)
class Lane:
    """An operator whose states and answers are flat tuples.

    Parameters
    ----------
    combine, lift, lower : callable
        As of an operator.
    identity : tuple of scalars
    dtypes : tuple of dtypes
        Of the fields of its state.
    elements : int
        How many parameters `lift` has.
    checked : str
        The operator's name, if it is to be tried on the data.
    """

    combine: Function
    lift: Function
    lower: Function
    identity: tuple[Any, ...]
    dtypes: tuple[np.dtype, ...]
    elements: int
    checked: str = ""

    @property
    def width(self) -> int:
        """How many fields a state has."""
        return len(self.dtypes)


def captured(text: str, **values: Any) -> Any:
    """Evaluate a text of this package with these names and values."""
    return eval(f"lambda {', '.join(values)}: {text}")(*values.values())


def listed(letter: str, count: int) -> str:
    """Return `count` names, with commas between them."""
    return ", ".join(f"{letter}{i}" for i in range(count))


def _truth(x):  # type: ignore[no-untyped-def]
    return x != 0


def _pick(flag, a, b):  # type: ignore[no-untyped-def]
    return a if flag else b


def _cast(dtype: np.dtype) -> Function:
    """Return a function that casts a number to a dtype."""
    return _truth if dtype.kind == "b" else dtype.type


def _typed(dtypes: Sequence[np.dtype]) -> Function:
    """Return a function that casts the fields of a tuple to these dtypes."""
    parts = "".join(f"k{i}(r[{i}]), " for i in range(len(dtypes)))
    made: Function = captured(
        f"lambda r: ({parts})", **{f"k{i}": _cast(d) for i, d in enumerate(dtypes)}
    )
    return made


def _identity(of: Lane) -> Function:
    """Return a function that returns the identity of a lane."""
    numbers = {f"i{k}": part for k, part in enumerate(of.identity)}
    made: Function = captured(
        f"lambda: t(({''.join(f'{n}, ' for n in numbers)}))", t=_typed(of.dtypes), **numbers
    )
    return made


def lane(op: Operator, inputs: Sequence[np.dtype], answer: np.dtype) -> Lane:
    """Return an operator as a lane, for inputs of these dtypes and answers of one dtype."""
    types = kernels.signature(op, inputs, answer)
    elements = listed("x", op.inputs)
    whole = "(c(a[0], b[0]),)" if types.scalar_state else "c(a, b)"
    lifted = f"({elements},)"
    if op.lift is not None:
        lifted = f"(f({elements}),)" if types.scalar_state else f"f({elements})"
    state = "s[0]" if types.scalar_state else "s"
    lowered = state if op.lower is None else f"f({state})"
    typed = _typed(types.state)
    return Lane(
        captured(f"lambda a, b: t({whole})", t=typed, c=op.combine),
        captured(f"lambda {elements}: t({lifted})", t=typed, f=op.lift),
        captured(f"lambda s: (k({lowered}),)", k=_cast(answer), f=op.lower),
        tuple(part.item() for part in types.parts(types.identity)),
        types.state,
        op.inputs,
        op.name if op.check else "",
    )


@dataclass(frozen=True)
class Marks:
    """How a lane treats rows that are left out or missing.

    Parameters
    ----------
    exclusive : bool
        Whether an answer is that of the state before its row.
    nulls : {"", "in band", "mask"}
        Whether answers may be null, and whether a null is a value or a flag in one more answer.
    seen : bool
        Whether answers are null before the first element.
    skipna : bool
        Whether only missing rows are null; else all answers from the first one on are.
    """

    exclusive: bool = False
    nulls: str = ""
    seen: bool = False
    skipna: bool = True


def marked(of: Lane, marks: Marks, answer: np.dtype) -> Lane:
    """Return a lane whose lift first takes whether a row is kept, and whether it is missing.

    Its state is that of `_passing`; for exclusive answers, that of all rows but the last comes before it. The last
    field describes the last row: 0 if there is none, 2 if its answer is null, else 1.
    """
    inner = _passing(of, marks)
    w, elements = inner.width, listed("x", of.elements)
    own, row = f"{w}:{2 * w}" if marks.exclusive else f":{w}", w * (1 + marks.exclusive)
    last = f"pick(b[{row}] != 0, b[{row}], a[{row}])"
    before, none = "", ""
    if marks.exclusive:
        before = f"*pick(b[{row}] != 0, c(a[{own}], b[:{w}]), a[:{w}]), "
        none = "*none(), "
    null = "missing | (not keep)" if marks.skipna else "not keep"
    n = of.width
    value, test = f"f(s[:{n}])[0]", f"(s[{row}] == 2)"
    test += f" | (not s[{n}])" if marks.seen else ""
    test += "" if marks.skipna else f" | s[{n + marks.seen}]"
    answers = {
        "": f"({value},)",
        "in band": f"(pick({test}, null(), {value}),)",
        "mask": f"({value}, {test})",
    }
    null_value = (
        answer.type(NAT if answer.kind == "i" else np.nan).item() if marks.nulls == "in band" else 0
    )
    return Lane(
        captured(
            f"lambda a, b: ({before}*c(a[{own}], b[{own}]), {last})", pick=_pick, c=inner.combine
        ),
        captured(
            f"lambda keep, missing, {elements}: ({none}*f(keep, missing, {elements}), k(1 + ({null})))",
            none=_identity(inner),
            f=inner.lift,
            k=np.int32,
        ),
        captured(
            f"lambda s: {answers[marks.nulls]}",
            pick=_pick,
            null=captured("lambda: k(x)", k=_cast(answer), x=null_value),
            f=of.lower,
        ),
        (*inner.identity * (1 + marks.exclusive), 0),
        (*inner.dtypes * (1 + marks.exclusive), np.dtype(np.int32)),
        of.elements + 2,
        of.checked,
    )


def _passing(of: Lane, marks: Marks) -> Lane:
    """Return a lane that passes over rows that are left out or missing.

    Its state is that of the lane and, if `marks` need them, whether there was an element, and whether a kept row was
    missing.
    """
    n, more = of.width, marks.seen + (not marks.skipna)
    flags = "".join(f", a[{k}] | b[{k}]" for k in range(n, n + more))
    elements = listed("x", of.elements)
    asked = (", keep & (not missing)" if marks.seen else "") + (
        "" if marks.skipna else ", keep & missing"
    )
    return replace(
        of,
        combine=captured(f"lambda a, b: (*c(a[:{n}], b[:{n}]){flags},)", c=of.combine)
        if more
        else of.combine,
        lift=captured(
            f"lambda keep, missing, {elements}: "
            f"(*pick(keep & (not missing), f({elements}), none()){asked},)",
            pick=_pick,
            f=of.lift,
            none=_identity(of),
        ),
        identity=(*of.identity, *[False] * more),
        dtypes=(*of.dtypes, *[np.dtype(np.bool_)] * more),
    )


def fused_operator(
    lanes: Sequence[Lane], elements: Sequence[str], calls: Sequence[str], **functions: Function
) -> Operator:
    """Return the operator that is several lanes at once.

    Parameters
    ----------
    lanes : sequence of Lane
    elements : sequence of str
        The names of its inputs.
    calls : sequence of str
        The call that lifts each lane, in terms of these names and of `functions`.
    """
    ends = np.cumsum([each.width for each in lanes]).tolist()
    own = [f"{end - each.width}:{end}" for each, end in zip(lanes, ends, strict=True)]
    combines = "".join(f"*c{i}(a[{o}], b[{o}]), " for i, o in enumerate(own))
    lowers = "".join(f"*c{i}(s[{o}]), " for i, o in enumerate(own))
    lifts = "".join(f"*c{i}({call}), " for i, call in enumerate(calls))

    def beside(text: str, parts: list[Function], **more: Function) -> Any:
        return captured(text, **{f"c{i}": part for i, part in enumerate(parts)}, **more)

    identity: Any = tuple(part for each in lanes for part in each.identity)
    checked = [each.checked for each in lanes if each.checked]
    given, combined, lifted = ", ".join(elements), f"({combines})", f"({lifts})"
    lowered = beside(f"lambda s: ({lowers})", [each.lower for each in lanes])
    if len(identity) == 1:  # a state of one field is a scalar
        (identity,) = identity
        combined = "c0((a,), (b,))[0]"
        lifted, lowered = f"{lifted}[0]", captured("lambda s: f((s,))", f=lowered)
    return Operator(
        beside(f"lambda a, b: {combined}", [each.combine for each in lanes]),
        identity,
        beside(f"lambda {given}: {lifted}", [each.lift for each in lanes], **functions),
        lowered,
        name=" beside ".join(checked) or "fused",
        inputs=len(elements),
        check=bool(checked),
    )
