"""Which results of weak arrays are weak, as recorded from JAX 0.10.2 and 0.12.0.1.

A weak array of several elements is what `jnp.full(3, 0.5)` makes. Whether a result is
weak decides the dtype of what is computed from it and a short float.
"""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.scipy import linalg, stats

V, N = lax.full((3,), 0.5), lax.full((3,), 2)  # weak vectors
M = lax.full((3, 3), 0.5)
S = lax.full((), 0.5)  # a weak scalar
B = lax.lt(V, V)  # a weak boolean
I = jnp.arange(1, 4)  # noqa: E741
F = jnp.asarray([0.25, 0.5, 0.75])

STRONG = [
    "jnp.deg2rad(V)",
    "jnp.rad2deg(N)",
    "jnp.radians(M)",
    "jnp.degrees(V)",
    "jnp.sinc(V)",
    "jnp.sinc(N)",
    "jnp.angle(V, 2)",
    "jnp.logaddexp2(V, V)",
    "jnp.logaddexp2(V, 2)",
    "jnp.heaviside(V, 2)",
    "jnp.heaviside(N, V)",
    "jnp.polyval(V, V)",
    "jnp.polyval(V, 2)",
    "jnp.round(V, 2)",
    "jnp.around(V, 2)",
    "jnp.histogram_bin_edges(V, V)",
    "jnp.histogram_bin_edges(N, V)",
    "jnp.full_like(V, V)",
    "jnp.full_like(N, V)",
    "jnp.full_like(V, F)",
    "stats.norm.logpdf(V)",
    "stats.norm.pdf(I, 0.5)",
    "stats.norm.pdf(jnp.asarray([True, False, True]))",
    "stats.t.logpdf(I, 0.5)",
    "stats.t.pdf(V, 2)",
    "stats.gamma.logpdf(V, V)",
    "stats.gamma.pdf(I, 0.5)",
    "stats.beta.logpdf(I, 0.5, 2)",
    "stats.beta.cdf(V, 0.5, 0.5)",
    "stats.beta.sf(V, V, V)",
    "stats.beta.logsf(V, I, 2)",
    "linalg.toeplitz(V)",
    "linalg.toeplitz(2)",
    "linalg.toeplitz(I, 0.5)",
    "linalg.hankel(V)",
    "linalg.hankel(N, V)",
    "jnp.diagonal(M)",
    "jnp.diag(M)",
    "jnp.linalg.diagonal(M)",
    "jnp.array_equal(V, V)",
    "jnp.array_equal(0.5, 2)",
    "jnp.array_equiv(V, S)",
    "jnp.isinf(V)",
    "jnp.isposinf(0.5)",
    "jnp.isneginf(V)",
    "jnp.signbit(N)",
    "jnp.logical_and(V, S)",
    "jnp.sin(B)",
    "jnp.add(B, B)",
    "linalg.eigh_tridiagonal(V, V[:2], eigvals_only=True)",
    "linalg.lu(M)[0]",
    "jnp.linalg.lstsq(M, V)[0]",
    "stats.gamma.cdf(V, V)",
    "stats.chi2.sf(V, 2)",
    "stats.cauchy.pdf(V)",
    "stats.bernoulli.ppf(V, 0.5)",
    "stats.norm.logpdf(F, 0.5)",
    "grad(lambda y: V.at[0].add(y).sum())(F[0])",
    "grad(lambda x: x.at[0].add(S).sum())(F)",
    "grad(lambda y: (V.at[0].mul(y) * V).sum())(F[0])",
]
WEAK = [
    "jnp.deg2rad(2)",
    "jnp.degrees(S)",
    "jnp.sinc(0.5)",
    "jnp.logaddexp2(2, 0.5)",
    "jnp.heaviside(2, 0.5)",
    "jnp.heaviside(S, 2)",
    "jnp.full_like(V, 2)",
    "jnp.full_like(2, 0.5)",
    "jnp.round(V)",
    "jnp.angle(V)",
    "stats.norm.logpdf(0.5)",
    "stats.norm.logpdf(S)",
    "stats.t.logpdf(2, 0.5)",
    "stats.gamma.pdf(2, 0.5)",
    "stats.beta.pdf(0.5, 0.5, 0.5)",
    "stats.expon.logpdf(V)",
    "stats.uniform.logpdf(I, 0.5)",
    "jnp.logical_or(S, 2)",
    "lax.lt(S, S)",
    "jnp.diagonal(M, 1)",
    "jnp.diag(M[:2])",
    "jnp.diag(M, -1)",
    "jnp.linalg.diagonal(M[None])",
    "jnp.linalg.diagonal(M, offset=1)",
    "jnp.linalg.cholesky(M)",
    "jnp.linalg.eigh(M)[1]",
    "jnp.linalg.eigvals(M)",
    "jnp.linalg.svd(M)[1]",
    "jnp.linalg.qr(N[None])[1]",
    "jnp.linalg.solve(M, V)",
    "jnp.linalg.lstsq(M, V)[3]",
    "lax.linalg.lu(M)[2]",
    "lax.linalg.triangular_solve(M, M)",
    "linalg.lu(M)[2]",
    "linalg.cho_solve((M, True), V)",
    "stats.gamma.cdf(S, S)",
    "stats.gamma.sf(True, False)",
    "stats.cauchy.pdf(0.5)",
    "stats.norm.logpdf(0.5, I)",
    "stats.pareto.logcdf(V, 2)",
    "grad(lambda y: F.at[0].add(y).sum())(S)",
    "grad(lambda x: x.at[0].add(F[0]).sum())(V)",
    "grad(lambda x: (x.at[0].set(S) * x).sum())(V)",
    "grad(lambda y: (V.at[0].set(y) * V).sum())(S)",
]


@pytest.mark.parametrize("text", STRONG + WEAK)
def test_results_are_as_weak_as_recorded(text: str) -> None:
    names = {"jnp": jnp, "lax": lax, "stats": stats, "linalg": linalg}
    names |= {"V": V, "N": N, "M": M, "S": S, "B": B, "I": I, "F": F}
    names["grad"] = olympus.grad
    found: list[bool] = []
    olympus.eval_shape(lambda: found.append(eval(text, names).aval.weak_type))
    assert found == [text in WEAK]
    assert eval(text, names).aval.weak_type == (text in WEAK)


# Recorded from JAX 0.12: of 6, 1.5 and 1 + 2j the weakness of the result.
TESTS = {
    "isnan": (True, True, True),
    "isreal": (True, True, True),
    "iscomplex": (True, True, True),
    "isinf": (False, False, False),
    "isfinite": (False, True, True),
}


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("name", TESTS)
def test_booleans_of_weak_numbers(name, jitted):
    f = getattr(jnp, name)
    f = olympus.jit(f) if jitted else f
    for x, is_weak in zip((6, 1.5, 1 + 2j), TESTS[name], strict=True):
        assert f(x).weak_type == is_weak
        assert f(x).dtype == bool
    for x in (True, np.int32(6), np.float32(6)):
        assert not f(x).weak_type
