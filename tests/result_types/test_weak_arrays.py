"""Which results of weak arrays are weak, as recorded from JAX 0.10.2 and 0.12.0.1.

A weak array of several elements is what `jnp.full(3, 0.5)` makes. Whether a result is
weak decides the dtype of what is computed from it and a short float.
"""

from __future__ import annotations

import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.scipy import linalg, stats

V, N = lax.full((3,), 0.5), lax.full((3,), 2)  # weak vectors
M = lax.full((3, 3), 0.5)
S = lax.full((), 0.5)  # a weak scalar
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
]


@pytest.mark.parametrize("text", STRONG + WEAK)
def test_results_are_as_weak_as_recorded(text: str) -> None:
    names = {"jnp": jnp, "stats": stats, "linalg": linalg}
    names |= {"V": V, "N": N, "M": M, "S": S, "I": I, "F": F}
    found: list[bool] = []
    olympus.eval_shape(lambda: found.append(eval(text, names).aval.weak_type))
    assert found == [text in WEAK]
    assert eval(text, names).aval.weak_type == (text in WEAK)
