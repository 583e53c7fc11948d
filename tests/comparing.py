"""When results agree: one comparison for the tests, with the tolerance of each."""

from __future__ import annotations

import numpy as np


def assert_close(got, want, rtol=1e-5, atol=1e-6, *, same_shape=False):
    """Raises where numbers differ by more than `atol + rtol * abs(want)`.

    Tuples and lists of results are compared one by one, and must be as long; numbers
    alone stand for whole arrays, but with `same_shape`.
    """
    if isinstance(got, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            assert_close(g, w, rtol, atol, same_shape=same_shape)
        return
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape or not same_shape, (got.shape, want.shape)
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)
