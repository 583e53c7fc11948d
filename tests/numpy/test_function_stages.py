"""`numpy.cos.lower(x)`: functions of the library have the stages of jitted ones."""

import functools

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from tests import fresh

X = onp.ones((3, 4))
CALLS = {
    "elementwise": (onp.cos, (1.0,), {}),
    "static by name": (onp.sum, (X,), {"axis": 0}),
    "static by position": (onp.sum, (X, 1), {}),
    "a word": (onp.linalg.norm, (X,), {"ord": "fro"}),
    "several arrays": (onp.where, (X > 0, X, 0.0), {}),
    "a list": (onp.concatenate, ([X, X],), {"axis": 1}),
    "a shape": (onp.reshape, (X, (4, 3)), {}),
    "a transform": (onp.fft.fft, (X,), {}),
    "an activation": (olympus.nn.softmax, (X,), {"axis": 0}),
}


@pytest.mark.parametrize("name", CALLS)
def test_stages(name):
    function, args, kwargs = CALLS[name]
    expected = function(*args, **kwargs)
    assert function.eval_shape(*args, **kwargs).shape == expected.shape
    assert function.trace(*args, **kwargs).out_info.dtype == expected.dtype
    assert function.lower(*args, **kwargs).compile()


def test_stages_are_there_if_examples_are_loaded_first():
    program = """
    import olympus.example_libraries.stax
    from olympus import nn
    assert nn.softmax.__module__ == "olympus.nn"
    kind = olympus.ShapeDtypeStruct((3,), "float32")
    assert nn.softmax.eval_shape(kind).shape == (3,)
    """
    fresh.run(program)


def test_functions_are_exported_without_jit():
    kind = olympus.ShapeDtypeStruct((3,), "float32")
    exported = olympus.export.export(onp.cos)(kind)
    np.testing.assert_array_equal(exported.call(onp.zeros(3)), [1, 1, 1])


def test_a_wrapper_has_stages_of_its_own():
    @functools.wraps(onp.cos)
    def other(x):
        return x + 1

    with pytest.raises(ValueError, match="must be the result of `jit`"):
        olympus.export.export(other)
    assert float(olympus.jit(other).lower(1.0).compile()(1.0)) == 2.0
    assert olympus.jit(onp.cos).trace(1.0).fun_name == "cos"


def test_methods_are_on_the_class():
    assert float(olympus.Array.sum(X)) == 12.0
    assert {"at", "sum", "reshape", "T"} <= set(dir(olympus.Array))
