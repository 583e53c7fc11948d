"""`jit`: signatures, caches, static and donated arguments, errors."""

import gc
import threading
import weakref

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp


def f32(x):
    return jnp.asarray(np.asarray(x, np.float32))


def test_arguments_of_all_kinds():
    @olympus.jit
    def f(a, b, /, c, *rest, d=1.0, **named):
        return a + b["x"] + c + sum(rest) + d + named.get("e", 0.0)

    got = f(1.0, {"x": f32(2.0)}, np.float32(3), 4, 5, d=6.0, e=f32([7.0]))
    np.testing.assert_array_equal(got, [28.0])


def test_the_result_keeps_its_structure():
    out = olympus.jit(lambda x: {"a": (x, None, [x + 1]), "b": ()})(f32(1))
    assert set(out) == {"a", "b"}
    assert out["a"][1] is None
    assert out["b"] == ()
    assert float(out["a"][2][0]) == 2.0


def test_names_signature_and_methods():
    class Model:
        scale = 3.0

        @olympus.jit
        def identity(x):
            return x

    @olympus.jit
    def documented(x: float) -> float:
        """What it does."""
        return x

    assert documented.__name__ == "documented"
    assert documented.__doc__ == "What it does."
    assert documented.__wrapped__(2) == 2
    assert float(Model.identity(2.0)) == 2.0


@pytest.mark.parametrize(
    ("options", "args", "kwargs"),
    [
        ({"static_argnums": 1}, (2.0, "twice"), {}),
        ({"static_argnums": (1,)}, (2.0,), {"mode": "twice"}),
        ({"static_argnums": -1}, (2.0, "twice"), {}),
        ({"static_argnames": "mode"}, (2.0, "twice"), {}),
        ({"static_argnames": ["mode"]}, (2.0,), {"mode": "twice"}),
    ],
    ids=repr,
)
def test_static_arguments_by_number_and_name(options, args, kwargs):
    def f(x, mode):
        assert isinstance(mode, str)
        return 2 * x if mode == "twice" else x

    assert float(olympus.jit(f, **options)(*args, **kwargs)) == 4.0


def test_static_values_that_compare_equal_are_told_apart():
    f = olympus.jit(lambda x, s: x + (10 if s is True else s), static_argnums=1)
    assert float(f(1.0, 1)) == 2.0
    assert float(f(1.0, True)) == 11.0
    assert float(f(1.0, 1.0)) == 2.0


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"static_argnums": 5}, ValueError, "static_argnums=5"),
        ({"static_argnames": "nope"}, ValueError, "'nope'"),
        ({"donate_argnums": 5}, ValueError, "donate_argnums=5"),
        ({"static_argnums": "x"}, TypeError, "static_argnums"),
        ({"static_argnums": 0, "donate_argnums": 0}, ValueError, "both static"),
    ],
    ids=repr,
)
def test_options_that_do_not_fit(options, kind, words):
    with pytest.raises(kind, match=words):
        olympus.jit(lambda x, y: x, **options)(1, 2)


def test_what_cannot_be_jitted():
    with pytest.raises(TypeError, match="callable"):
        olympus.jit(3)

    def generate():
        yield 1

    with pytest.raises(TypeError, match="generator"):
        olympus.jit(generate)


def test_unhashable_static_arguments():
    f = olympus.jit(lambda x, s: x, static_argnums=1)
    with pytest.raises(ValueError, match="Non-hashable static argument"):
        f(1.0, [1])


@pytest.mark.parametrize(
    "bad", ["text", object(), {1, 2}], ids=["str", "object", "set"]
)
def test_arguments_that_are_no_arrays(bad):
    def f(x, params):
        return x

    with pytest.raises(TypeError, match=r"f at .*params\['w'\]"):
        olympus.jit(f)(1.0, {"w": bad})


def test_wrong_arity():
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        olympus.jit(lambda x, y: x)(1.0)


def test_results_that_are_no_arrays():
    with pytest.raises(TypeError, match=r"result\[1\]"):
        olympus.jit(lambda x: (x, "text"))(1.0)


