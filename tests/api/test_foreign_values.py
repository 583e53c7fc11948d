"""Values that arrays cannot hold are refused by name wherever arrays enter: those of
another byte order, masked ones, long doubles, texts, dates, objects, big integers.
"""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import export, flatten_util, lax, random

X = np.arange(3, dtype=np.float32)

VALUES = {
    "big-endian floats": (np.arange(3, dtype=">f4"), TypeError, ">f4"),
    "big-endian integers": (np.arange(3, dtype=">i4"), TypeError, ">i4"),
    "big-endian scalar": (np.array(2, dtype=">u2"), TypeError, ">u2"),
    "masked": (np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), ValueError, "mask"),
    "masked constant": (np.ma.masked, ValueError, "mask"),
    "long doubles": (np.arange(3, dtype=np.longdouble), TypeError, "float128"),
    "a long double": (np.longdouble(2), TypeError, "float128"),
    "complex long doubles": (np.ones(3, np.clongdouble), TypeError, "complex256"),
    "structured": (np.zeros(3, [("a", "f4"), ("b", "i4")]), TypeError, "dtype"),
    "objects": (np.array([1, 2, 3], object), TypeError, "object"),
    "texts": (np.array(["a", "b", "c"]), TypeError, "<U1"),
    "a text": (np.str_("a"), TypeError, "<U1"),
    "dates": (np.array(["2020-01-01"] * 3, "datetime64[D]"), TypeError, "datetime64"),
    "a duration": (np.timedelta64(1, "s"), TypeError, "timedelta64"),
}
if hasattr(np.dtypes, "StringDType"):
    words = np.array(["a", "b", "c"], np.dtypes.StringDType())
    VALUES["words"] = (words, TypeError, "StringDType")


@olympus.custom_vjp
def doubled(x):
    return x * 2


doubled.defvjp(lambda x: (x * 2, None), lambda _, ct: (ct * 2,))

