"""Values in generated code, which are scalars or tuples of scalars, and the arguments of compiled functions."""

# mypy: disable-error-code="no-untyped-def"

from .late import cgutils, numba


def kinds(kind):
    """Return the types of the elements of a tuple, or the type of a scalar."""
    return list(kind) if isinstance(kind, numba.types.BaseTuple) else [kind]


def parts(builder, kind, value):
    """Return the elements of a tuple, or a scalar as the only one."""
    if isinstance(kind, numba.types.BaseTuple):
        return cgutils.unpack_tuple(builder, value, len(kind))
    return [value]


def form(given, found):
    """Return the type of a tuple of the found types if `given` is a tuple, else the only one of them."""
    return numba.types.Tuple(found) if isinstance(given, numba.types.BaseTuple) else found[0]


def whole(context, builder, kind, values):
    """Return a tuple of values, or the only value."""
    is_tuple = isinstance(kind, numba.types.BaseTuple)
    return context.make_tuple(builder, kind, values) if is_tuple else values[0]


def converted(context, builder, like, kind, value):
    """Convert a scalar or tuple to the types of `like`."""
    each = zip(parts(builder, kind, value), kinds(kind), kinds(like), strict=True)
    return whole(context, builder, like, [context.cast(builder, *one) for one in each])


def passed(context, builder, values, given, wanted):
    """Return the arguments that a compiled function takes, given values: with defaults, and `*args` as a tuple."""
    found = []
    for k, kind in enumerate(wanted):
        if isinstance(kind, (numba.types.StarArgTuple, numba.types.StarArgUniTuple)):
            found.append(context.make_tuple(builder, kind, values[k:]))
        elif isinstance(kind, numba.types.Omitted):
            found.append(context.get_dummy_value())
        else:
            found.append(context.cast(builder, values[k], given[k], kind))
    return found
