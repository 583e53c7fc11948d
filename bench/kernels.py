"""Kernels that move data: sorts, prefixes, scatters and gathers.

Each group takes a `Library` and returns callables by name, as in `bench.programs`. The
library may be NumPy itself, which then runs what it has for the same work.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from bench.models import Library


class _Cases:
    """Collects compiled functions with their arguments on the device."""

    def __init__(self, lib: Library) -> None:
        self.lib = lib
        self.rng = np.random.default_rng(0)
        self.found: dict[str, Any] = {}

    def floats(self, *shape: int) -> Any:
        return self.lib.np.asarray(self.rng.normal(size=shape).astype("float32"))

    def below(self, limit: int, *shape: int) -> Any:
        drawn = self.rng.integers(0, limit, size=shape, dtype="int32")
        return self.lib.np.asarray(drawn)

    def add(self, name: str, f: Any, *args: Any, host: Any = None) -> None:
        """A case; `host` is the same work in NumPy, True if it is `f` itself."""
        if self.lib.name != "numpy":
            self.found[f"kernel {name}"] = functools.partial(self.lib.top.jit(f), *args)
        elif host is not None:
            work = f if host is True else host
            self.found[f"kernel {name}"] = functools.partial(work, *args)


def sorts(lib: Library) -> dict[str, Any]:
    """Sorting whole vectors and many rows, one array and several."""
    cases, jnp, lax = _Cases(lib), lib.np, lib.lax
    line, other = cases.floats(1_000_000), cases.floats(1_000_000)
    whole, few = cases.below(2**30, 1_000_000), cases.below(100, 1_000_000)
    rows = {
        f"{m}x{n}": cases.floats(m, n)
        for m, n in ((100_000, 8), (50_000, 16), (10_000, 100), (1000, 1000))
    }
    cases.add("sort 1e6", jnp.sort, line, host=True)
    cases.add("sort 1e6 int", jnp.sort, whole, host=True)
    cases.add("argsort 1e6", jnp.argsort, line, host=True)
    for size, x in rows.items():
        cases.add(f"sort {size}", jnp.sort, x, host=True)
        cases.add(f"argsort {size}", jnp.argsort, x, host=True)
    square = rows["1000x1000"]
    cases.add(
        "sort columns 1000x1000", lambda x: jnp.sort(x, axis=0), square, host=True
    )
    cases.add("sort key and value 1e6", lambda k, v: lax.sort((k, v)), line, other)
    cases.add("lexsort 1e6", lambda k, v: jnp.lexsort((k, v)), line, few, host=True)
    cases.add(
        "sort 3 operands 10000x100",
        lambda k: lax.sort((k, k + 1, k - 1)),
        rows["10000x100"],
    )
    return cases.found


def orders(lib: Library) -> dict[str, Any]:
    """What sorting is used for: ranks, medians, permutations, places."""
    cases, jnp, lax = _Cases(lib), lib.np, lib.lax
    line, square = cases.floats(1_000_000), cases.floats(1000, 1000)
    few, words = cases.below(1000, 1_000_000), cases.floats(64, 50_000)
    edges = jnp.sort(cases.floats(10_000))
    small = cases.floats(50_000, 64)
    cases.add(
        "top_k 10 of 1e6",
        lambda x: lax.top_k(x, 10),
        line,
        host=lambda x: np.argpartition(x, -10)[-10:],
    )
    cases.add(
        "top_k 1000 of 1e6",
        lambda x: lax.top_k(x, 1000),
        line,
        host=lambda x: np.argpartition(x, -1000)[-1000:],
    )
    cases.add(
        "top_k 50 of 64x50000",
        lambda x: lax.top_k(x, 50),
        words,
        host=lambda x: np.argpartition(x, -50)[:, -50:],
    )
    cases.add(
        "top_k 4 of 50000x64",
        lambda x: lax.top_k(x, 4),
        small,
        host=lambda x: np.argpartition(x, -4)[:, -4:],
    )
    cases.add("approx_max_k 10 of 1e6", lambda x: lax.approx_max_k(x, 10), line)
    cases.add("median 1e6", jnp.median, line, host=True)
    cases.add("median 1000x1000", lambda x: jnp.median(x, axis=1), square, host=True)
    cases.add(
        "percentile 1e6",
        lambda x: jnp.percentile(x, jnp.asarray([5.0, 95.0])),
        line,
        host=True,
    )
    if lib.name != "numpy":
        key = lib.top.random.PRNGKey(0)
        cases.add(
            "permutation 1e6", lambda k: lib.top.random.permutation(k, 1_000_000), key
        )
        cases.add(
            "permutation rows 1e5x16",
            lib.top.random.permutation,
            key,
            cases.floats(100_000, 16),
        )
    else:
        cases.add(
            "permutation 1e6", lambda: cases.rng.permutation(1_000_000), host=True
        )
    cases.add("unique 1e6", lambda x: jnp.unique(x, size=1000), few, host=np.unique)
    cases.add("searchsorted 1e6 in 1e4", jnp.searchsorted, edges, line, host=True)
    cases.add(
        "searchsorted 1e4 in 1e6", jnp.searchsorted, jnp.sort(line), edges, host=True
    )
    cases.add(
        "nonzero 1e6",
        lambda x: jnp.nonzero(x > 1, size=200_000),
        line,
        host=lambda x: np.nonzero(x > 1),
    )
    return cases.found


def prefixes(lib: Library) -> dict[str, Any]:
    """Cumulative operations along vectors, rows and columns."""
    cases, jnp, lax = _Cases(lib), lib.np, lib.lax
    line, square = cases.floats(1_000_000), cases.floats(1000, 1000)
    whole = cases.below(100, 1_000_000)
    thin = cases.floats(100_000, 10)
    near = jnp.exp(line / 1000)
    cases.add("cumsum 1e6", jnp.cumsum, line, host=True)
    cases.add("cumsum 1e6 int", jnp.cumsum, whole, host=True)
    for axis, name in ((1, "rows"), (0, "columns")):
        cases.add(
            f"cumsum {name} 1000x1000",
            lambda x, a=axis: jnp.cumsum(x, axis=a),
            square,
            host=True,
        )
        cases.add(
            f"cumsum {name} 100000x10",
            lambda x, a=axis: jnp.cumsum(x, axis=a),
            thin,
            host=True,
        )
    cases.add("cumprod 1e6", jnp.cumprod, near, host=True)
    cases.add("cummax 1e6", lambda x: lax.cummax(x), line, host=np.maximum.accumulate)
    cases.add(
        "cummax rows 1000x1000",
        lambda x: lax.cummax(x, axis=1),
        square,
        host=lambda x: np.maximum.accumulate(x, 1),
    )
    cases.add(
        "cumlogsumexp 1e6",
        lambda x: lax.cumlogsumexp(x),
        line,
        host=np.logaddexp.accumulate,
    )
    if lib.name != "numpy":
        for name, f, x in (
            ("cumprod", jnp.cumprod, near),
            ("cummax", lax.cummax, line),
            ("cumlogsumexp", lax.cumlogsumexp, line),
            ("cumsum", jnp.cumsum, line),
        ):
            cases.add(
                f"grad {name} 1e6", lib.top.grad(lambda x, f=f: jnp.sum(f(x) ** 2)), x
            )
    return cases.found


def scatters(lib: Library) -> dict[str, Any]:
    """Sums at computed places, and reading from them."""
    cases, jnp = _Cases(lib), lib.np
    line = cases.floats(1_000_000)
    table, tokens = cases.floats(10_000, 64), cases.below(10_000, 16_384)
    wide = cases.floats(100_000, 64)
    places = cases.below(1_000_000, 1_000_000)
    square = cases.floats(1000, 1000)
    order = cases.below(1000, 1000, 1000)
    for n in (10, 1000, 100_000):
        ids = cases.below(n, 1_000_000)
        cases.add(
            f"segment_sum 1e6 to {n}",
            lambda x, i, n=n: lib.top.ops.segment_sum(x, i, n),
            line,
            ids,
            host=lambda x, i, n=n: np.bincount(i, x, n),
        )
    ids = cases.below(1000, 100_000)
    cases.add(
        "segment_sum 1e5x64 to 1000",
        lambda x, i: lib.top.ops.segment_sum(x, i, 1000),
        wide,
        ids,
    )
    sorted_ids = jnp.sort(ids)
    cases.add(
        "segment_sum sorted 1e5x64 to 1000",
        lambda x, i: lib.top.ops.segment_sum(x, i, 1000, indices_are_sorted=True),
        wide,
        sorted_ids,
    )
    cases.add(
        "segment_max 1e6 to 1000",
        lambda x, i: lib.top.ops.segment_max(x, i, 1000),
        line,
        cases.below(1000, 1_000_000),
    )
    cases.add(
        "bincount 1e6 to 256",
        lambda i: jnp.bincount(i, length=256),
        cases.below(256, 1_000_000),
        host=lambda i: np.bincount(i, minlength=256),
    )
    cases.add(
        "histogram 1e6 to 100", lambda x: jnp.histogram(x, 100)[0], line, host=True
    )
    cases.add(
        "add 1e6 at 1e6",
        lambda x, i, u: x.at[i].add(u),
        line,
        places,
        line,
        host=lambda x, i, u: np.add.at(x.copy(), i, u),
    )
    cases.add(
        "set 1e6 at 1e6",
        lambda x, i, u: x.at[i].set(u),
        line,
        places,
        line,
        host=lambda x, i, u: x.copy().__setitem__(i, u),
    )
    cases.add(
        "max 1e6 at 1e6",
        lambda x, i, u: x.at[i].max(u),
        line,
        places,
        line,
        host=lambda x, i, u: np.maximum.at(x.copy(), i, u),
    )
    cases.add(
        "set 1e4 rows at 1e5x64",
        lambda x, i, u: x.at[i].set(u),
        wide,
        cases.below(100_000, 10_000),
        table,
        host=lambda x, i, u: x.copy().__setitem__(i, u),
    )
    if lib.name != "numpy":
        cases.add(
            "grad of 16384 rows of 1e4x64",
            lib.top.grad(lambda t, i: jnp.sum(t[i] ** 2)),
            table,
            tokens,
        )
        cases.add(
            "grad of take 1e6 of 1e6",
            lib.top.grad(lambda x, i: jnp.sum(x[i] ** 2)),
            line,
            places,
        )
    cases.add("take 1e6 of 1e6", lambda x, i: jnp.take(x, i), line, places, host=True)
    cases.add("x[i] 1e6 of 1e6", lambda x, i: x[i], line, places, host=True)
    cases.add(
        "take 1e5 rows of 1e4x64",
        lambda x, i: jnp.take(x, i, axis=0),
        table,
        cases.below(10_000, 100_000),
        host=True,
    )
    cases.add(
        "take_along_axis 1000x1000",
        lambda x, i: jnp.take_along_axis(x, i, 1),
        square,
        order,
        host=True,
    )
    return cases.found


GROUPS = {f.__name__: f for f in (sorts, orders, prefixes, scatters)}
