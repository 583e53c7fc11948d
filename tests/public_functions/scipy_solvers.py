"""olympus.scipy.sparse.linalg, optimize and interpolate: what is found step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import interpolate
from scipy.sparse import linalg

from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import entries
from tests.public_functions.numpy_linalg import regular

# -- systems of equations --------------------------------------------------------------


def system(is_definite: bool) -> Callable[[Draw], Call]:
    """A matrix, the right side, and options; all steps are done, or two of them."""

    def draw(d: Draw) -> Call:
        a = regular(d, [(1, 1), (3, 3), (4, 4)])
        if is_definite:
            a = (a @ a.conj().T / a.shape[0]).astype(a.dtype)
        n, dtype = a.shape[0], a.dtype
        is_narrow = dtype in (np.float32, np.complex64)
        options = d.options(
            x0=lambda: d.filled(dtype, (n,), "plain"),
            M=lambda: np.diag(1 / np.diag(a)).astype(dtype),
        )
        b = d.filled(dtype, (n,), "plain")
        options["tol"] = 1e-6 if is_narrow else 1e-13
        if n == 4:
            options |= d.options(maxiter=[2])
        return d.call(a, b, d.chance(), **options)

    return draw


def restarted(d: Draw) -> Call:
    call = system(False)(d)
    method = d.options(solve_method=["incremental", "batched"])
    restart = {} if "maxiter" in call.kwargs else d.options(restart=[20, 4])
    return d.call(*call.args, **call.kwargs, **restart, **method)


def iterated(f: Any, a: Any, b: Any, as_function: bool, **options: Any) -> Any:
    """The solution; the matrix is given as such, or as its product with a vector."""
    return f((lambda x: a @ x) if as_function else a, b, **options)[0]


def of_scipy(name: str) -> Callable[..., Any]:
    solve = getattr(linalg, name)

    def oracle(a: Any, b: Any, as_function: bool, **options: Any) -> Any:
        options.pop("solve_method", None)
        return solve(a, b, rtol=options.pop("tol"), **options)[0]

    return oracle


# -- least values ----------------------------------------------------------------------


def bowl(x: Any, *given: Any) -> Any:
    """Its least value is 0, at the numbers given, or at 1."""
    middle = given[0] if given else 1.0
    return ((x - middle) ** 2 + (x - middle) ** 4).sum()


def valley(x: Any) -> Any:
    """Rosenbrock's: curved, and flat along its floor."""
    return (5 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def starts(d: Draw) -> Call:
    is_bowl = d.chance()
    n = d.integer(1 if is_bowl else 2, 3)
    x0 = d.filled(d.dtype("single"), (n,), "unit")
    given = (d.filled(x0.dtype, (n,), "unit"),) if is_bowl and d.chance() else ()
    options = d.options(tol=[1e-4], options=[{"gtol": 1e-4}, {"norm": 2}])
    return d.call(bowl if is_bowl else valley, x0, given, **options)


def found(f: Any, function: Any, x0: Any, given: Any, **options: Any) -> Any:
    """Steps end where the slope is small; so results are compared coarsely."""
    out = f(function, x0, given, method="BFGS", **options)
    return out.x.astype(np.float32), out.fun.astype(np.float32)


def least(function: Any, x0: Any, given: Any, **_: Any) -> Any:
    return given[0] if given else np.ones_like(x0), np.zeros(())


# -- values on grids -------------------------------------------------------------------


def grids(d: Draw) -> Call:
    values_dtype = d.dtype("single complex")
    is_narrow = values_dtype in (np.float32, np.complex64)
    # Shares of samples are as exact as the lines are.
    dtype = np.dtype(np.float32 if is_narrow and d.chance() else np.float64)
    sizes = [d.integer(2, 4) for _ in range(d.integer(1, 3))]
    lines = tuple(np.cumsum(d.rng.uniform(0.3, 1.5, n)).astype(dtype) for n in sizes)
    values = d.filled(values_dtype, (*sizes, *d.pick([(), (), (2,)])), "plain")
    inside = d.chance()
    lead = d.pick([(5,), (2, 3)])
    low, high = (0.0, 1.0) if inside else (-0.4, 1.4)
    places = [p[0] + (p[-1] - p[0]) * d.rng.uniform(low, high, lead) for p in lines]
    options: dict[str, Any] = d.options(method=["linear", "nearest"])
    if not inside:
        options |= {"bounds_error": False, "fill_value": d.pick([None, 0.0, np.nan])}
    return d.call(lines, values, np.stack(places, -1).astype(dtype), **options)


def at_places(f: Any, lines: Any, values: Any, places: Any, **options: Any) -> Any:
    """The second time the method is the call's."""
    method = options.get("method", "linear")
    of = f(lines, values, **options)
    other = "nearest" if method == "linear" else "linear"
    return of(places), of(places, method=other)


def between_samples(lines: Any, values: Any, places: Any, **options: Any) -> Any:
    grid = interpolate.RegularGridInterpolator
    return at_places(grid, lines, values, places, **options)


solver = entries("scipy.sparse.linalg")
NEAR: dict[str, Any] = {"call": iterated, "ulps": 2048, "scale": "args"}
ENTRIES = [
    *solver("cg", system(True), oracle=of_scipy("cg"), **NEAR),
    *solver("bicgstab", system(False), oracle=of_scipy("bicgstab"), **NEAR),
    *solver("gmres", restarted, oracle=of_scipy("gmres"), **NEAR),
    *entries("scipy.optimize")(
        "minimize", starts, call=found, oracle=least, ulps=8192, scale=1.0
    ),
    *entries("scipy.interpolate")(
        "RegularGridInterpolator",
        grids,
        call=at_places,
        oracle=between_samples,
        ulps=512,
        scale="args",
    ),
]
