"""What NumPy-level functions do to their arguments: check, promote, broadcast.

`program` makes such a function run as one compiled program when nothing is traced.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from olympus._src.core import avals, dtypes, ir, reads, trace
from olympus._src.core.array_type import Array
from olympus._src.foundation import (
    array_protocol,
    caching,
    config,
    errors,
    user_warnings,
)
from olympus._src.interpreters import (
    concrete_arrays,
    direct_calls,
    evaluate,
    partial_eval,
)
from olympus._src.lax import elementwise, families, shaping, sharding_constraints, sizes

aval_of = avals.aval_of
convert = elementwise.convert
F = TypeVar("F", bound=Callable[..., Any])
current = trace.current
trace_context = config.trace_context
ArrayImpl = concrete_arrays.ArrayImpl
_eval = evaluate.eval_trace()

# -- one program for one call ----------------------------------------------------------


_OPTION = "out_sharding"


def program(arrays: int = 1, name: str | None = None) -> Callable[[F], F]:
    """Makes a function one compiled program when nothing is traced.

    Args:
      arrays: how many of its leading parameters are arrays; the rest is hashable.
      name: what errors and programs call it; default its own name.
    """

    def wrap(fun: F) -> F:
        named = name or fun.__name__
        if name is not None:
            fun.__name__ = fun.__qualname__ = name
        run: Any = evaluate.fuse(fun)
        programs = run.programs
        sort_arguments = _argument_sorter(fun, arrays)

        def call(*args: Any, **kwargs: Any) -> Any:
            if kwargs and kwargs.get(_OPTION) is not None:
                if not sharding_constraints.is_sum(kwargs[_OPTION]):
                    return divide_result(call, f"numpy.{named}", args, kwargs)
                return fun(*args, **kwargs)  # products take it
            if current.trace is not _eval:
                args = resolve_arrays(args)
                try:
                    out = fun(*args, **kwargs)
                except (TypeError, ValueError) as error:
                    trace.name_operands(error, args)
                    raise
                return as_result(out)
            if len(args) == arrays and not kwargs:
                # Most calls by far: one or two arrays whose program is known.
                x = args[0]
                if type(x) is ArrayImpl:
                    if arrays == 1:
                        executable = programs.get((trace_context(), x.aval))
                        if executable is not None:
                            return executable([x])
                    elif arrays == 2 and type(args[1]) is ArrayImpl:
                        y = args[1]
                        executable = programs.get((trace_context(), x.aval, y.aval))
                        if executable is not None:
                            return executable([x, y])
                return run(*args)
            operands = sort_arguments(args, kwargs)
            if operands is None:  # Python says what is wrong
                return fun(*args, **kwargs)
            return run(*operands, **kwargs)

        call.__name__ = call.__qualname__ = named
        call.__doc__ = fun.__doc__
        call.__module__ = fun.__module__
        call.__wrapped__ = fun  # type: ignore[attr-defined]
        reads.declare_constant(call)
        return direct_calls.direct(named, arrays)(call)  # type: ignore[return-value]

    return wrap


def divide_result(f: Callable[..., Any], what: str, args: Any, kwargs: Any) -> Any:
    """A call of a function, whose result is divided as `out_sharding` says."""
    kwargs = dict(kwargs)
    place = kwargs.pop(_OPTION)
    return sharding_constraints.divide_result(
        lambda *xs: f(*xs, **kwargs), place, what, *args
    )


def divides_result(name: str) -> Callable[[F], F]:
    """Has a function divide its result as the option `out_sharding` says.

    Args:
      name: the function's full name, for messages.
    """

    def wrap(fun: F) -> F:
        names = fun.__code__.co_varnames[: fun.__code__.co_argcount]
        position = names.index(_OPTION) if _OPTION in names else None

        @functools.wraps(fun)
        def call(*args: Any, **kwargs: Any) -> Any:
            if position is not None and len(args) > position:
                kwargs[_OPTION] = args[position]
                args = args[:position]
            if kwargs.get(_OPTION) is None:
                return fun(*args, **kwargs)
            return divide_result(fun, name, args, kwargs)

        reads.declare_constant(call)
        return call  # type: ignore[return-value]

    return wrap


def _argument_sorter(fun: Any, arrays: int) -> Callable[[Any, Any], Any]:
    """What finds the arrays among the arguments of a call of `fun`."""
    code = fun.__code__
    names = code.co_varnames[: code.co_argcount]
    by_position = code.co_posonlyargcount
    values = fun.__defaults__ or ()
    required = len(names) - len(values)
    defaults = dict(zip(names[required:], values, strict=True))

    def sort_arguments(args: Any, kwargs: Any) -> Any:
        """The arrays, or None if the call is wrong; the rest is moved to `kwargs`.

        Defaults of the last arrays are left to the function: its program holds them.
        """
        if len(args) > len(names):
            return None
        for key, value in zip(names[arrays:], args[arrays:], strict=False):
            if key in kwargs:
                return None
            kwargs[key] = value
        operands = args[:arrays]
        for i in range(len(operands)):
            if names[i] in kwargs:
                return None
        n_given = len(operands)
        for i in range(n_given, arrays):
            if i < by_position or (names[i] not in kwargs and i < required):
                return None
            if names[i] in kwargs:
                n_given = i + 1
            operands += (kwargs.pop(names[i], defaults.get(names[i])),)
        return operands[:n_given]

    return sort_arguments


_HOST_SCALARS = [dtype.type for dtype in dtypes.supported_dtypes()]
_HOST_VALUES = frozenset((bool, int, float, complex, np.ndarray, *_HOST_SCALARS))


def as_result(x: Any) -> Any:
    """A result; an argument that comes back as it was, as the array it stands for."""
    if type(x) not in _HOST_VALUES:
        return x
    aval = aval_of(x)
    if aval.dtype == dtypes.float0:  # which no device holds
        return x
    return concrete_arrays.put(np.asarray(x).astype(aval.dtype), aval, None)


# -- checks ----------------------------------------------------------------------------


def check_arraylike(name: str, *args: Any) -> None:
    """`check_arrays` for a function of `numpy`."""
    check_arrays("numpy", name, *args)


def check_numbers(name: str, *args: Any) -> None:
    """Raises TypeError where an array holds no numbers, as random keys do."""
    for x in args:
        if x is not None and dtypes.is_extended(aval_of(x).dtype):
            raise TypeError(
                f"numpy.{name}: arguments must be numbers or booleans, got "
                f"{aval_of(x).short()}; take the words of keys with random.key_data"
            )


def check_optional(name: str, *args: Any) -> None:
    """As `check_arraylike`, letting None pass."""
    check_arraylike(name, *[x for x in args if x is not None])


def check_arrays(module: str, name: str, *args: Any) -> None:
    """Raises TypeError unless all are arrays or numbers; lists are not.

    Args:
      module: where users find the function, as in 'scipy.linalg'.
      name: the function's name there.
      args: what it was given, by position.
    """
    for position, x in enumerate(args):
        if avals.is_array_like(x):
            continue
        cure = "convert it with numpy.asarray"
        if x is None:
            cure = "leave the argument out, or pass a number"
        elif isinstance(x, str):
            cure = "texts are no arrays: convert it to numbers first"
        elif isinstance(x, dict):
            cure = "give one of its values, or use olympus.tree.map"
        raise TypeError(
            f"{module}.{name}: arguments must be arrays or numbers, got {type(x)} at "
            f"position {position}; {cure}"
        )


def check_out(name: str, out: Any) -> None:
    """Refuses `out`: arrays are not written in place."""
    if out is not None:
        raise NotImplementedError(
            f"numpy.{name}: `out` must be None, since arrays are never changed in "
            f"place, got {type(out).__name__}; use the returned array"
        )


# -- objects that stand for arrays -----------------------------------------------------

PLAIN_TYPES = (ArrayImpl, trace.Tracer, int, float, complex, np.ndarray, np.generic)


def resolve_arrays(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments, with arrays in place of the objects that stand for them.

    A trace looks for its values among the arguments; it would not see one that an
    object holds.
    """
    for x in args:
        if not isinstance(x, PLAIN_TYPES):
            return tuple([resolve(x) for x in args])
    return args


