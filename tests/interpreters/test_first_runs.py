"""First calls by NumPy give the bits that compiled programs give."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, random
from olympus._src.core import primitive
from olympus._src.core.primitive import Exact
from olympus._src.foundation import compiler_settings
from olympus._src.interpreters import compilation

by_numpy = compiler_settings.first_runs_by_numpy
F32 = np.float32
TINY = np.finfo(F32).tiny


@pytest.fixture(autouse=True)
def nothing_is_compiled():
    olympus.clear_caches()


@pytest.fixture
def compiled_names(monkeypatch):
    """Those of the programs that were compiled."""
    names = []
    load = compilation.load

    def noting(lowered, built):
        names.append(lowered.module_name.removeprefix("jit_"))
        return load(lowered, built)

    monkeypatch.setattr(compilation, "load", noting)
    return names


def bits(x):
    if isinstance(x, (list, tuple)):
        return [bits(part) for part in x]
    return x.aval, x.committed, x.sharding, np.asarray(x).tobytes()


# -- equal to the bit ------------------------------------------------------------------

_bits = np.random.default_rng(0)
FLOATS = {
    "usual": _bits.standard_normal(24),
    "integers": np.arange(-12, 12) * 0.5,
    "extreme": _bits.standard_normal(24) * 10.0 ** _bits.integers(-38, 38, 24),
    "any bits": np.frombuffer(_bits.bytes(96), F32),
    "zeros": np.tile([0.0, -0.0], 12),
    "ends": np.tile([0.0, -0.0, np.inf, -np.inf, TINY, -TINY, 1e-39, np.nan], 3),
    "halves": np.tile([0.5, -0.5, 1.5, 2.5, -1.5, 0.49999997], 4),
}
INTEGERS = {
    "usual": np.arange(-12, 12),
    "ends": np.tile([-(2**31), 2**31 - 1, 0, -1, 1, 31, 32, 33], 3),
}
VALUES = {
    **{f"float32, {name}": x.astype(F32) for name, x in FLOATS.items()},
    **{f"int32, {name}": x.astype(np.int32) for name, x in INTEGERS.items()},
    "uint32": INTEGERS["ends"].astype(np.uint32),
    "int8": np.arange(-128, 128, 11).astype(np.int8),
    "bool": np.arange(24) % 3 == 0,
    "complex64": (FLOATS["usual"] + 1j * FLOATS["zeros"]).astype(np.complex64),
    "float16": FLOATS["usual"].astype(np.float16),
}

UNARY = {
    "negative": jnp.negative,
    "abs": jnp.abs,
    "sign": jnp.sign,
    "square": jnp.square,
    "sqrt": jnp.sqrt,
    "floor": jnp.floor,
    "ceil": jnp.ceil,
    "isfinite": jnp.isfinite,
    "isnan": jnp.isnan,
    "invert": jnp.invert,
    "max": jnp.max,
    "argmin": jnp.argmin,
    "all": jnp.all,
    "real": jnp.real,
    "imag": jnp.imag,
    "copy": jnp.copy,
    "to int8": lambda x: x.astype(np.int8),
    "to int32": lambda x: x.astype(np.int32),
    "to uint32": lambda x: x.astype(np.uint32),
    "to float32": lambda x: x.astype(F32),
    "to bool": lambda x: x.astype(bool),
    "as bits": lambda x: lax.bitcast_convert_type(x, np.uint32),
    "reshape": lambda x: x.reshape(4, -1),
    "transpose": lambda x: x.reshape(4, -1).T,
    "slice": lambda x: lax.slice(x, (1,), (7,), (2,)),
    "dynamic slice": lambda x: lax.dynamic_slice(x, (20,), (6,)),
    "reverse": lambda x: lax.rev(x, (0,)),
    "pad": lambda x: lax.pad(x, x[0], ((1, -2, 1),)),
    "roll": lambda x: jnp.roll(x, 2),
    "tile": lambda x: jnp.tile(x, 2),
    "new axis": lambda x: x[None, :, None],
    "split": lambda x: jnp.split(x, 3 if x.size % 3 == 0 else 1),
    "unstack": lambda x: lax.unstack(x.reshape(4, -1)),
    "spread": lambda x: jnp.broadcast_to(x, (2, *x.shape)),
    "above 0": lambda x: x > 0,
    "add 0": lambda x: x + 0,
    "from 0": lambda x: 0 - x,
    "times -1": lambda x: x * -1.0,
    "halve": lambda x: x / 2,
    "third": lambda x: x / 3,
    "clip": lambda x: jnp.clip(x, 1, 3),
    "lax.add literal": lambda x: lax.add(x, np.zeros((), x.dtype)),
    "lax.div literal": lambda x: lax.div(x, np.array(3, x.dtype)),
}
BINARY = {
    "add": jnp.add,
    "subtract": jnp.subtract,
    "multiply": jnp.multiply,
    "divide": jnp.divide,
    "lax.div": lax.div,
    "maximum": jnp.maximum,
    "minimum": jnp.minimum,
    "equal": jnp.equal,
    "less": jnp.less,
    "greater_equal": jnp.greater_equal,
    "and": jnp.bitwise_and,
    "xor": jnp.bitwise_xor,
    "shift left": lax.shift_left,
    "shift right": lax.shift_right_logical,
    "arithmetic shift": lax.shift_right_arithmetic,
    "clamp": lambda x, y: lax.clamp(x, y, x),
    "where": lambda x, y: jnp.where(x > y, x, y),
    "concatenate": lambda x, y: jnp.concatenate([x, y]),
    "stack": lambda x, y: jnp.stack([x, y], 1),
    "update": lambda x, y: lax.dynamic_update_slice(x, y[:3], (22,)),
    "rows and columns": lambda x, y: x[:, None] * y,
    "rows by columns": lambda x, y: x[:, None] / y,
    "with booleans": lambda x, y: (x > 0) * y,
}


def check(fun, *args):
    """Compares the first calls with compiled ones."""
    with by_numpy(False):
        try:
            expected = bits(fun(*args))
        except (TypeError, ValueError):  # not of this dtype
            return False
    olympus.clear_caches()
    for _ in range(3):
        assert bits(fun(*args)) == expected
    return True


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_array(name):
    results = [check(UNARY[name], jnp.asarray(x)) for x in VALUES.values()]
    assert any(results)


@pytest.mark.slow
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_arrays(name):
    results = []
    for kind in ("float32", "int32", "uint32", "int8", "bool"):
        rows = [x for key, x in VALUES.items() if key.startswith(kind)]
        pairs = list(itertools.product(rows, rows))
        results += [check(BINARY[name], *map(jnp.asarray, pair)) for pair in pairs]
    assert any(results)


@pytest.mark.slow
def test_wide_numbers():
    with olympus.enable_x64(True):
        x = jnp.asarray(
            _bits.standard_normal(24) * 10.0 ** _bits.integers(-300, 300, 24)
        )
        n = jnp.asarray(np.tile([-(2**63), 2**63 - 1, 0, 2**53 + 1, -1, 5], 4))
        for fun in UNARY.values():
            check(fun, x)
            check(fun, n)
        for fun in BINARY.values():
            check(fun, x, x[::-1])
            check(fun, n, n[::-1])
            check(fun, x.astype(F32), n)


def test_scalars_and_empty_arrays():
    for x in (jnp.float32(1.5), jnp.zeros((0, 3)), jnp.zeros((2, 0), np.int32)):
        for fun in (
            jnp.negative,
            jnp.ravel,
            jnp.transpose,
            lambda x: x + x,
            jnp.square,
        ):
            check(fun, x)
    check(lambda x: x + 1, jnp.asarray(2))
    assert (jnp.asarray(2) * 1.5).weak_type == (
        olympus.jit(lambda: 2 * 1.5)()
    ).weak_type


KEYED = {
    "split": lambda key: random.split(key, 3),
    "split in rows": lambda key: random.split(key, (2, 3)),
    "fold_in": lambda key: random.fold_in(key, 7),
    "fold_in an array": lambda key: random.fold_in(key, jnp.uint32(2**32 - 1)),
    "bits": lambda key: random.bits(key, (3, 50)),
    "one number": lambda key: random.bits(key),
    "bytes": lambda key: random.bits(key, (7,), "uint8"),
    "no bits": lambda key: random.bits(key, (0, 2)),
}


@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("name", KEYED)
def test_functions_of_keys(name, is_wide, compiled_names):
    with olympus.enable_x64(is_wide):
        for seed in (0, 2**31 - 1):
            key = random.key(seed)
            raw = random.key_data(key)
            for argument in (key, raw):
                with by_numpy(False):
                    olympus.clear_caches()
                    want = KEYED[name](argument)
                with by_numpy(True):
                    olympus.clear_caches()
                    compiled_names.clear()
                    got = KEYED[name](argument)
                    assert compiled_names == []
                assert got.aval == want.aval
                assert got.committed == want.committed
                if want.dtype == key.dtype:
                    got, want = random.key_data(got), random.key_data(want)
                np.testing.assert_array_equal(got, want)


MOVES_OF_KEYS = {
    "select": lambda keys: lax.select(np.arange(len(keys)) < 1, keys, keys[::-1]),
    "where": lambda keys: jnp.where(np.arange(len(keys)) < 1, keys, keys[1]),
    "cond": lambda keys: olympus.vmap(
        lambda pick, key: lax.cond(
            pick, lambda k: k, lambda k: random.fold_in(k, 1), key
        )
    )(np.arange(len(keys)) < 1, keys),
    "rows": lambda keys: lax.broadcast_in_dim(keys, (len(keys),) * 2, (0,)),
    "transpose": lambda keys: jnp.stack([keys, keys[::-1]]).T,
    "reverse": lambda keys: keys[::-1],
    "concatenate": lambda keys: jnp.concatenate([keys[1:], keys]),
    "write": lambda keys: keys.at[1].set(keys[0]),
}


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg"])
@pytest.mark.parametrize("name", MOVES_OF_KEYS)
def test_moves_of_keys(name, impl):
    """A mask of as many elements as a key has words chose among the words."""
    count = random.key_data(random.key(0, impl=impl)).size
    words = np.arange(count * count, dtype="uint32").reshape(count, count)
    keys = random.wrap_key_data(words, impl=impl)
    move = MOVES_OF_KEYS[name]
    want = random.key_data(olympus.jit(move)(keys))
    for _ in range(2):
        np.testing.assert_array_equal(random.key_data(move(keys)), want)


def test_keys_that_numpy_made_are_used_by_compiled_programs():
    first, second = random.split(random.key(1))
    draw = olympus.jit(lambda key: random.normal(random.split(key)[0], (4,)))
    with by_numpy(False):
        olympus.clear_caches()
        want = draw(random.split(random.key(1))[0])
    np.testing.assert_array_equal(draw(first), want)
    assert not np.array_equal(draw(second), want)


def test_bits_of_other_generators_are_compiled(compiled_names):
    random.bits(random.key(0, impl="rbg"), (3,))
    assert compiled_names


def test_every_exact_operation_has_a_reference():
    for p in primitive.records():
        assert p.exact is None or p.reference is not None, p


# -- which calls -----------------------------------------------------------------------


def test_the_first_three_calls_compile_nothing(compiled_names):
    x = jnp.arange(6.0) + np.arange(6, dtype=F32)
    for _ in range(3):
        y = x * x
    assert compiled_names == []
    np.testing.assert_array_equal(y, np.asarray(x) ** 2)
    y = x * x
    assert compiled_names == ["multiply"]


def test_operations_of_lax_too(compiled_names):
    x = jnp.arange(6.0)
    for _ in range(3):
        lax.mul(x, x)
    assert compiled_names == []
    lax.mul(x, x)
    assert compiled_names == ["mul"]


@pytest.mark.parametrize(
    "fun",
    [
        jnp.sin,
        jnp.sum,
        lambda x: x @ x,
        lambda x: x / 3,
        lambda x: (x + 1j) * x,
    ],
    ids=["sine", "sum", "product", "quotient", "complex"],
)
def test_what_could_have_other_bits_is_compiled(fun, compiled_names):
    fun(jnp.asarray(np.linspace(0.1, 1, 5, dtype=F32)))
    assert compiled_names


@pytest.mark.parametrize("value", [np.nan, 1e-40, TINY])
def test_values_that_could_have_other_bits_are_compiled(value, compiled_names):
    x = jnp.asarray(np.array([1.0, value], F32))
    x * x
    assert compiled_names == ["multiply"]


def test_large_arrays_are_compiled(compiled_names):
    x = jnp.asarray(np.ones(10_000, F32))
    x * x
    assert compiled_names == ["multiply"]
    with pytest.raises(ValueError, match="no more than"):
        lax.broadcasted_iota("int8", (2**40, 0, 2**40), 0)


def test_the_setting(compiled_names):
    x = jnp.asarray(np.ones(5, F32))
    with by_numpy(False):
        x * x
    assert compiled_names == ["multiply"]


@pytest.mark.parametrize(
    "setting",
    [olympus.log_compiles, olympus.explain_cache_misses, olympus.debug_nans],
    ids=["log_compiles", "explain_cache_misses", "debug_nans"],
)
def test_settings_that_watch_programs(setting, compiled_names, caplog):
    x = jnp.asarray(np.ones(5, F32))
    with setting(True):
        x * x
    assert "multiply" in compiled_names


def test_a_primitive_with_a_rule_of_a_library_is_compiled(compiled_names):
    tripled = primitive.Primitive(
        "tripled",
        abstract=lambda x: x,
        reference=lambda x: x,
        exact=Exact.MOVES,
        lower=lambda ctx, x: x,
    )
    x = jnp.ones(3)
    np.testing.assert_array_equal(tripled.bind(x), 1)
    assert compiled_names == []
    tripled.set_rule(
        "lower",
        lambda ctx, x: ctx.block.elementwise("stablehlo.negate", [x], ctx.avals_out[0]),
    )
    np.testing.assert_array_equal(tripled.bind(x), -1)
    assert compiled_names == ["tripled"]


# -- arrays ----------------------------------------------------------------------------


def test_results_have_their_own_memory():
    x = jnp.asarray(np.arange(16, dtype=F32))
    views = [x.reshape(4, 4), x.astype(np.int32), jnp.copy(x), x[:8], x[None]]
    expected = [np.array(v) for v in views]
    olympus.jit(lambda x: x * 0 - 7, donate_argnums=0)(x)
    assert x.is_deleted()
    for view, value in zip(views, expected, strict=True):
        np.testing.assert_array_equal(view, value)


def test_a_deleted_operand_is_an_error():
    x = jnp.asarray(np.ones(3, F32))
    x.delete()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="deleted"):
            x * x
        with pytest.raises(RuntimeError, match="deleted"):
            lax.neg(x)


def test_a_guard_of_transfers_sees_no_more_than_before(compiled_names):
    x = jnp.asarray(np.ones(3, F32))
    with olympus.transfer_guard("disallow"):
        y = x * x
    assert compiled_names == ["multiply"]
    np.testing.assert_array_equal(y, 1)


def test_operands_are_not_waited_for(compiled_names):
    def spin(x):
        return lax.fori_loop(0, 20_000, lambda i, x: jnp.sin(x) + 1, x)

    slow = olympus.jit(spin)
    x = jnp.asarray(np.ones((64, 64), F32))
    slow(x).block_until_ready()
    y = slow(x)
    is_late = not y.is_ready()
    z = lax.neg(y)
    assert ("neg" in compiled_names) or not is_late
    np.testing.assert_array_equal(z, -np.asarray(y))


def test_errors_are_those_of_tracing():
    x = jnp.ones(3)
    for _ in range(2):
        with pytest.raises(TypeError, match="incompatible shapes"):
            x + jnp.ones(4)
