"""Random compositions of transformations agree with the mathematics of the program.

Each wrapper turns a function of three numbers into another one, in olympus and, by
nested dual numbers, in NumPy; both versions of a composition must agree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import olympus
import olympus.numpy as onp
from olympus import lax
from tests.laws import dual

MATRIX = np.array([[0.5, -0.3, 0.2], [0.1, 0.4, -0.6], [-0.2, 0.7, 0.3]])
WEIGHTS = np.array([0.7, -1.1, 0.4])
DIRECTION = np.array([0.3, 0.8, -0.5])

# -- programs, for either library ------------------------------------------------------


def mixed(np_: Any, x: Any) -> Any:
    return np_.sin(x) * np_.roll(x, 1) + 0.5 * x


def layered(np_: Any, x: Any) -> Any:
    return np_.tanh(np_.tanh(MATRIX @ x + 0.1) * x + np_.cos(x))


def rational(np_: Any, x: Any) -> Any:
    return x / (1.0 + np_.exp(-1.0 * np_.roll(x, 2)))


def coupled(np_: Any, x: Any) -> Any:
    return np_.tanh(x * np_.sum(x * x)) - 0.5 * np_.exp(-0.5 * np_.tanh(x))


PROGRAMS = [mixed, layered, rational, coupled]

# -- wrappers: (in olympus, in dual numbers) -------------------------------------------

Wrapper = tuple[Callable[[Any], Any], Callable[[Any], Any]]


def _same(f: Any) -> Any:
    return f


def _twice(f: Any) -> Any:
    return lambda x: f(f(x))


def _custom_jvp(f: Any) -> Any:
    @olympus.custom_jvp
    def wrapped(x: Any) -> Any:
        return f(x)

    @wrapped.defjvp
    def _rule(primals: Any, tangents: Any) -> Any:
        return olympus.jvp(f, primals, tangents)

    return wrapped


def _custom_vjp(f: Any) -> Any:
    @olympus.custom_vjp
    def wrapped(x: Any) -> Any:
        return f(x)

    def forward(x: Any) -> Any:
        return wrapped(x), x

    def backward(x: Any, ct: Any) -> Any:
        return olympus.vjp(f, x)[1](ct)

    wrapped.defvjp(forward, backward)
    return wrapped


def _cond(f: Any) -> Any:
    def other(x: Any) -> Any:
        return -f(x * 2.0)

    return lambda x: lax.cond(onp.sum(x) > -1000.0, f, other, x)


def _scan(f: Any) -> Any:
    return lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0]


def _fori(f: Any) -> Any:
    return lambda x: lax.fori_loop(0, 2, lambda _, c: f(c), x)


def _while(f: Any) -> Any:
    def stepped(x: Any) -> Any:
        return lax.while_loop(
            lambda c: c[0] < 2, lambda c: (c[0] + 1, f(c[1])), (0, x), max_steps=5
        )[1]

    return stepped


def _vmap(f: Any) -> Any:
    return lambda x: onp.sum(olympus.vmap(f)(onp.stack([x, 0.5 * x])), axis=0)


def _vmap_last(f: Any) -> Any:
    def mapped(x: Any) -> Any:
        both = onp.stack([x, 0.5 * x], axis=1)
        return onp.sum(olympus.vmap(f, in_axes=1, out_axes=-1)(both), axis=1)

    return mapped


def _linearize(f: Any) -> Any:
    return lambda x: olympus.linearize(f, x)[1](DIRECTION)


def _vjp(f: Any) -> Any:
    return lambda x: olympus.vjp(f, x)[1](WEIGHTS)[0]


def _jvp(f: Any) -> Any:
    return lambda x: olympus.jvp(f, (x,), (DIRECTION,))[1]


def _grad(f: Any) -> Any:
    return olympus.grad(lambda x: onp.sum(f(x) * WEIGHTS))


def _slope(f: Any) -> Any:
    return lambda x: dual.derivative(f, x, DIRECTION)


def _pull(f: Any) -> Any:
    return lambda x: dual.pullback(f, x, WEIGHTS)


def _both(f: Any) -> Any:
    return lambda x: f(x) + f(0.5 * x)


WRAPPERS: dict[str, Wrapper] = {
    "jit": (olympus.jit, _same),
    "checkpoint": (olympus.checkpoint, _same),
    "custom_jvp": (_custom_jvp, _same),
    "custom_vjp": (_custom_vjp, _same),
    "cond": (_cond, _same),
    "scan": (_scan, _twice),
    "fori_loop": (_fori, _twice),
    "while_loop": (_while, _twice),
    "vmap": (_vmap, _both),
    "vmap over the last axis": (_vmap_last, _both),
    "grad": (_grad, _pull),
    "vjp": (_vjp, _pull),
    "jvp": (_jvp, _slope),
    "linearize": (_linearize, _slope),
}
FORWARD = {"jvp", "linearize"}
REVERSE = {"grad", "vjp"}


def meaningful(names: list[str]) -> bool:
    """No forward mode around a rule that is defined for reverse mode alone."""
    reverse_only = False
    for name in names:
        if name == "custom_vjp":
            reverse_only = True
        elif name in REVERSE:
            reverse_only = False
        elif name in FORWARD and reverse_only:
            return False
    return True


def check(program: Any, names: list[str], x: np.ndarray) -> None:
    """Both versions of a composition agree, jitted and not."""

    def ours(x: Any) -> Any:
        return program(onp, x)

    def wanted(x: Any) -> Any:
        return program(dual.numpy, x)

    for name in names:
        in_olympus, in_duals = WRAPPERS[name]
        ours, wanted = in_olympus(ours), in_duals(wanted)
    expected = np.asarray(wanted(np.array(x, dtype=object)), dtype=np.float64)
    with olympus.enable_x64(True):
        for f in (olympus.jit(ours), ours):
            found = np.asarray(f(onp.asarray(x)))
            assert found.dtype == np.float64
            scale = 1.0 + np.max(np.abs(expected))
            np.testing.assert_allclose(found / scale, expected / scale, atol=1e-9)


numbers = st.lists(
    st.floats(-1.0, 1.0).map(lambda v: round(v, 3)), min_size=3, max_size=3
)
compositions = st.lists(st.sampled_from(sorted(WRAPPERS)), min_size=1, max_size=4)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", sorted(WRAPPERS))
def test_each_wrapper_alone(name: str) -> None:
    check(layered, [name], np.array([0.3, -0.7, 0.5]))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("outer", sorted(FORWARD | REVERSE))
@pytest.mark.parametrize("inner", sorted(WRAPPERS))
@pytest.mark.slow
def test_derivative_of_each_wrapper(inner: str, outer: str) -> None:
    if meaningful([inner, outer]):
        check(mixed, [inner, outer], np.array([0.3, -0.7, 0.5]))


@pytest.mark.slow
@settings(
    max_examples=100,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
@given(st.sampled_from(PROGRAMS), compositions.filter(meaningful), numbers)
def test_compositions_to_depth_four(program: Any, names: list[str], x: Any) -> None:
    check(program, names, np.array(x))
