"""Numba's type of operators: how one travels into compiled code, and its compiled functions."""

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import NativeValue, models, register_model, typeof_impl, unbox

from ..compiler.forms import Form, Linkable
from ..compiler.numba_internals import as_dtype, cgutils, struct_value
from ..compiler.tuples import kinds, whole
from . import calls
from .operator import ROLES, Operator


class OperatorType(Linkable):
    """The Numba type of operators with the same code and, if it is a tuple, identity: its name holds their content.

    Its values are the numbers that the code takes, as a tuple for each function. Its title, the name of the first such
    operator, does not count for equality.
    """

    def __init__(self, kind: calls.OperatorType) -> None:
        code = calls.known.setdefault(kind.code.token, kind.code)
        self.token, self.title, self.identity = code.token, kind.title, kind.identity
        each = [[numba.from_dtype(x.dtype) for x in values] for values in code.values]
        self.values = types.Tuple([types.Tuple(kinds) for kinds in each])
        self.functions = frozenset(role for role in ROLES if code.functions[role] is not None)
        super().__init__(name=f"Operator({kind.content})")

    def generated(self, context: Any, builder: Any, answer: Any, given: list[Any]) -> Any:
        """Generate the given identity; as constants if it is not a function of dtypes.

        Compilers optimise constants away. Sums of 4 million float64 by 1,000 codes, with NaN as nulls, on a core
        without AVX-512: 1.6 ns for each row, 3.3 without.
        """
        if self.identity is None:
            return given[0]
        each = zip(kinds(answer), self.identity, strict=True)
        numbers = [(kind, np.asarray(part).astype(as_dtype(kind)).item()) for kind, part in each]
        found = [context.get_constant_generic(builder, *one) for one in numbers]
        return whole(context, builder, answer, found)

    def compiled(self, name: str, kinds: tuple[Any, ...]) -> Any:
        """Return a function compiled for arguments of these types, including its numbers."""
        function = calls.compiled(self.token, name).made
        *_, given, _ = function.get_call_template(kinds, {})
        return function.overloads[tuple(given)]


@register_model(Form)
@register_model(OperatorType)
class _OperatorModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("values", kind.values)])


@typeof_impl.register(Operator)
def _typeof_operator(op: Operator, context: Any) -> OperatorType:
    found: OperatorType = calls.operator_type(op).numba
    return found


@unbox(Form)
@unbox(OperatorType)
def _unbox_operator(kind: Any, obj: Any, c: Any) -> Any:
    made = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    if not any(kind.values):
        return NativeValue(struct_value(made))
    code = c.pyapi.object_getattr_string(obj, "code")
    values = c.pyapi.object_getattr_string(code, "values")
    found = c.unbox(kind.values, values)
    made.values = found.value
    c.pyapi.decref(values)
    c.pyapi.decref(code)
    return NativeValue(struct_value(made), is_error=found.is_error)
