"""Settings that change what NumPy-level functions accept and compute."""

import warnings

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
import olympus.random
from olympus import lax, nn
from olympus.scipy import fft, signal, special
from olympus.scipy.spatial import transform
from olympus.scipy.stats import multinomial

ROW = np.ones(3, np.float32)
TABLE = np.ones((2, 3), np.float32)


def test_rank_promotion_raises_where_axes_would_be_added():
    with olympus.numpy_rank_promotion("raise"):
        with pytest.raises(ValueError, match=r"numpy\.add: .* \(3,\) and \(2, 3\)"):
            jnp.add(TABLE, ROW)
        with pytest.raises(ValueError, match="expand_dims"):
            olympus.jit(jnp.multiply)(TABLE, ROW)
        assert jnp.add(TABLE, 1).shape == (2, 3)
        assert jnp.add(TABLE, ROW[None]).shape == (2, 3)
    assert jnp.add(TABLE, ROW).shape == (2, 3)


def test_rank_promotion_warns():
    with (
        olympus.numpy_rank_promotion("warn"),
        pytest.warns(UserWarning, match=r"numpy\.subtract: axes are added"),
    ):
        jnp.subtract(TABLE, ROW)
    with olympus.numpy_rank_promotion("warn"), warnings.catch_warnings():
        warnings.simplefilter("error")
        jnp.subtract(TABLE, np.float32(1))


def test_each_function_warns_of_rank_promotion():
    x, y = jnp.ones((2, 5)), jnp.ones(5)
    with olympus.numpy_rank_promotion("warn"):
        for name in ("add", "subtract", "maximum"):
            with pytest.warns(UserWarning, match=f"numpy.{name}: axes are added"):
                getattr(jnp, name)(x, y)


def _precision(f):
    (eqn,) = olympus.make_olympuspr(f)(np.eye(2, dtype=np.float32)).eqns
    return eqn.params["precision"]


def test_the_precision_of_contractions_that_name_none():
    assert _precision(lambda x: lax.dot(x, x)) is None
    with olympus.default_matmul_precision("tensorfloat32"):
        assert _precision(lambda x: lax.dot(x, x)) == (lax.Precision.HIGH,) * 2
        own = _precision(lambda x: lax.dot(x, x, precision="highest"))
    assert own == (lax.Precision.HIGHEST,) * 2
    assert _precision(lambda x: lax.dot(x, x)) is None


_eye = np.eye(3, dtype=np.float32)
_key = olympus.random.key(0)
_turns = transform.Rotation.from_rotvec(_eye)
_counts = np.arange(3, dtype=np.int32)
_chances = np.full(3, 0.5, np.float32)
_spectra = signal.stft(np.ones(16, np.float32), nperseg=8)[2]

# Functions of one dtype and rank, and those whose arguments differ by their meaning.
CALLS = {
    "idctn": lambda: fft.idctn(_eye, norm="ortho"),
    "dctn": lambda: fft.dctn(_eye, norm="ortho"),
    "complex dct": lambda: fft.dct(_eye + np.complex64(1j), axis=0),
    "istft": lambda: signal.istft(_spectra, nperseg=8),
    "welch": lambda: signal.welch(np.ones((2, 16), np.float32), nperseg=8),
    "detrend": lambda: signal.detrend(_eye),
    "Rotation.inv": lambda: _turns.inv().as_quat(),
    "Slerp": lambda: transform.Slerp.init(np.arange(3.0, dtype="f4"), _turns)(0.5),
    "place": lambda: jnp.place(ROW, ROW > 0, ROW, inplace=False),
    "binomial": lambda: olympus.random.binomial(_key, _counts, _chances),
    "maxwell": lambda: olympus.random.maxwell(_key, (3,), "bfloat16"),
    "multinomial": lambda: multinomial.logpmf(_counts, 3, _chances),
    "logsumexp": lambda: special.logsumexp(_eye + np.complex64(1j)),
    "bessel_jn": lambda: special.bessel_jn(ROW, v=2),
    "outer": lambda: jnp.maximum.outer(_eye, _eye),
    "reduceat": lambda: jnp.logaddexp.reduceat(_eye, np.array([0, 1], np.int32)),
    "mgrid": lambda: jnp.mgrid[0:3, 0:1:2j],
    "gradient": lambda: jnp.gradient(_counts),
    "trapezoid": lambda: jnp.trapezoid(_counts),
    "polyint": lambda: jnp.polyint(_counts, 2, k=np.array([1, 2], np.int32)),
    "histogram": lambda: jnp.histogram(_counts, 4),
    "var": lambda: jnp.var(TABLE, where=ROW > 0),
    "slogdet": lambda: jnp.linalg.slogdet(np.stack([_eye, _eye])),
    "vectorize": lambda: jnp.vectorize(lambda x, y: x + y)(_eye, _eye),
}


@pytest.mark.parametrize("name", CALLS)
def test_functions_promote_nothing_of_their_own(name):
    for setting in (
        olympus.numpy_dtype_promotion("strict"),
        olympus.numpy_rank_promotion("raise"),
    ):
        with setting:
            olympus.eval_shape(CALLS[name])


@pytest.mark.parametrize(
    ("signature", "shapes", "refused"),
    [
        (None, [(3, 3), (3,)], True),
        (None, [(3, 3), ()], False),
        ("(n,k),(k)->(n)", [(3, 3), (3,)], False),
        ("(n,k),(k)->(n)", [(1, 3, 3), (3,)], True),
        ("(n),(n)->()", [(3, 3), (3,)], True),
        ("(n),()->(n)", [(3, 3), (3,)], False),
        ("(n),()->(n)", [(3, 3), ()], False),
    ],
)
def test_vectorize_adds_no_axes_where_ranks_must_agree(signature, shapes, refused):
    times = jnp.multiply if signature in (None, "(n),()->(n)") else jnp.matmul
    mapped = jnp.vectorize(times, signature=signature)
    args = [np.ones(s, np.float32) for s in shapes]
    with olympus.numpy_rank_promotion("raise"):
        if refused:
            with pytest.raises(
                ValueError, match=r"numpy\.vectorize: operands could not"
            ):
                olympus.eval_shape(mapped, *args)
        else:
            olympus.eval_shape(mapped, *args)


def test_attention_of_double_precision_stays_there():
    with olympus.enable_x64(True), olympus.numpy_dtype_promotion("strict"):
        x = olympus.ShapeDtypeStruct((1, 2, 1, 4), np.float64)
        assert olympus.eval_shape(nn.dot_product_attention, x, x, x).dtype == np.float64


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint64", "complex128"])
@pytest.mark.parametrize("transform", [lambda f: f, olympus.jit], ids=["eager", "jit"])
def test_wide_arrays_where_x64_is_off(dtype, transform):
    """Numbers to write and to compare with were of 32 bits."""
    with olympus.enable_x64(True):
        x = jnp.asarray(np.array([0, 1, 2], dtype))
    first, mask, places = 0, np.array([True, False, False]), np.array([0, 0])
    with olympus.enable_x64(False):
        for index in (first, slice(0, 1), mask, places):
            got = transform(lambda x, index=index: x.at[index].set(3))(x)
            assert got.dtype == dtype
            np.testing.assert_array_equal(got, [3, 1, 2])
        truth = transform(jnp.logical_not)(x)
        np.testing.assert_array_equal(truth, [True, False, False])
        assert transform(jnp.any)(x)
        assert not transform(jnp.all)(x)
        np.testing.assert_array_equal(x.astype(bool), [False, True, True])
