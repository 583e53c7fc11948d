"""Every primitive's rules, against its meaning in NumPy, differences and loops."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from olympus._src.core import avals, primitive
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.foundation import config
from olympus._src.interpreters import batching, concrete_arrays
from olympus._src.lax import scatter
from tests.lax import samples
from tests.lax.sampling import TOLERANCE, Sample

pytestmark = pytest.mark.sampled(6)

SAMPLES = samples.SAMPLES


def cases(chosen: list[Sample], every: int = 2) -> list[Any]:
    """Samples as test cases: slow but for the first of one primitive in `every`."""
    seen: set[str] = set()
    found = []
    for s in chosen:
        quick = not s.slow and s.p.name not in seen and len(seen) % every == 0
        seen.add(s.p.name)
        marks = [] if quick else [pytest.mark.slow]
        found.append(pytest.param(s, marks=marks, id=repr(s)))
    return found


def as_list(p: Any, outs: Any) -> list[Any]:
    return list(outs) if p.multiple_results else [outs]


def assert_close(got: Any, want: Any, tolerance: float | None = None) -> None:
    """Raises unless the arrays agree: dtype, shape, and values within tolerance."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, (got.dtype, want.dtype)
    assert got.shape == want.shape, (got.shape, want.shape)
    tol = TOLERANCE.get(got.dtype, 1e-10) if tolerance is None else tolerance
    if got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want)
        return
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(got.astype(wide), want.astype(wide), rtol=tol, atol=tol)


def test_every_primitive_has_a_sample() -> None:
    sampled = {s.p.name for s in SAMPLES}
    known = {
        p.name
        for p in primitive.records()
        if p.file.startswith("lax/") and p.name not in samples.WITHOUT_SAMPLE
    }
    assert known - sampled == set()
    assert set(samples.WITHOUT_SAMPLE) & sampled == set()


@pytest.mark.parametrize("s", cases(SAMPLES, every=1))
def test_value_is_the_reference(s: Sample) -> None:
    outs = as_list(s.p, s.p.bind(*s.args, **s.params))
    in_avals = tuple(avals.aval_of(a) for a in s.args)
    predicted, _ = s.p.results(in_avals, s.params)
    for out, aval in zip(outs, as_list(s.p, predicted), strict=True):
        assert avals.aval_of(out) is aval
        host = np.asarray(out)
        assert (host.shape, host.dtype) == (aval.shape, aval.dtype)
    if s.p.reference is None:
        assert s.p.name in samples.WITHOUT_REFERENCE
        return
    with np.errstate(all="ignore"):
        wanted = as_list(s.p, s.p.reference(*s.args, **s.params))
    for out, want in zip(outs, wanted, strict=True):
        want = np.asarray(want)
        assert_close(out, want.astype(np.asarray(out).dtype), s.tolerance)


def placements(s: Sample) -> Any:
    """Which arguments are mapped, and where: each alone and all of them."""
    n = len(s.args)
    choices = [tuple(i == j for j in range(n)) for i in range(n)]
    if n > 1:
        choices.append((True,) * n)
    for mapped in choices:
        for end in (False, True):
            yield tuple(
                (a.ndim if end else 0) if m else None
                for a, m in zip(s.args, mapped, strict=True)
            )


BATCH = 3


def varied(a: np.ndarray, i: int) -> np.ndarray:
    """Variant `i` of an argument: another order of its elements."""
    if a.ndim == 0 or a.size < 2:
        return a
    return np.roll(a.reshape(-1), i).reshape(a.shape)


@pytest.mark.parametrize("s", cases([s for s in SAMPLES if s.args and s.loop]))
def test_batch_is_a_loop(s: Sample) -> None:
    for dims in dict.fromkeys(placements(s)):
        stacks = [
            a if d is None else np.stack([varied(a, i) for i in range(BATCH)], d)
            for a, d in zip(s.args, dims, strict=True)
        ]
        axis = batching.AxisData(None, BATCH)
        outs, out_dims = batching.batch(
            lambda *xs: as_list(s.p, s.p.bind(*xs, **s.params)), axis, stacks, dims
        )
        for i in range(BATCH):
            args = [
                a if d is None else varied(a, i)
                for a, d in zip(s.args, dims, strict=True)
            ]
            wanted = as_list(s.p, s.p.bind(*args, **s.params))
            for out, d, want in zip(outs, out_dims, wanted, strict=True):
                host = np.asarray(out)
                part = host if d is None else np.take(host, i, d)
                assert_close(part, want, s.tolerance)


def floating(s: Sample) -> bool:
    return any(a.dtype == np.float32 and a.size for a in s.args)


