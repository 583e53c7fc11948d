"""Statistics of many short floats, whose dtype holds neither positions nor counts."""

import numpy as np
import pytest

import olympus.numpy as jnp
from olympus.scipy import stats

pytestmark = pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
N = 100_001


def values(dtype, n=N):
    x = jnp.asarray(np.random.default_rng(0).random(n, "float32")).astype(dtype)
    return x, np.asarray(x).astype("float64")


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 999, 3001, N])
def test_quantiles_are_those_of_wide_floats(dtype, n):
    x, wide = values(dtype, n)
    eps = float(jnp.finfo(dtype).eps)
    for fun in ("median", "nanmedian"):
        assert float(getattr(jnp, fun)(x)) == pytest.approx(np.median(wide), abs=eps)
    for q in (0.0, 0.1, 0.37, 0.9, 1.0):
        for method in ("linear", "lower", "higher", "nearest", "midpoint"):
            want = np.quantile(wide, q, method=method)
            for fun in (jnp.quantile, jnp.nanquantile):
                got = fun(x, q, method=method)
                assert got.dtype == x.dtype
                assert float(got) == pytest.approx(want, abs=eps), (q, method)
        got = jnp.percentile(x, 100 * q)
        assert float(got) == pytest.approx(np.quantile(wide, q), abs=eps)
        want = np.quantile(wide, q, method="inverted_cdf")
        for weights in (None, jnp.ones(n, dtype)):
            got = jnp.quantile(x, q, method="inverted_cdf", weights=weights)
            assert float(got) == pytest.approx(want, abs=8 * eps)


def test_means_and_errors_of_means(dtype):
    x, wide = values(dtype)
    error = wide.std(ddof=1) / np.sqrt(N)
    for policy in ("propagate", "omit"):
        got = stats.sem(x, nan_policy=policy)
        assert float(got) == pytest.approx(error, rel=0.02)
    for name in ("mean", "nanmean", "var", "nanvar", "std", "nanstd"):
        want = getattr(np, name)(wide)
        assert float(getattr(jnp, name)(x)) == pytest.approx(want, rel=0.02), name
    assert float(jnp.average(x)) == pytest.approx(wide.mean(), rel=0.02)
