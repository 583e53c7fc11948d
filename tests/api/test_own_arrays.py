"""Results of numbers belong to the caller, who may delete or donate them."""

import numpy as np
import pytest

import olympus as ol
import olympus.numpy as jnp

ONE = np.float32(1.0)

CALLS = {
    "broadcast_to": lambda: jnp.broadcast_to(2.0, ()),
    "squeeze": lambda: jnp.squeeze(2.0),
    "transpose": lambda: jnp.transpose(2),
    "moveaxis": lambda: jnp.moveaxis(2.0, (), ()),
    "a NumPy number": lambda: jnp.squeeze(ONE),
    "grad": lambda: ol.grad(lambda x: x)(2.0),
    "value_and_grad": lambda: ol.value_and_grad(lambda x: x)(ONE)[1],
    "vjp": lambda: ol.vjp(lambda x: x, jnp.ones(()))[1](ONE)[0],
    "asarray": lambda: jnp.asarray(2.0),
    "device_put": lambda: ol.device_put(2.0),
    "jit": lambda: ol.jit(lambda x: x)(2.0),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_deleted_result_leaves_others(call):
    first, second = call(), call()
    first.delete()
    assert not second.is_deleted()
    assert float(second) == float(call()) != 0


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_donated_result_leaves_others(call):
    first, second = call(), call()
    expected = float(second) + 1
    add_one = ol.jit(lambda x: x + 1, donate_argnums=0)
    assert float(add_one(first)) == expected
    assert float(add_one(second)) == expected
