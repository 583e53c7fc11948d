"""Settings that change what NumPy-level functions accept and compute."""

import warnings

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax

ROW = np.ones(3, np.float32)
TABLE = np.ones((2, 3), np.float32)


def test_rank_promotion_raises_where_axes_would_be_added():
    with olympus.numpy_rank_promotion("raise"):
        with pytest.raises(ValueError, match=r"numpy\.add: .* \(3,\) and \(2, 3\)"):
            jnp.add(TABLE, ROW)
        with pytest.raises(ValueError, match="expand_dims"):
            olympus.jit(jnp.multiply)(TABLE, ROW)
        assert jnp.add(TABLE, 1).shape == (2, 3)
        assert jnp.add(TABLE, ROW[None]).shape == (2, 3)
    assert jnp.add(TABLE, ROW).shape == (2, 3)


def test_rank_promotion_warns():
    with (
        olympus.numpy_rank_promotion("warn"),
        pytest.warns(UserWarning, match=r"numpy\.subtract: axes are added"),
    ):
        jnp.subtract(TABLE, ROW)
    with olympus.numpy_rank_promotion("warn"), warnings.catch_warnings():
        warnings.simplefilter("error")
        jnp.subtract(TABLE, np.float32(1))


def _precision(f):
    (eqn,) = olympus.make_olympuspr(f)(np.eye(2, dtype=np.float32)).eqns
    return eqn.params["precision"]


def test_the_precision_of_contractions_that_name_none():
    assert _precision(lambda x: lax.dot(x, x)) is None
    with olympus.default_matmul_precision("tensorfloat32"):
        assert _precision(lambda x: lax.dot(x, x)) == (lax.Precision.HIGH,) * 2
        own = _precision(lambda x: lax.dot(x, x, precision="highest"))
    assert own == (lax.Precision.HIGHEST,) * 2
    assert _precision(lambda x: lax.dot(x, x)) is None
