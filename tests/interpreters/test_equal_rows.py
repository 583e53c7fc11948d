"""Rows that are computed alike are computed as one array."""

import functools
import itertools
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.runtime import build_options
from olympus.experimental import checkify

X = np.linspace(0.1, 1.3, 42, dtype=np.float32).reshape(6, 7)
C = np.linspace(-1, 1, 7, dtype=np.float32)


def by_row(f, x=X, join=jnp.stack, **options):
    return join([f(i, row) for i, row in enumerate(x)], **options)


def read_some(x):
    """Rows that are read elsewhere, too."""
    rows = [jnp.tanh(row) for row in x]
    return jnp.stack([jnp.sin(row) for row in rows]), rows[2]


def with_both(x):
    """Values that two stacks read."""
    rows = [jnp.tanh(row) for row in x]
    return jnp.stack(rows), jnp.stack([row * (1 - row) for row in rows], axis=-1)


def overlapping(x):
    rows = [jnp.tanh(row) for row in x]
    return (
        jnp.stack(rows),
        jnp.stack(rows[:4]),
        jnp.concatenate(rows[:4]),
        jnp.stack([rows[0], rows[2], rows[3], rows[4]]),
        jnp.stack(rows[::-1]),
        jnp.stack([a * b for a, b in itertools.pairwise(rows)]),
    )


def of_line(f, x, shape=(42,), axis=0):
    """What a function makes of all elements in another shape, stacked."""
    size = int(np.prod(shape))
    return jnp.stack(f(jnp.resize(x, size).reshape(shape)), axis=axis)


def as_grid(x):
    """Each row four times as an image of 2 x 7, and these in a grid of 6 by 4."""
    images = jnp.stack([jnp.stack([r, r]) for r in x for _ in range(4)])
    rows = [
        jnp.concatenate([i / 2 for i in images[4 * k : 4 * k + 4]], axis=1)
        for k in range(6)
    ]
    return jnp.concatenate(rows, axis=0)


def of_scalars(x):
    scales = [*x[:, 3]]
    return jnp.stack([jnp.exp(row * s) for row, s in zip(x, scales, strict=True)])


def in_turns(x):
    """Rows of rows."""
    for _ in range(3):
        x = jnp.stack([jnp.sin(row) * i for i, row in enumerate(x)])
    return x


def stack_every_sixth(x):
    y = jnp.concatenate([jnp.sin(row) for row in x])
    return jnp.stack([y[i::6] for i in range(6)], axis=1)


def read_by_many(x):
    y = jnp.concatenate([jnp.sin(row) for row in x])
    return [y[i : 2 * i + 3] for i in range(1, 7)]


def of_windows(x, n=20, size=3, repeat=1):
    """Sines of pieces that begin anywhere, some of them twice."""
    line = jnp.tile(x.ravel(), repeat)
    starts = [(5 * i * i + 3) % (line.size - size) for i in range(n)]
    return jnp.stack([jnp.sin(line[a : a + size]) * i for i, a in enumerate(starts)])


def of_blocks(x):
    corners = [(i * 3 % 4, i * 2 % 5) for i in range(20)]
    blocks = [jnp.sin(x[i : i + 2, j : j + 3]) for i, j in corners]
    return jnp.concatenate(blocks, axis=1), blocks[0][0, 0]


