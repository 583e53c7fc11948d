"""Functions of the table of symbolic calls, exported, read back and called.

`tests/api/test_symbolic_calls.py` traces the same expressions and compares their types
with those of JAX; here they run, at two sizes, and give what the functions give there.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from api import test_symbolic_calls as calls

import olympus
from olympus import export

SIZES = ({"a": 3, "b": 4}, {"a": 4, "b": 2})
# Not one of these leaves the process: what runs on the host, transforms of open length,
# and factors whose shapes depend on which size is larger. JAX exports none of them.
REFUSED = {
    "jnp.linalg.qr(x)": olympus.errors.InconclusiveDimensionOperation,
    "jnp.linalg.qr(z)": olympus.errors.InconclusiveDimensionOperation,
    "jnp.fft.fft(x,axis=0)": NotImplementedError,
    "jnp.fft.rfft(v)": NotImplementedError,
    "olympus.pure_callback": NotImplementedError,
}
GROUPS = 60


def function_of(expression, names):
    def function(values):
        leaves = olympus.tree.leaves(eval(expression, {**names, **values}))
        return [x for x in leaves if hasattr(x, "shape")]

    return olympus.jit(function)


def draw(spec, sizes):
    shape = [d if type(d) is int else eval(str(d), {}, sizes) for d in spec.shape]
    rng = np.random.default_rng(len(shape))
    if olympus.dtypes.issubdtype(spec.dtype, olympus.dtypes.extended):
        return olympus.random.key(3)
    if spec.dtype == np.int32:
        return (np.arange(np.prod(shape)) % 3).astype(np.int32).reshape(shape)
    return rng.standard_normal(shape).astype(np.float32)


def assert_close(found, wanted, expression):
    if olympus.dtypes.issubdtype(found.dtype, olympus.dtypes.extended):
        found, wanted = map(olympus.random.key_data, (found, wanted))
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype), expression
    found, wanted = (np.asarray(x, np.complex64) for x in (found, wanted))
    np.testing.assert_allclose(found, wanted, 1e-3, 1e-3, err_msg=expression)


def check(expression):
    specs, names = calls.inputs()
    used = {*re.findall(r"\w+", expression), "v", "z"}  # these two tell the sizes
    specs = {name: spec for name, spec in specs.items() if name in used}
    function = function_of(expression, names)
    for start, error in REFUSED.items():
        if expression.startswith(start):
            with pytest.raises(error):
                export.export(function)(specs)
            return
    exported = export.deserialize(export.export(function)(specs).serialize())
    for sizes in SIZES:
        values = {name: draw(spec, sizes) for name, spec in specs.items()}
        found = exported.call(values)
        wanted = function_of(expression, {**names, **sizes})(values)
        for x, y in zip(found, wanted, strict=False):  # some are no arrays there
            assert_close(x, y, expression)


@pytest.mark.slow
@pytest.mark.sampled(60)
@pytest.mark.parametrize("group", range(GROUPS))
def test_calls(group):
    for expression, types, _ in calls.rows()[group::GROUPS]:
        if types:
            check(expression)
