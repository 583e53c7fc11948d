"""Statistics and signals of olympus.numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

import olympus.numpy as jnp
from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import as_floats, entries, in_common_dtype
from tests.public_functions.points import PLACES, M, SharedCall, X, Y, numbers
from tests.public_functions.reasons import DISCRETE

entry = entries("numpy")

METHODS = ["linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf"]


def middle(d: Draw) -> Call:
    x = d.array("int uint float", "full", "plain ties missing")
    return d.call(x, **d.options(axis=d.axes(x), keepdims=[True, False]))


def ranks(of: float) -> Any:
    """Calls of `quantile` or `percentile`, `of` being the whole."""

    def draw(d: Draw) -> Call:
        x = d.array("int single float", "full", "distinct ties missing")
        shape = d.pick([(), (), (3,), (0,)])
        wide = np.float64 if d.x64 else np.float32
        q = np.asarray(d.rng.uniform(0, of, shape)).astype(wide)
        between = q
        q = d.pick([q, np.float32(of / 2), 0.25 * of, np.float32(0), 1.0 * of])
        some = d.options(axis=d.axes(x), keepdims=[True], method=METHODS)
        if some.get("method") == "nearest":
            q = between  # of two that are as near NumPy takes another one
        return d.call(x, q, **some)

    return draw


def weighted_ranks(d: Draw) -> Call:
    """Weights of the array's shape; no sum of them lies at a part that is asked for."""
    x = d.array("int single", "full", "distinct ties missing")
    axis = d.pick([None, d.axis(x), tuple(range(x.ndim))[::-1]])
    weights = np.asarray(d.rng.integers(1, 4, x.shape)).astype(d.dtype("single int"))
    q = np.asarray(d.pick([[0.37, 0.91], 0.43])).astype(np.float32)
    options = {"axis": axis, "weights": weights, "method": "inverted_cdf"}
    return d.call(x, q, **options, **d.options(keepdims=[True]))


def weights_of_axes(d: Draw) -> Call:
    """Weights of the shape of the reduced axes."""
    call = weighted_ranks(d)
    axis = call.kwargs["axis"]
    if axis is not None:
        axes = axis if isinstance(axis, tuple) else (axis,)
        shape = tuple(call.args[0].shape[a] for a in axes)
        call.kwargs["weights"] = np.asarray(d.rng.integers(1, 4, shape))
    return call


def weighted(d: Draw) -> Call:
    x = d.array("int float complex", "full")
    options = d.options(axis=d.axes(x), keepdims=[True])
    if d.chance(0.7):
        axis = options.get("axis")
        one = isinstance(axis, int) and d.chance()
        shape = (x.shape[axis],) if one else x.shape
        options["weights"] = d.array("int float", shape, "positive")
        options |= d.options(returned=[True, False])
    return d.call(x, **options)


def covariance(d: Draw) -> Call:
    x = d.array("int single complex", d.pick([(3, 4), (2, 5), (5,), (4, 3)]))
    options = d.options(rowvar=[True, False], ddof=[0, 1, 2], bias=[True])
    n = x.shape[-1] if x.ndim == 1 or options.get("rowvar", True) else x.shape[0]
    if d.chance(0.3):
        options["fweights"] = np.asarray(d.rng.integers(1, 4, n))
    if d.chance(0.3):
        options["aweights"] = d.array("single", (n,), "positive")
    if d.chance(0.3):
        options["y"] = d.array("int single", x.shape)
    return d.call(x, **options)


def correlation(d: Draw) -> Call:
    x = d.array("int single complex", d.pick([(3, 4), (2, 5), (4, 3)]), "distinct")
    options = d.options(rowvar=[True, False])
    if d.chance(0.3):
        options["y"] = d.array("single", x.shape)
    return d.call(x + (x * x).astype(x.dtype), **options)


def bins(d: Draw) -> Call:
    """Points between edges that all floats hold exactly."""
    x = d.array("int uint single", "any", "plain ties")
    options = {}
    which = d.integer(0, 3)
    if which == 1:
        options = {"bins": d.pick([1, 4, 8]), "range": (-8.0, 8.0)}
    elif which > 1:
        edges = [
            np.array([-9.0, -2, 0, 1, 8]),
            np.array([-1.0, 1]),
            np.array([0, 2, 3]),
        ]
        options = {"bins": d.pick(edges).astype(d.pick([np.float32, np.int32]))}
    return d.call(x, **options)