JOINED = {  # the function; how often an operation is in its program
    "sine": (lambda x: by_row(lambda i, r: jnp.sin(r) * 2, x), "sine", 1),
    "numbers": (lambda x: by_row(lambda i, r: jnp.sin(r * i) + 1, x), "sine", 1),
    "constant": (lambda x: by_row(lambda i, r: jnp.sin(r) * C + C, x), "sine", 1),
    "axis": (lambda x: by_row(lambda i, r: jnp.sin(r), x, axis=-1), "sine", 1),
    "columns": (
        lambda x: jnp.stack([jnp.sin(c) for c in lax.unstack(x, axis=1)]),
        "sine",
        1,
    ),
    "concatenate": (
        lambda x: by_row(lambda i, r: jnp.sin(r), x, jnp.concatenate),
        "sine",
        1,
    ),
    "concatenate columns": (
        lambda x: jnp.concatenate(
            [jnp.sin(p) * i for i, p in enumerate(jnp.split(x, 7, axis=1))], axis=1
        ),
        "sine",
        1,
    ),
    "split": (
        lambda x: jnp.concatenate([jnp.sin(p) for p in jnp.split(x[:4], 4)]),
        "sine",
        1,
    ),
    "indexed": (lambda x: jnp.stack([jnp.sin(x[i]) for i in range(6)]), "sine", 1),
    "reversed": (lambda x: jnp.stack([jnp.sin(r) for r in [*x][::-1]]), "sine", 1),
    "backwards": (
        lambda x: jnp.stack([jnp.sin(x[i])[::-1] for i in (4, 3, 2, 1)]),
        "sine",
        1,
    ),
    "elements": (lambda x: jnp.array([jnp.sin(e) for e in x[0]]), "sine", 1),
    "select": (
        lambda x: by_row(lambda i, r: jnp.where(r > i / 8, jnp.sin(r), r), x),
        "sine",
        1,
    ),
    "types": (
        lambda x: by_row(lambda i, r: jnp.sin(r).astype("bfloat16") + i, x),
        "sine",
        1,
    ),
    "complex": (
        lambda x: by_row(lambda i, r: jnp.abs(jnp.exp(1j * r)), x),
        "exponential",
        1,
    ),
    "integers": (
        lambda x: by_row(lambda i, r: r.astype("int32") << i, x),
        "shift_left",
        1,
    ),
    "scalars": (of_scalars, "exponential", 1),
    "overlapping": (overlapping, "tanh", 6),
    "in turns": (in_turns, "sine", 3),
    "both": (with_both, "tanh", 1),
    "gradient": (
        olympus.grad(lambda x: (by_row(lambda i, r: jnp.sin(r) * i, x) ** 2).sum()),
        "cosine",
        1,
    ),
    "in a scan": (
        lambda x: lax.scan(
            lambda c, _: (by_row(lambda i, r: jnp.sin(r), c), None), x, None, length=3
        )[0],
        "sine",
        1,
    ),
    "every sixth": (stack_every_sixth, "sine", 1),
    "read by many": (read_by_many, "sine", 1),
    "alternating": (
        lambda x: of_line(lambda v: [jnp.sin(v[i::6]) for i in range(6)], x),
        "sine",
        1,
    ),
    "alternating columns": (
        lambda x: of_line(
            lambda v: [jnp.sin(v[:, i::6]) for i in range(6)], x, (7, 12), axis=1
        ),
        "sine",
        1,
    ),
    "chunks": (
        lambda x: of_line(
            lambda v: [jnp.sin(v[7 * i : 7 * i + 7]) for i in range(1, 6)], x
        ),
        "sine",
        1,
    ),
    "columns, kept as such": (
        lambda x: of_line(
            lambda v: [jnp.sin(v[:, i : i + 1]) for i in (4, 3, 2, 1)], x, (7, 6)
        ),
        "sine",
        1,
    ),
    "only moved": (
        lambda x: of_line(lambda v: [v[i::6] for i in range(6)], x),
        "concatenate",
        0,
    ),
    "grid": (as_grid, "divide", 1),
    "many readers in a scan": (
        lambda x: lax.scan(lambda c, _: (c, read_by_many(c)), x, None, length=2)[1],
        "sine",
        1 if build_options.barriers_in_bodies else 6,
    ),
    "in a branch": (
        lambda x: lax.cond(
            x[0, 0] > 0, functools.partial(by_row, lambda i, r: jnp.sin(r)), jnp.cos, x
        ),
        "sine",
        1,
    ),
    "numbers along an axis": (
        lambda x: by_row(lambda i, r: jnp.sin(r * jnp.arange(7) + i), x),
        "sine",
        1,
    ),
    "windows": (of_windows, "sine", 1),
    "gradient of windows": (
        olympus.grad(lambda x: (of_windows(x) ** 2).sum()),
        "sine",
        1,
    ),
    "mapped windows": (olympus.vmap(of_windows, 1), "sine", 1),
    # left alone
    "few windows": (functools.partial(of_windows, n=15), "sine", 15),
    "large windows": (functools.partial(of_windows, size=65, repeat=4), "sine", 20),
    "blocks, one of them read elsewhere": (of_blocks, "sine", 20),
    "read elsewhere": (read_some, "tanh", 6),
    "repeated": (
        lambda x: jnp.stack([jnp.sin(x[i]) for i in (0, 1, 1, 2)]),
        "sine",
        4,
    ),
    "mixed with numbers along an axis": (
        lambda x: jnp.stack([*[jnp.sin(r) for r in x[:3]], jnp.arange(7.0)]),
        "sine",
        3,
    ),
    "numbers along axes": (
        lambda x: jnp.stack(
            [jnp.sin(lax.broadcasted_iota(np.float32, (7, 7), i % 2)) for i in range(4)]
        ),
        "sine",
        4,
    ),
    "nothing but numbers along an axis": (
        lambda x: jnp.stack([jnp.where(jnp.arange(7) < i, 0.0, 1.0) for i in range(6)]),
        "iota",
        1,
    ),
    "few rows": (lambda x: by_row(lambda i, r: jnp.sin(r), x[:3]), "sine", 3),
    "other numbers of parameters": (
        lambda x: by_row(lambda i, r: lax.integer_pow(r, 3 + i % 2), x),
        "multiply",
        12,
    ),
    "other operands": (
        lambda x: jnp.stack([x[0] * x[1], x[1] * x[2], x[3] * x[1], x[4] * x[0]]),
        "multiply",
        4,
    ),
}


