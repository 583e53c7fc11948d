"""Warnings of donated buffers that no result can take, where JAX 0.10.2 warns."""

import warnings

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

ONES = jnp.ones

CASES = {
    "sum": (lambda x: x.sum(), [ONES(4)], "float32[4]"),
    "size": (lambda x: jnp.concatenate([x, x]), [ONES(4)], "float32[4]"),
    "bytes": (
        lambda x: ONES((4, 4), "int8") + x.astype("int8"),
        [ONES(4)],
        "float32[4]",
    ),
    "two": (lambda x, y: x + y, [ONES(4), ONES(4)], "float32[4]"),
    "other": (lambda x, y: x + y.sum(), [ONES(4), ONES(5)], "float32[5]"),
    "weak": (lambda x: jnp.zeros(3) + x, [1.0], "~float32[]"),
    "numpy": (lambda x: x.sum(), [np.ones(4, np.float32)], "float32[4]"),
    "several": (
        lambda x, y, z: x.sum() + y.sum() + z.sum(),
        [ONES(4), ONES((2, 3)), ONES(3, "int32")],
        "float32[4], float32[2,3], int32[3]",
    ),
    "cast": (lambda x: x.astype("int32"), [ONES(4)], None),
    "narrow": (lambda x: x.astype("float16"), [ONES(4)], None),
    "reshape": (lambda x: x.reshape(2, 2), [ONES(4)], None),
    "unused": (lambda x: 1.0, [ONES(4)], None),
    "same": (lambda x: x, [ONES(4)], None),
    "key": (olympus.random.normal, [olympus.random.key(0)], None),
    "tree": (lambda d: d["a"] + 1, [{"a": ONES(4), "b": ONES(3)}], None),
}


@pytest.mark.parametrize("name", CASES)
def test_warning(name):
    fun, args, types = CASES[name]
    jitted = olympus.jit(fun, donate_argnums=tuple(range(len(args))))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        jitted.lower(*args)
    texts = [str(w.message) for w in caught]
    if types is None:
        assert not texts
    else:
        assert [t.partition("\n")[0] for t in texts] == [
            f"Some donated buffers were not usable: {types}."
        ]
        assert caught[0].category is UserWarning
        assert caught[0].filename == __file__


def test_a_call_warns_once():
    f = olympus.jit(lambda x: x.sum(), donate_argnums=0)
    with pytest.warns(UserWarning, match=r"not usable: float32\[6\]"):
        f(ONES(6))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(ONES(6)) == 6


def test_a_jit_inside_does_not_warn():
    inner = olympus.jit(lambda x: x.sum(), donate_argnums=0)
    assert olympus.jit(lambda x: inner(x))(ONES(4)) == 4


def test_refs_lend_their_memory():
    ref = olympus.new_ref(ONES(4))

    @olympus.jit
    def add(ref):
        ref[...] += 1

    add(ref)
    np.testing.assert_array_equal(ref[...], 2 * np.ones(4))
