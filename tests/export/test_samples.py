"""Each operation comes back from bytes as it went, on the samples of all of them."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
from olympus import export, lax
from tests.lax import samples

# Kernels that later versions need not have.
UNSTABLE = ("geqp3", "ormqr", "unmqr")


def round_trip_is_exact(f, args):
    checks = [
        export.DisabledSafetyCheck.custom_call(f"lapack_{letter}{name}_ffi")
        for name in UNSTABLE
        for letter in "sdcz"
    ]
    exported = export.export(olympus.jit(f), disabled_checks=checks)(*args)
    found = export.deserialize(exported.serialize()).call(*args)
    wanted = olympus.jit(f)(*args)
    for a, b in zip(
        olympus.tree.leaves(found), olympus.tree.leaves(wanted), strict=True
    ):
        assert olympus.typeof(a) is olympus.typeof(b)
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.slow
@pytest.mark.sampled(30)
@pytest.mark.parametrize("s", samples.SAMPLES, ids=repr)
def test_each_operation(s):
    round_trip_is_exact(lambda *args: s.p.bind(*args, **s.params), s.args)


def test_a_slice_of_a_scalar():
    # MLIR prints the operation in a form that it cannot read where there are no axes.
    round_trip_is_exact(lambda x: lax.dynamic_slice(x, (), ()), (np.int32(3),))