@pytest.mark.parametrize("name", JOINED)
def test_programs(name):
    f, operation, count = JOINED[name]
    with olympus.disable_jit():
        expected = f(jnp.asarray(X))
    outs = olympus.jit(f)(X)
    olympus.tree.map(
        lambda a, b: np.testing.assert_allclose(
            np.asarray(a, np.float64), np.asarray(b, np.float64), rtol=2e-6, atol=1e-6
        ),
        outs,
        expected,
    )
    assert olympus.tree.map(olympus.typeof, outs) == olympus.tree.map(
        olympus.typeof, expected
    )
    text = olympus.jit(f).lower(X).as_text()
    assert text.count(f"stablehlo.{operation} ") == count


def test_many_readers_get_a_barrier():
    text = olympus.jit(read_by_many).lower(X).as_text()
    assert text.count("stablehlo.optimization_barrier ") == 1
    compiled = olympus.jit(read_by_many).lower(X).compile().as_text()
    assert compiled.count(" sine(") == 1  # one for all readers


_UNARY = (jnp.sin, jnp.negative, jnp.tanh, abs, lambda a: a * 2.0, lambda a: a[::-1])
_BINARY = (operator.add, operator.mul, jnp.maximum, operator.sub)


SOURCES = ("iterated", "indexed", "reversed", "columns", "chunks", "alternating")


@st.composite
def programs(draw):
    """Steps of a stack machine for each row; some differ in one row."""
    n = draw(st.integers(2, 6))
    steps = []
    for _ in range(draw(st.integers(1, 6))):
        step = draw(
            st.tuples(
                st.sampled_from(_UNARY + _BINARY),
                st.sampled_from(
                    ("row", "last", "constant", "number", "places", "scalar")
                ),
                st.integers(0, 3),
            )
        )
        odd = draw(st.sampled_from((None, None, 0, n - 1)))
        steps.append((step, odd))
    joining = draw(st.sampled_from(("stack", "last axis", "concatenate")))
    source = draw(st.sampled_from(SOURCES))
    kept = draw(st.sampled_from((None, None, 0, n - 1)))
    return n, steps, joining, source, kept