def test_donated_arguments_are_gone():
    f = olympus.jit(lambda x: x + 1, donate_argnums=0)
    x = f32(np.zeros(1000))
    assert float(f(x)[0]) == 1.0
    assert x.is_deleted()
    with pytest.raises(RuntimeError, match="deleted or donated"):
        f(x)
    with pytest.raises(RuntimeError, match="deleted"):
        np.asarray(x)


def test_captured_arrays_that_were_deleted_are_told():
    for remove in (lambda x: x.delete(), olympus.jit(jnp.negative, donate_argnums=0)):
        table = jnp.arange(2000.0)

        def shift(x, table=table):
            return x + table

        f = olympus.jit(shift)
        f(jnp.ones(2000))
        remove(table)
        message = r"^shift: an array of type f32\[2000\] "
        with pytest.raises(RuntimeError, match=message):
            f(jnp.ones(2000))


def test_small_captured_arrays_are_written_in_the_program():
    table, large = jnp.asarray([1.0, -0.0, np.nan]), jnp.zeros(2000)
    f = olympus.jit(lambda x: (x + table, table, x + large[0]))
    assert "(%arg0: tensor<2000xf32>, %arg1: tensor<f32>)" in f.lower(1.0).as_text()
    np.testing.assert_array_equal(f(1.0)[1], table)
    assert np.signbit(f(1.0)[1][1])
    table.delete()
    np.testing.assert_array_equal(f(1.0)[0], [2, 1, np.nan])


def test_many_small_captured_arrays_stay_arguments():
    tables = [jnp.full(1000, float(i)) for i in range(20)]
    f = olympus.jit(lambda x: sum(tables, x))
    assert "tensor<1000xf32>, %arg19" in f.lower(1.0).as_text()
    np.testing.assert_array_equal(f(1.0), np.full(1000, 191.0))


def test_unused_arguments():
    f = olympus.jit(lambda x, y: x + 1)
    assert "arg1" not in f.lower(1.0, 2.0).as_text()
    kept = olympus.jit(lambda x, y: x + 1, keep_unused=True)
    assert "arg1" in kept.lower(1.0, 2.0).as_text()
    assert float(f(1.0, 2.0)) == float(kept(1.0, 2.0)) == 2.0


@pytest.mark.parametrize("inline", olympus.Inline)
def test_inline_says_where(inline):
    inner = olympus.jit(lambda x: x * 2, inline=inline)
    text = str(olympus.make_olympuspr(inner)(1.0))
    assert ("pjit" in text) == (inline is not olympus.Inline.JAX_EARLY)
    assert olympus.jit(inner)(2.0) == 4


def test_inline_jit_leaves_no_equation():
    inner = olympus.jit(lambda x: x * 2, inline=True)
    program = str(olympus.make_olympuspr(lambda x: inner(x))(1.0))
    assert "pjit" not in program
    assert "mul" in program


def test_retraces_say_why():
    @olympus.jit
    def f(x, n=1):
        return x["w"] * n

    f({"w": f32([1.0])})
    f({"w": f32([1.0, 2.0])})
    f({"w": jnp.asarray(np.ones(2, np.int32))})
    f({"w": 1.0})
    f({"w": f32(1.0)})
    f({"v": f32([1.0]), "w": f32(1.0)})
    causes = [r.cause for r in f.cache_info().retraces]
    assert causes[0] == "first call"
    assert causes[1] == "the shape of x['w'] changed from [1] to [2]"
    assert causes[2] == "the dtype of x['w'] changed from float32 to int32"
    assert "shape" in causes[3]
    assert causes[4] == "the weak type of x['w'] changed from True to False"
    assert causes[5] == "x['v'] was added, of type float32[1]"
    record = f.cache_info().retraces[0]
    assert "test_jit.py" in record.function
    assert record.trace_s > 0
    assert record.compile_s > 0


