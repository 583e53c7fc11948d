"""Programs whose values XLA's CPU compiler would make again and again."""

import functools

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, nn
from olympus._src.interpreters import (
    flat_programs,
    fusion_bounds,
    fusion_counts,
    fusion_limits,
    partial_eval,
)
from olympus._src.runtime import build_options
from tests.interpreters.repeated_steps import chain, stencil


def add_sum(x):
    return jnp.tanh(x.sum(1)) * 0.9 + x


def normalised(x):
    x = x - x.mean(-1, keepdims=True)
    return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)


def soften(x):
    return x + nn.softmax(x, axis=-1)


def slope(y):
    return jnp.stack([y[1], -jnp.sin(y[0]) - 0.1 * y[1]])


def runge_kutta(y, dt=0.01):
    a = slope(y)
    b = slope(y + dt / 2 * a)
    c = slope(y + dt / 2 * b)
    d = slope(y + dt * c)
    return y + dt / 6 * (a + 2 * b + 2 * c + d)


def lorenz(state, dt=0.01):
    x, y, z = state
    return (
        x + dt * 10 * (y - x),
        y + dt * (x * (28 - z) - y),
        z + dt * (x * y - 8 / 3 * z),
    )


def turned(x):
    for i in range(20):
        x = jnp.transpose(x, (1, 2, 0)).reshape(x.shape) + x * float(i)
        x = jnp.swapaxes(x, 0, 1).reshape(x.shape)
    return x


def recurrence(x):
    total = 0.0
    for i, row in enumerate(x):
        total = jnp.sin(row) * total + row * i
    return jnp.sum(total)


def sum_of(f):
    return lambda x: jnp.sum(f(x) ** 2)


def layers(x):
    for _ in range(20):
        x = jnp.tanh(x @ jnp.ones((8, 8)) + 1)
    return jnp.mean(x**2)


def logistic_map(x):
    for _ in range(150):
        x = 3.7 * x * (1 - x)
    return x


def newton(x):
    return x - (x**3 - 2 * x - 5) / (3 * x**2 - 2)


U = np.linspace(0.0, 1.0, 50, dtype=np.float32) ** 2
Y = np.array([0.3, 0.1], np.float32)
REPEATING = {
    "a stencil": (chain(stencil, 20), U),
    "its gradient": (olympus.grad(sum_of(chain(stencil, 12))), U),
    "steps of an ODE": (chain(runge_kutta, 15), Y),
    "their gradient": (olympus.grad(sum_of(chain(runge_kutta, 4))), Y),
    "too long to be fused": (
        lambda x: chain(lorenz, 250)((x, x + 1, x + 2)),
        np.ones(10, np.float32),
    ),
    "divisions that are read twice": (
        olympus.grad(sum_of(chain(newton, 50))),
        U + 2,
    ),
    # What the sum reads is there as an array, and made again in the next step.
    "steps that add what a sum gives": (chain(add_sum, 60), np.outer(U, U)),
    # Sums are fused with what they read, so that it is made for each of them.
    "normalisations": (chain(normalised, 12), np.outer(U, U)),
    "their gradients": (
        olympus.grad(lambda x: jnp.sum(chain(normalised, 12)(x) * jnp.sin(x))),
        np.outer(U, U),
    ),
    # A division by what is spread over rows is a multiplication, which costs little.
    "normalisations and softmax": (
        chain(lambda x: soften(normalised(x)), 10),
        np.outer(U, U)[:9, -16:],
    ),
    # Each row's cotangent is a part of its own fused program.
    "what unpacked rows are joined of": (
        olympus.grad(recurrence),
        np.linspace(0.1, 0.9, 480, dtype=np.float32).reshape(60, 8),
    ),
    "a jitted step": (chain(olympus.jit(stencil), 20), U),
    "jitted in jitted": (chain(olympus.jit(chain(olympus.jit(stencil), 3)), 8), U),
}
PLAIN = {
    "one step": (stencil, U),
    "a perceptron": (olympus.grad(layers), np.ones((4, 8), np.float32)),
    "elementwise, read often": (logistic_map, U),
    "elementwise gradient": (olympus.vmap(olympus.grad(logistic_map)), U),
    # `sin` is dear, and what is made of it read twice, but all in one fused program.
    "readers that come together": (chain(lambda x: jnp.sin(x) * 0.5 + x, 200), U),
    "their gradient": (
        olympus.grad(sum_of(chain(lambda x: jnp.sin(x) * 0.5 + x, 150))),
        U,
    ),
    "few normalisations": (chain(normalised, 5), np.outer(U, U)),
    "few steps that add a sum": (chain(add_sum, 12), np.outer(U, U)),
    # Its cotangents are all one number each, which XLA computes by itself.
    "a gradient that is known": (
        olympus.grad(lambda x: jnp.sum(turned(x))),
        np.ones((4, 6, 5), np.float32),
    ),
    "loops": (lambda u: lax.fori_loop(0, 30, lambda _, x: stencil(x), u), U),
}


def lowered(f, *args):
    return olympus.jit(f).lower(*args)


def n_barriers(f, *args):
    return lowered(f, *args).as_text().count("optimization_barrier")