def run(program, x):
    n, steps, joining, source, kept = program
    x = x[:n, :n]
    columns = source == "columns"
    rows = lax.unstack(x, axis=1) if columns else [x[i] for i in range(n)]
    line = x.ravel()
    rows = {
        "iterated": [*x],
        "reversed": rows[::-1],
        "chunks": [line[i * n : i * n + n] for i in range(n)],
        "alternating": [line[i::n] for i in range(n)],
    }.get(source, rows)
    outs, inner = [], []
    for i, row in enumerate(rows):
        values = [row]
        for (operation, other, back), odd in steps:
            a = values[-1 - back % len(values)]
            if i == odd:
                a = a + 0.5
            b = {
                "row": row,
                "last": values[-1],
                "constant": C[:n],
                "number": i / 4,
                "places": jnp.arange(n) / 8,
                "scalar": x[i, 0],
            }[other]
            values.append(operation(a, b) if operation in _BINARY else operation(a))
        inner.append(values[len(values) // 2])
        outs.append(values[-1])
    join = {
        "stack": jnp.stack,
        "last axis": functools.partial(jnp.stack, axis=-1),
        "concatenate": jnp.concatenate,
    }[joining]
    return join(outs), jnp.stack(inner), *([] if kept is None else [inner[kept]])


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(programs())
def test_any_program(program):
    f = functools.partial(run, program)
    with olympus.disable_jit():
        expected = f(jnp.asarray(X))
    outs = olympus.jit(f)(X)
    for out, value in zip(outs, expected, strict=True):
        np.testing.assert_allclose(out, value, rtol=1e-5, atol=1e-5)


def test_under_vmap_and_grad():
    def f(x):
        return (by_row(lambda i, r: jnp.tanh(r) * i, x) ** 2).sum()

    def compute_whole(x):
        return ((jnp.tanh(x) * np.arange(6, dtype=np.float32)[:, None]) ** 2).sum()

    batch = np.stack([X, 2 * X])
    for change in (
        lambda f: olympus.vmap(olympus.grad(f)),
        lambda f: olympus.vmap(olympus.hessian(f)),
        lambda f: lambda x: olympus.linearize(olympus.vmap(f), x)[1](x),
    ):
        got = olympus.jit(change(f))(batch)
        np.testing.assert_allclose(
            got, change(compute_whole)(batch), rtol=1e-5, atol=1e-5
        )


def test_a_bad_number_is_found_by_its_element():
    x = X.copy()
    x[3, 2] = -1
    with (
        olympus.debug_nans(True),
        pytest.raises(FloatingPointError, match=r"in log .*(.|\n)*element \[3, 2\]"),
    ):
        olympus.jit(lambda x: by_row(lambda i, r: jnp.log(r) * 2, x))(x)


def test_rows_of_nothing():
    f = olympus.jit(lambda x: by_row(lambda i, r: jnp.sin(r), x))
    assert f(np.zeros((5, 0), np.float32)).shape == (5, 0)


def test_checks_of_rows():
    def f(x):
        rows = []
        for row in x:
            checkify.check((row > 0).all(), "positive")
            rows.append(jnp.log(row))
        return jnp.stack(rows)

    err, out = olympus.jit(checkify.checkify(f))(X)
    err.throw()
    np.testing.assert_allclose(out, np.log(X), rtol=1e-5)
    with pytest.raises(Exception, match="positive"):
        olympus.jit(checkify.checkify(f))(-X)[0].throw()


def test_keys_stay_apart():
    keys = olympus.random.split(olympus.random.key(0), 5)
    f = olympus.jit(lambda keys: jnp.stack([olympus.random.uniform(k) for k in keys]))
    np.testing.assert_array_equal(f(keys), olympus.vmap(olympus.random.uniform)(keys))
