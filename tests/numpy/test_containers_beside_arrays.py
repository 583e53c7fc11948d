"""Lists and tuples: results of the kind JAX gives; refused beside operators."""

import operator

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax
from olympus.lax import linalg
from olympus.scipy import linalg as scipy_linalg

M = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]], np.float32)
V = np.arange(3, dtype=np.float32)

LISTS = {
    "top_k": lambda: lax.top_k(V, 2),
    "approx_max_k": lambda: lax.approx_max_k(V, 2),
    "approx_min_k": lambda: lax.approx_min_k(V, 2),
    "lu": lambda: linalg.lu(M),
    "schur": lambda: linalg.schur(M),
    "hessenberg": lambda: linalg.hessenberg(M),
    "tridiagonal": lambda: linalg.tridiagonal(M),
    "scipy schur": lambda: scipy_linalg.schur(M),
}
# Of JAX up to 0.10 some of these are lists; of NumPy 2 and later versions none are.
TUPLES = {
    "broadcast_arrays": lambda: onp.broadcast_arrays(M, V),
    "atleast_1d": lambda: onp.atleast_1d(V, 1.0),
    "atleast_2d": lambda: onp.atleast_2d(V, 1.0),
    "atleast_3d": lambda: onp.atleast_3d(V, 1.0),
    "meshgrid": lambda: onp.meshgrid(V, V),
    "rng_bit_generator": lambda: lax.rng_bit_generator(np.uint32([1, 2, 3, 4]), (2,)),
}


@pytest.mark.parametrize("case", LISTS | TUPLES)
def test_results_are_lists_or_tuples(case):
    results = {}

    def keep():
        results["traced"] = (LISTS | TUPLES)[case]()
        return 0

    olympus.eval_shape(keep)
    assert type(results["traced"]) is (list if case in LISTS else tuple)


UNCHANGED = {
    "abs": lambda: onp.abs(True),
    "max": lambda: onp.max(True),
    "sum": lambda: onp.sum(1.5),
    "prod": lambda: onp.prod(np.int32(2), initial=1),
    "nanmin": lambda: onp.nanmin(2),
    "round": lambda: onp.round(np.int32(2)),
    "imag": lambda: onp.imag(np.float32(2)),
    "array_equal": lambda: onp.array_equal(V, M),
    "lexsort": lambda: onp.lexsort([np.int32(1)]),
}


@pytest.mark.parametrize("case", UNCHANGED)
def test_scalars_in_traces_are_arrays(case):
    results = []
    olympus.eval_shape(lambda: results.append(UNCHANGED[case]()))
    assert isinstance(results[0], olympus.Array)
    assert not results[0].weak_type


def test_lists_outside_of_traces_too():
    assert type(lax.top_k(V, 2)) is list
    assert type(onp.atleast_1d(V, 1.0)) is tuple
    assert type(onp.broadcast_arrays()) is tuple
    assert type(linalg.lu(M)) is list
    assert type(linalg.qr(M)) is tuple


def test_branches_of_a_list():
    out = lax.cond(True, lambda x: lax.top_k(x, 1), lambda x: [x[:1], np.int32([0])], V)
    assert type(out) is list


OPERATORS = (
    "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift lt le gt ge"
)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("other", [[1, 2, 3], (1, 2, 3), None, {}, "a"])
def test_operators_refuse_containers(other, traced):
    def check(x):
        for name in OPERATORS.split():
            if other == "a" and name in ("add", "mul", "mod"):
                continue  # Python's own concatenation, repetition and formatting
            operate = getattr(operator, name)
            for operands in ((x, other), (other, x)):
                with pytest.raises(TypeError, match=r"not supported|unsupported"):
                    operate(*operands)
        return x

    if traced:
        olympus.make_olympuspr(check)(np.arange(3))
    else:
        check(onp.arange(3))


@pytest.mark.parametrize("traced", [False, True])
def test_equality_with_containers(traced):
    def check(x):
        for other in ([1, 2, 3], (1, 2, 3), {1}, {}):
            for compare in (operator.eq, operator.ne):
                for operands in ((x, other), (other, x)):
                    with pytest.raises(TypeError, match=r"unsupported .* convert it"):
                        compare(*operands)
        assert (x == None) is False  # noqa: E711 - what is tested
        return x

    if traced:
        olympus.make_olympuspr(check)(np.arange(3))
    else:
        check(onp.arange(3))
