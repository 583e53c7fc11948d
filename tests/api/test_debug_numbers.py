"""Settings that find NaNs, and that forbid tracing or running."""

import sys

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.experimental import io_callback


def test_nan_in_a_compiled_program_names_operation_and_line():
    f = olympus.jit(lambda x: lax.add(lax.log(x), lax.sin(x)))
    with olympus.debug_nans(True):
        assert float(f(1.0)) > 0
        with pytest.raises(
            FloatingPointError, match=r"\(nan\).*in log at .*numbers.py"
        ):
            f(-1.0)
    assert str(f(-1.0)) == "nan"


def test_nan_in_one_operation():
    with olympus.debug_nans(True), pytest.raises(FloatingPointError, match="div"):
        lax.div(0.0, 0.0)


@pytest.mark.parametrize("call", [olympus.pure_callback, io_callback])
@pytest.mark.parametrize("wrap", [lambda f: f, olympus.jit])
def test_nan_of_a_callback(call, wrap):
    kind = olympus.ShapeDtypeStruct((2,), np.float32)
    f = wrap(lambda x: call(np.sqrt, kind, x))
    x = np.array([4, -1], np.float32)
    with olympus.debug_nans(True), np.errstate(invalid="ignore"):
        f(np.abs(x)).block_until_ready()
        message = rf"\(nan\).*in {call.__name__} at .*numbers.py"
        with pytest.raises(FloatingPointError, match=message):
            f(x)
    with olympus.debug_infs(True), np.errstate(invalid="ignore"):
        f(x).block_until_ready()


def test_infinity():
    f = olympus.jit(lambda x: lax.div(1.0, x))
    with olympus.debug_infs(True), pytest.raises(FloatingPointError, match="inf"):
        f(0.0)
    with olympus.debug_nans(True):
        assert str(f(0.0)) == "inf"


# -- backward passes: the line is that of the operation differentiated -----------------


def root_times_zero(x):
    root = jnp.sqrt(x)  # line of the root
    return root * 0.0 + jnp.sin(x)


def in_a_scan(x):
    def body(carry, _):
        carry = jnp.sqrt(carry) * 0.0  # line of the root
        return carry, None

    return lax.scan(body, x, None, length=2)[0]


def in_a_branch(x):
    return lax.cond(
        x >= 0,
        lambda x: jnp.sqrt(x) * 0.0,  # line of the root
        lambda x: x,
        x,
    )


def guarded_too_late(x):
    root = jnp.sqrt(x)  # line of the root
    return jnp.where(x > 0, root, 0.0)


def line_of_the_root(function):
    """Where a function has the mark, as `file:line`."""
    code = function.__code__
    with open(code.co_filename) as file:
        lines = file.read().splitlines()
    marked = [
        i
        for i, line in enumerate(lines, start=1)
        if i > code.co_firstlineno and "# line of the root" in line
    ]
    return f"test_debug_numbers.py:{marked[0]}:"


