"""The programs of the text on just-in-time compilation, with what they must print."""

import re
from functools import partial

import pytest

import olympus
import olympus.numpy as jnp

pytestmark = pytest.mark.documents


def log2_program(program):
    return str(program)


LOG2 = """\
{ lambda ; a:f32[]. let
    b:f32[] = log a
    c:f32[] = log 2.0:f32[]
    d:f32[] = div b c
  in (d,) }"""


def test_the_program_of_a_function_without_its_side_effect():
    global_list = []

    def log2(x):
        global_list.append(x)
        ln_x = jnp.log(x)
        ln_2 = jnp.log(2.0)
        return ln_x / ln_2

    assert str(olympus.make_olympuspr(log2)(3.0)) == LOG2
    assert len(global_list) == 1


def test_printing_while_tracing_shows_a_traced_object(capsys):
    def log2_with_print(x):
        print("printed x:", x)
        ln_x = jnp.log(x)
        ln_2 = jnp.log(2.0)
        return ln_x / ln_2

    assert str(olympus.make_olympuspr(log2_with_print)(3.0)) == LOG2
    assert capsys.readouterr().out == (
        "printed x: Traced<ShapedArray(float32[], weak_type=True)>"
        "with<DynamicOlympusprTrace(level=1/0)>\n"
    )


def test_only_the_branch_taken_is_in_the_program():
    def log2_if_rank_2(x):
        if x.ndim == 2:
            ln_x = jnp.log(x)
            ln_2 = jnp.log(2.0)
            return ln_x / ln_2
        else:
            return x

    program = olympus.make_olympuspr(log2_if_rank_2)(olympus.numpy.array([1, 2, 3]))
    assert str(program) == "{ lambda ; a:i32[3]. let  in (a,) }"


def selu(x, alpha=1.67, lambda_=1.05):
    return lambda_ * jnp.where(x > 0, x, alpha * jnp.exp(x) - alpha)


def test_a_jitted_function_gives_what_the_function_gives():
    x = jnp.arange(1000000)
    selu_jit = olympus.jit(selu)
    expected = selu(x).block_until_ready()
    got = selu_jit(x).block_until_ready()
    assert got.dtype == expected.dtype == jnp.float32
    assert jnp.allclose(got, expected)


def f(x):
    if x > 0:
        return x
    else:
        return 2 * x


def g(x, n):
    i = 0
    while i < n:
        i += 1
    return x + i


def test_branching_on_a_traced_value_is_refused():
    with pytest.raises(olympus.errors.TracerBoolConversionError) as caught:
        olympus.jit(f)(10)
    message = str(caught.value)
    assert "Attempted boolean conversion of traced array with shape bool[]." in message
    assert re.search(
        r"The error occurred while tracing the function f at \S+:\d+ for jit\. This "
        r"concrete value was not available in Python because it depends on the value "
        r"of the argument x\.",
        message,
    )


def test_looping_on_a_traced_value_is_refused():
    with pytest.raises(
        olympus.errors.TracerBoolConversionError, match="value of the argument n"
    ):
        olympus.jit(g)(10, 20)


def test_jitting_a_part_of_a_function():
    @olympus.jit
    def loop_body(prev_i):
        return prev_i + 1

    def g_inner_jitted(x, n):
        i = 0
        while i < n:
            i = loop_body(i)
        return x + i

    out = g_inner_jitted(10, 20)
    assert repr(out) == "Array(30, dtype=int32, weak_type=True)"


def test_static_arguments(capsys):
    print(olympus.jit(f, static_argnums=0)(10))
    print(olympus.jit(g, static_argnames=["n"])(10, 20))

    @partial(olympus.jit, static_argnames=["n"])
    def g_jit_decorated(x, n):
        i = 0
        while i < n:
            i += 1
        return x + i

    print(g_jit_decorated(10, 20))
    assert capsys.readouterr().out == "10\n30\n30\n"


def unjitted_loop_body(prev_i):
    return prev_i + 1


def test_functions_made_anew_in_a_loop_compile_once():
    traced = []

    def body(prev_i):
        return prev_i + 1

    def with_partials(x, n):
        i = 0
        while i < n:
            jitted = olympus.jit(partial(body))
            i = jitted(i)
            traced.append(len(jitted.cache_info().retraces))
        return x + i

    def with_lambdas(x, n):
        i = 0
        while i < n:
            jitted = olympus.jit(lambda x: unjitted_loop_body(x))
            i = jitted(i)
            traced.append(len(jitted.cache_info().retraces))
        return x + i

    def normal(x, n):
        i = 0
        while i < n:
            jitted = olympus.jit(unjitted_loop_body)
            i = jitted(i)
            traced.append(len(jitted.cache_info().retraces))
        return x + i

    for loop in (with_partials, with_lambdas, normal):
        traced.clear()
        assert int(loop(10, 20).block_until_ready()) == 30
        # The first turn passes a Python number, the second its result; nothing more.
        assert max(traced) <= 2
