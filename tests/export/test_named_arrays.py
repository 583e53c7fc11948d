"""Arguments and results by name, and NumPy's files of them."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus._src.export import named_arrays
from olympus.core import ShapedArray

PATHS = ["params['w']", "params['b'][0]", "x", "options.rate"]


def test_files_hold_any_name_and_are_numpys(tmp_path):
    path = str(tmp_path / "a.npz")
    values = {"params['w']": np.arange(6.0).reshape(2, 3), "file": np.int8(1)}
    named_arrays.write_npz(path, values)
    for found in (named_arrays.read_npz(path), dict(np.load(path))):
        assert list(found) == list(values)
        for name, value in values.items():
            np.testing.assert_array_equal(found[name], value)


def test_files_that_are_no_named_arrays_are_refused(tmp_path):
    contents = {
        "garbage": b"garbage",
        "empty": b"",
        "zip": b"PK\x03\x04 no more",
    }
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
    np.savez(tmp_path / "objects", a=np.array([{}], object))
    np.save(tmp_path / "single", np.arange(3))
    for name in (*contents, "objects.npz", "single.npy"):
        with pytest.raises(ValueError, match=r"must be a file of arrays by name"):
            named_arrays.read_npz(str(tmp_path / name))


@pytest.mark.parametrize(
    "names",
    [
        PATHS,
        ["params/w", "params/b/0", "x", "options/rate"],
        ["params.w", 'params["b"].0', "x", "options.rate"],
        ["arr_0", "arr_1", "arr_2", "arr_3"],
    ],
)
def test_arguments_are_found_by_each_spelling(names):
    given = dict(reversed([(name, i) for i, name in enumerate(names)]))
    assert named_arrays.match(PATHS, given) == [0, 1, 2, 3]


def test_names_that_do_not_fit_are_listed():
    given = dict.fromkeys(PATHS)
    del given["x"]
    with pytest.raises(ValueError, match=r"takes the arguments .* no value for 'x'$"):
        named_arrays.match(PATHS, given)
    with pytest.raises(ValueError, match=r"no value for 'x'; 'y', which it does not"):
        named_arrays.match(PATHS, given | {"y": 1})
    with pytest.raises(ValueError, match=r"'options\.rate' is given twice"):
        named_arrays.match(PATHS, given | {"x": 1, "options/rate": 1})
    # Two paths of one plain spelling: neither is guessed.
    with pytest.raises(ValueError, match="'a/b', which it does not take"):
        named_arrays.match(["a.b", "a['b']"], {"a/b": 1, "a.b": 1})


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (np.float32([1.5, -2]), "float32"),
        (np.float64([1.5, -2]), "float32"),
        (np.array([1.5, -2], ">f8"), "float32"),
        (np.int64([3, -4]), "int32"),
        (np.complex128([1 + 2j]), "complex64"),
        (np.float32([1.5, np.nan, np.inf]), "bfloat16"),
        (np.array([1.5, 2], jnp.bfloat16).view("V2"), "bfloat16"),
        (np.int8([-8, 7]), "int4"),
        (np.bool_([True, False]), "bool"),
        (np.float32(2.5), "float8_e4m3fn"),
        (np.zeros((0,)), "float16"),
    ],
)
def test_values_become_arrays_of_the_programs_type(value, dtype):
    aval = ShapedArray(value.shape, dtype, weak_type=dtype == "float32")
    found = named_arrays.as_argument(value, aval, "x")
    assert found.aval is aval
    exact = value.view(jnp.bfloat16) if value.dtype.kind == "V" else value
    np.testing.assert_array_equal(np.asarray(found).astype(exact.dtype), exact)


def test_keys_are_given_by_their_words():
    key = olympus.random.split(olympus.random.key(3), 2)
    words = np.asarray(olympus.random.key_data(key))
    found = named_arrays.as_argument(words, key.aval, "key")
    assert found.dtype == key.dtype
    np.testing.assert_array_equal(named_arrays.to_numpy(found), words)
    with pytest.raises(ValueError, match=r"key<fry>\[2\], got shape \[2\]; keys are"):
        named_arrays.as_argument(words[0], key.aval, "key")
    with pytest.raises(TypeError, match="got dtype float32"):
        named_arrays.as_argument(words.astype("float32"), key.aval, "key")


@pytest.mark.parametrize(
    ("value", "dtype", "error", "message"),
    [
        (
            np.ones(3, "float32"),
            "float32",
            ValueError,
            r"float32\[2\], got shape \[3\]",
        ),
        (np.ones(2, "int32"), "float32", TypeError, r"got dtype int32; .*'float32'"),
        (np.ones(2, "float32"), "int32", TypeError, "got dtype float32"),
        (np.ones(2, "float32"), "bool", TypeError, "got dtype float32"),
        (np.ones(2, "float16"), "float32", TypeError, "got dtype float16"),
        (
            np.int64([1, 1 << 40]),
            "int32",
            TypeError,
            "values of int64 that it does not",
        ),
        (np.int8([1, 9]), "int4", TypeError, "values of int8 that it does not hold"),
        (np.float32([1, 0.1]), "bfloat16", TypeError, "that it does not hold"),
        (np.array(["a", "b"]), "float32", TypeError, "got dtype <U1"),
    ],
)
def test_other_values_are_refused(value, dtype, error, message):
    aval = ShapedArray((2,), dtype)
    with pytest.raises(error, match=f"argument 'x' must be of type .*{message}"):
        named_arrays.as_argument(value, aval, "x")


@pytest.mark.parametrize(
    ("dtype", "written"),
    [("bfloat16", "float32"), ("int4", "int8"), ("uint4", "uint8"), ("int16", "int16")],
)
def test_results_are_of_dtypes_that_files_hold(dtype, written):
    x = jnp.asarray(np.arange(4), dtype)
    found = named_arrays.to_numpy(x)
    assert found.dtype == written
    np.testing.assert_array_equal(found, np.arange(4))


def test_values_are_made_up_for_every_kind(rng):
    key = olympus.random.key(0).aval
    for dtype in ("bool", "uint8", "int4", "bfloat16", "float32", "complex64"):
        made = named_arrays.sample_array(ShapedArray((2, 3), dtype), rng)
        assert (made.shape, made.dtype) == ((2, 3), np.dtype(getattr(jnp, dtype)))
        named_arrays.as_argument(made, ShapedArray((2, 3), dtype), "x")
    named_arrays.as_argument(named_arrays.sample_array(key, rng), key, "key")
