"""Derivatives against finite differences: `check_grads`, `check_jvp`, `check_vjp`.

A derivative is compared along one random direction, so that a check costs a few calls
of the function for any size of its arguments. Where it fails, a few more calls find
the argument or result that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.api import derivative_checks, forward_mode, parameters, reverse_mode
from olympus._src.api import differentiation as common
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes
from olympus._src.foundation import source_info

# Step and tolerance by the width of the coarsest dtype in sight. Of the difference
# formula below the error by truncation is step**4 / 30 times the fifth derivative, and
# that by rounding the dtype's precision divided by the step.
_STEPS = {"bfloat16": 0.25, "float16": 0.1, "float32": 1e-2, "float64": 5e-4}
_TOLERANCES = {"bfloat16": 1e-1, "float16": 2e-2, "float32": 2e-3, "float64": 1e-5}
_SMALLER = 30
_SEED = 0
_SHRINKS = 3  # how often the step is divided by 8 where it leaves a function's domain


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Compares the derivatives of a function with finite differences.

    Args:
      f: a function of arrays and pytrees of them.
      args: a tuple or list of its arguments; integers among them stay as they are.
      order: derivatives up to this order are compared.
      modes: 'fwd' for `jvp`, 'rev' for `vjp`; orders above the first are compared in
        all their combinations.
      atol, rtol: tolerances; by the coarsest dtype of arguments and results if None.
      eps: the step of the differences; by the coarsest dtype if None.

    Raises:
      AssertionError: a derivative differs; the message says in which mode, of which
        order, for which argument or result, and shows both numbers.
      TypeError: no argument is floating or complex.
      ValueError: `order` or `modes` are invalid.

    Source: Fornberg, Generation of Finite Difference Formulas on Arbitrarily Spaced
    Grids, 1988.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus.test_util import check_grads
      >>> check_grads(onp.sin, (1.0,), order=2)
    """
    parameters.check_callable("check_grads", f)
    modes = (modes,) if isinstance(modes, str) else tuple(modes)
    if not modes or set(modes) - {"fwd", "rev"}:
        raise ValueError(
            f"check_grads: modes must hold 'fwd' or 'rev' or both, got {modes}"
        )
    if not hasattr(order, "__index__") or order < 1:
        raise ValueError(f"check_grads: order must be at least 1, got {order!r}")
    options = {"atol": atol, "rtol": rtol, "eps": eps}
    _check_orders(f, _as_args("check_grads", args), order, modes, (), options)


def _check_orders(
    f: Any, args: Any, order: int, modes: Any, path: tuple[str, ...], options: Any
) -> None:
    for mode in modes:
        here = (*path, mode)
        message = f"order {len(here)}, modes {' of '.join(reversed(here))}"
        if mode == "fwd":
            check_jvp(f, partial(forward_mode.jvp, f), args, err_msg=message, **options)
        else:
            check_vjp(f, partial(reverse_mode.vjp, f), args, err_msg=message, **options)
        if order > 1:
            rng = np.random.default_rng(_SEED + len(here))
            if mode == "fwd":
                derivative, more = _slope_function(f), _directions(args, rng)
            else:
                out = f(*args)
                derivative, more = _pullback_function(f), _directions(out, rng)
            derivative.__name__ = source_info.function_name(f)
            _check_orders(derivative, (args, more), order - 1, modes, here, options)


def _slope_function(f: Any) -> Any:
    def slope(args: Any, tangents: Any) -> Any:
        return _differentiable_leaves(forward_mode.jvp(f, args, tangents)[1])

    return slope


def _pullback_function(f: Any) -> Any:
    def pullback(args: Any, cotangent: Any) -> Any:
        return _differentiable_leaves(reverse_mode.vjp(f, *args)[1](cotangent))

    return pullback


def _differentiable_leaves(x: Any) -> list[Any]:
    return [leaf for leaf in tree.tree_leaves(x) if not _is_float0(leaf)]


