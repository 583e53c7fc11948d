"""The programs of the text on just-in-time compilation, with what they must print."""

import re
from functools import partial

import pytest

import olympus
import olympus.numpy as jnp

pytestmark = pytest.mark.documents


def log2(x):
    numerator, denominator = jnp.log(x), jnp.log(2.0)
    return numerator / denominator


LOG2 = """\
{ lambda ; a:f32[]. let
    b:f32[] = log a
    c:f32[] = log 2.0:f32[]
    d:f32[] = div b c
  in (d,) }"""


def test_the_program_of_a_function_without_its_side_effect():
    seen = []

    def noting(x):
        seen.append(x)
        return log2(x)

    assert str(olympus.make_olympuspr(noting)(3.0)) == LOG2
    assert len(seen) == 1


def test_printing_while_tracing_shows_a_traced_object(capsys):
    def printing(x):
        print("printed x:", x)
        return log2(x)

    assert str(olympus.make_olympuspr(printing)(3.0)) == LOG2
    assert capsys.readouterr().out == (
        "printed x: Traced<ShapedArray(float32[], weak_type=True)>"
        "with<DynamicOlympusprTrace(level=1/0)>\n"
    )


def test_only_the_branch_taken_is_in_the_program():
    def of_matrices(x):
        return log2(x) if x.ndim == 2 else x

    program = olympus.make_olympuspr(of_matrices)(olympus.numpy.array([1, 2, 3]))
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
    return x if x > 0 else 2 * x


def g(x, n):
    count = 0
    while count < n:
        count += 1
    return x + count


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
    step = olympus.jit(lambda previous: previous + 1)

    def outer(x, n):
        i = 0
        while i < n:
            i = step(i)
        return x + i

    assert repr(outer(10, 20)) == "Array(30, dtype=int32, weak_type=True)"


def test_static_arguments(capsys):
    print(olympus.jit(f, static_argnums=0)(10))
    print(olympus.jit(g, static_argnames=["n"])(10, 20))

    decorate = partial(olympus.jit, static_argnames=["n"])
    print(decorate(g)(10, 20))
    assert capsys.readouterr().out == "10\n30\n30\n"


def plus_one(i):
    return i + 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: partial(plus_one),
        lambda: lambda x: plus_one(x),
        lambda: plus_one,
    ],
    ids=["partial", "lambda", "function"],
)
def test_functions_made_anew_in_a_loop_compile_once(make):
    i, traces = 0, []
    while i < 20:
        jitted = olympus.jit(make())
        i = jitted(i)
        traces.append(len(jitted.cache_info().retraces))
    assert int((10 + i).block_until_ready()) == 30
    # A Python number, at the first turn, and its result have one type.
    assert max(traces) == 1
