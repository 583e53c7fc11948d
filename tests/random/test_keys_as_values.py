"""Keys where arrays of numbers are usual: printed, handed to the host, refused."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax, random

KEY = random.key(0)
KEYS = random.split(KEY, 3)


def test_device_get_leaves_keys():
    host = olympus.device_get({"key": KEYS, "x": onp.arange(2)})
    assert type(host["x"]) is np.ndarray
    assert host["key"].dtype == KEYS.dtype


def test_formatting():
    assert f"{KEY}" == str(KEY) == "Array((), dtype=key<fry>) overlaying:\n[0 0]"
    assert format(KEYS) == str(KEYS)
    with pytest.raises(TypeError, match=r"are not numbers to format with 'd'"):
        f"{KEY:d}"


@pytest.mark.parametrize("transform", ["none", "jit", "vmap", "jit vmap"])
def test_printing(transform, capsys):
    def show(key, x):
        olympus.debug.print("{} {x}", key, x=x)

    show_one = olympus.jit(show) if transform == "jit" else show
    if "vmap" in transform:
        mapped = olympus.vmap(show)
        mapped = olympus.jit(mapped) if "jit" in transform else mapped
        mapped(KEYS, np.arange(3))
        expected = [f"{k} {i}" for i, k in enumerate(KEYS)]
    else:
        show_one(KEY, 1)
        expected = [f"{KEY} 1"]
    olympus.effects_barrier()
    assert capsys.readouterr().out == "".join(line + "\n" for line in expected)


def test_callbacks_get_keys():
    words = []
    struct = olympus.ShapeDtypeStruct((2,), "uint32")

    def read(key):
        words.append(random.key_data(key))
        return np.asarray(words[-1])

    call = olympus.jit(lambda k: olympus.pure_callback(read, struct, k))
    np.testing.assert_array_equal(call(KEYS[1]), random.key_data(KEYS[1]))
    with pytest.raises(NotImplementedError, match="results must be of numbers"):
        olympus.jit(lambda k: olympus.pure_callback(lambda k: k, k, k))(KEY)


REFUSED = {
    "sum": onp.sum,
    "prod": onp.prod,
    "max": onp.max,
    "min": onp.min,
    "nansum": onp.nansum,
    "mean": onp.mean,
    "all": onp.all,
    "floor": onp.floor,
    "ceil": onp.ceil,
    "trunc": onp.trunc,
    "round": onp.round,
    "conjugate": onp.conjugate,
    "real": onp.real,
    "clip": onp.clip,
    "power": lambda k: onp.power(k, 1),
    "isreal": onp.isreal,
    "iscomplex": onp.iscomplex,
    "integer_pow": lambda k: lax.integer_pow(k, 1),
}


@pytest.mark.parametrize("case", REFUSED)
def test_functions_of_numbers_refuse_keys(case):
    for key in (KEY, KEYS):
        with pytest.raises(TypeError, match="key<fry>"):
            REFUSED[case](key)


@pytest.mark.parametrize(
    "index", [slice(None, None, 2), slice(0, 1, 3), slice(2, 0, -1)]
)
def test_strided_slices(index):
    rows = np.asarray(random.key_data(KEYS))[index]
    jitted = olympus.jit(lambda keys: keys[index])
    for part in (KEYS[index], jitted(KEYS), olympus.vmap(jitted)(KEYS[None])[0]):
        np.testing.assert_array_equal(random.key_data(part), rows)
