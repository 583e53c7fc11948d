"""What is outside a mask reaches neither values nor derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import nn
from olympus.scipy import special

MASK = np.array([[True, True, False], [True, True, True], [False, True, True]])
WEIGHTS = np.where(MASK, np.float32(2), np.float32(np.nan))


def _reduce(name):
    f = getattr(jnp, name)
    return lambda x: f(x, axis=1, where=MASK)


_NAMES = ("sum", "prod", "mean", "var", "std", "nanmean", "nanvar", "nansum")
CASES = {
    **{name: _reduce(name) for name in _NAMES},
    "max": lambda x: jnp.max(x, axis=1, where=MASK, initial=-9.0),
    "min": lambda x: jnp.min(x, axis=1, where=MASK, initial=9.0),
    "nanmax": lambda x: jnp.nanmax(x, axis=1, where=MASK, initial=-9.0),
    "softmax": lambda x: nn.softmax(x, where=MASK),
    "log_softmax": lambda x: jnp.where(MASK, nn.log_softmax(x, where=MASK), 0),
    "logsumexp": lambda x: nn.logsumexp(x, 1, where=MASK),
    "signed": lambda x: nn.logsumexp(x, 1, where=MASK, return_sign=True)[0],
    "logmeanexp": lambda x: nn.logmeanexp(x, 1, where=MASK),
    "weighted": lambda x: special.logsumexp(x, 1, b=WEIGHTS, where=MASK),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_gradients_of_masked_functions(name):
    f = CASES[name]
    x = np.array([[1, 2, 0], [1, -2, 3], [0, 2.5, 0.5]], np.float32)
    weights = np.linspace(1, 2, np.asarray(f(x)).size, dtype=np.float32)

    def total(x):
        return (f(x).reshape(-1) * weights).sum()

    evaluate = olympus.jit(olympus.value_and_grad(total))
    value, slope = evaluate(np.where(MASK, x, 0.25))
    for bad in (np.inf, -np.inf, np.nan, 1e38):
        got, got_slope = evaluate(np.where(MASK, x, np.float32(bad)))
        np.testing.assert_allclose(got, value, rtol=1e-6)
        np.testing.assert_allclose(got_slope, slope, rtol=1e-6)
        assert not np.asarray(got_slope)[~MASK].any()
