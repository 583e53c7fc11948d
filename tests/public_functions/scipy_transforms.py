"""Functions of olympus.scipy.fft, signal, integrate, ndimage and cluster.vq."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import entries
from tests.public_functions.reasons import OWN_TESTS

# -- cosine transforms -----------------------------------------------------------------


def cosines(d: Draw) -> Call:
    x = d.array("int single single", "full")
    options = d.options(n=[3, 6], axis=[d.axis(x)], norm=["ortho", "backward", None])
    return d.call(x, **options)


def cosines_of_axes(d: Draw) -> Call:
    x = d.array("single", "full matrix")
    options = d.options(axes=[[0], [1], [-1, 0]], norm=["ortho", "backward"])
    if "axes" not in options:
        options |= d.options(s=[(2, 3), (4, 4)])
    return d.call(x, **options)


# -- convolutions and spectra ----------------------------------------------------------

MODES = ["full", "same", "valid"]


def two_vectors(d: Draw) -> Call:
    x, y = (d.array("int single complex", (d.integer(1, 7),)) for _ in range(2))
    return d.call(x, y, **d.options(mode=MODES))


def two_images(d: Draw) -> Call:
    (m, n), (i, j) = ((d.integer(1, 5), d.integer(1, 5)) for _ in range(2))
    mode = d.options(mode=MODES)
    if mode.get("mode") == "valid":
        i, j = min(m, i), min(n, j)
    x, y = (d.array("int single", shape) for shape in ((m, n), (i, j)))
    return d.call(x, y, **mode)


def inexact_vectors(d: Draw) -> Call:
    x, y = (d.array("single complex", (d.integer(1, 7),)) for _ in range(2))
    return d.call(x, y, **d.options(mode=MODES))


def trends(d: Draw) -> Call:
    x = d.array("single", (d.pick([(8,), (3, 8)])))
    options = d.options(type=["linear", "constant"], bp=[0, 3, [2, 5]])
    return d.call(x, **options)


def signal(d: Draw) -> dict[str, Any]:
    options = d.options(
        window=["hann", "boxcar", "hamming"], noverlap=[0, 4, 6], nfft=[8, 16], fs=[2.0]
    )
    return {"nperseg": 8, **options}


def short_time(d: Draw) -> Call:
    x = d.array("single", d.pick([(16,), (2, 20)]))
    options = d.options(
        boundary=["zeros", "even", "constant", None],
        padded=[True, False],
        return_onesided=[True, False],
        detrend=["constant", False],
    )
    return d.call(x, **signal(d), **options)


def densities(d: Draw) -> Call:
    x = d.array("single", d.pick([(16,), (2, 20)]))
    return d.call(x, **signal(d), **_density_options(d))


def cross_densities(d: Draw) -> Call:
    shape = d.pick([(16,), (2, 20)])
    x = d.array("single", shape)
    y = d.filled(x.dtype, shape, "plain")
    return d.call(x, y, **signal(d), **_density_options(d))


def _density_options(d: Draw) -> dict[str, Any]:
    return d.options(
        scaling=["density", "spectrum"],
        average=["mean", "median"],
        detrend=["constant", "linear", False],
        return_onesided=[True, False],
    )


def spectra(d: Draw) -> Call:
    n = d.pick([5, 7])
    z = d.array("complex", (5, n))
    window = d.options(window=["hann", "hamming"], fs=[2.0], boundary=[True, False])
    return d.call(z, nperseg=8, noverlap=4, **window)


# -- small pages -----------------------------------------------------------------------


def samples(d: Draw) -> Call:
    y = d.array("int single complex", "full")
    axis = d.axis(y)
    if d.chance():
        return d.call(y, dx=d.pick([1.0, 0.5]), axis=axis)
    x = np.sort(d.rng.uniform(0, 5, y.shape[axis])).astype(np.float32)
    return d.call(y, x=x, axis=axis)


def coordinates(d: Draw) -> Call:
    x = d.array("single", "full matrix")
    places = [d.rng.uniform(-n, 2 * n, 6).astype(np.float32) for n in x.shape]
    # Mirrors of SciPy differ where there is one sample; halves are rounded otherwise.
    order = d.integer(0, 1)
    modes = ["nearest", "constant"] if 1 in x.shape or order else ["nearest"]
    return d.call(x, places, order, mode=d.pick(modes), cval=-2.0)


def at_places(x: Any, places: Any, order: int, mode: str, cval: float) -> Any:
    """SciPy's, where the constant begins beyond the last sample, and not at it."""
    mode = {"constant": "grid-constant"}.get(mode, mode)
    return ndimage.map_coordinates(x, places, order=order, mode=mode, cval=cval)


def codes(d: Draw) -> Call:
    dtype = d.dtype("single")
    n = d.integer(1, 3)
    x, book = (d.rng.normal(size=(k, n)).astype(dtype) for k in (6, 4))
    return d.call(x, book)


fft, dsp = entries("scipy.fft"), entries("scipy.signal")


def as_floats(*args: Any) -> list[Any]:
    """Integers as doubles: SciPy's products of them wrap."""
    return [x.astype(np.float64) if x.dtype.kind in "iu" else x for x in args]


# Products of whole numbers are floats here.
PRODUCTS = {"ulps": 128, "scale": "args", "kinds": False, "prepare": as_floats}

ENTRIES = [
    *fft("dct idct", cosines, ulps=64, scale="args"),
    *fft("dctn idctn", cosines_of_axes, ulps=64, scale="args"),
    *dsp("convolve correlate", two_vectors, **PRODUCTS),
    *dsp("convolve2d correlate2d", two_images, **PRODUCTS),
    *dsp("fftconvolve", inexact_vectors, ulps=512, scale="args"),
    *dsp("detrend", trends, ulps=256, scale="args"),
    *dsp("stft", short_time, ulps=128, scale="args"),
    *dsp("welch", densities, ulps=512, scale="result"),
    *dsp("csd", cross_densities, ulps=512, scale="result"),
    *dsp("istft", spectra, ulps=512, scale="args"),
    *entries("scipy.integrate")("trapezoid", samples, ulps=64, scale="args"),
    *entries("scipy.ndimage")(
        "map_coordinates", coordinates, oracle=at_places, ulps=256, scale="args"
    ),
    *entries("scipy.cluster.vq")("vq", codes, ulps=64, scale=1.0),
    *entries("scipy.spatial.transform")("Rotation Slerp", undrawn=OWN_TESTS),
]
