"""Convolution, trends and spectra against SciPy."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import scipy.signal as reference

import olympus
import olympus.numpy as jnp
from olympus._src.scipy.signal import windows
from olympus.scipy import signal
from olympus.test_util import check_grads
from tests.comparing import assert_close

pytestmark = [pytest.mark.sampled(2), pytest.mark.usefixtures("x64")]

RANDOM = np.random.default_rng(0)
LONG, SHORT = RANDOM.normal(size=11), RANDOM.normal(size=4)
WIDE, SMALL = RANDOM.normal(size=(5, 6)), RANDOM.normal(size=(2, 3))
Z, W = RANDOM.normal(size=(2, 50)), RANDOM.normal(size=(2, 37))
MODES = ["full", "same", "valid"]


close = functools.partial(assert_close, rtol=1e-10, atol=1e-10, same_shape=True)


PAIRS = [(LONG, SHORT), (SHORT, LONG), (WIDE, SMALL), (LONG * 1j, SHORT + 1j)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("mode", MODES)
def test_convolution_as_scipy(name, mode):
    for one, other in PAIRS:
        want = getattr(reference, name)(one, other, mode)
        for method in ("direct", "fft"):
            close(getattr(signal, name)(one, other, mode, method), want)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_matrices_as_scipy(mode):
    close(signal.convolve2d(WIDE, SMALL, mode), reference.convolve2d(WIDE, SMALL, mode))
    close(
        signal.correlate2d(WIDE, SMALL * 1j, mode),
        reference.correlate2d(WIDE, SMALL * 1j, mode),
    )
    columns = np.ones((2, 6))
    close(
        signal.fftconvolve(WIDE, columns, mode, axes=0),
        reference.fftconvolve(WIDE, columns, mode, axes=0),
    )


@pytest.mark.parametrize("mode", MODES)
def test_correlation_with_a_larger_complex_matrix_as_scipy(mode):
    one, other = SMALL * (1 + 2j), WIDE * (2 - 1j)
    close(signal.correlate2d(one, other, mode), reference.correlate2d(one, other, mode))


def test_dtypes_and_shapes_of_jax():
    # jax 0.10.2: integers become floats; scalars multiply.
    with olympus.enable_x64(False):
        whole = np.arange(4)
        found = signal.convolve(whole, whole)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, [0, 0, 1, 4, 10, 12, 9])
        assert float(signal.convolve(np.float32(2), np.float32(3))) == 6


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "complex64"])
def test_fftconvolve_with_single_elements_is_a_product(dtype):
    one, many = jnp.ones(1, dtype) * 3, jnp.array([1, 2, 4], dtype)
    product = signal.fftconvolve(one, many)
    assert product.dtype == dtype
    np.testing.assert_array_equal(np.asarray(product, "complex64"), [3, 6, 12])
    assert signal.fftconvolve(one, many, "same").tolist() == [6]
    assert signal.fftconvolve(one, many, "valid").tolist() == [3, 6, 12]


def test_fftconvolve_over_some_axes_with_single_elements():
    row = WIDE[:1]
    for mode in MODES:
        for one, other in ((WIDE, row), (row, WIDE)):
            close(
                signal.fftconvolve(one, other, mode),
                reference.fftconvolve(one, other, mode),
            )


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"type": "constant"}, {"bp": [2, 4]}])
def test_detrend_as_scipy(options):
    for axis in (0, -1):
        if axis == 0 and options.get("bp"):
            options = {"bp": 2}
        got = signal.detrend(WIDE, axis, **options)
        close(got, reference.detrend(WIDE, axis, **options))


WINDOWS = [
    *[
        "hann",
        "hamming",
        "blackman",
        "boxcar",
        "bartlett",
        "triang",
        "parzen",
        "bohman",
    ],
    *["nuttall", "blackmanharris", "flattop", "barthann", "cosine", "lanczos", 5.0],
    *[("tukey", 0.3), ("kaiser", 5.0), ("gaussian", 3.0), ("general_gaussian", 1.5, 2)],
    *[("exponential", None, 3.0), ("general_hamming", 0.6)],
    ("general_cosine", [0.5, 0.3, 0.2]),
]


@pytest.mark.parametrize("window", WINDOWS)
def test_windows_as_scipy(window):
    for n in (1, 8, 9):
        want = reference.get_window(window, n)
        np.testing.assert_allclose(windows.periodic(window, n), want, atol=1e-12)


PLANS = [
    {"nperseg": 8},
    {"nperseg": 9, "noverlap": 2, "fs": 3.0},
    {"nperseg": 8, "nfft": 12, "detrend": False},
    {"nperseg": 8, "return_onesided": False, "detrend": "linear"},
    {"window": np.arange(1.0, 9)},
]


@pytest.mark.slow
@pytest.mark.parametrize("options", PLANS)
def test_power_as_scipy(options):
    for average, scaling in (("mean", "density"), ("median", "spectrum")):
        chosen = {"average": average, "scaling": scaling, **options}
        close(signal.welch(Z, **chosen), reference.welch(Z, **chosen))
        close(signal.csd(Z, W, **chosen), reference.csd(Z, W, **chosen))


@pytest.mark.slow
@pytest.mark.parametrize("boundary", ["even", "odd", "constant", "zeros", None])
def test_stft_as_scipy(boundary):
    for more in ({}, {"padded": False, "noverlap": 3}):
        options = {"nperseg": 8, "boundary": boundary, **more}
        close(signal.stft(Z, **options), reference.stft(Z, **options))


@pytest.mark.slow
def test_axes_of_spectra():
    close(signal.stft(Z.T, nperseg=8, axis=0), reference.stft(Z.T, nperseg=8, axis=0))
    close(signal.welch(Z.T, nperseg=8, axis=0), reference.welch(Z.T, nperseg=8, axis=0))


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4)])
@pytest.mark.parametrize("dtype", ["float32", "complex64", "int32"])
def test_stft_of_nothing_has_its_shape_as_in_scipy(shape, dtype):
    got = signal.stft(np.zeros(shape, dtype), nperseg=2)
    want = reference.stft(np.zeros(shape, dtype), nperseg=2)
    assert [x.shape for x in got] == [x.shape for x in want]
    assert [x.dtype for x in got] == ["float32", "float32", "complex64"]


@pytest.mark.slow
def test_istft_takes_stft_back():
    times, back = signal.istft(signal.stft(Z, nperseg=8)[2])
    close(back[:, :50], Z)
    assert times.shape == (52,)
    turned = np.asarray(signal.stft(Z * 1j, nperseg=8)[2])
    close(signal.istft(turned, input_onesided=False)[1][:, :50], Z * 1j)
    spectra = reference.stft(Z, nperseg=8, noverlap=5)[2]
    moved = np.moveaxis(spectra, (1, 2), (2, 0))
    _, back = signal.istft(moved, noverlap=5, time_axis=0, freq_axis=2)
    close(back[:50].T, Z)


@pytest.mark.slow
def test_derivatives_maps_and_jit():
    check_grads(lambda x, y: signal.convolve(x, y, "same"), (LONG, SHORT), 2)
    check_grads(lambda x: signal.welch(x, nperseg=8)[1], (Z,), 1, modes=["rev"])
    check_grads(lambda x: signal.detrend(x), (LONG,), 1)
    rows = olympus.jit(olympus.vmap(lambda x: signal.correlate(x, SHORT)))(WIDE)
    want = np.stack([reference.correlate(x, SHORT) for x in WIDE])
    close(rows, want)


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: signal.convolve(LONG, SHORT, "x"), ValueError, "mode must be one of"),
        (lambda: signal.convolve(LONG, SHORT, method="x"), ValueError, "method"),
        (lambda: signal.convolve([1.0], SHORT), TypeError, "numpy.asarray"),
        (lambda: signal.convolve(WIDE, SHORT), ValueError, "number of dimensions"),
        (lambda: signal.convolve(LONG[:0], SHORT), ValueError, "zero-size"),
        (
            lambda: signal.convolve(WIDE, WIDE.T, "valid"),
            ValueError,
            "at least as large",
        ),
        (lambda: signal.convolve2d(LONG, SHORT), ValueError, "2-dimensional"),
        (
            lambda: signal.correlate2d(WIDE, SMALL, boundary="wrap"),
            NotImplementedError,
            "boundary",
        ),
        (lambda: signal.fftconvolve(WIDE, SMALL, axes=0), ValueError, "mapped axes"),
        (lambda: signal.fftconvolve(WIDE, WIDE, axes=(0, 0)), ValueError, "unique"),
        (lambda: signal.detrend(LONG, type="x"), ValueError, "Trend type"),
        (lambda: signal.detrend(LONG, bp=99), ValueError, "Breakpoints"),
        (lambda: signal.stft(Z, nperseg=8, noverlap=8), ValueError, "noverlap"),
        (lambda: signal.stft(Z, nperseg=8, nfft=4), ValueError, "nfft"),
        (lambda: signal.stft(Z, nperseg=0), ValueError, "positive integer"),
        (lambda: signal.stft(Z, nperseg=8.5), ValueError, "positive integer"),
        (lambda: signal.stft(Z, boundary="x"), ValueError, "boundary"),
        (lambda: signal.stft(Z, window="x"), ValueError, "Unknown window"),
        (lambda: signal.stft(Z, window=jnp.ones(8)), ValueError, "length of window"),
        (lambda: signal.welch(Z, scaling="x"), ValueError, "Unknown scaling"),
        (lambda: signal.welch(Z, average="x"), ValueError, "median"),
        (lambda: signal.welch(Z, detrend="x"), ValueError, "Trend type"),
        (lambda: signal.csd(Z, W[0]), ValueError, "same rank"),
        (lambda: signal.istft(Z[0]), ValueError, "at least 2d"),
        (lambda: signal.istft(Z, time_axis=0, freq_axis=0), ValueError, "differing"),
    ],
)
def test_errors_teach(call, kind, said):
    with pytest.raises(kind, match=said):
        call()


def test_sizes_that_are_floats():
    x = np.arange(20.0)
    for size in (8.0, np.float32(8)):
        got = signal.welch(x, nperseg=size, noverlap=size / 2, nfft=2 * size)
        close(got, signal.welch(x, nperseg=8, noverlap=4, nfft=16))