def histogram(d: Draw) -> Call:
    x = bins(d)
    options = dict(x.kwargs)
    if "bins" not in options:
        options = {"bins": 4, "range": (-8.0, 8.0)}
    if d.chance(0.4):
        options["weights"] = d.array("int single", x.args[0].shape)
    if d.chance(0.3):
        options["density"] = True
    return d.call(*x.args, **options)


def joint(d: Draw) -> Call:
    """Points of the plane, by given edges or counts of bins in given ranges."""
    n = d.pick([0, 1, 6])
    x, y = (d.array("int single", (n,), "plain ties") for _ in range(2))
    options: dict[str, Any] = {"bins": d.pick([3, (2, 4)]), "range": [(-8, 8), (-4, 4)]}
    if d.chance():
        edges = np.array([-9.0, -2, 0, 1, 9], np.float32)
        options = {"bins": d.pick([(edges, edges), (edges, edges[1:])])}
    if d.chance(0.4):
        options["weights"] = d.array("single", (n,))
    return d.call(x, y, **options, **d.options(density=[False]))


def joint_of_rows(d: Draw) -> Call:
    call = joint(d)
    return d.call(np.stack(in_common_dtype(*call.args), -1), **call.kwargs)


def counts(d: Draw) -> Call:
    x = np.abs(d.array("int uint", "vector", "plain ties"))
    options = d.options(minlength=[0, 4, 12])
    if d.chance(0.4):
        options["weights"] = d.array("int single", x.shape)
    return d.call(x, **options)


def counts_of_length(d: Draw) -> Call:
    """A length that is given: numbers beyond are not counted, negative ones as zero."""
    x = d.array("int", "vector")
    options: dict[str, Any] = {"length": d.pick([1, 4, 12])}
    if d.chance(0.4):
        options["weights"] = d.array("single", x.shape)
    return d.call(x, **options)


def counted_to(x: Any, weights: Any = None, length: int = 0) -> Any:
    x = np.maximum(x, 0)
    return np.bincount(x, weights, minlength=length)[:length]


def edges(d: Draw) -> Call:
    x = d.array("int single", "any", "plain ties missing")
    found = np.sort(d.array("int single", d.pick([(1,), (4,)]), "ties plain"))
    found = found[::-1].copy() if d.chance(0.3) else found
    return d.call(x, found, **d.options(right=[True, False]))


def positions(d: Draw) -> Call:
    """Positions in a sorted vector, by each method, on each side."""
    x = d.array("int uint float", "vector", "plain ties missing")
    x = x[np.argsort(x if x.dtype.kind in "iu" else x.astype(np.float64))]
    v = d.array("int float", "any", "plain ties missing")
    options = d.options(side=["left", "right"])
    if d.chance(0.3):
        order = d.rng.permutation(len(x))
        back = np.argsort(order)
        return d.call(x[order], v, sorter=back.astype(np.int32), **options)
    return d.call(x, v, **options, **d.options(method=["scan", "sort", "compare_all"]))


def searched(x: Any, v: Any, method: str = "", **options: Any) -> Any:
    return np.searchsorted(x, v, **options)


def filters(d: Draw) -> Call:
    """Two vectors, neither of them empty."""
    x, y = (d.array("int uint single complex", "full vector") for _ in range(2))
    return d.call(x, y, **d.options(mode=["full", "same", "valid"]))


def between(d: Draw) -> Call:
    xp = np.sort(d.array("single", d.pick([(1,), (4,), (6,)]), "distinct"))
    fp = d.array(d.pick(["int", "complex"]), xp.shape)
    if d.chance():
        fp = d.filled(xp.dtype, xp.shape, "plain")
    x = d.array("int single", "any", "plain ties distinct")
    options: dict[str, Any] = {}
    if d.chance(0.4):
        options = d.options(left=[-7.0], right=[9.0])
    elif d.chance(0.3):
        options = {"period": 4.0}
        return d.call(x, np.linspace(0, 3, len(xp)).astype(xp.dtype), fp, **options)
    return d.call(x, xp, fp, **options)


def area(d: Draw) -> Call:
    y = d.array("int uint float complex", "axes")
    options = d.options(axis=lambda: d.axis(y))
    if d.chance(0.4):
        n = y.shape[options.get("axis", -1)]
        shape = d.pick([(n,), y.shape])
        if len(shape) == 1 or shape == y.shape:
            options["x"] = d.array("int single", shape)
    elif d.chance():
        options["dx"] = 0.5
    return d.call(y, **options)


