"""Arrays that were made with 64 bits, used where these are off."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, nn, ops, random
from olympus.experimental import sparse

X = np.linspace(-1, 2, 12).reshape(3, 4)
AT = np.array([2, -1, 0])


def _wide(x):
    with olympus.enable_x64(True):
        return jnp.asarray(x)


def _set(x, index, value):
    x = x.copy()
    x[index] = value
    return x


BY_POSITION = {
    "reads": (lambda x, i: x[i], lambda x, i: x[i]),
    "one read": (lambda x, i: x[i[1]], lambda x, i: x[-1]),
    "take": (lambda x, i: jnp.take(x, i, axis=1), lambda x, i: x[:, i]),
    "take of one": (lambda x, i: jnp.take(x, i[0], axis=0), lambda x, i: x[2]),
    "wrapped": (
        lambda x, i: jnp.take(x, i + 3, axis=0, mode="wrap"),
        lambda x, i: np.take(x, i + 3, axis=0, mode="wrap"),
    ),
    "along": (
        lambda x, i: jnp.take_along_axis(x, i[:, None], 1),
        lambda x, i: np.take_along_axis(x, i[:, None], 1),
    ),
    "set": (lambda x, i: x.at[i].set(7), lambda x, i: _set(x, i, 7)),
    "set one": (lambda x, i: x.at[i[1], 0].set(7), lambda x, i: _set(x, (-1, 0), 7)),
    "applied": (
        lambda x, i: x.at[i[1]].apply(jnp.negative),
        lambda x, i: _set(x, -1, -x[-1]),
    ),
    "mapped": (
        lambda x, i: olympus.vmap(lambda k: x[k])(i),
        lambda x, i: x[i],
    ),
    "sums of segments": (
        lambda x, i: ops.segment_sum(x, abs(i), 3),
        lambda x, i: x[[2, 1, 0]],
    ),
    "one hot": (lambda x, i: nn.one_hot(i % 3, 3), lambda x, i: np.eye(3)[i]),
    "unraveled": (
        lambda x, i: jnp.stack(jnp.unravel_index(i % 3, (2, 2))),
        lambda x, i: np.stack(np.unravel_index(i % 3, (2, 2))),
    ),
    "put": (
        lambda x, i: jnp.put(x, i, 5, mode="wrap", inplace=False),
        lambda x, i: _set(x.ravel(), i, 5).reshape(x.shape),
    ),
}


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("wide", ["array", "positions", "both"])
@pytest.mark.parametrize("name", BY_POSITION)
def test_positions(name, wide, jit):
    ours, numpys = BY_POSITION[name]
    x = _wide(X) if wide != "positions" else jnp.asarray(X, "float32")
    at = _wide(AT) if wide != "array" else jnp.asarray(AT, "int32")
    run = olympus.jit(ours) if jit else ours
    np.testing.assert_allclose(run(x, at), numpys(X, AT), rtol=1e-6)


OF_ONE_ARRAY = {
    "nansum": (jnp.nansum, np.nansum),
    "nanmax": (jnp.nanmax, np.nanmax),
    "nanstd": (jnp.nanstd, np.nanstd),
    "sum where": (lambda x: jnp.sum(x, where=x > 0), lambda x: x[x > 0].sum()),
    "mean": (jnp.mean, np.mean),
    "std": (jnp.std, np.std),
    "tril": (jnp.tril, np.tril),
    "diag": (lambda x: jnp.diag(x[0]), lambda x: np.diag(x[0])),
    "trace": (jnp.trace, np.trace),
    "padded": (lambda x: jnp.pad(x, 1), lambda x: np.pad(x, 1)),
    "softmax": (
        lambda x: nn.softmax(x),
        lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True),
    ),
    "like": (lambda x: lax.full_like(x, 0.1), lambda x: np.full_like(x, 0.1)),
}


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("name", OF_ONE_ARRAY)
def test_functions_of_an_array(name, jit):
    ours, numpys = OF_ONE_ARRAY[name]
    run = olympus.jit(ours) if jit else ours
    np.testing.assert_allclose(run(_wide(X)), numpys(X), rtol=1e-6, atol=1e-6)


def test_sparse_arrays():
    stored = sparse.BCOO.fromdense(_wide(np.maximum(X, 0)))
    np.testing.assert_allclose(stored.todense(), np.maximum(X, 0), rtol=1e-6)


@pytest.mark.parametrize(
    ("kind", "number"),
    [("float64", 0.1), ("int64", 2**40 + 1), ("uint64", 2**63), ("complex128", 0.1j)],
)
@pytest.mark.parametrize("jit", [False, True])
def test_numbers_of_such_types_keep_all_bits(kind, number, jit):
    def fill(x):
        return lax.full_like(x, number)

    x = _wide(np.zeros(2, kind))
    filled = (olympus.jit(fill) if jit else fill)(x)
    assert filled.dtype == kind
    assert np.array_equal(filled, np.full(2, number, kind))


def test_samples_of_wide_parameters():
    key = random.key(3)
    probabilities = np.linspace(0, 1, 12)
    with pytest.warns(UserWarning, match="float32 is used"):
        drawn = random.categorical(key, _wide(X))
    assert np.array_equal(drawn, random.categorical(key, X.astype("float32")))
    drawn = random.bernoulli(key, _wide(probabilities))
    wanted = random.bernoulli(key, probabilities.astype("float32"))
    assert np.array_equal(drawn, wanted)
    drawn = random.randint(key, (40,), _wide(np.int64(3)), _wide(np.int64(9)))
    assert np.array_equal(drawn, random.randint(key, (40,), 3, 9))