def resolve(x: Any) -> Any:
    """An argument, or the array that it stands for."""
    if isinstance(x, (type, *PLAIN_TYPES)) or hasattr(x, "is_symbolic_dim"):
        return x
    return array_protocol.array_of(x) if array_protocol.is_array(x) else x


# -- dtypes ----------------------------------------------------------------------------


def promote_dtypes(*args: Any) -> list[Array]:
    """Arguments in their common dtype; Python numbers stay literals of a program."""
    args = resolve_arrays(args)
    typed = [dtypes.dtype_and_weak(x) for x in args]
    dtype, weak = dtypes.lattice_result(*typed)
    return [cast(x, dtype, weak) for x in args]


def promote_inexact(*args: Any) -> list[Array]:
    """As `promote_dtypes`, integers and booleans becoming floats."""
    args = resolve_arrays(args)
    typed = [dtypes.dtype_and_weak(x) for x in args]
    dtype, weak = dtypes.lattice_result(*typed)
    dtype = dtypes.to_inexact_dtype(dtype)
    return [cast(x, dtype, weak) for x in args]


def promote_mixed(*args: Any) -> list[Array]:
    """As `promote_inexact`, also where dtypes must agree: for arguments that differ by
    their meaning, such as values and edges.
    """
    dtype, weak = dtypes.standard_result(*[dtypes.dtype_and_weak(x) for x in args])
    return [cast(x, dtypes.to_inexact_dtype(dtype), weak) for x in args]


