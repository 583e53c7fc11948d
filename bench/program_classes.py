"""Classes of programs whose compilation may grow faster than they do.

Each is a function of a library, a size and a generator of random numbers, and gives a
function with its arguments. The same seed gives the same program in both libraries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.models import Library

Program = tuple[Callable[..., Any], tuple[Any, ...]]
CLASSES: dict[str, Callable[[Library, int, np.random.Generator], Program]] = {}


def _class(make: Any) -> Any:
    CLASSES[make.__name__.replace("_", " ")] = make
    return make


def _draw(lib: Library, rng: np.random.Generator, *shape: int) -> Any:
    return lib.np.asarray(rng.uniform(0.1, 0.9, shape).astype("float32"))


def _unary(lib: Library, rng: np.random.Generator, n: int) -> list[Any]:
    jnp = lib.np
    some = (jnp.sin, jnp.tanh, jnp.exp, jnp.abs, jnp.sqrt, jnp.log1p, jnp.cos)
    return [some[i] for i in rng.integers(0, len(some), n)]


def _gradient(lib: Library, f: Any) -> Any:
    return lib.top.grad(lambda *args: f(*args).sum())


# -- elementwise -----------------------------------------------------------------------


@_class
def chain(lib: Library, n: int, rng: np.random.Generator) -> Program:
    operations = _unary(lib, rng, 4 * n)

    def f(x: Any) -> Any:
        for op in operations:
            x = op(x * 0.5) + 0.1
        return x

    return f, (_draw(lib, rng, 8, 16),)


@_class
def gradient_of_a_chain(lib: Library, n: int, rng: np.random.Generator) -> Program:
    f, args = chain(lib, n, rng)
    return _gradient(lib, f), args


@_class
def fan_out(lib: Library, n: int, rng: np.random.Generator) -> Program:
    operations = _unary(lib, rng, 2 * n)
    return lambda x: [op(x * i) for i, op in enumerate(operations)], (
        _draw(lib, rng, 40),
    )


@_class
def fan_in(lib: Library, n: int, rng: np.random.Generator) -> Program:
    operations = _unary(lib, rng, 2 * n)
    xs = tuple(_draw(lib, rng, 40) for _ in operations)
    return lambda *xs: sum(op(x) for op, x in zip(operations, xs, strict=True)), xs


@_class
def every_value_is_read_again(
    lib: Library, n: int, rng: np.random.Generator
) -> Program:
    pairs = [rng.integers(0, i + 1, 2) for i in range(3 * n)]

    def f(x: Any) -> Any:
        values = [x]
        for i, j in pairs:
            values.append(lib.np.sin(values[i]) * 0.5 + values[j] * values[-1])
        return values[-1]

    return f, (_draw(lib, rng, 33),)


@_class
def sums_of_sums(lib: Library, n: int, rng: np.random.Generator) -> Program:
    def f(x: Any) -> Any:
        total = x
        for _ in range(4 * n):
            total = total + lib.np.tanh(total.sum())
        return total

    return f, (_draw(lib, rng, 7),)


@_class
def mixed_dtypes(lib: Library, n: int, rng: np.random.Generator) -> Program:
    names = rng.choice(["float16", "bfloat16", "float32", "int32", "int8"], 2 * n)

    def f(x: Any) -> Any:
        for name in names:
            x = (x * 2).astype(str(name)).astype("float32") * 0.3 + lib.np.sin(x)
        return x

    return f, (_draw(lib, rng, 9, 11),)


@_class
def choices(lib: Library, n: int, rng: np.random.Generator) -> Program:
    def f(x: Any) -> Any:
        for i in range(2 * n):
            x = lib.np.where(x > 0.3 + 0.01 * i, lib.np.sin(x), x * x)
            x = lib.np.clip(x, -1, x.max())
        return x

    return f, (_draw(lib, rng, 5, 8),)


# -- arrays taken apart and put together -----------------------------------------------


@_class
def iteration(lib: Library, n: int, rng: np.random.Generator) -> Program:
    def f(x: Any) -> Any:
        total = 0.0
        for row in x:
            total = lib.np.sin(total + row)
        return total

    return f, (_draw(lib, rng, 2 * n, 6),)


@_class
def stacks(lib: Library, n: int, rng: np.random.Generator) -> Program:
    def f(x: Any) -> Any:
        rows = [row * (i + 1) for i, row in enumerate(x)]
        return lib.np.stack(rows[::-1]) + lib.np.concatenate([x[1:], x[:1]])

    return f, (_draw(lib, rng, 3 * n, 6),)


@_class
def gradient_of_stacks(lib: Library, n: int, rng: np.random.Generator) -> Program:
    f, args = stacks(lib, n, rng)
    return _gradient(lib, f), args


@_class
def a_grid_of_images(lib: Library, n: int, rng: np.random.Generator) -> Program:
    """A decoder's pixels, drawn at random, as rows of images side by side."""
    jnp, side = lib.np, max(2, n // 3)
    weights = _draw(lib, rng, 8, 64)
    key = lib.top.random.key(0)

    def f(codes: Any, weights: Any) -> Any:
        images = lib.top.nn.sigmoid(codes @ weights)
        drawn = lib.top.random.bernoulli(key, images).reshape(side, side, 8, 8)
        return jnp.vstack([jnp.hstack(list(row)) for row in drawn])

    return f, (_draw(lib, rng, side * side, 8), weights)


@_class
def slices(lib: Library, n: int, rng: np.random.Generator) -> Program:
    starts = rng.integers(0, 50, 3 * n)

    def f(x: Any) -> Any:
        return sum(lib.np.sin(x[s : s + 10]) * x[s] for s in starts)

    return f, (_draw(lib, rng, 64),)


@_class
def gradient_of_slices(lib: Library, n: int, rng: np.random.Generator) -> Program:
    f, args = slices(lib, n, rng)
    return _gradient(lib, f), args


@_class
def gathers(lib: Library, n: int, rng: np.random.Generator) -> Program:
    places = [lib.np.asarray(rng.integers(0, 30, 12)) for _ in range(n)]

    def f(x: Any) -> Any:
        for place in places:
            x = x + x[place].sum() + lib.np.take(x, place[:3], 0).mean()
        return x

    return f, (_draw(lib, rng, 30, 4),)


@_class
def additions_at_places(lib: Library, n: int, rng: np.random.Generator) -> Program:
    places = rng.integers(0, 30, 2 * n)

    def f(x: Any, y: Any) -> Any:
        for i in places:
            x = x.at[i].add(lib.np.sin(y[i]) * x[0])
        return x

    return f, (_draw(lib, rng, 30), _draw(lib, rng, 30))


@_class
def gradient_of_additions(lib: Library, n: int, rng: np.random.Generator) -> Program:
    f, args = additions_at_places(lib, n, rng)
    return _gradient(lib, f), args


@_class
def updates_in_a_loop(lib: Library, n: int, rng: np.random.Generator) -> Program:
    def step(i: Any, x: Any) -> Any:
        for j in range(n):
            x = x.at[(i * 3 + j) % 50].set(x[i] * 0.5 + j)
        return x

    return lambda x: lib.lax.fori_loop(0, 40, step, x), (_draw(lib, rng, 50),)


@_class
def reshapes(lib: Library, n: int, rng: np.random.Generator) -> Program:
    shapes = [(6, 8), (8, 6), (4, 12), (2, 3, 8), (48,)]
    order = rng.integers(0, len(shapes), 2 * n)

    def f(x: Any) -> Any:
        for i in order:
            x = lib.np.sin(x.reshape(shapes[i])).T + 1
        return x

    return f, (_draw(lib, rng, 48),)


@_class
def shifts(lib: Library, n: int, rng: np.random.Generator) -> Program:
    def f(x: Any) -> Any:
        for _ in range(n):
            rolled = [lib.np.roll(x, by, axis) for by in (1, -1) for axis in (0, 1)]
            x = x + 0.1 * (sum(rolled) - 4 * x)
        return x

    return f, (_draw(lib, rng, 24, 24),)


@_class
def gradient_of_shifts(lib: Library, n: int, rng: np.random.Generator) -> Program:
    f, args = shifts(lib, max(1, n // 2), rng)
    return _gradient(lib, f), args


# -- control flow ----------------------------------------------------------------------


@_class
def loops_in_loops(lib: Library, n: int, rng: np.random.Generator) -> Program:
    depth = min(5, 1 + n // 4)

    def nest(x: Any, level: int) -> Any:
        if not level:
            return lib.np.sin(x) * 0.9
        return lib.lax.fori_loop(0, 2, lambda _, y: nest(y, level - 1) + 0.1, x)

    return lambda x: nest(x, depth), (_draw(lib, rng, 12),)


@_class
def branches_in_branches(lib: Library, n: int, rng: np.random.Generator) -> Program:
    depth = min(6, 1 + n // 3)

    def nest(x: Any, level: int) -> Any:
        if not level:
            return lib.np.sin(x)
        return lib.lax.cond(
            x.sum() > level,
            lambda y: nest(y * 0.5, level - 1),
            lambda y: nest(y + 0.1, level - 1),
            x,
        )

    return lambda x: nest(x, depth), (_draw(lib, rng, 12),)


@_class
def scans_one_after_another(lib: Library, n: int, rng: np.random.Generator) -> Program:
    def f(x: Any) -> Any:
        for i in range(n):
            _, x = lib.lax.scan(
                lambda c, row, i=i: (c * 0.5 + row.sum(), lib.np.sin(row * i) + c),
                0.1,
                x,
            )
        return x

    return f, (_draw(lib, rng, 6, 5),)


@_class
def gradient_of_scans(lib: Library, n: int, rng: np.random.Generator) -> Program:
    f, args = scans_one_after_another(lib, max(1, n // 2), rng)
    return _gradient(lib, f), args


@_class
def mapped_branches(lib: Library, n: int, rng: np.random.Generator) -> Program:
    def f(x: Any) -> Any:
        for i in range(n):
            x = lib.lax.cond(x > 0.1 * i, lib.np.sin, lambda y: y * y + 0.1, x)
        return x

    return lib.top.vmap(f), (_draw(lib, rng, 15),)


@_class
def mapped_loops(lib: Library, n: int, rng: np.random.Generator) -> Program:
    def f(x: Any) -> Any:
        for i in range(max(1, n // 2)):
            x = lib.lax.while_loop(
                lambda y, i=i: y < 1 + i, lambda y: y * 1.5 + 0.01, x
            )
        return x

    return lib.top.vmap(f), (_draw(lib, rng, 15),)


@_class
def steps_of_runge_and_kutta(lib: Library, n: int, rng: np.random.Generator) -> Program:
    def slope(y: Any) -> Any:
        return lib.np.stack([y[1], -lib.np.sin(y[0]) - 0.1 * y[1]])

    def f(y: Any) -> Any:
        for _ in range(n):
            a = slope(y)
            b = slope(y + 0.05 * a)
            c = slope(y + 0.05 * b)
            d = slope(y + 0.1 * c)
            y = y + 0.1 / 6 * (a + 2 * b + 2 * c + d)
        return y

    return f, (_draw(lib, rng, 2),)


@_class
def gradient_of_steps(lib: Library, n: int, rng: np.random.Generator) -> Program:
    f, args = steps_of_runge_and_kutta(lib, max(1, n // 2), rng)
    return _gradient(lib, f), args


# -- random numbers --------------------------------------------------------------------


@_class
def keys(lib: Library, n: int, rng: np.random.Generator) -> Program:
    random = lib.top.random

    def f(key: Any) -> Any:
        drawn = [random.normal(k, (3,)) for k in random.split(key, max(2, n // 2))]
        return sum(drawn)

    return f, (random.key(1),)


@_class
def mapped_draws(lib: Library, n: int, rng: np.random.Generator) -> Program:
    random = lib.top.random
    return lambda key: lib.top.vmap(lambda k: random.uniform(k, (2,)))(
        random.split(key, n)
    ), (random.key(1),)


@_class
def kinds_of_draws(lib: Library, n: int, rng: np.random.Generator) -> Program:
    random = lib.top.random

    def f(key: Any) -> Any:
        for _ in range(max(1, n // 6)):
            key, *subkeys = random.split(key, 5)
        a, b, c, d = subkeys
        return (
            random.permutation(a, 20),
            random.categorical(b, lib.np.zeros((3, 5))),
            random.bernoulli(c, 0.3, (7,)),
            random.randint(d, (4,), 0, 9),
        )

    return f, (random.key(1),)


# -- larger operations -----------------------------------------------------------------


@_class
def sorts(lib: Library, n: int, rng: np.random.Generator) -> Program:
    def f(x: Any) -> Any:
        for _ in range(max(1, n // 3)):
            x = lib.np.sort(x, 1)[:, ::-1] + lib.np.argsort(x, 0)
        return lib.np.median(x), lib.np.unique(x.ravel(), size=10)

    return f, (_draw(lib, rng, 9, 14),)


@_class
def prefixes(lib: Library, n: int, rng: np.random.Generator) -> Program:
    jnp = lib.np

    def f(x: Any) -> Any:
        for _ in range(max(1, n // 3)):
            x = jnp.cumsum(x, 0) * 0.1 + jnp.cumprod(x, 1)
        return jnp.maximum.accumulate(x)

    return f, (_draw(lib, rng, 37, 41),)


@_class
def gradient_of_prefixes(lib: Library, n: int, rng: np.random.Generator) -> Program:
    f, args = prefixes(lib, max(1, n // 2), rng)
    return _gradient(lib, f), args


@_class
def long_prefixes(lib: Library, n: int, rng: np.random.Generator) -> Program:
    return lambda x: lib.np.cumsum(x) * lib.np.cumprod(x), (
        _draw(lib, rng, 20_000 * n),
    )


@_class
def associative_scans(lib: Library, n: int, rng: np.random.Generator) -> Program:
    def combine(one: Any, other: Any) -> Any:
        return one[0] * other[0], one[1] * other[0] + other[1]

    return lambda a, b: lib.lax.associative_scan(combine, (a, b)), (
        _draw(lib, rng, 5 * n),
        _draw(lib, rng, 5 * n),
    )


@_class
def products(lib: Library, n: int, rng: np.random.Generator) -> Program:
    def f(x: Any, y: Any) -> Any:
        for _ in range(n):
            x = lib.np.einsum("ij,jk,lk->il", x, y, x) * 0.01 + x @ y
        return x

    return f, (_draw(lib, rng, 8, 8), _draw(lib, rng, 8, 8))


@_class
def layers(lib: Library, n: int, rng: np.random.Generator) -> Program:
    weights = tuple(_draw(lib, rng, 16, 16) for _ in range(n))

    def loss(weights: Any, x: Any) -> Any:
        for w in weights:
            h = lib.np.tanh(x @ w)
            x = (h - h.mean(-1, keepdims=True)) / (h.std(-1, keepdims=True) + 0.1)
        return (x**2).sum()

    return lib.top.value_and_grad(loss), (weights, _draw(lib, rng, 4, 16))


@_class
def attention(lib: Library, n: int, rng: np.random.Generator) -> Program:
    def f(x: Any) -> Any:
        for _ in range(max(1, n // 3)):
            scores = lib.np.einsum("bqhd,bkhd->bhqk", x, x)
            x = x + lib.np.einsum("bhqk,bkhd->bqhd", lib.top.nn.softmax(scores), x)
        return x

    return f, (_draw(lib, rng, 2, 6, 2, 8),)


@_class
def convolutions(lib: Library, n: int, rng: np.random.Generator) -> Program:
    kernels = tuple(_draw(lib, rng, 3, 3, 4, 4) for _ in range(max(1, n // 2)))

    def loss(kernels: Any, x: Any) -> Any:
        for kernel in kernels:
            x = lib.top.nn.relu(
                lib.lax.conv_general_dilated(
                    x,
                    kernel,
                    (1, 1),
                    "SAME",
                    dimension_numbers=("NHWC", "HWIO", "NHWC"),
                )
            )
        return x.mean()

    return lib.top.grad(loss), (kernels, _draw(lib, rng, 2, 10, 10, 4))


@_class
def small_matrices(lib: Library, n: int, rng: np.random.Generator) -> Program:
    linalg, eye = lib.np.linalg, 3 * lib.np.eye(3)

    def f(x: Any) -> Any:
        for _ in range(max(1, n // 3)):
            x = linalg.inv(x + eye) + linalg.solve(x + eye, x)
        return x, linalg.det(x)

    return f, (_draw(lib, rng, 5, 3, 3),)


@_class
def transforms(lib: Library, n: int, rng: np.random.Generator) -> Program:
    def f(x: Any) -> Any:
        for _ in range(max(1, n // 3)):
            x = lib.np.fft.irfft(lib.np.fft.rfft(x) * 0.5) + x
        return x

    return f, (_draw(lib, rng, 6, 32),)


@_class
def second_derivatives(lib: Library, n: int, rng: np.random.Generator) -> Program:
    def f(x: Any) -> Any:
        for _ in range(max(1, n // 4)):
            x = lib.np.tanh(x * x.sum())
        return x.sum()

    return lib.top.hessian(f), (_draw(lib, rng, 6),)


@_class
def jacobians(lib: Library, n: int, rng: np.random.Generator) -> Program:
    w = _draw(lib, rng, 6, 6)

    def f(x: Any) -> Any:
        for _ in range(max(1, n // 3)):
            x = lib.np.tanh(w @ x)
        return x

    return lib.top.vmap(lib.top.jacfwd(f)), (_draw(lib, rng, 20, 6),)


@_class
def polynomials(lib: Library, n: int, rng: np.random.Generator) -> Program:
    def f(x: Any) -> Any:
        total = x
        for i in range(2 * n):
            total = total * x + i
        return total, x ** (n + 2), lib.np.polyval(lib.np.arange(float(n)), x)

    return f, (_draw(lib, rng, 31),)


@_class
def special_functions(lib: Library, n: int, rng: np.random.Generator) -> Program:
    special = lib.top.scipy.special
    some = [special.gammaln, special.erf, special.digamma, special.expit, special.i0]
    chosen = [some[i] for i in rng.integers(0, len(some), max(1, n // 3))]

    def f(x: Any) -> Any:
        for g in chosen:
            x = g(x) * 0.1 + x
        return x

    return f, (_draw(lib, rng, 23),)