ENTRIES = {
    "jit": lambda v: olympus.jit(lambda x: x)(v),
    "closure": lambda v: olympus.jit(lambda: lax.neg(v))(),
    "returned": lambda v: olympus.jit(lambda: v)(),
    "disable_jit": lambda v: olympus.disable_jit()(olympus.jit(lax.neg))(v),
    "device_put": olympus.device_put,
    "device_put to": lambda v: olympus.device_put(v, olympus.devices()[0]),
    "numpy": lambda v: onp.add(v, 1),
    "reduction": onp.sum,
    "operator": lambda v: onp.asarray(X) + v,
    "lax": lax.neg,
    "convert": lambda v: lax.convert_element_type(v, "float32"),
    "scan": lambda v: lax.scan(lambda c, _: (c, c), v, None, length=2),
    "cond": lambda v: lax.cond(True, lambda: v, lambda: v),
    "while": lambda v: lax.while_loop(lambda c: False, lambda c: c, v),
    "vmap": lambda v: olympus.vmap(lambda x: x, in_axes=None, axis_size=2)(v),
    "grad": lambda v: olympus.grad(lambda x: onp.sum(x * x))(v),
    "jvp": lambda v: olympus.jvp(lambda x: x, (v,), (v,)),
    "custom rule": doubled,
    "eval_shape": lambda v: olympus.eval_shape(lambda x: x, v),
    "typeof": olympus.typeof,
    "compiled": lambda v: olympus.jit(lax.neg).lower(X).compile()(v),
    "export": lambda v: export.export(olympus.jit(lax.neg))(v),
    "callback": lambda v: olympus.pure_callback(np.negative, X, v),
    "key data": random.wrap_key_data,
    "random": lambda v: random.uniform(random.key(0), (3,), minval=v),
    "ravel_pytree": lambda v: flatten_util.ravel_pytree([v]),
    "index": lambda v: onp.asarray(X)[v],
    "write": lambda v: onp.asarray(X).at[:].set(v),
    "at index": lambda v: onp.asarray(X).at[v].set(0),
    "unique": onp.unique,
    "fft": onp.fft.fft,
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_refused_by_name(entry):
    for what, (value, kind, named) in VALUES.items():
        if entry in ("index", "at index") and what == "a long double":
            continue  # refused as an index before its dtype is asked for
        with pytest.raises((kind, IndexError)) as caught:
            ENTRIES[entry](value)
        text = str(caught.value)
        assert named in text or "integer" in text, (what, text)
        assert "INVALID_ARGUMENT" not in text


def test_names_the_dtype_and_the_remedy():
    with pytest.raises(TypeError, match=r">f4 .* x.astype\('float32'\)"):
        olympus.device_put(VALUES["big-endian floats"][0])
    with pytest.raises(TypeError, match=r"float128 .* x.astype\('float64'\)"):
        lax.neg(np.longdouble(1))
    with pytest.raises(ValueError, match=r"masked arrays .* x.filled\(value\)"):
        lax.neg(VALUES["masked"][0])


def test_conversions_that_are_asked_for():
    # numpy.asarray is the conversion: it reads another byte order as NumPy does.
    np.testing.assert_array_equal(onp.asarray(np.arange(3, dtype=">i4")), [0, 1, 2])
    np.testing.assert_array_equal(onp.array(np.arange(3, dtype=">f8")), [0, 1, 2])
    with pytest.raises(ValueError, match="masked"):
        onp.asarray(VALUES["masked"][0])
    with pytest.raises(ValueError, match="masked"):
        onp.array([VALUES["masked"][0]] * 2)


@pytest.mark.parametrize("dtype", [">f4", np.longdouble, "datetime64[s]", object])
def test_described_arrays(dtype):
    struct = olympus.ShapeDtypeStruct((3,), dtype)
    with pytest.raises(TypeError, match="dtype"):
        olympus.eval_shape(lambda x: x, struct)
    with pytest.raises(TypeError, match="dtype"):
        olympus.jit(lambda x: x).lower(struct)
    with pytest.raises(TypeError, match="dtype"):
        olympus.pure_callback(lambda: X, struct)
    with pytest.raises(TypeError, match="dtype"):
        lax.iota(dtype, 3)


BIG = 2**40

WEAK_INTEGERS = {
    "argument": lambda n: olympus.jit(lambda x: x)(n),
    "added": lambda n: olympus.jit(lambda x: x + n)(1),
    "multiplied": lambda n: olympus.jit(lambda x: x * n)(onp.arange(3)),
    "beside floats": lambda n: olympus.jit(lambda x: x * n)(X),
    "beside unsigned": lambda n: olympus.jit(lambda x: x + n)(np.uint32(1)),
    "lax.add": lambda n: lax.add(n, 1),
    "lax.add traced": lambda n: olympus.jit(lambda x: lax.add(x, n))(1),
    "lax.neg": lambda n: olympus.jit(lambda: lax.neg(n))(),
    "fori_loop": lambda n: lax.fori_loop(n, 2, lambda i, c: c, 0),
    "carry": lambda n: lax.fori_loop(0, 2, lambda i, c: c, n),
    "scan": lambda n: lax.scan(lambda c, _: (c, None), n, None, length=2),
    "cond": lambda n: lax.cond(True, lambda: n, lambda: 1),
    "vmap": lambda n: olympus.vmap(lambda x: n)(X),
    "grad": lambda n: olympus.grad(lambda x: x * n)(1.0),
    "where": lambda n: olympus.jit(lambda: onp.where(True, n, 1))(),
    "write": lambda n: olympus.jit(lambda x: x.at[0].set(n))(onp.arange(3)),
    "clamp": lambda n: olympus.jit(lambda x: lax.clamp(0, x, n))(onp.arange(3)),
    "checkpoint": lambda n: olympus.checkpoint(lambda x: x + n)(1),
    "custom rule": doubled,
    "eval_shape": lambda n: olympus.eval_shape(lambda x: x, n),
    "callback argument": lambda n: olympus.pure_callback(np.negative, X[0], n),
    "asarray": onp.asarray,
    "filled": lambda n: olympus.jit(lambda: onp.full((2,), n))(),
    "arange": lambda n: onp.arange(n, n + 3),
}


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("case", WEAK_INTEGERS)
def test_integers_out_of_range(case, x64):
    with olympus.enable_x64(x64):
        for n in (2**63, -(2**63) - 1) if x64 else (2**31, -(2**31) - 1, BIG):
            with pytest.raises(OverflowError, match=f"int {n} too large to convert"):
                WEAK_INTEGERS[case](n)


def test_a_step_worked_out_before_refuses_too():
    times = olympus.jit(lambda x, n: x * n, static_argnums=1)
    assert times(2.0, 3) == 6
    with pytest.raises(OverflowError):
        times(2.0, BIG)


def test_callback_results_out_of_range():
    struct = olympus.ShapeDtypeStruct((), "int32")
    with pytest.raises(RuntimeError, match="too large to convert to int32"):
        olympus.pure_callback(lambda: BIG, struct)


def test_integers_in_a_dtype_that_is_asked_for():
    three = 3_000_000_000
    for filled in (lax.full, onp.full):
        assert filled((2,), three, "uint32").tolist() == [three, three]
        assert olympus.jit(lambda f=filled: f((2,), BIG, "float32"))()[0] == 2.0**40
    assert int(lax.convert_element_type(three, "uint32")) == three
    assert lax.convert_element_type(BIG, "float32") == 2.0**40
    assert int(onp.array(three, "uint32")) == three
    assert onp.full_like(X, BIG)[0] == 2.0**40


def test_starts_beyond_any_array_are_clamped():
    for start, expected in ((3_000_000_000, 2), (-3_000_000_000, 0)):
        part = lax.dynamic_index_in_dim(X, start, keepdims=False)
        assert part == expected


def test_integers_of_a_whole_dtype():
    # The span of a whole dtype is one more than it counts to.
    with olympus.enable_x64(True):
        draw = olympus.jit(lambda k: random.randint(k, (2,), 0, 2**32, "uint32"))
        np.testing.assert_array_equal(draw(random.key(0)), [31327077, 89727312])