def promote_numeric(*args: Any) -> list[Array]:
    """As `promote_dtypes`, booleans becoming integers."""
    args = resolve_arrays(args)
    typed = [dtypes.dtype_and_weak(x) for x in args]
    dtype, weak = dtypes.lattice_result(*typed)
    if dtype == np.bool_:
        dtype = np.dtype(np.int32)
    return [cast(x, dtype, weak) for x in args]


_BUILDERS = {"i": int, "u": int, "f": float, "c": complex, "b": bool}


def cast(x: Any, dtype: Any, weak: bool) -> Any:
    """`x` in a dtype; a Python number becomes a literal, an equation where it must."""
    if isinstance(x, (bool, int, float, complex)) and not isinstance(x, np.generic):
        return _cast_scalar(x, dtype, weak)
    if isinstance(x, (np.ndarray, np.generic)) and not weak:
        return x if x.dtype == dtype else x.astype(dtype)
    return convert(x, dtype, weak)


def strong(x: Any, *others: Any) -> Any:
    """`x` in its own dtype, no longer weak unless all that was given is."""
    aval = aval_of(x)
    if others and all(dtypes.dtype_and_weak(g)[1] for g in others):
        return x
    return convert(x, aval.dtype, False) if aval.weak_type else x


def strong_with_axes(x: Any) -> Any:
    """`x`, no longer weak if it has axes.

    So are results of JAX that need numbers of the shape of an array.
    """
    return strong(x) if aval_of(x).shape else x


def check_complex_number(x: Any, dtype: Any) -> None:
    """Raises TypeError where a Python complex number is to be of a real dtype."""
    if type(x) is complex and dtypes.kind(dtype) in "iuf":
        raise TypeError(
            f"numpy.array: a Python complex number cannot be of dtype {dtype}, got {x};"
            " take its real part"
        )


