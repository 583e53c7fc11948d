"""Derivatives and batches of flat functions and programs, by public names."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus._src.interpreters.batching import AxisData
from olympus.core import ShapedArray, eval_olympuspr
from olympus.extend import core, linear_util
from olympus.interpreters import ad, batching

F32 = ShapedArray((), np.dtype("float32"))
ZERO = ad.Zero(F32)


def f(x, y):
    return [onp.sin(x) * y, y + 1]


def program():
    return olympus.make_olympuspr(
        lambda x, y: (onp.sin(x) * 2, onp.cos(y) * onp.sin(x), y)
    )(1.0, 2.0)


def test_jvp():
    outs, slopes = ad.jvp(f, (2.0, 3.0), (1.0, ZERO))
    np.testing.assert_allclose(outs, [3 * np.sin(2.0), 4.0], rtol=1e-6)
    np.testing.assert_allclose(slopes, [3 * np.cos(2.0), 0.0], rtol=1e-6)
    _, slopes = ad.jvp(
        linear_util.wrap_init(f), (2.0, 3.0), (1.0, ZERO), instantiate=False
    )
    assert type(slopes[1]) is ad.Zero
    _, _, aux = ad.jvp(
        lambda x, y: (f(x, y), [x]), (2.0, 3.0), (1.0, 1.0), has_aux=True
    )
    assert aux == [2.0]


@pytest.mark.parametrize(
    ("instantiate", "nonzero"), [(False, [True, True, False]), (True, [True] * 3)]
)
def test_jvp_of_programs(instantiate, nonzero):
    c = np.arange(3.0, dtype="float32")
    for closed in (
        program(),
        olympus.make_olympuspr(lambda x, y: (x * c, x * 2, y))(1.0, 2.0),
    ):
        slopes, found = ad.jvp_olympuspr(closed, [True, False], instantiate)
        assert found == nonzero
        args = (np.float32(1.0), np.float32(2.0))
        outs = eval_olympuspr(slopes.olympuspr, slopes.consts, *args, np.float32(1.0))
        run = core.olympuspr_as_fun(closed)
        expected = olympus.jvp(run, args, (np.float32(1.0), np.float32(0.0)))
        flat = [
            *expected[0],
            *[t for t, n in zip(expected[1], nonzero, strict=True) if n],
        ]
        for got, want in zip(outs, flat, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6)


def test_linearize():
    def g(x, y):
        return [onp.sin(x), y * 2, x]

    outs, zeros, linear, consts = ad.linearize(g, (2.0, 3))
    np.testing.assert_allclose(outs, [np.sin(2.0), 6, 2.0], rtol=1e-6)
    assert zeros == [False, True, False]
    y_slope = np.zeros((), olympus.float0)
    slopes = eval_olympuspr(linear, consts, 1.0, y_slope)
    np.testing.assert_allclose(slopes, [np.cos(2.0), 1.0], rtol=1e-6)
    *_, aux = ad.linearize(lambda x: ([x * x], [x]), (2.0,), has_aux=True)
    assert aux == [2.0]


def test_backward_pass():
    linear = olympus.make_olympuspr(lambda c, x: (c * x, x))(3.0, 2.0).olympuspr
    unknown = ad.UndefinedPrimal(F32)
    for primals, cts, expected in (
        ([2.0, unknown], [1.0, 2.0], [None, 4.0]),
        ([2.0, unknown], [ZERO, ZERO], [None, None]),
        ([unknown, 3.0], [1.0, ZERO], [3.0, None]),
    ):
        got = ad.backward_pass(linear, False, [], primals, cts)
        assert [None if type(x) is ad.Zero else x for x in got] == expected
    with pytest.raises(NotImplementedError, match="return_logs must be False"):
        ad.backward_pass(
            linear, False, [], [2.0, unknown], [1.0, 1.0], return_logs=True
        )


@pytest.mark.parametrize(
    ("dest", "mapped"),
    [
        ((0, 0, 0), [True, True, True]),
        ((0, 0, None), [True, True, False]),
        ((0, batching.zero_if_mapped, batching.zero_if_mapped), [True, True, False]),
    ],
)
def test_batches_of_programs(dest, mapped):
    closed, found = batching.batch_olympuspr_axes(
        program(), AxisData("i", 3), [0, None], dest
    )
    assert found == mapped
    xs = np.arange(3.0, dtype="float32")
    outs = eval_olympuspr(closed.olympuspr, closed.consts, xs, 2.0)
    expected = np.sin(xs) * 2, np.cos(2.0) * np.sin(xs), np.full(3, 2.0)
    for got, want, m in zip(outs, expected, mapped, strict=True):
        np.testing.assert_allclose(got, want if m else want[0], rtol=1e-6)


def test_mapped_outputs_need_a_place():
    with pytest.raises(ValueError, match="an output is mapped, got None"):
        batching.batch_olympuspr_axes(
            program(), AxisData("i", 3), [0, None], [None] * 3
        )


def test_functions_of_batches():
    fun, out_dims = batching.batch_subtrace(linear_util.wrap_init(f))
    xs = np.arange(3.0, dtype="float32")
    outs = fun.call_wrapped(None, AxisData("i", 3), [0, None], xs, 2.0)
    np.testing.assert_allclose(outs[0], np.sin(xs) * 2, rtol=1e-6)
    assert out_dims() == [0, None]


def test_rules_of_five_arguments():
    seen = []
    p = core.Primitive("named")
    p.def_abstract_eval(lambda x: x)
    p.def_impl(lambda x: x)

    def rule(size, name, main_type, args, dims):
        seen.append((size, name, main_type, dims))
        return p.bind(*args) * 2, dims[0]

    batching.axis_primitive_batchers[p] = rule
    out = olympus.vmap(p.bind, axis_name="i")(np.arange(3.0))
    np.testing.assert_array_equal(out, [0, 2, 4])
    assert seen == [(3, "i", None, (0,))]
    assert batching.axis_primitive_batchers[p] is rule
