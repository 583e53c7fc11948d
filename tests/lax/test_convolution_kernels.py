"""What the CPU lowers in place of convolutions with groups."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import olympus
from olympus import lax
from olympus._src.core import avals
from olympus._src.lax import convolution
from olympus._src.lax.kernels import thresholds

P = convolution.conv_general_dilated_p


def _case(seed, dtype="float32"):
    """A random convolution with groups, and the gradient in its kernel."""
    rng = np.random.default_rng(seed)
    letters = "HW"[: rng.integers(1, 3)]
    rank = len(letters)
    layouts = tuple("".join(rng.permutation(list(s + letters))) for s in ("NC", "OI"))
    layouts += ("".join(rng.permutation(list("NC" + letters))),)
    groups, inputs, each = (int(i) for i in rng.integers((2, 1, 1), (5, 3, 3)))
    sizes = {"N": 2, "C": groups * inputs, "O": groups * each, "I": inputs}
    x = rng.normal(size=[{**sizes, "H": 7, "W": 6}[c] for c in layouts[0]])
    w = rng.normal(size=[{**sizes, "H": 3, "W": 2}[c] for c in layouts[1]])
    steps, spread, holes = (tuple(map(int, rng.integers(1, 3, rank))) for _ in range(3))
    pads = [tuple(map(int, rng.integers(-1, 3, 2))) for _ in letters]

    def run(x, w):
        return lax.conv_general_dilated(
            x, w, steps, pads, spread, holes, layouts, feature_group_count=groups
        )

    def gradient(x, w):
        out, pull = olympus.vjp(lambda w: run(x, w), w)
        return pull(lax.sin(out))[0]

    return run, gradient, x.astype(dtype), w.astype(dtype)


def _compare(f, *args, expect=None, rtol=1e-4):
    """Each convolution in `f` against what replaces it. Returns how many there are."""
    program = olympus.make_olympuspr(f)(*args)
    found = 0
    for eqn in program.eqns:
        if eqn.primitive is not P:
            continue
        rng = np.random.default_rng(1)
        ins = [v.aval for v in eqn.invars]
        xs = [rng.normal(size=a.shape).astype(a.dtype) for a in ins]
        replacement = P.rewrite("cpu", *ins, **eqn.params)
        if replacement is None:
            continue
        found += 1
        got = olympus.jit(replacement)(*xs)
        assert avals.aval_of(got) is eqn.outvars[0].aval
        want = np.asarray(P.reference(*xs, **eqn.params)).astype("complex128")
        got = np.asarray(got).astype("complex128")
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * 10)
    return found


@pytest.fixture
def always(monkeypatch):
    """Small convolutions are replaced as large ones are."""
    for name in ("DEPTHWISE_WORK", "SINGLE_WORK", "GROUPED_WORK", "DENSE_WORK"):
        monkeypatch.setattr(thresholds, name, 0)
    return monkeypatch


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_replacements_have_the_values_of_the_convolution(always, seed):
    _, gradient, x, w = _case(seed)
    assert _compare(gradient, x, w)


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.parametrize("dense", [0, 2**40])
@pytest.mark.parametrize("seed", range(40))
def test_replacements_at_random(always, seed, dense):
    always.setattr(thresholds, "DENSE_WORK", dense)
    _, gradient, x, w = _case(seed)
    _compare(gradient, x, w)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "rtol"),
    [(ml_dtypes.bfloat16, 4e-2), ("float16", 4e-3), ("int32", 0), ("complex64", 1e-4)],
)
def test_replacements_of_other_dtypes(always, dtype, rtol):
    rng = np.random.default_rng(0)
    x, w = (rng.normal(size=s) * 3 for s in ((2, 6, 5, 4), (3, 3, 1, 8)))

    def run(x, w):
        return lax.conv_general_dilated(
            x, w, (1, 2), "SAME", None, None, ("NHWC", "HWIO", "NHWC"), 4
        )

    ins = [x.astype(dtype), w.astype(dtype)]
    assert _compare(run, *ins, rtol=rtol) == 1


def test_what_is_not_finite_stays_in_its_group(always):
    """The blocks off the diagonal are left out, not multiplied by zero."""
    _, gradient, x, w = _case(3)
    program = olympus.make_olympuspr(gradient)(x, w)
    eqn = next(
        e
        for e in program.eqns
        if e.primitive is P and e.params["batch_group_count"] > 1
    )
    ins = [v.aval for v in eqn.invars]
    spec = eqn.params["dimension_numbers"]
    groups = eqn.params["batch_group_count"]
    x, w = (np.ones(a.shape, "float32") for a in ins)
    per = w.shape[spec.rhs_spec[0]] // groups
    np.moveaxis(w, spec.rhs_spec[0], 0)[:per] = np.inf
    for dense in (0, 2**40):
        always.setattr(thresholds, "DENSE_WORK", dense)
        got = P.rewrite("cpu", *ins, **eqn.params)(x, w)
        rest = np.moveaxis(np.asarray(got), spec.out_spec[1], 0)[per:]
        assert np.isfinite(rest).all()


@pytest.mark.parametrize("shape", [(1, 1, 9000), (2, 1, 90, 50)])
def test_signals_of_one_channel(shape):
    w = np.random.default_rng(0).normal(size=(1, 1, *(5, 3)[: len(shape) - 2]))
    x = np.random.default_rng(1).normal(size=shape).astype("float32")
    w = w.astype("float32")
    steps = (1,) * (len(shape) - 2)
    assert _compare(lambda x, w: lax.conv(x, w, steps, "SAME"), x, w) == 1


def test_small_and_plain_convolutions_stay():
    run, gradient, x, w = _case(0)
    assert _compare(run, x, w) == _compare(gradient, x, w) == 0
    plain = np.ones((2, 3, 40, 40), "float32"), np.ones((3, 3, 5, 5), "float32")
    assert _compare(lambda x, w: lax.conv(x, w, (1, 1), "SAME"), *plain) == 0


def test_large_ones_are_lowered_without_a_convolution():
    x, w = np.ones((2, 40, 40, 32), "float32"), np.ones((3, 3, 1, 32), "float32")

    def run(x, w):
        return lax.conv_general_dilated(
            x, w, (1, 1), "VALID", None, None, ("NHWC", "HWIO", "NHWC"), 32
        )

    text = olympus.jit(run).lower(x, w).as_text()
    assert "stablehlo.convolution" not in text
    np.testing.assert_allclose(run(x, w), 9.0)