ENTRIES = [
    *entry(
        "median",
        middle,
        ulps=4,
        scale="args",
        smooth=[(M,), (lambda x: jnp.median(x, axis=0), M)],
        types="v; v, axis=0; m, 1, keepdims=True",
    ),
    *entry(
        "nanmedian",
        middle,
        ulps=4,
        scale="args",
        prepare=as_floats,
        smooth=[(M,)],
        types="v; a; v, axis=0",
    ),
    *entry(
        "quantile nanquantile",
        ranks(1),
        kinds=False,
        ulps=32,
        scale="args",
        smooth=(SharedCall(lambda f, x: f(x, 0.3, axis=1)), M),
        types="v, 0.3; v, 0.3, method='lower'; v, w",
    ),
    *entry("nanquantile", weighted_ranks, kinds=False, ulps=0, label="weights"),
    *entry("quantile", weights_of_axes, kinds=False, ulps=0, label="weights"),
    *entry(
        "percentile",
        ranks(100),
        kinds=False,
        ulps=64,
        scale="args",
        smooth=(SharedCall(lambda f, x: f(x, 30.0)), M),
        types="v, 0.3; v, 0.3, method='lower'; v, w",
    ),
    *entry(
        "nanpercentile",
        ranks(100),
        kinds=False,
        ulps=64,
        scale="args",
        smooth=(SharedCall(lambda f, x: f(x, 30.0)), M),
        types="v, 0.3",
    ),
    *entry(
        "average",
        weighted,
        ulps=32,
        scale="args",
        smooth=(lambda x, w: jnp.average(x, weights=w), M, numbers(3, 4)),
        types="v; v, weights=w; v, weights=None, returned=True",
    ),
    *entry(
        "cov",
        covariance,
        ulps=64,
        scale=lambda x: 80,
        smooth=(M,),
        types="v; m; v, w; v, dtype=D",
    ),
    *entry(
        "corrcoef",
        correlation,
        ulps=64,
        scale=1.0,
        smooth=(M,),
        types="v; m; v, w; v, dtype=D",
    ),
    *entry(
        "histogram",
        histogram,
        kinds=False,
        ulps=16,
        smooth=(lambda x: jnp.histogram(Y, bins=3, weights=x)[0], X),
        types=("v, bins=3; v, bins=3, density=True; v, weights=w, bins=3; v, bins=w"),
    ),
    *entry(
        "histogram_bin_edges",
        bins,
        kinds=False,
        ulps=16,
        scale=8.0,
        smooth=DISCRETE,
        types="v; v, bins=w",
    ),
    *entry(
        "histogram2d",
        joint,
        kinds=False,
        ulps=16,
        scale="args",
        smooth=(lambda x: jnp.histogram2d(Y, Y, bins=3, weights=x)[0], X),
        types="v, w, bins=2",
    ),
    *entry(
        "histogramdd",
        joint_of_rows,
        kinds=False,
        ulps=16,
        scale="args",
        smooth=(lambda x: jnp.histogramdd(M, bins=2, weights=x)[0], X[:3]),
        types="m, bins=2",
    ),
    *entry(
        "bincount",
        counts,
        jit=False,
        kinds=False,
        ulps=16,
        scale="args",
        smooth=(lambda x: jnp.bincount(PLACES, weights=x, length=4), Y[:3]),
        types="v, weights=w; v, length=4",
    ),
    *entry(
        "bincount",
        counts_of_length,
        oracle=counted_to,
        kinds=False,
        ulps=16,
        scale="args",
        label="length",
    ),
    *entry("digitize", edges, smooth=DISCRETE, types="v, w"),
    *entry(
        "searchsorted",
        positions,
        oracle=searched,
        prepare=in_common_dtype,
        smooth=DISCRETE,
        types="v, w",
        standard="x1, x2, /, *, side='left', sorter=None",
    ),
    *entry(
        "convolve",
        filters,
        kinds=False,
        ulps=32,
        scale=lambda x, y: 50,
        smooth=(X, Y[:3]),
        types=("v, w; v, w, mode='same'; v, w, preferred_element_type=np.float32"),
    ),
    *entry(
        "correlate",
        filters,
        kinds=False,
        ulps=32,
        scale=lambda x, y: 50,
        smooth=(X, Y[:3]),
        types="v, w; v, w, mode='same'",
    ),
    *entry(
        "interp",
        between,
        ulps=64,
        scale="args",
        smooth=(lambda x, f: jnp.interp(x, np.linspace(0, 1, 4), f), X, Y[:4]),
        types="v, w, v; 1.5, v, w; v, v, w, period=2",
    ),
    *entry(
        "trapezoid",
        area,
        ulps=64,
        scale=lambda y: 50,
        smooth=[(X,), (X, np.sort(Y))],
        types="v; v, w; v, w, 0.5; v, x=w",
    ),
]
