"""LAPACK kernels take SciPy's functions, and leave its packages alone."""

from tests import fresh

FIRST = """
import sys
import numpy as np
import olympus
import olympus.numpy as jnp

def check(x):
    q, r = jnp.linalg.qr(x)
    np.testing.assert_allclose(q @ r, x, atol=1e-5)
    np.testing.assert_allclose(
        jnp.linalg.svd(x, compute_uv=False), np.linalg.svd(x, compute_uv=False), 1e-5
    )

x = np.array([[2.0, 1.0, 0.5], [0.0, 3.0, 1.0], [1.0, 1.0, 4.0]], "float32")
"""


def test_the_package_is_not_imported_and_can_be_later():
    code = f"""{FIRST}
check(x)
assert not any(name.startswith("scipy.linalg") for name in sys.modules)
import scipy.linalg.cython_lapack
import scipy.linalg
assert scipy.linalg.cython_lapack.__pyx_capi__ is not None
assert scipy.linalg.cython_lapack is sys.modules["scipy.linalg.cython_lapack"]
np.testing.assert_allclose(x @ scipy.linalg.solve(x, x[0]), x[0], 1e-5)
from scipy.linalg.cython_blas import __pyx_capi__
check(x + 1)
"""
    fresh.run(code)


def test_a_package_that_is_there_is_used():
    fresh.run(f"""{FIRST}
import scipy.linalg
check(x)
assert hasattr(scipy.linalg, "cython_lapack")
""")


def test_another_layout_of_scipy():
    code = f"""{FIRST}
from olympus._src.runtime import scipy_lapack
scipy_lapack._NAMES = ("cython_blas", "another_module")
check(x)
import scipy.linalg.cython_blas
assert scipy.linalg.cython_blas is sys.modules["scipy.linalg.cython_blas"]
"""
    fresh.run(code)