def _cast_scalar(x: Any, dtype: Any, weak: bool) -> Any:
    """A Python number as a literal: a NumPy scalar, or itself where it is weak."""
    kind = dtypes.kind(dtype)
    if type(x) is int:
        aval_of(x)  # whatever the array, an integer must first fit the default dtype
    if weak and dtype == dtypes.canonicalize_dtype(_BUILDERS[kind]):
        return _BUILDERS[kind](x)
    # An integer of the default dtype wraps around in a narrower one, as arrays do.
    return np.asarray(x).astype(dtype)[()]


# -- shapes ----------------------------------------------------------------------------


def broadcast(name: str, args: Sequence[Any]) -> list[Any]:
    """Arguments of one shape; numbers and 0-d arrays stay, as lax spreads them."""
    shapes = {aval_of(x).shape for x in args}
    shapes.discard(())
    if len(shapes) < 2:
        return list(args)
    shape = result_shape(name, [aval_of(x).shape for x in args])
    watch_ranks(name, shapes)
    return [x if not aval_of(x).shape else broadcast_to_shape(x, shape) for x in args]


def watch_ranks(name: str, shapes: set[tuple[int, ...]]) -> None:
    """Warns or raises, as the setting asks, where an operand would gain axes."""
    mode = config.numpy_rank_promotion.value
    if mode == "allow" or len({len(s) for s in shapes}) < 2:
        return
    listed = " and ".join(map(str, sorted(shapes, key=len)))
    if mode == "raise":
        raise ValueError(
            f"numpy.{name}: operands could not be broadcast together, as they must "
            "have equal numbers of axes while olympus_numpy_rank_promotion is 'raise', "
            f"got shapes {listed}; add the axes with expand_dims or reshape"
        )
    user_warnings.warn(
        f"numpy.{name}: axes are added to broadcast shapes {listed}; write them with "
        "expand_dims, or set olympus_numpy_rank_promotion to 'allow'"
    )


def result_shape(
    name: str, shapes: Sequence[Any], page: str = "numpy"
) -> tuple[int, ...]:
    """The common shape, or an error in the name of a page's function."""
    try:
        return sizes.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(map(str, shapes))
        # Equal ranks are a type error and others a value error, as in the field.
        kind = TypeError if len({len(s) for s in shapes}) == 1 else ValueError
        raise kind(
            f"{page}.{name}: got incompatible shapes for broadcasting: {listed}; sizes "
            "must be equal or 1, counted from the last axis"
        ) from None


broadcast_to_shape = families.broadcast_to_shape


def flatten_unless_axis(name: str, x: Any, axis: Any) -> tuple[Any, int]:
    """An array and the axis to work along; without one, the flattened array and 0."""
    if axis is None:
        axis, x = 0, shaping.reshape(x, (aval_of(x).size,))
    return x, sizes.canonicalize_axis(axis, aval_of(x).ndim, f"numpy.{name}")


def align_ranks(*args: Any) -> list[Any]:
    """Arrays with axes of size 1 in front, so that all have as many; scalars stay."""
    rank = max(aval_of(x).ndim for x in args)
    return [_with_rank(x, rank) for x in args]


def _with_rank(x: Any, rank: int) -> Any:
    if isinstance(x, np.ndarray):
        return x[(None,) * (rank - x.ndim)] if x.ndim else x
    return shaping.broadcast_to_rank(x, rank) if aval_of(x).ndim else x


def promote_args(name: str, *args: Any) -> Sequence[Array]:
    """Checked arguments in one dtype and shape (scalars may stay scalars)."""
    return _promote_by_steps(promote_dtypes, name, args)


def promote_args_inexact(name: str, *args: Any) -> Sequence[Array]:
    """As `promote_args`, in a floating or complex dtype."""
    return _promote_by_steps(promote_inexact, name, args)


def promote_args_numeric(name: str, *args: Any) -> Sequence[Array]:
    """As `promote_args`, in a dtype of numbers."""
    return _promote_by_steps(promote_numeric, name, args)


# What to do to arguments of given types is worked out once: a step for each, or None
# where the argument stays as it is. It is most of the time of tracing otherwise.
_steps = caching.Bounded(8192, "promotions")
_NUMBERS = frozenset((bool, int, float, complex))


