"""Dtypes and weak types of results that JAX computes in other ways: as JAX's are."""

import pytest

import olympus
import olympus.numpy as onp
from olympus.scipy import stats
from olympus.scipy.cluster import vq


def of(dtype, *shape, weak=False):
    return olympus.ShapeDtypeStruct(shape or (3,), dtype, weak_type=weak)


def types(f, *args):
    outs = olympus.tree.leaves(olympus.eval_shape(f, *args))
    return " ".join(f"{x.dtype.name}{'*' if x.weak_type else ''}" for x in outs)


def edges(points, weights):
    return onp.histogramdd(points, 2, weights=weights)[1]


WIDE = [
    (lambda x: tuple(stats.mode(x)), [of("float32")], "float32 int64"),
    (lambda x: vq.vq(x, x), [of("float32", 3, 2)], "int64 float32"),
    (edges, [of("float32", 3, 1), of("float64")], "float64"),
    (edges, [of("float32", 3, 1), of("int8")], "float32"),
    (lambda x, w: onp.cov(x, aweights=w), [of("float32"), of("float64")], "float64"),
    (lambda x, w: onp.cov(x, aweights=w), [of("complex64"), of("int8")], "complex64"),
    (onp.ix_, [of("int8", 0), of("int8")], "int64 int8"),
    (lambda p: onp.polyint(p, 0), [of("int32")], "float32"),
    (lambda p: onp.polyder(p, 0), [of("int32")], "float32"),
    (stats.bernoulli.ppf, [of("float16"), of("float16")], "float16"),
]


@pytest.mark.parametrize("case", range(len(WIDE)))
def test_dtypes_with_64_bit_values(case):
    f, args, want = WIDE[case]
    with olympus.enable_x64(True):
        assert types(f, *args) == want


WEAK = [
    (stats.cauchy.logpdf, 1, "float32"),
    (stats.laplace.cdf, 1, "float32"),
    (stats.pareto.sf, 2, "float32"),
    (stats.pareto.logcdf, 2, "float32*"),
    (stats.gamma.sf, 2, "float32*"),
    (stats.norm.logpdf, 1, "float32"),
    (stats.poisson.cdf, 2, "float32"),
]


@pytest.mark.parametrize("case", range(len(WEAK)))
def test_weak_types_of_distributions(case):
    f, count, want = WEAK[case]
    assert types(f, *[of("float32", weak=True)] * count) == want
    strong = [of("float32", weak=i > 0) for i in range(count)]
    assert types(f, *strong) == "float32"