@pytest.mark.parametrize(
    "function",
    [root_times_zero, in_a_scan, in_a_branch, guarded_too_late],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize(
    "way",
    [
        "jit of grad",
        pytest.param("eager", marks=pytest.mark.slow),
        pytest.param("grad of jit", marks=pytest.mark.slow),
        pytest.param("vmap", marks=pytest.mark.slow),
    ],
)
def test_nan_in_a_backward_pass_names_the_line_of_the_primal_operation(function, way):
    run = {
        "eager": olympus.grad(function),
        "jit of grad": olympus.jit(olympus.grad(function)),
        "grad of jit": olympus.grad(olympus.jit(function)),
        "vmap": lambda x: olympus.vmap(olympus.grad(function))(np.zeros(2, np.float32)),
    }[way]
    if way == "vmap" and function is in_a_branch:
        return  # both branches run, and the slope of the one not taken is kept out
    with olympus.debug_nans(True), pytest.raises(FloatingPointError, match="nan") as e:
        run(0.0)
    assert line_of_the_root(function) in str(e.value)


@pytest.mark.parametrize(
    "loop",
    [
        "scan",
        "while",
        pytest.param("reversed scan", marks=pytest.mark.slow),
        pytest.param("fori", marks=pytest.mark.slow),
        pytest.param("cond", marks=pytest.mark.slow),
    ],
)
def test_nan_in_control_flow_names_the_operation_inside(loop):
    def step(x):
        return jnp.log(x)

    run = {
        "scan": lambda x: lax.scan(lambda c, _: (step(c), c), x, None, length=4)[0],
        "reversed scan": lambda x: lax.scan(
            lambda c, y: (c + step(y), c),
            x,
            np.asarray([-1.0, 1.0], np.float32),
            reverse=True,
        )[0],
        "while": lambda x: lax.while_loop(lambda c: c < 9, step, x),
        "fori": lambda x: lax.fori_loop(0, 5, lambda i, c: step(c), x),
        "cond": lambda x: lax.cond(x > 0, lambda x: step(x - 1), lambda x: x, x),
    }[loop]
    with olympus.debug_nans(True):
        for f in (olympus.jit(run), run):
            with pytest.raises(FloatingPointError, match=r"\(nan\).*in log at .*step"):
                f(0.5)


def test_operations_that_ran_before_elsewhere_are_blamed_where_they_run_now():
    with olympus.debug_nans(True):
        jnp.log(np.float32(2)), jnp.mean(np.ones(2, np.float32))
        with pytest.raises(FloatingPointError, match=line_below()):
            jnp.log(np.float32(-2))
        with pytest.raises(FloatingPointError, match=line_below()):
            jnp.mean(np.asarray([np.inf, -np.inf], np.float32))


def line_below():
    return rf"numbers\.py:{sys._getframe(1).f_lineno + 1}:"


def test_nan_in_rules_of_users_names_the_line_of_the_rule():
    @olympus.custom_vjp
    def double(x):
        return x * 2

    def pull(x, ct):
        return (ct * jnp.log(x),)

    double.defvjp(lambda x: (x * 2, x), pull)

    @olympus.custom_jvp
    def triple(x):
        return x * 3

    @triple.defjvp
    def push(primals, tangents):
        return triple(*primals), tangents[0] * jnp.log(primals[0])

    for function, rule in ((double, "pull"), (triple, "push")):
        for run in (olympus.grad(function), olympus.jit(olympus.grad(function))):
            named = pytest.raises(FloatingPointError, match=rf"in log .*{rule}\)")
            with olympus.debug_nans(True), named:
                run(-1.0)


@pytest.mark.slow
def test_nan_in_the_backward_pass_of_a_bounded_loop():
    def f(x):
        return lax.while_loop(
            lambda c: c < 3, lambda c: step_of_loop(c), x, max_steps=5
        )

    def step_of_loop(c):
        return jnp.sqrt(c) * 0.0 + 4.0

    for run in (olympus.grad(f), olympus.jit(olympus.grad(f))):
        named = pytest.raises(FloatingPointError, match="step_of_loop")
        with olympus.debug_nans(True), named:
            run(0.0)


def test_infinity_in_a_backward_pass_and_a_donated_argument():
    with olympus.debug_infs(True):
        with pytest.raises(FloatingPointError, match=r"in \w+ at .*numbers\.py"):
            olympus.jit(olympus.grad(jnp.sqrt))(0.0)
        donated = olympus.jit(olympus.grad(jnp.sqrt), donate_argnums=0)
        with pytest.raises(FloatingPointError, match=r"\(inf\)"):
            donated(jnp.zeros(()))


def test_no_tracing_and_no_execution():
    f = olympus.jit(lambda x: lax.add(x, 1.0))
    with olympus.no_tracing(True), pytest.raises(RuntimeError, match="no_tracing"):
        f(1.0)
    with olympus.no_execution(True):
        assert f.trace(1.0).lower().as_text()
        with pytest.raises(RuntimeError, match="no_execution"):
            f(1.0)
    f(1.0)
    with olympus.no_tracing(True):
        assert float(f(2.0)) == 3.0


def test_environment_information():
    text = olympus.print_environment_info(return_string=True)
    assert "jaxlib" in text
    assert "devices" in text
