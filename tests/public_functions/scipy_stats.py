"""Distributions of olympus.scipy.stats, and its summaries."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import Entry, entries
from tests.public_functions.scipy_special import between

entry = entries("scipy.stats")
METHODS = "pdf logpdf pmf logpmf cdf logcdf sf logsf ppf isf"


class Family(NamedTuple):
    """A distribution: intervals of its parameters, and of points about its middle."""

    parameters: tuple[tuple[float, float], ...]
    points: tuple[float, float]
    discrete: bool = False
    whole: tuple[int, ...] = ()  # which parameters are whole numbers
    moved: bool = True  # whether it takes loc and scale


SHAPE, UNIT = (0.3, 6.0), (0.05, 0.95)
LINE, HALF_LINE = (-4.0, 4.0), (-1.0, 9.0)
FAMILIES = {
    "bernoulli": Family((UNIT,), (-1.0, 2.0), discrete=True, moved=False),
    "beta": Family((SHAPE, SHAPE), (-0.2, 1.2)),
    "betabinom": Family(((0, 20), SHAPE, SHAPE), (-1.0, 21.0), True, (0,)),
    "binom": Family(((0, 20), UNIT), (-1.0, 21.0), True, (0,)),
    "cauchy": Family((), LINE),
    "chi2": Family((SHAPE,), HALF_LINE),
    "expon": Family((), HALF_LINE),
    "gamma": Family((SHAPE,), HALF_LINE),
    "gennorm": Family((SHAPE,), LINE, moved=False),
    "geom": Family((UNIT,), (-1.0, 12.0), discrete=True),
    "gumbel_l": Family((), LINE),
    "gumbel_r": Family((), LINE),
    "laplace": Family((), LINE),
    "logistic": Family((), LINE),
    "nbinom": Family(((1, 12), UNIT), (-1.0, 21.0), True, (0,)),
    "norm": Family((), LINE),
    "pareto": Family((SHAPE,), (0.5, 9.0)),
    "poisson": Family((SHAPE,), (-1.0, 15.0), discrete=True),
    "t": Family((SHAPE,), LINE),
    "truncnorm": Family(((-3.0, -0.5), (0.2, 3.0)), (-3.5, 3.5)),
    "uniform": Family((), (-0.5, 1.5)),
    "vonmises": Family((SHAPE,), (-3.1, 3.1), moved=False),
    "wrapcauchy": Family((UNIT,), (0.0, 6.28), moved=False),
}


def drawn(family: Family, method: str) -> Callable[[Draw], Call]:
    """Points or probabilities, parameters, and in half of the draws loc and scale."""

    def draw(d: Draw) -> Call:
        of_probabilities = method in ("ppf", "isf")
        shapes = d.shapes(1 + len(family.parameters))
        dtype = d.dtype("single")
        low, high = (-0.1, 1.1) if of_probabilities else family.points
        x = between(d, low, high, shape=shapes[0]).astype(dtype)
        if family.discrete and not of_probabilities:
            x = np.round(x).astype(d.pick([dtype, np.int32]))
        parameters = []
        for i, (bounds, shape) in enumerate(
            zip(family.parameters, shapes[1:], strict=True)
        ):
            p = between(d, *bounds, shape=shape).astype(dtype)
            parameters.append(np.round(p) if i in family.whole else p)
        return d.call(x, *parameters, **_moved(d, family, dtype))

    return draw


def _moved(d: Draw, family: Family, dtype: Any) -> dict[str, Any]:
    if not family.moved:
        return {}
    if family.discrete:
        return d.options(loc=[0, 1, -2])
    return d.options(
        loc=lambda: between(d, -1.0, 1.0, ()).astype(dtype),
        scale=lambda: between(d, 0.4, 3.0, ()).astype(dtype),
    )


def _methods(name: str) -> list[str]:
    page = importlib.import_module(f"olympus.scipy.stats.{name}")
    return [m for m in METHODS.split() if m in page.__all__]


def of_family(name: str, family: Family) -> list[Entry]:
    """Entries of all methods of a distribution."""
    scale = {"logpdf": 30.0, "logpmf": 60.0, "ppf": 10.0, "isf": 10.0}
    if name == "truncnorm":  # its logarithms are steep beside the ends
        scale |= {"logcdf": 30.0, "logsf": 30.0}
    return [
        e
        for m in _methods(name)
        for e in entry(
            f"{name}.{m}", drawn(family, m), ulps=256, scale=scale.get(m, 1.0)
        )
    ]


def vectors(d: Draw) -> Call:
    n = d.integer(1, 3)
    dtype = d.dtype("single")
    x = d.rng.normal(size=(*d.pick([(), (4,), (2, 3)]), n)).astype(dtype)
    mean = d.rng.normal(size=n).astype(dtype)
    root = d.rng.normal(size=(n, n))
    cov = (root @ root.T + np.eye(n)).astype(dtype)
    return d.call(x, mean, cov)


def simplices(d: Draw) -> Call:
    n = d.integer(2, 4)
    dtype = d.dtype("single")
    alpha = d.rng.uniform(0.5, 4, n).astype(dtype)
    return d.call(d.rng.dirichlet(np.ones(n)), alpha)


def counts(d: Draw) -> Call:
    n, k = d.integer(1, 9), d.integer(2, 4)
    p = d.rng.dirichlet(np.ones(k)).astype(d.dtype("single"))
    x = d.rng.multinomial(n, np.ones(k) / k).astype(np.int32)
    if d.chance(0.2):
        x[0] += 1
    return d.call(x, n, p)


def of_sum_one(x: Any, n: Any, p: Any) -> list[Any]:
    """Probabilities of single precision sum to one in single precision alone."""
    p = p.astype(np.float64)
    return [x, n, p / p.sum()]


def ranked(d: Draw) -> Call:
    x = d.array("int single", "full", "ties plain missing")
    methods = ["average", "min", "max", "dense", "ordinal"]
    return d.call(x, **d.options(method=methods, axis=[None, d.axis(x)]))


def with_axis(d: Draw) -> Call:
    x = d.array("int single", "full", "ties")
    return d.call(x, **d.options(axis=[None, d.axis(x)], keepdims=[True, False]))


def errors(d: Draw) -> Call:
    x = d.array("int single", [(5,), (3, 4), (2, 3, 2)][d.integer(0, 2)])
    options = d.options(axis=[None, d.axis(x)], ddof=[0, 1], keepdims=[True, False])
    return d.call(x, **options)


def _density(kde: Any, data: Any, points: Any, **options: Any) -> Any:
    return kde(data, **options)(points)


def samples(d: Draw) -> Call:
    n = d.integer(1, 2)
    dtype = d.dtype("single")
    data, points = (d.rng.normal(size=(n, k)).astype(dtype) for k in (9, 4))
    weights = d.rng.uniform(0.1, 1, 9).astype(dtype)
    options = d.options(bw_method=["scott", "silverman", 0.4], weights=lambda: weights)
    return d.call(data, points, **options)


ENTRIES = [
    *[e for name, family in FAMILIES.items() for e in of_family(name, family)],
    *entry("multivariate_normal.pdf", vectors, ulps=256, scale=1.0),
    *entry("multivariate_normal.logpdf", vectors, ulps=256, scale=10.0),
    *entry("dirichlet.pdf", simplices, ulps=4096, scale=1.0),
    *entry("dirichlet.logpdf", simplices, ulps=1024, scale=10.0),
    *entry("multinomial.pmf", counts, prepare=of_sum_one, ulps=512, scale=1.0),
    *entry("multinomial.logpmf", counts, prepare=of_sum_one, ulps=512, scale=10.0),
    *entry("rankdata", ranked, kinds=False),  # ranks are always floats
    *entry("mode", with_axis, oracle=lambda *a, **k: tuple(stats.mode(*a, **k))),
    *entry("sem", errors, ulps=64, scale="args"),
    *entry("gaussian_kde", samples, call=_density, ulps=256, scale=1.0),
]
