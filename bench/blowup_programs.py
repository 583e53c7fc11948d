"""Classes of programs that have made compilers blow up, or might.

Each function takes a `Library`, a generator of random choices and a size, and returns a
function of arrays and its arguments. Equal seeds give both libraries the same program.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.models import Library

Case = tuple[Callable[..., Any], tuple[Any, ...]]
Class = Callable[[Library, random.Random, int], Case]


def _array(lib: Library, *shape: int, seed: int = 0) -> Any:
    values = np.random.default_rng(seed).uniform(0.1, 0.9, size=shape)
    return lib.np.asarray(values.astype("float32"))


# -- elementwise functions -------------------------------------------------------------


def chain(lib: Library, rng: random.Random, size: int) -> Case:
    """One unary or binary function after another."""
    names = [
        rng.choice(("sin", "tanh", "exp", "sqrt", "add", "multiply", "maximum"))
        for _ in range(size)
    ]

    def f(x: Any) -> Any:
        y = x
        for name in names:
            g = getattr(lib.np, name)
            binary = name in ("add", "multiply", "maximum")
            y = g(y, x) * 0.5 if binary else g(lib.np.abs(y) * 0.5)
        return y

    return f, (_array(lib, rng.choice((7, 64, 1000))),)


def fan_out(lib: Library, rng: random.Random, size: int) -> Case:
    """One value that many results read."""

    def f(x: Any) -> Any:
        y = lib.np.exp(x)
        return [lib.np.sin(y * float(i)) for i in range(size)]

    return f, (_array(lib, rng.choice((8, 100))),)


def fan_in(lib: Library, rng: random.Random, size: int) -> Case:
    """Many arguments in one value."""

    def f(*xs: Any) -> Any:
        total = xs[0]
        for x in xs[1:]:
            total = total + lib.np.tanh(x) * total
        return total

    n = rng.choice((8, 100))
    return f, tuple(_array(lib, n, seed=i) for i in range(size))


def tanh_of_sums(lib: Library, rng: random.Random, size: int) -> Case:
    """Functions of sums over one axis, each added to the whole again."""

    def f(x: Any) -> Any:
        for _ in range(size):
            x = x + lib.np.tanh(lib.np.sum(x, axis=0))
        return x

    return f, (_array(lib, rng.choice((4, 10)), rng.choice((8, 33))),)


def mixed_dtypes(lib: Library, rng: random.Random, size: int) -> Case:
    """Conversions between element types."""
    kinds = ("float16", "bfloat16", "int8", "int32", "uint16", "float32")
    names = [rng.choice(kinds) for _ in range(size)]

    def f(x: Any) -> Any:
        total = x
        for name in names:
            y = (x * 7 + total % 3).astype(getattr(lib.np, name))
            total = total + (y * y).astype("float32")
        return total

    return f, (_array(lib, 50),)


def choices(lib: Library, rng: random.Random, size: int) -> Case:
    """Positions of largest elements, and choices by them."""

    def f(x: Any) -> Any:
        for _ in range(size):
            best = lib.np.argmax(x, axis=1)
            x = lib.np.where(best[:, None] > 3, x * 0.5, lib.np.flip(x, 1))
        return x

    return f, (_array(lib, 16, rng.choice((8, 31))),)


def runge_kutta(lib: Library, rng: random.Random, size: int) -> Case:
    """An integrator of fourth order, unrolled."""

    def slope(y: Any) -> Any:
        a, b, c = y
        return lib.np.stack([10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c])

    def f(y: Any) -> Any:
        for _ in range(size):
            k1 = slope(y)
            k2 = slope(y + 0.005 * k1)
            k3 = slope(y + 0.005 * k2)
            k4 = slope(y + 0.01 * k3)
            y = y + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return y

    return f, (_array(lib, 3),)


# -- pieces of arrays ------------------------------------------------------------------


def unpacking(lib: Library, rng: random.Random, size: int) -> Case:
    """Elements of an array, as values of their own."""

    def f(x: Any) -> Any:
        total = 0.0
        for i, row in enumerate(x):
            total = lib.np.sin(row) * total + row * i
        return total

    return f, (_array(lib, size, *rng.choice(((), (5,), (4, 3)))),)


def rows(lib: Library, rng: random.Random, size: int) -> Case:
    """Rows of an array, computed alike and stacked."""
    shift = rng.random()

    def f(x: Any) -> Any:
        return lib.np.stack([lib.np.sin(row + shift) * i for i, row in enumerate(x)])

    return f, (_array(lib, size, 64),)


def indexed_rows(lib: Library, rng: random.Random, size: int) -> Case:
    """The same, read by their numbers."""
    shift = rng.random()

    def f(x: Any) -> Any:
        return lib.np.stack([lib.np.tanh(x[i] + shift) * x[i] for i in range(size)])

    return f, (_array(lib, size, 64),)


def rows_of_places(lib: Library, rng: random.Random, size: int) -> Case:
    """Rows that each use positions of their own, as diagonals of a table do."""
    shift = rng.randrange(3)

    def f(x: Any) -> Any:
        rows = []
        for i in range(size):
            at = lib.np.arange(x.shape[1])
            rows.append(lib.np.where(at <= i + shift, lib.np.sin(x[i]) * at, 0.0))
        return lib.np.stack(rows)

    return f, (_array(lib, size, 24),)


def grid(lib: Library, rng: random.Random, size: int) -> Case:
    """Sampled images as one picture, by iterating and stacking."""
    key = lib.top.random.key(rng.randrange(100))
    side = rng.choice((8, 14))

    def f(logits: Any) -> Any:
        images = lib.top.random.bernoulli(key, lib.top.nn.sigmoid(logits))
        images = images.reshape(-1, side, side).astype("float32")
        rows = [
            lib.np.concatenate(list(images[i * size : (i + 1) * size]), axis=1)
            for i in range(size)
        ]
        return lib.np.concatenate(rows, axis=0)

    return f, (_array(lib, size * size, side * side),)


def stacks(lib: Library, rng: random.Random, size: int) -> Case:
    """Stacks of slices, in turns."""
    offsets = [rng.randrange(4) for _ in range(size)]

    def f(x: Any) -> Any:
        parts = [x[o : o + 12] * float(i) for i, o in enumerate(offsets)]
        y = lib.np.stack(parts)
        z = lib.np.concatenate([lib.np.exp(row[::-1]) for row in y])
        return lib.np.stack([z[i::size] for i in range(size)], axis=1)

    return f, (_array(lib, 16),)


def gathers(lib: Library, rng: random.Random, size: int) -> Case:
    """Rows by positions, and slices of them."""
    places = [np.array([rng.randrange(20) for _ in range(6)]) for _ in range(size)]

    def f(x: Any) -> Any:
        total = x[:6, :4]
        for i, p in enumerate(places):
            total = total + x[lib.np.asarray(p)][:, i % 4 : i % 4 + 4] * total
        return total

    return f, (_array(lib, 20, 8),)


def additions_at(lib: Library, rng: random.Random, size: int) -> Case:
    """Additions to known elements, one after another."""

    def f(x: Any) -> Any:
        y = lib.np.zeros(size + 3)
        for i in range(size):
            y = y.at[i].add(x[i] * y[i - 1])
            y = y.at[i : i + 2].add(lib.np.sin(x[i : i + 2]))
        return y

    return f, (_array(lib, size + 3),)


def dynamic_updates(lib: Library, rng: random.Random, size: int) -> Case:
    """Slices at positions that are computed, changed and put back."""

    def f(x: Any, i: Any) -> Any:
        for k in range(size):
            part = lib.lax.dynamic_slice(x, (i + k,), (3,))
            x = lib.lax.dynamic_update_slice(x, part * 1.5, (i + k + 1,))
        return x

    return f, (_array(lib, size + 8), lib.np.int32(rng.randrange(3)))


def shapes(lib: Library, rng: random.Random, size: int) -> Case:
    """Transposes and reshapes between elementwise functions."""

    def f(x: Any) -> Any:
        for i in range(size):
            x = lib.np.transpose(x, (1, 2, 0)).reshape(x.shape) + x * float(i)
            x = lib.np.swapaxes(x, 0, 1).reshape(x.shape)
        return x

    return f, (_array(lib, *rng.choice(((4, 6, 5), (8, 8, 8)))),)


def rolls(lib: Library, rng: random.Random, size: int) -> Case:
    """Steps of a stencil."""

    def f(x: Any) -> Any:
        for _ in range(size):
            around = sum(lib.np.roll(x, s, a) for s in (1, -1) for a in (0, 1))
            x = x + 0.1 * (around - 4 * x)
        return x

    return f, (_array(lib, *rng.choice(((16, 16), (30, 20)))),)


def rolls_in_turns(lib: Library, rng: random.Random, size: int) -> Case:
    """Steps of a stencil in a loop."""
    axes = [rng.randrange(2) for _ in range(size)]

    def f(x: Any) -> Any:
        def body(x: Any, _: Any) -> Any:
            around = sum(lib.np.roll(x, i + 1, a) for i, a in enumerate(axes))
            return 0.9 * x + 0.1 * around * x, None

        return lib.lax.scan(body, x, None, 20)[0]

    return f, (_array(lib, *rng.choice(((16, 16), (64, 64)))),)


def corners(lib: Library, rng: random.Random, size: int) -> Case:
    """Values between the points of a grid, each of those at its corners."""
    rank = rng.choice((1, 2, 3))

    def f(x: Any, places: Any) -> Any:
        low = lib.np.floor(places).astype("int32")
        part = places - low
        total = 0.0
        for corner in np.ndindex(*[2] * rank):
            value = x[tuple(low[:, a] + c for a, c in enumerate(corner))]
            for a, c in enumerate(corner):
                value = value * (part[:, a] if c else 1 - part[:, a])
            total = total + value
        return total

    n = rng.choice((7, 12))
    return f, (_array(lib, *[n] * rank), (n - 1) * _array(lib, 10 * size, rank, seed=1))


def vectors(lib: Library, rng: random.Random, size: int) -> Case:
    """Vectors of three components, turned around one another."""

    def f(x: Any, y: Any) -> Any:
        for _ in range(1 + size // 10):
            x = x + lib.np.cross(y, 2 * lib.np.cross(y, x))
            y = y / lib.np.linalg.norm(y, axis=-1, keepdims=True)
        return x

    n = rng.choice((10, 100))
    return f, (_array(lib, n * size, 3), _array(lib, n * size, 3, seed=1))


def padded(lib: Library, rng: random.Random, size: int) -> Case:
    """Padding of several kinds."""
    modes = [rng.choice(("constant", "edge", "reflect", "wrap")) for _ in range(size)]

    def f(x: Any) -> Any:
        for mode in modes:
            x = lib.np.tanh(lib.np.pad(x, 1, mode=mode)[:-2, 1:-1]) * 0.9
        return x

    return f, (_array(lib, 12, 10),)


# -- control flow ----------------------------------------------------------------------


def nested_scans(lib: Library, rng: random.Random, size: int) -> Case:
    """Loops in loops, as deep as the size."""
    counts = [rng.choice((2, 3)) for _ in range(size)]

    def loop(depth: int, x: Any) -> Any:
        if depth == size:
            return lib.np.sin(x) + 0.1
        return lib.lax.scan(
            lambda c, _: (loop(depth + 1, c), lib.np.sum(c)), x, None, counts[depth]
        )[0]

    return lambda x: loop(0, x), (_array(lib, 9),)


def branches(lib: Library, rng: random.Random, size: int) -> Case:
    """Branches with loops in them, mapped over an axis."""

    def one(x: Any) -> Any:
        for i in range(size):
            x = lib.lax.cond(
                lib.np.sum(x) > i,
                lambda x: lib.lax.fori_loop(0, 3, lambda _, c: lib.np.cos(c), x),
                lambda x: x * 0.5 + 1,
                x,
            )
        return x

    return lambda x: lib.top.vmap(one)(x), (_array(lib, 6, 5),)


def switches(lib: Library, rng: random.Random, size: int) -> Case:
    """A loop that chooses one of several branches in each turn."""

    def f(x: Any) -> Any:
        turns = [lambda c, k=k: lib.np.sin(c * float(k)) for k in range(size)]

        def body(c: Any, i: Any) -> Any:
            return lib.lax.switch(i % size, turns, c), c

        return lib.lax.scan(body, x, lib.np.arange(2 * size))

    return f, (_array(lib, 7),)


def checkpoints(lib: Library, rng: random.Random, size: int) -> Case:
    """Layers whose values are computed again."""

    def f(x: Any, w: Any) -> Any:
        layer = lib.top.checkpoint(lambda x: lib.np.tanh(x @ w) + x)
        for _ in range(size):
            x = layer(x)
        return x

    return f, (_array(lib, 4, 8), _array(lib, 8, 8, seed=1))


# -- random numbers --------------------------------------------------------------------


def keys(lib: Library, rng: random.Random, size: int) -> Case:
    """Samples of many keys at once."""
    draw = rng.choice(("uniform", "normal", "exponential", "bits"))

    def f(x: Any) -> Any:
        split = lib.top.random.split(lib.top.random.key(3), size)
        samples = lib.top.vmap(getattr(lib.top.random, draw))(split)
        return samples.astype("float32") * x

    return f, (_array(lib, size),)


def splits(lib: Library, rng: random.Random, size: int) -> Case:
    """Keys from keys, one sample of each."""
    draws = [rng.choice(("uniform", "normal", "gumbel")) for _ in range(size)]

    def f(x: Any) -> Any:
        key = lib.top.random.key(5)
        for draw in draws:
            key, one = lib.top.random.split(key)
            x = x * getattr(lib.top.random, draw)(one, x.shape)
        return x

    return f, (_array(lib, rng.choice((3, 50))),)


def narrow_samples(lib: Library, rng: random.Random, size: int) -> Case:
    """Samples of narrow element types."""
    names = ("float8_e4m3fn", "float8_e5m2", "bfloat16", "float16")
    dtype = getattr(lib.np, rng.choice(names))

    def f(x: Any) -> Any:
        key = lib.top.random.key(7)
        return lib.top.random.normal(key, (size,), dtype).astype("float32") * x

    return f, (_array(lib, size),)


def noise(lib: Library, rng: random.Random, size: int) -> Case:
    """Functions of a few random numbers, in steps of a walk that may be refused."""
    name = rng.choice(("log", "sqrt", "floor", "sin"))

    def f(x: Any) -> Any:
        def body(x: Any, key: Any) -> Any:
            one, two = lib.top.random.split(key)
            y = x + getattr(lib.np, name)(lib.top.random.uniform(one, x.shape) * 3)
            y = lib.np.maximum(y, 0.1 * lib.top.random.normal(two, x.shape))
            accepted = lib.np.log(lib.top.random.uniform(two)) < lib.np.sum(x - y)
            return lib.np.where(accepted, y, x), None

        keys = lib.top.random.split(lib.top.random.key(19), 10)
        return lib.lax.scan(body, x, keys)[0]

    return f, (_array(lib, size),)


def walks(lib: Library, rng: random.Random, size: int) -> Case:
    """Random walks: sums of the prefixes of drawn numbers."""
    draw = rng.choice(("normal", "laplace", "gumbel"))

    def f(scale: Any) -> Any:
        key = lib.top.random.key(11)
        steps = getattr(lib.top.random, draw)(key, (10 * size, 250))
        return lib.np.exp(lib.np.cumsum(0.01 * scale * steps, axis=1))

    return f, (_array(lib),)


def columns(lib: Library, rng: random.Random, size: int) -> Case:
    """Samples of a few columns, in each turn of a loop."""
    draw = rng.choice(("normal", "exponential", "logistic"))

    def f(x: Any) -> Any:
        def body(total: Any, key: Any) -> Any:
            return total + getattr(lib.top.random, draw)(key, total.shape), None

        keys = lib.top.random.split(lib.top.random.key(13), 10)
        start = x + getattr(lib.top.random, draw)(lib.top.random.key(17), x.shape)
        return lib.lax.scan(body, start, keys)[0]

    return f, (_array(lib, 10 * size, rng.choice((2, 3, 5))),)


# -- prefixes, orders, products --------------------------------------------------------


def prefixes(lib: Library, rng: random.Random, size: int) -> Case:
    """Sums and products of all prefixes."""
    name = rng.choice(("cumsum", "cumprod", "cummax", "cumlogsumexp"))

    def f(x: Any) -> Any:
        return getattr(lib.lax, name)(x, axis=0)

    return f, (_array(lib, size * size * 10),)


def rows_of_prefixes(lib: Library, rng: random.Random, size: int) -> Case:
    """Sums of prefixes along either axis, in turns."""

    def f(x: Any) -> Any:
        for i in range(1 + size // 10):
            x = lib.np.cumsum(x, axis=i % 2) * 0.1
        return x

    return f, (_array(lib, rng.choice((16, 50)), size * 10),)


def associative(lib: Library, rng: random.Random, size: int) -> Case:
    """A linear recurrence as an associative scan."""

    def join(a: Any, b: Any) -> Any:
        return a[0] * b[0], b[0] * a[1] + b[1]

    def f(x: Any, y: Any) -> Any:
        return lib.lax.associative_scan(join, (x, y))

    n = size * rng.choice((3, 8))
    return f, (_array(lib, n), _array(lib, n, seed=1))


def sorts(lib: Library, rng: random.Random, size: int) -> Case:
    """Sorted rows, orders and medians, in turns."""
    names = [rng.choice(("sort", "argsort", "median")) for _ in range(1 + size // 8)]

    def f(x: Any) -> Any:
        for name in names:
            y = getattr(lib.np, name)(x, axis=1)
            y = y[:, None] if name == "median" else y
            x = x[:, ::-1] + lib.np.sin(y.astype("float32"))
        return x

    return f, (_array(lib, 6, rng.choice((9, 40))),)


def products(lib: Library, rng: random.Random, size: int) -> Case:
    """Sums of products of several operands."""
    forms = ("ij,jk->ik", "ij,kj->ik", "ij,ij,jk->ik", "ij,jk,kl->il", "ij,jk->ki")
    chosen = [rng.choice(forms) for _ in range(size)]

    def f(x: Any, w: Any) -> Any:
        for form in chosen:
            operands = [x] + [w] * form.count(",")
            x = lib.np.tanh(lib.np.einsum(form, *operands))
        return x

    return f, (_array(lib, 6, 6), _array(lib, 6, 6, seed=1))


def matrices(lib: Library, rng: random.Random, size: int) -> Case:
    """Linear algebra of small matrices in batches."""
    names = ("inv", "det", "cholesky", "solve")
    chosen = [rng.choice(names) for _ in range(1 + size // 10)]

    def f(x: Any) -> Any:
        eye = lib.np.eye(4)
        for name in chosen:
            y = x @ lib.np.swapaxes(x, 1, 2) * 0.1 + eye
            g = getattr(lib.np.linalg, name)
            z = g(y, x) if name == "solve" else g(y)
            x = x + (z[:, None, None] if name == "det" else z)
        return x

    return f, (_array(lib, rng.choice((2, 20)), 4, 4),)


def convolutions(lib: Library, rng: random.Random, size: int) -> Case:
    """Convolutions with activations and pooling."""

    def f(x: Any, w: Any) -> Any:
        for _ in range(1 + size // 4):
            y = lib.lax.conv_general_dilated(
                x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = x + lib.np.maximum(y, 0)
        return lib.lax.reduce_window(
            x, -np.inf, lib.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"
        )

    c = rng.choice((1, 4))
    return f, (_array(lib, 2, 12, 12, c), _array(lib, 3, 3, c, c, seed=1))


def pools(lib: Library, rng: random.Random, size: int) -> Case:
    """Maxima of windows that overlap, of what is not below zero."""
    shape = (1, 3, 3, 1), (1, 2, 2, 1)

    def f(x: Any) -> Any:
        y = lib.np.maximum(x - 0.5, 0.0)
        return lib.lax.reduce_window(y, -np.inf, lib.lax.max, *shape, "SAME")

    return f, (_array(lib, 4, 4 * size, 4 * size, rng.choice((16, 32))),)


def transforms(lib: Library, rng: random.Random, size: int) -> Case:
    """Fourier transforms and products between them."""

    def f(x: Any) -> Any:
        for _ in range(1 + size // 4):
            x = lib.np.fft.irfft(lib.np.fft.rfft(x) * 0.5, x.shape[-1]) + x
        return x

    return f, (_array(lib, 5, rng.choice((12, 32))),)


def means(lib: Library, rng: random.Random, size: int) -> Case:
    """Normalizations and softmax, one after another."""

    def f(x: Any) -> Any:
        for _ in range(size):
            spread = lib.np.std(x, axis=-1, keepdims=True)
            x = (x - lib.np.mean(x, axis=-1, keepdims=True)) / (spread + 0.1)
            x = x + lib.top.nn.softmax(x, axis=-1)
        return x

    return f, (_array(lib, rng.choice((3, 16)), rng.choice((9, 32))),)


def histograms(lib: Library, rng: random.Random, size: int) -> Case:
    """Counts, segments and searches."""

    def f(x: Any) -> Any:
        edges = lib.np.linspace(0.0, 1.0, size)
        places = lib.np.searchsorted(edges, x)
        sums = lib.top.ops.segment_sum(x, places, size + 1)
        return (
            lib.np.interp(x, edges, sums[:size])
            + lib.np.bincount(places, length=size + 1).sum()
        )

    return f, (_array(lib, 200),)


# Sizes that take JAX seconds at most.
SIZES: dict[Class, tuple[int, int]] = {
    chain: (20, 150),
    fan_out: (10, 60),
    fan_in: (10, 60),
    tanh_of_sums: (10, 60),
    mixed_dtypes: (10, 40),
    choices: (4, 20),
    runge_kutta: (2, 8),
    unpacking: (10, 60),
    rows: (10, 30),
    indexed_rows: (10, 30),
    rows_of_places: (10, 30),
    grid: (4, 10),
    stacks: (5, 30),
    gathers: (5, 20),
    additions_at: (5, 25),
    dynamic_updates: (5, 25),
    shapes: (4, 20),
    rolls: (3, 12),
    rolls_in_turns: (2, 5),
    corners: (10, 100),
    vectors: (10, 40),
    padded: (3, 12),
    nested_scans: (2, 4),
    branches: (2, 6),
    switches: (3, 10),
    checkpoints: (4, 16),
    keys: (8, 300),
    splits: (3, 10),
    narrow_samples: (10, 300),
    noise: (5, 50),
    walks: (10, 100),
    columns: (10, 100),
    prefixes: (10, 300),
    rows_of_prefixes: (10, 40),
    associative: (10, 40),
    sorts: (8, 24),
    products: (5, 20),
    matrices: (5, 20),
    convolutions: (4, 16),
    pools: (4, 14),
    transforms: (4, 16),
    means: (3, 10),
    histograms: (10, 40),
}
CLASSES: dict[str, Class] = {f.__name__: f for f in SIZES}


def _floats(lib: Library, tree: Any) -> Any:
    """The sum of all real results, for a gradient."""
    leaves = lib.top.tree_util.tree_leaves(tree)
    real = [x for x in leaves if lib.np.issubdtype(x.dtype, lib.np.floating)]
    return sum(lib.np.sum(x) for x in real)


def make(lib: Library, name: str, size: int, seed: int, *, gradient: bool) -> Case:
    """A program of a class and its arguments, or its gradient by the first one."""
    f, args = CLASSES[name](lib, random.Random(f"{name} {size} {seed}"), size)
    if gradient:
        return lib.top.grad(lambda *args: _floats(lib, f(*args))), args
    return f, args
