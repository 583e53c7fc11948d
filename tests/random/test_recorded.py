"""Numbers of given keys, to the bit, against recorded ones."""

from __future__ import annotations

import contextlib
import json
import pathlib

import ml_dtypes  # noqa: F401 - NumPy learns the names of its dtypes
import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import random
from olympus._src.foundation import config

pytestmark = pytest.mark.sampled(4)

FOLDER = pathlib.Path(__file__).parents[1] / "data"
DATA = json.loads((FOLDER / "random.json").read_text())
WIDER = json.loads((FOLDER / "random_wider.json").read_text())
SETTINGS = {
    "documented": contextlib.nullcontext,
    "plain": contextlib.nullcontext,
    "older_scheme": lambda: config.threefry_partitionable(False),
    "x64": lambda: olympus.enable_x64(True),
}
# Sums and factors whose terms are normal numbers: the last bit depends on how the
# compiler fuses their addition.
ROUNDED = ("maxwell", "dirichlet", "orthogonal", "multivariate_normal")
# With parameters known to the compiler, it folds formulas of them its own way.
FOLDED = (
    *ROUNDED,
    "gamma",
    "generalized_normal",
    "loggamma",
    "beta",
    "t",
    "chisquare",
    "f",
)
# These hold loops of ciphers, which take a second to compile.
LONG = (
    "gamma",
    "beta",
    "chisquare",
    ".f(",
    "dirichlet",
    "binom",
    "multinom",
    "poisson",
)


def marks(i, expression):
    long = i % 5 or any(name in expression for name in LONG)
    return [pytest.mark.slow] if long else []


CASES = [
    pytest.param(
        group,
        case["expr"],
        case["result"],
        id=f"{group}:{case['expr']}",
        marks=marks(i, case["expr"]),
    )
    for group, cases in DATA.items()
    for i, case in enumerate(cases)
]


def expected(result):
    values, dtype = result["values"], np.dtype(result["dtype"])
    if dtype.kind == "c":
        values = [complex(*v) for v in values]
    return np.array(values, dtype=dtype).reshape(result["shape"])


def evaluated(expression):
    transforms = {"vmap": olympus.vmap, "jit": olympus.jit, "grad": olympus.grad}
    return eval(expression, {"random": random, "jnp": jnp, "np": np, **transforms})


def check(expression, got, result, rounded=ROUNDED):
    want = expected(result)
    assert got.dtype.name == result["dtype"]
    got = np.asarray(got)
    if any(f"random.{name}(" in expression for name in rounded):
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)
    else:
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(("group", "expression", "result"), CASES)
def test_expression_gives_the_recorded_numbers(group, expression, result):
    with SETTINGS[group]():
        check(expression, evaluated(expression), result)


JITTED = [
    case
    for case in DATA["documented"]
    if "PRNGKey(1)" in case["expr"] and "key(" not in case["expr"]
][::3]


@pytest.mark.slow
@pytest.mark.parametrize("case", JITTED, ids=lambda case: case["expr"])
def test_a_jitted_expression_gives_them_too(case):
    traced = case["expr"].replace("random.PRNGKey(1)", "key")
    names = {"random": random, "jnp": jnp}
    got = olympus.jit(eval(f"lambda key: {traced}", names))(random.PRNGKey(1))
    check(case["expr"], got, case["result"], FOLDED)


# Formulas of transcendental functions may be fused, and so rounded, another way.
TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 4e-6, "complex64": 4e-6}


@pytest.mark.slow
@pytest.mark.sampled(24)
@pytest.mark.parametrize("case", WIDER, ids=lambda case: case["expr"])
def test_generators_narrow_dtypes_and_mapped_keys_give_the_recorded_numbers(case):
    want = expected(case["result"])
    with SETTINGS[case["setting"]]():
        got = evaluated(case["expr"])
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if np.dtype(want.dtype).kind in "biu":
        np.testing.assert_array_equal(np.asarray(got), want)
        return
    tolerance = TOLERANCE.get(got.dtype.name, 1e-12)
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(
        np.asarray(got).astype(wide), want.astype(wide), rtol=tolerance, atol=tolerance
    )


def test_the_document_s_sum_of_squared_differences():
    _, first, second = random.split(random.PRNGKey(8), 3)
    a, b = (random.normal(k, (500, 500)) for k in (first, second))
    assert str(jnp.sum((a - b) ** 2)) == "501519.3"