def test_retraces_for_static_values_and_settings():
    f = olympus.jit(lambda x, s: x, static_argnames="s")
    f(1.0, s=1)
    f(1.0, s=2)
    assert (
        "the static argument s changed from 1 to 2" in f.cache_info().retraces[1].cause
    )
    with olympus.enable_x64(True):
        f(1.0, s=2)
    assert len(f.cache_info().retraces) == 3


def test_misses_are_logged_with_the_cure(caplog):
    f = olympus.jit(lambda x: x + 1)
    f(f32([1.0]))
    with olympus.explain_cache_misses(True), caplog.at_level("INFO", logger="olympus"):
        f(f32([1.0, 2.0]))
    assert "changed from [1] to [2]" in caplog.text
    assert "Pad" in caplog.text


def test_a_hit_does_not_trace():
    count = 0

    @olympus.jit
    def f(x):
        nonlocal count
        count += 1
        return x + 1

    for _ in range(3):
        f(f32([1.0]))
    assert count == 1
    f.clear_cache()
    f(f32([1.0]))
    assert count == 2


@pytest.mark.slow
def test_arrays_of_a_first_call_are_not_kept():
    f = olympus.jit(lambda x: x + 1)
    x = f32(np.ones(10))
    f(x)
    ref = weakref.ref(x)
    del x
    gc.collect()
    assert ref() is None


def test_large_constants_are_arguments_of_the_program():
    big = f32(np.arange(10_000))
    lowered = olympus.jit(lambda x: x + big).lower(1.0)
    text = lowered.as_text()
    assert len(text) < 2_000
    assert "tensor<10000xf32>" in text
    got = olympus.jit(lambda x: x + big)(1.0)
    np.testing.assert_array_equal(got, np.arange(10_000, dtype=np.float32) + 1)


def test_constants_inside_nested_jit():
    big = f32(np.arange(5))
    inner = olympus.jit(lambda x: x * big)
    got = olympus.jit(lambda x: inner(x) + inner(2 * x))(2.0)
    np.testing.assert_array_equal(got, 6 * np.arange(5, dtype=np.float32))


def test_numpy_constants_are_taken_as_they_are_at_tracing():
    host = np.ones(3, np.float32)
    f = olympus.jit(lambda x: x + host)
    assert f(1.0).tolist() == [2, 2, 2]
    host[:] = 5
    assert f(1.0).tolist() == [2, 2, 2]


def test_closing_over_a_traced_value():
    @olympus.jit
    def outer(x):
        inner = olympus.jit(lambda y: x * y)
        return inner(2.0) + inner(3.0)

    assert float(outer(5.0)) == 25.0
    assert float(outer(6.0)) == 30.0


def test_disable_jit_runs_python():
    seen = []

    @olympus.jit
    def f(x):
        seen.append(float(x))
        return x + 1

    with olympus.disable_jit():
        assert float(f(f32(1.0))) == 2.0
        assert float(f(f32(2.0))) == 3.0
    assert seen == [1.0, 2.0]


def test_threads_share_one_compilation():
    count = 0

    @olympus.jit
    def f(x):
        nonlocal count
        count += 1
        return x * 2

    x = f32(np.arange(8))
    outs = [None] * 8

    def work(i):
        outs[i] = np.asarray(f(x + i))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert count == 1
    for i, out in enumerate(outs):
        np.testing.assert_array_equal(out, 2 * (np.arange(8) + i))


def test_tracing_in_threads_is_apart():
    outs = {}

    def work(i):
        program = olympus.make_olympuspr(lambda x: x * i + jnp.sin(x))(float(i))
        outs[i] = str(program)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(text.count("sin") == 1 for text in outs.values())


def test_eval_shape_computes_nothing():
    def f(x):
        return {"y": jnp.sum(x, axis=0), "n": x.shape[0]}

    out = olympus.eval_shape(f, olympus.ShapeDtypeStruct((10**6, 10**6), "bfloat16"))
    assert out["y"].shape == (10**6,)
    assert out["y"].dtype == jnp.bfloat16
    assert olympus.jit(f).eval_shape(f32(np.ones((2, 3))))["y"].shape == (3,)