def check_jvp(
    f: Callable[..., Any],
    f_jvp: Callable[..., Any],
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Compares a forward derivative with finite differences along one direction.

    Args:
      f: a function of arrays and pytrees of them.
      f_jvp: takes a tuple of arguments and one of tangents to the result and its
        tangent, as `functools.partial(olympus.jvp, f)` does.
      args: a tuple or list of arguments.
      atol, rtol: tolerances; by the coarsest dtype of arguments and results if None.
      eps: the step of the differences; by the coarsest dtype if None.
      err_msg: a text for the error's message.

    Raises:
      AssertionError: value or derivative differ.

    Example:
      >>> import functools, olympus, olympus.numpy as onp
      >>> from olympus.test_util import check_jvp
      >>> check_jvp(onp.sin, functools.partial(olympus.jvp, onp.sin), (1.0,))
    """
    args = _as_args("check_jvp", args)
    title = _title("check_jvp", f, err_msg)
    direction = _directions(args, np.random.default_rng(_SEED))
    plan = _Differences(f, args, eps)
    value, slope = f_jvp(args, direction)
    scale = plan.scale(value)
    expected = plan.value
    _compare(f"{title}: value of f_jvp", "result", value, expected, scale, atol, rtol)

    def compare(step: float) -> None:
        expected = plan.along(direction, step)
        _compare(f"{title}: tangent", "result", slope, expected, scale, atol, rtol)

    plan.accept(compare)


def check_vjp(
    f: Callable[..., Any],
    f_vjp: Callable[..., Any],
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Compares a reverse derivative with finite differences along one direction.

    Args:
      f: a function of arrays and pytrees of them.
      f_vjp: takes arguments to the result and a function from its cotangent to the
        arguments' cotangents, as `functools.partial(olympus.vjp, f)` does.
      args: a tuple or list of arguments.
      atol, rtol: tolerances; by the coarsest dtype of arguments and results if None.
      eps: the step of the differences; by the coarsest dtype if None.
      err_msg: a text for the error's message.

    Raises:
      AssertionError: value or derivative differ.

    Example:
      >>> import functools, olympus, olympus.numpy as onp
      >>> from olympus.test_util import check_vjp
      >>> check_vjp(onp.sin, functools.partial(olympus.vjp, onp.sin), (1.0,))
    """
    args = _as_args("check_vjp", args)
    title = _title("check_vjp", f, err_msg)
    rng = np.random.default_rng(_SEED)
    direction = _directions(args, rng)
    plan = _Differences(f, args, eps)
    value, pullback = f_vjp(*args)
    scale = plan.scale(value)
    expected = plan.value
    _compare(f"{title}: value of f_vjp", "result", value, expected, scale, atol, rtol)
    cotangent = _directions(value, rng)
    gradient = pullback(cotangent)
    where = f"{title}: cotangent along a random direction"

    def compare(step: float) -> None:
        def check(along: Any, path: str) -> None:
            got = _inner_product(gradient, along)
            expected = _inner_product(cotangent, plan.along(along, step))
            if not _close(got, expected, scale, atol, rtol):
                raise AssertionError(_differs(where, path, expected, got, scale))

        try:
            check(direction, "all arguments")
        except AssertionError:
            for i, path in enumerate(_paths(f, args)):  # which of them is to blame?
                check(_only(direction, i), path)
            raise

    plan.accept(compare)


# -- differences -----------------------------------------------------------------------


class _Differences:
    """A function and the directional differences of it at a point."""

    __slots__ = ("args", "dtype", "f", "steps", "value")

    def __init__(self, f: Any, args: Any, eps: float | None) -> None:
        self.f = f
        self.args = args
        self.value = f(*args)
        self.dtype = _coarsest((args, self.value))
        usual = _STEPS[self.dtype]
        self.steps = (usual, usual / _SMALLER) if eps is None else (eps,)

    def scale(self, value: Any) -> str:
        """The dtype that sets the tolerance of what was computed."""
        return _coarsest((self.args, self.value, value))

    def accept(self, compare: Callable[[float], None]) -> None:
        """Compares with one step, then with the next where that fails.

        Near a kink, as of relu, a small step is right; elsewhere a larger one is more
        exact. A wrong derivative is wrong by both.
        """
        errors = []
        for step in self.steps:
            try:
                compare(step)
            except AssertionError as error:
                errors.append(error)
            else:
                return
        raise errors[0]

    def along(self, direction: Any, step: float) -> Any:
        """The derivative along a direction by a formula of fourth order.

        The step is made smaller where a value next to a finite one is not.
        """
        slope = self._difference(direction, step)
        for _ in range(_SHRINKS):
            if _is_finite(slope) or not _is_finite(self.value):
                break
            step /= 8
            slope = self._difference(direction, step)
        return slope

    def _difference(self, direction: Any, step: float) -> Any:
        near = [self._evaluate_at(direction, k * step) for k in (1, -1, 2, -2)]

        def combine(x: Any, *moved: Any) -> Any:
            aval = avals_.aval_of(x)
            if aval.to_tangent() is not aval:
                return np.zeros(aval.shape, common.float0)
            a, b, c, d = map(_wide, moved)
            with np.errstate(invalid="ignore"):
                return (8 * (a - b) - (c - d)) / (12 * step)

        return tree.tree_map(combine, self.value, *near)

    def _evaluate_at(self, direction: Any, step: float) -> Any:
        def move(x: Any, t: Any) -> Any:
            if _is_float0(t):
                return x
            aval = avals_.aval_of(x)
            return (_wide(x) + step * _wide(t)).astype(aval.dtype)

        return self.f(*tree.tree_map(move, self.args, direction))


def _as_args(api: str, args: Any) -> tuple[Any, ...]:
    if not isinstance(args, (tuple, list)):
        raise TypeError(
            f"{api}: args must be a tuple or list of arguments, got "
            f"{type(args).__name__}; write (x,) for one"
        )
    if not any(_moves(x) for x in tree.tree_leaves(args)):
        raise TypeError(
            f"{api}: at least one argument must be floating or complex, got "
            f"{[str(avals_.aval_of(x).short()) for x in tree.tree_leaves(args)]}"
        )
    return tuple(args)


def _moves(x: Any) -> bool:
    return dtypes.issubdtype(avals_.aval_of(x).dtype, np.inexact)


def _directions(x: Any, rng: np.random.Generator) -> Any:
    """Random tangents of a tree; float0 for integers."""

    def one(leaf: Any) -> Any:
        aval = avals_.aval_of(leaf)
        if not _moves(leaf):
            return np.zeros(aval.shape, common.float0)
        direction = rng.normal(size=aval.shape)
        if dtypes.issubdtype(aval.dtype, np.complexfloating):
            direction = direction + 1j * rng.normal(size=aval.shape)
        return np.asarray(direction, aval.dtype)

    return tree.tree_map(one, x)


def _only(direction: Any, i: int) -> Any:
    """The direction with all leaves but one zero."""
    leaves, structure = tree.tree_flatten(direction)
    return structure.unflatten(
        [t if k == i else np.zeros_like(t) for k, t in enumerate(leaves)]
    )


def _is_float0(x: Any) -> bool:
    return bool(avals_.aval_of(x).dtype == common.float0)


def _wide(x: Any) -> np.ndarray:
    """The values in double precision, on the host."""
    x = np.asarray(x)
    wide = np.complex128 if dtypes.issubdtype(x.dtype, np.complexfloating) else float
    return x.astype(wide)


def _is_finite(x: Any) -> bool:
    leaves = [leaf for leaf in tree.tree_leaves(x) if _moves(leaf)]
    return all(np.isfinite(_wide(leaf)).all() for leaf in leaves)


def _coarsest(x: Any) -> str:
    names = set()
    for leaf in tree.tree_leaves(x):
        if _moves(leaf):
            name = str(avals_.aval_of(leaf).dtype)
            names.add({"complex64": "float32", "complex128": "float64"}.get(name, name))
    return min(names & set(_STEPS), key=list(_STEPS).index, default="bfloat16")


# -- comparison ------------------------------------------------------------------------


def _inner_product(x: Any, y: Any) -> float:
    """The sum of products of two trees; of it the real part, which transposes keep."""
    total = 0.0
    pairs = zip(tree.tree_leaves(x), tree.tree_leaves(y), strict=True)
    for a, b in pairs:
        if not (_is_float0(a) or _is_float0(b)):
            total += float(np.real(np.sum(_wide(a) * _wide(b))))
    return total


def _tolerances(scale: str, atol: Any, rtol: Any) -> tuple[Any, Any]:
    usual = _TOLERANCES[scale]
    return (usual if atol is None else atol), (usual if rtol is None else rtol)


def _close(got: Any, expected: Any, scale: str, atol: Any, rtol: Any) -> Any:
    atol, rtol = _tolerances(scale, atol, rtol)
    return np.isclose(got, expected, atol=atol, rtol=rtol, equal_nan=True)


def _compare(
    title: str, name: str, got: Any, expected: Any, scale: str, atol: Any, rtol: Any
) -> None:
    if tree.tree_structure(got) != tree.tree_structure(expected):
        structure = tree.tree_structure(expected)
        raise AssertionError(
            derivative_checks.mismatch(
                title, "the value of f", "what was computed", structure, got
            )
        )
    paths, _ = tree.tree_flatten_with_path(got)
    for (path, a), b in zip(paths, tree.tree_leaves(expected), strict=True):
        where = name + tree.keystr(path)
        if np.shape(a) != np.shape(b):
            raise AssertionError(
                f"{title}: {where} must have shape {np.shape(b)}, got {np.shape(a)}"
            )
        if _is_float0(a) or _is_float0(b) or not _moves(a):
            continue
        wrong = ~_close(_wide(a), _wide(b), scale, atol, rtol)
        if wrong.any():
            raise AssertionError(_first_wrong(title, where, a, b, wrong, scale))


def _first_wrong(
    title: str, where: str, a: Any, b: Any, wrong: np.ndarray, scale: str
) -> str:
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    if at:
        where += f"[{', '.join(map(str, at))}]"
    text = _differs(title, where, _wide(b)[at], _wide(a)[at], scale)
    return text + f"; {int(wrong.sum())} of {wrong.size} elements differ"


def _differs(title: str, where: str, expected: Any, got: Any, scale: str) -> str:
    return (
        f"{title}: {where}: expected {expected:.8g} by finite differences in {scale}, "
        f"got {got:.8g}"
    )


def _title(api: str, f: Any, message: str) -> str:
    text = f"{api}({source_info.function_name(f)})"
    return f"{text}, {message}" if message else text


def _paths(f: Any, args: Any) -> list[str]:
    structure = tree.tree_structure(args)
    return [
        parameters.argument_path(f, structure, i) for i in range(structure.num_leaves)
    ]
