"""Callbacks that write into the memory of their results."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus.experimental.buffer_callback import (
    Buffer,
    ExecutionContext,
    ExecutionStage,
    buffer_callback,
)

VECTOR = olympus.ShapeDtypeStruct((3,), "float32")


def double(context, out, x):
    np.multiply(np.asarray(x), 2, out=np.asarray(out))


@pytest.mark.parametrize("transform", [lambda f: f, olympus.jit])
def test_results_are_written_in_place(transform):
    seen = []

    def fill(context, out, x, *, scale):
        seen.append((type(context), context.stage, type(x), x.writeable, x.shape))
        np.asarray(out["sum"])[...] = np.asarray(x) + np.asarray(scale)
        np.asarray(out["product"])[...] = np.asarray(x) * np.asarray(scale)

    kinds = {"sum": VECTOR, "product": VECTOR}
    call = transform(buffer_callback(fill, kinds))
    out = call(onp.arange(3.0), scale=np.float32(2))
    np.testing.assert_array_equal(out["sum"], [2, 3, 4])
    np.testing.assert_array_equal(out["product"], [0, 2, 4])
    assert seen == [(ExecutionContext, ExecutionStage.EXECUTE, Buffer, False, (3,))]


def test_each_program_calls_its_own():
    first = olympus.jit(buffer_callback(double, VECTOR))

    def triple(context, out, x):
        np.multiply(np.asarray(x), 3, out=np.asarray(out))

    second = olympus.jit(buffer_callback(triple, VECTOR))
    x = onp.arange(3.0)
    np.testing.assert_array_equal(first(x), 2 * x)
    np.testing.assert_array_equal(second(x), 3 * x)
    np.testing.assert_array_equal(first(x), 2 * x)


def test_beside_other_callbacks():
    @olympus.jit
    def f(x):
        y = buffer_callback(double, VECTOR)(x)
        z = olympus.pure_callback(lambda v: np.asarray(v) + 1, VECTOR, y)
        return buffer_callback(double, VECTOR)(z)

    np.testing.assert_array_equal(f(onp.arange(3.0)), [2, 6, 10])


def test_an_argument_lends_its_memory():
    def add_one(context, out, x):
        np.asarray(out)[...] += 1

    call = buffer_callback(add_one, VECTOR, input_output_aliases={0: 0})
    x = onp.arange(3.0)
    np.testing.assert_array_equal(olympus.jit(call)(x), [1, 2, 3])
    np.testing.assert_array_equal(x, [0, 1, 2])


@pytest.mark.parametrize("method", ["sequential", "expand_dims", "broadcast_all"])
def test_mapped(method):
    call = buffer_callback(double, VECTOR, vmap_method=method)
    rows = onp.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(olympus.vmap(call)(rows), 2 * rows)


def test_in_a_loop():
    @olympus.jit
    def f(x):
        return olympus.lax.fori_loop(
            0, 4, lambda _, x: buffer_callback(double, VECTOR)(x), x
        )

    np.testing.assert_array_equal(f(onp.ones(3)), [16] * 3)


def test_a_call_with_effects_stays():
    calls = []
    call = buffer_callback(
        lambda context, out, x: calls.append(1), (), has_side_effect=True
    )
    olympus.jit(lambda x: (call(x), x)[1])(1.0)
    olympus.effects_barrier()
    assert calls == [1]


def fails(context, out, x):
    raise ValueError("no number")


ERRORS = {
    "an error": (fails, olympus.errors.OlympusRuntimeError, "no number"),
    "a result": (
        lambda context, out, x: 3,
        olympus.errors.OlympusRuntimeError,
        "must return None and write into the buffers",
    ),
    "no function": (3, TypeError, "callback must be a function"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    callback, kind, text = ERRORS[name]
    with pytest.raises(kind, match=text):
        olympus.jit(buffer_callback(callback, VECTOR))(onp.ones(3)).block_until_ready()


def test_what_it_refuses():
    call = buffer_callback(double, VECTOR)
    with pytest.raises(ValueError, match="no derivative"):
        olympus.grad(lambda x: call(x).sum())(onp.ones(3))
    with pytest.raises(NotImplementedError, match="vmap_method"):
        olympus.vmap(call)(onp.ones((2, 3)))
    with pytest.raises(TypeError, match="arguments"):
        call("text")
    with pytest.raises(TypeError, match="result_shape_dtypes"):
        buffer_callback(double, 3)