SMOOTH = [s for s in SAMPLES if s.smooth and s.p.jvp is not None and floating(s)]


@pytest.mark.parametrize("s", cases(SMOOTH))
def test_jvp_is_the_difference(s: Sample) -> None:
    """The rule agrees with central differences, in double precision."""
    with config.enable_x64(True):
        args = [a.astype(np.float64) if a.dtype == np.float32 else a for a in s.args]
        rng = np.random.default_rng(1)
        tangents: list[Any] = [
            rng.uniform(-1, 1, a.shape) if a.dtype == np.float64 else None for a in args
        ]
        params = doubled(s)
        step = 1e-6

        def at(sign: int) -> list[np.ndarray]:
            moved = [
                a if t is None else a + sign * step * t
                for a, t in zip(args, tangents, strict=True)
            ]
            outs = as_list(s.p, s.p.bind(*moved, **params))
            return [np.asarray(x) for x in outs]

        primals = [concrete_arrays.as_array(a) for a in args]
        given = [
            Zero(avals.aval_of(a).to_tangent())
            if t is None
            else concrete_arrays.as_array(t)
            for a, t in zip(args, tangents, strict=True)
        ]
        outs, out_tangents = s.p.jvp(primals, given, **params)
        pairs = zip(
            as_list(s.p, outs), as_list(s.p, out_tangents), at(1), at(-1), strict=True
        )
        for out, t, above, below in pairs:
            assert avals.aval_of(t).shape == avals.aval_of(out).shape
            if type(t) is Zero:
                if above.dtype.kind in "fc":
                    np.testing.assert_array_equal(above, below)
                continue
            difference = (above - below) / (2 * step)
            np.testing.assert_allclose(np.asarray(t), difference, rtol=2e-4, atol=2e-4)


def doubled(s: Sample) -> dict[str, Any]:
    """Parameters for operands in double precision."""
    double = np.dtype(np.float64)
    params = {
        k: double if v is np.dtype(np.float32) else v for k, v in s.params.items()
    }
    if params.get("update_jaxpr") is not None:
        params["update_jaxpr"] = scatter.update_program(s.p, double)
    return params


LINEAR = [
    pytest.param(s, i, marks=[pytest.mark.slow] if s.slow or n % 2 else [])
    for n, s in enumerate(SAMPLES)
    for i in s.linear
    if s.p.transpose is not None
]


def test_linear_primitives_have_a_transpose() -> None:
    assert [s for s in SAMPLES if s.linear and s.p.transpose is None] == []


def wide(x: Any) -> np.ndarray:
    return np.asarray(x).astype(np.complex128)


@pytest.mark.parametrize(("s", "position"), LINEAR, ids=str)
def test_transpose_is_the_adjoint(s: Sample, position: int) -> None:
    """<ct, f(t)> = <f'(ct), t> for each argument the operation is linear in."""
    args = list(s.args)
    others = [concrete_arrays.as_array(a) for a in args]
    outs = as_list(s.p, s.p.bind(*args, **s.params))
    zeros = list(args)
    zeros[position] = np.zeros_like(args[position])
    offsets = as_list(s.p, s.p.bind(*zeros, **s.params))
    rng = np.random.default_rng(2)
    cts = [rng.uniform(-1, 1, x.shape).astype(np.asarray(x).dtype) for x in outs]
    marked: list[Any] = list(others)
    marked[position] = Linear(avals.aval_of(args[position]))
    answer = s.p.transpose(
        [concrete_arrays.as_array(c) for c in cts], *marked, **s.params
    )
    back = answer[position]
    assert avals.aval_of(back).shape == args[position].shape
    moved = [wide(x) - wide(o) for x, o in zip(outs, offsets, strict=True)]
    left = sum(np.sum(wide(c) * t) for c, t in zip(cts, moved, strict=True))
    if type(back) is Zero:
        assert left == 0
        return
    right = np.sum(wide(back) * wide(args[position]))
    # Complex numbers are pairs of reals here, so only the real part is an invariant.
    tol = 20 * TOLERANCE.get(args[position].dtype, 1e-5)
    np.testing.assert_allclose(np.real(left), np.real(right), rtol=tol, atol=tol)
    for other in itertools.chain(answer[:position], answer[position + 1 :]):
        assert other is None


@pytest.mark.parametrize("case", samples.ERRORS, ids=lambda c: c[0])
def test_errors_name_the_operation(case: Any) -> None:
    operation, call = case
    with pytest.raises((TypeError, ValueError, IndexError), match=operation):
        call()