@pytest.mark.slow
@pytest.mark.parametrize("name", REPEATING)
def test_work_that_fusion_would_repeat_is_kept(name):
    f, x = REPEATING[name]
    assert n_barriers(f, x) > 0


@pytest.mark.parametrize("name", PLAIN)
def test_other_programs_stay_as_they_are(name):
    f, x = PLAIN[name]
    assert n_barriers(f, x) == 0


def test_remainders_are_made_where_they_are_read():
    """XLA makes each once: its sign is looked at and mended in one fused program."""

    def steps(x):
        total = x
        for _ in range(60):
            y = x * 7 + total % 3
            total = total + y * y
        return total

    assert n_barriers(steps, np.ones(50, np.float32)) == 0


def test_random_numbers_that_are_read_in_many_parts_are_made_once():
    def draw(key):
        return olympus.random.bernoulli(key, 0.5, (100, 28, 28))

    def cut(key):
        rows = draw(key)
        order = np.random.default_rng(0).permutation(100).reshape(10, 10)
        return jnp.vstack([jnp.hstack([rows[i] for i in line]) for line in order])

    key = olympus.random.key(0)
    # Drawing makes a barrier of its own, between the words of the key.
    assert n_barriers(cut, key) > n_barriers(draw, key)


def lstm(n, width=8):
    """The gradient of the last state of n steps, and its arguments."""
    rng = np.random.default_rng(0)
    w, u = rng.normal(size=(2, width, 4 * width)).astype(np.float32) / 4
    xs = rng.normal(size=(n, 3, width)).astype(np.float32)

    def loss(w, u, xs):
        h = c = jnp.zeros((3, width))
        for x in xs:
            a, f, o, q = jnp.split(x @ w + h @ u, 4, axis=1)
            c = nn.sigmoid(f) * c + nn.sigmoid(a) * jnp.tanh(q)
            h = nn.sigmoid(o) * jnp.tanh(c)
        return (h * h).sum()

    return olympus.grad(loss, (0, 1)), (w, u, xs)


