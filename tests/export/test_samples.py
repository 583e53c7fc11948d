"""Each operation comes back from bytes as it went, on the samples of all of them."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
from olympus import export, lax
from olympus._src.lax import prefix_kernels
from olympus._src.lax.linalg import (
    linear_systems,
    lu_decomposition,
    matrix_kernels,
)
from tests.lax import samples

# Kernels that later versions need not have.
UNSTABLE = ("geqp3", "ormqr", "unmqr")
# Kernels of our own, which are not in exports, round in another order.
OTHER_KERNELS = {lax.cumsum_p: 2e-6, lax.cumprod_p: 1e-4, lax.cumlogsumexp_p: 2e-6}
OTHER_KERNELS |= {lu_decomposition.lu_p: 1e-5, linear_systems.lu_solve_p: 1e-4}


def check_round_trip(f, args, tolerance=0.0):
    checks = [
        export.DisabledSafetyCheck.custom_call(f"lapack_{letter}{name}_ffi")
        for name in UNSTABLE
        for letter in "sdcz"
    ]
    checks.append(export.DisabledSafetyCheck.custom_call("LayoutConstraint"))
    exported = export.export(olympus.jit(f), disabled_checks=checks)(*args)
    found = export.deserialize(exported.serialize()).call(*args)
    wanted = olympus.jit(f)(*args)
    for a, b in zip(
        olympus.tree.leaves(found), olympus.tree.leaves(wanted), strict=True
    ):
        assert olympus.typeof(a) is olympus.typeof(b)
        if tolerance:
            atol = tolerance * np.max(np.abs(b), initial=0)
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=atol)
        else:
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.slow
@pytest.mark.sampled(30)
@pytest.mark.parametrize("s", samples.SAMPLES, ids=repr)
def test_each_operation(s):
    tolerance = OTHER_KERNELS[s.p] if has_kernel(s) else 0.0
    check_round_trip(lambda *args: s.p.bind(*args, **s.params), s.args, tolerance)


def has_kernel(s):
    if s.p not in OTHER_KERNELS:
        return False
    types = [olympus.typeof(x) for x in s.args]
    if s.p is linear_systems.lu_solve_p:
        return matrix_kernels.suits("cpu", types[1], types[3].shape[-1])
    if s.p is lu_decomposition.lu_p:
        return matrix_kernels.suits("cpu", types[0])
    fewest = prefix_kernels.FEWEST_EXPONENTIALS
    return prefix_kernels.suits("cpu", types[0], s.params["axis"], fewest)


def test_a_slice_of_a_scalar():
    # MLIR prints the operation in a form that it cannot read where there are no axes.
    check_round_trip(lambda x: lax.dynamic_slice(x, (), ()), (np.int32(3),))