@pytest.mark.parametrize("shape", [(0,), (2, 0, 3), ()])
def test_empty_and_scalar_arrays(shape):
    x = np.ones(shape, np.float32)
    np.testing.assert_array_equal(olympus.jit(lambda x: x + 1)(x), x + 1)


@pytest.mark.parametrize(
    "dtype",
    [
        "bool",
        "int4",
        "uint4",
        "int8",
        "uint16",
        "int32",
        "bfloat16",
        "float16",
        "complex64",
    ],
)
def test_dtypes_pass_through(dtype):
    x = np.asarray([0, 1, 2]).astype(jnp.dtype(dtype))
    got = olympus.jit(lambda x: x)(x)
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(got), x)


def test_64_bits():
    with olympus.enable_x64(True):
        out = olympus.jit(lambda x: x + 1)(np.float64(1.5))
        assert out.dtype == np.float64
        assert olympus.jit(lambda x: x)(3).dtype == np.int64
    assert olympus.jit(lambda x: x)(np.float64(1.5)).dtype == np.float32


def test_a_python_integer_that_does_not_fit():
    with pytest.raises(OverflowError, match="x64"):
        olympus.jit(lambda x: x)(2**40)


def test_a_compiled_function_names_itself_where_an_argument_is_no_array():
    def scaled(x):
        return 2 * x

    compiled = olympus.jit(scaled).lower(1.0).compile()
    with pytest.raises(
        TypeError, match=r"argument to scaled at .*\.py:\d+ as an abstr"
    ):
        compiled("text")


def test_a_donated_argument_may_be_what_the_function_closes_over():
    c = jnp.ones(3)
    f = olympus.jit(lambda a: a + c, donate_argnums=0)
    for _ in range(2):
        np.testing.assert_array_equal(f(c), [2, 2, 2])
    other = jnp.zeros(3)
    np.testing.assert_array_equal(f(other), [1, 1, 1])
    assert other.is_deleted()
    assert not c.is_deleted()


def test_unknown_dialects_name_the_method_that_was_called():
    lowered = olympus.jit(lambda x: x).lower(1.0)
    for method in (lowered.as_text, lowered.compiler_ir):
        message = f"^{method.__name__}: dialect must be 'stablehlo' or 'hlo', got 'zz'"
        with pytest.raises(ValueError, match=message):
            method("zz")


def test_programs_for_other_platforms_are_compiled_for_the_device():
    traced = olympus.jit(lambda x: x + 1).trace(1.0)
    for platform in ("cpu", "tpu"):
        compiled = traced.lower(lowering_platforms=(platform,)).compile()
        assert float(compiled(1.0)) == 2.0
    with pytest.raises(ValueError, match="must be lowered for one platform, got"):
        traced.lower(lowering_platforms=("cpu", "tpu")).compile()


@pytest.mark.parametrize("static", [0, (0,), [0]], ids=repr)
def test_the_first_argument_of_a_traced_function_may_be_static(static):
    f = olympus.make_olympuspr(lambda n, x: x * n, static_argnums=static)
    assert len(f(3, 1.0).in_avals) == 1


def test_stages_show_their_arguments():
    traced = olympus.jit(lambda x, y: x + y).trace(1.0, 2.0)
    assert repr(traced.olympuspr.debug_info.arg_names) == "('x', 'y')"
    (first, _), _ = traced.lower().args_info
    shown = "ArgInfo(_aval=ShapedArray(float32[], weak_type=True), donated=False)"
    assert repr(first) == shown


@pytest.mark.parametrize("option", ["in_shardings", "out_shardings"])
def test_a_device_and_shardings_exclude_each_other(option):
    device = olympus.devices()[0]
    place = olympus.sharding.SingleDeviceSharding(device)
    for where in ({"device": device}, {"backend": device.platform}):
        with pytest.raises(ValueError, match=r"jit: device= and backend= must be left"):
            olympus.jit(lambda x: x, **where, **{option: place})
    assert olympus.jit(lambda x: x, device=device, **{option: None})(1) == 1