def test_between_products_less_is_repeated():
    long, args = lstm(12)
    short, few = lstm(3)
    assert n_barriers(long, *args) > 0
    assert n_barriers(short, *few) == 0
    with olympus.disable_jit():
        expected = long(*args)
    for out, value in zip(olympus.jit(long)(*args), expected, strict=True):
        np.testing.assert_allclose(out, value, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float8_e5m2", "float8_e4m3fn", "float8_e8m0fnu"])
def test_arithmetic_in_floats_of_eight_bits_is_kept_apart(dtype):
    x = np.ones(3, jnp.dtype(dtype))

    def limited(x):
        return lax.exp(lax.max(lax.add(x, x), x))

    def branched(x):
        return lax.cond(True, limited, lambda x: x, x)

    assert n_barriers(limited, x) == 3
    assert n_barriers(lambda x: olympus.jit(limited)(x + x), x) == 4
    assert n_barriers(branched, x) == (3 if build_options.barriers_in_bodies else 0)
    np.testing.assert_array_equal(limited(x), olympus.jit(limited)(x))


def test_moves_and_conversions_of_narrow_floats_stay_as_they_are():
    def moved(x):
        return jnp.where(x > 1, -x, abs(x)).reshape(3, 1).astype("float32")

    assert n_barriers(moved, np.ones(3, jnp.float8_e5m2)) == 0
    assert n_barriers(lambda x: x * x + x, np.ones(3, np.int8)) == 0


def test_operations_without_results():
    def printing(x):
        olympus.debug.callback(lambda v: None, x)
        return chain(stencil, 20)(x)

    assert n_barriers(printing, U) > 0


def test_other_platforms_fuse_otherwise():
    program = olympus.make_olympuspr(chain(stencil, 20))(U).olympuspr
    assert fusion_limits.limit(program, "cuda") is program
    assert fusion_limits.limit(program, "cpu") is not program


def test_bodies_of_loops_and_branches():
    def looped(u):
        return lax.fori_loop(0, 2, lambda _, x: chain(stencil, 20)(x), u)

    def chosen(u):
        return lax.cond(u[0] > 1, chain(stencil, 20), stencil, u)

    for f in (looped, chosen):
        program = olympus.make_olympuspr(f)(U).olympuspr
        assert fusion_limits.limit(program, "cpu") is not program
        assert fusion_limits.limit(program, "cpu", in_bodies=False) is program


def small_loop(y):
    """A loop that jaxlib 0.10 compiles as one function, for which it has no barrier."""

    def step(y, _):
        return runge_kutta(y), None

    return jnp.sum(lax.scan(step, y, None, length=50)[0] ** 2)


def test_small_loops_of_repeating_steps():
    found = olympus.jit(olympus.grad(small_loop))(Y)
    eps = np.float32(1e-2)
    ends = [small_loop(Y + s * eps * np.eye(2, dtype="f4")[0]) for s in (1, -1)]
    np.testing.assert_allclose(found[0], (ends[0] - ends[1]) / (2 * eps), rtol=1e-2)


@pytest.mark.slow
def test_a_users_barrier_in_a_loop_beside_repeating_steps():
    def f(y):
        def step(y, _):
            return runge_kutta(lax.optimization_barrier(y)), None

        y = lax.scan(step, y, None, length=50)[0]
        return chain(runge_kutta, 12)(y)

    def g(y):
        for _ in range(62):
            y = step_alone(y)
        return y

    step_alone = olympus.jit(runge_kutta)
    np.testing.assert_allclose(olympus.jit(f)(Y), g(Y), rtol=1e-4)


def test_results_are_those_of_the_steps():
    expected = U
    for _ in range(20):
        right, left = np.roll(expected, 1), np.roll(expected, -1)
        expected = expected + np.float32(0.1) * (right - 2 * expected + left)
    f = olympus.jit(chain(olympus.jit(stencil), 20), donate_argnums=0)
    np.testing.assert_allclose(f(jnp.array(U)), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", REPEATING)
def test_results_of_all(name):
    f, x = REPEATING[name]
    found = olympus.jit(f)(x)
    with olympus.disable_jit():
        expected = f(x)
    for a, b in zip(
        olympus.tree.leaves(found), olympus.tree.leaves(expected), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


def test_what_xla_fuses_stays_small():
    low = lowered(chain(stencil, 20), U)
    text = low.compile().as_text()
    n = len(low._lowered.program.eqns)
    # Without barriers it writes 4 300 lines.
    assert text.count("\n") < 8 * n


def random_step(rng):
    """A function of few operations of all costs, on values that are read again."""
    unary = jnp.sin, jnp.exp, jnp.negative, jnp.tanh, lambda x: x.T, lambda x: x @ x
    binary = jnp.add, jnp.multiply, jnp.divide, jnp.matmul
    makers = (
        *[lambda xs, f=f: f(pick(rng, xs)) for f in unary],
        *[lambda xs, f=f: f(pick(rng, xs), pick(rng, xs)) for f in binary],
        lambda xs: pick(rng, xs) + pick(rng, xs).sum(1, keepdims=True),
        lambda xs: jnp.concatenate([pick(rng, xs)[i : i + 1] for i in range(9)]),
    )
    return makers[rng.integers(len(makers))]


def pick(rng, xs):
    return xs[-1 - min(rng.geometric(0.4) - 1, len(xs) - 1)]


def random_program(rng, x):
    xs = [x]
    for _ in range(rng.integers(40, 150)):
        xs.append(random_step(rng)(xs))
    return xs[-1], xs[len(xs) // 2]


def products_of_all(x):
    """Cheap steps, each of which is an operand of an operation that is not fused."""
    total = x
    for _ in range(60):
        x = x * 1.5
        total = total @ x
    return total


def sums_of_all(x):
    total = x
    for _ in range(60):
        x = x * x.T
        total = total @ (total + x.sum(1))
    return total


def parts_of_all(x):
    return jnp.concatenate([x := x * 1.5 for _ in range(60)])


@pytest.mark.parametrize("sums_repeat", [False, True])
@pytest.mark.parametrize("f", [*range(12), products_of_all, sums_of_all, parts_of_all])
def test_the_bound_of_operations_is_one(f, sums_repeat):
    if isinstance(f, int):
        f = functools.partial(random_program, np.random.default_rng(f))
    program = olympus.make_olympuspr(f)(np.ones((9, 9), np.float32)).olympuspr
    program = partial_eval.dce_olympuspr(program, True)[0]
    flat = flat_programs.write_out(program)
    fusion = fusion_counts.Counts(flat).count(sums_repeat)
    at_most = [fusion.sizes[v] for v in fusion.roots()]
    for budget in np.geomspace(10, 1e5, 200):
        budgets = {False: budget, True: budget}
        within = fusion_bounds.find_within(program, budgets)
        assert within == fusion_bounds.find_within(flat, budgets)
        if sums_repeat in within:
            assert sum(at_most) <= budget
            assert max(at_most) <= fusion_bounds.LARGEST
    at_least = fusion.count_at_least()
    for root in fusion.roots():
        assert 0 < at_least[root] <= fusion.count(root, np.inf) <= fusion.sizes[root]


def options(platform, chosen=(), *, has_barriers=False, is_over_processes=False):
    return build_options.complete(
        chosen,
        platform,
        has_barriers=has_barriers,
        is_small=False,
        is_over_processes=is_over_processes,
    )


def test_the_pass_that_takes_barriers_out_is_off_where_it_comes_too_early():
    name = "xla_disable_hlo_passes"
    early = not build_options.barriers_in_bodies
    found = dict(options("cpu", has_barriers=True)).get(name, "")
    assert found == ("cse_barrier_expander" if early else "")
    found = dict(options("cpu", ((name, "dce"),), has_barriers=True))[name]
    assert found == ("dce,cse_barrier_expander" if early else "dce")
    assert options("cpu") == ()
    assert options("cuda", has_barriers=True) == ()


def test_sums_over_processes_are_not_combined():
    over_processes = options("cpu", is_over_processes=True)
    assert over_processes == (("xla_disable_hlo_passes", "cpu-all-reduce-combiner"),)
    assert options("cuda", is_over_processes=True) == ()