def _promote_by_steps(promote: Any, name: str, args: tuple[Any, ...]) -> Sequence[Any]:
    key: list[Any] = [promote, config.trace_context()]
    try:
        for x in args:
            kind = type(x)
            key.append(kind if kind in _NUMBERS else x.aval)
    except AttributeError:  # NumPy's arrays, or what is not an array at all
        check_arraylike(name, *args)
        return broadcast(name, _promote_numbers(promote, name, args))
    steps = _steps.get(tuple(key))
    if steps is None:
        warned = user_warnings.count()
        steps = _work_out(promote, name, args)
        if user_warnings.count() == warned:  # otherwise the next function warns, too
            _steps[tuple(key)] = steps
    if steps is _AS_THEY_ARE:
        return args
    return [x if step is None else step(x) for x, step in zip(args, steps, strict=True)]


_AS_THEY_ARE: tuple[Any, ...] = ()


def _promote_numbers(promote: Any, name: str, args: Sequence[Any]) -> Any:
    try:
        return promote(*args)
    except errors.TypePromotionError:
        types = [aval_of(x).dtype for x in args]
        if not any(map(dtypes.is_extended, types)):
            raise
        raise TypeError(
            f"numpy.{name}: no operation takes {' and '.join(map(str, types))}; a key "
            "can only be combined with itself: take the words of keys with "
            "random.key_data"
        ) from None


def _work_out(promote: Any, name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The step for each argument; its shape and dtype decide, not its value."""
    info = ir.DebugInfo("promotion", name)
    samples = [type(x)(1) if type(x) in _NUMBERS else x for x in args]
    avals_in = [aval_of(x) for x in args]
    traced = [a for a, x in zip(avals_in, args, strict=True) if type(x) not in _NUMBERS]
    out_avals: list[Any] = []

    def run(*tracers: Any) -> list[Any]:
        remaining = iter(tracers)
        operands = [x if type(x) in _NUMBERS else next(remaining) for x in samples]
        outs = broadcast(name, _promote_numbers(promote, name, operands))
        out_avals.extend(aval_of(x) for x in outs)
        return []

    partial_eval.trace_to_olympuspr(run, traced, info)
    steps = tuple(
        _number_step(type(x), out) if type(x) in _NUMBERS else _array_step(a, out)
        for x, a, out in zip(args, avals_in, out_avals, strict=True)
    )
    return steps if any(steps) else _AS_THEY_ARE


def _number_step(kind: type, out: Any) -> Any:
    if out.weak_type:
        builder = _BUILDERS[dtypes.kind(out.dtype)]
        if out.dtype == dtypes.canonicalize_dtype(builder):
            if kind is int is not builder:
                return lambda x: _cast_scalar(x, out.dtype, True)
            return None if builder is kind else builder
    if dtypes.kind(out.dtype) in "fc" and kind is not int:
        return out.dtype.type  # far cheaper than a conversion that could overflow
    return lambda x: _cast_scalar(x, out.dtype, False)


def _array_step(aval: Any, out: Any) -> Any:
    converts = aval.dtype != out.dtype or aval.weak_type != out.weak_type
    spreads = aval.shape != out.shape
    if not converts and not spreads:
        return None

    def step(x: Any) -> Any:
        if converts:
            x = convert(x, out.dtype, out.weak_type)
        return broadcast_to_shape(x, out.shape) if spreads else x

    return step


def full_shape(x: Any, shape: tuple[int, ...]) -> Any:
    """`x` filled up to `shape` even where it is a scalar."""
    return shaping.broadcast_in_dim(
        x, shape, range(len(shape) - aval_of(x).ndim, len(shape))
    )


def scalar(x: Any, like: Any) -> Any:
    """A number as a literal of another array's dtype, weak where that is."""
    aval = aval_of(like)
    if aval.weak_type:
        return _cast_scalar(x, aval.dtype, True)
    return families.number_of(x, aval.dtype)
