"""Largest errors of special and elementary functions, in units of the last place.

    python -m bench.accuracy            a table of olympus beside SciPy
    python -m bench.accuracy --jax      with JAX, where it is installed

Arguments are drawn from the whole domain, log-uniform and uniform, by a fixed seed.
float32 is held against SciPy in float64, float64 against SciPy (right to a few units
itself).
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.special
import scipy.stats

_COUNT = 2000


class Case(NamedTuple):
    """A function, its meaning, and where it is looked at.

    Attributes:
      page: the page below the library's name, as in `scipy.special`.
      name: the function there.
      reference: the same in NumPy or SciPy.
      ranges: for each argument its least and largest values.
    """

    page: str
    name: str
    reference: Callable[..., Any]
    ranges: tuple[tuple[float, float], ...]


_SPECIAL: dict[str, tuple[tuple[float, float], ...]] = {
    "beta": ((0.5, 100), (0.5, 100)),
    "betainc": ((0.5, 50), (0.5, 50), (0, 1)),
    "betaln": ((0.5, 1e4), (0.5, 1e4)),
    "dawsn": ((-50, 50),),
    "digamma": ((0.01, 1e4),),
    "entr": ((0, 1e3),),
    "erf": ((-6, 6),),
    "erfc": ((-6, 9),),
    "erfcinv": ((1e-30, 2),),
    "erfcx": ((-5, 1e4),),
    "erfinv": ((-1, 1),),
    "exp1": ((1e-6, 80),),
    "expi": ((-80, 80),),
    "expit": ((-80, 80),),
    "gamma": ((0.01, 33),),
    "gammainc": ((0.5, 100), (0.01, 200)),
    "gammaincc": ((0.5, 100), (0.01, 200)),
    "gammaln": ((0.01, 1e6),),
    "i0": ((-80, 80),),
    "i0e": ((-1e4, 1e4),),
    "i1": ((-80, 80),),
    "i1e": ((-1e4, 1e4),),
    "log_ndtr": ((-100, 8),),
    "logit": ((1e-30, 1),),
    "ndtr": ((-12, 12),),
    "ndtri": ((1e-30, 1),),
    "owens_t": ((-8, 8), (-8, 8)),
    "poch": ((0.5, 20), (0, 15)),
    "spence": ((0, 1e5),),
    "xlog1py": ((0, 1e3), (-0.99, 1e3)),
    "xlogy": ((0, 1e3), (1e-6, 1e3)),
    "zeta": ((1.1, 40), (0.5, 40)),
}
_NUMPY: dict[str, tuple[tuple[float, float], ...]] = {
    "arccos": ((-1, 1),),
    "arccosh": ((1, 1e10),),
    "arcsin": ((-1, 1),),
    "arcsinh": ((-1e10, 1e10),),
    "arctan": ((-1e10, 1e10),),
    "arctanh": ((-1, 1),),
    "cbrt": ((-1e30, 1e30),),
    "cos": ((-1e3, 1e3),),
    "cosh": ((-80, 80),),
    "exp": ((-80, 80),),
    "exp2": ((-120, 120),),
    "expm1": ((-80, 80),),
    "log": ((1e-30, 1e30),),
    "log10": ((1e-30, 1e30),),
    "log1p": ((-1, 1e10),),
    "log2": ((1e-30, 1e30),),
    "sin": ((-1e3, 1e3),),
    "sinh": ((-80, 80),),
    "sqrt": ((0, 1e30),),
    "tan": ((-1e3, 1e3),),
    "tanh": ((-20, 20),),
}
_STATS: dict[str, tuple[tuple[float, float], ...]] = {
    "norm.pdf": ((-12, 12),),
    "norm.cdf": ((-12, 12),),
    "norm.ppf": ((1e-30, 1),),
    "expon.pdf": ((0, 80),),
    "logistic.cdf": ((-80, 80),),
    "cauchy.cdf": ((-1e3, 1e3),),
    "gamma.pdf": ((0.01, 60), (0.5, 40)),
    "beta.pdf": ((0.01, 0.99), (0.5, 30), (0.5, 30)),
    "t.pdf": ((-50, 50), (0.5, 40)),
}


def cases() -> Iterator[Case]:
    """All functions of the table."""
    for name, ranges in _NUMPY.items():
        yield Case("numpy", name, getattr(np, name), ranges)
    for name, ranges in _SPECIAL.items():
        yield Case("scipy.special", name, getattr(scipy.special, name), ranges)
    for name, ranges in _STATS.items():
        distribution, method = name.split(".")
        reference = getattr(getattr(scipy.stats, distribution), method)
        yield Case("scipy.stats", name, reference, ranges)


def draw(case: Case, dtype: str, count: int = _COUNT) -> list[np.ndarray]:
    """Arguments from the function's ranges: half uniform, half log-uniform."""
    random = np.random.default_rng(len(case.name))
    out = []
    for low, high in case.ranges:
        even = random.uniform(low, high, count // 2)
        top, least = max(abs(low), abs(high)), max(low, 1e-12)
        sizes = np.exp(random.uniform(np.log(least), np.log(top), count - count // 2))
        signs = np.where(random.uniform(size=sizes.shape) < 0.5, -1, 1)
        steep = sizes * signs if low < 0 < high and -low == high else sizes
        steep = np.clip(steep, low, high)
        mixed = np.concatenate([even, steep]).astype(dtype)
        out.append(random.permutation(mixed) if len(case.ranges) > 1 else mixed)
    return out


def error(case: Case, out: np.ndarray, args: list[np.ndarray], dtype: str) -> float:
    """The largest error in units of the last place, where neither is subnormal."""
    with np.errstate(all="ignore"):
        exact = np.asarray(case.reference(*[a.astype(np.float64) for a in args]))
        info = np.finfo(dtype)
        usual = (np.abs(exact) > info.tiny * 4) & (np.abs(exact) < info.max / 4)
        unit = np.spacing(np.abs(exact[usual]).astype(dtype)).astype(np.float64)
        gaps = np.abs(out.astype(np.float64)[usual] - exact[usual]) / unit
    return float(np.max(gaps, initial=0))


def measure(library: str, case: Case, dtype: str) -> float | None:
    """The error of a library that is imported, with 64 bits on; None: it has none."""
    place = importlib.import_module(f"{library}.{case.page}")
    for part in case.name.split("."):
        place = getattr(place, part, None)
    if place is None:
        return None
    args = draw(case, dtype)
    return error(case, np.asarray(place(*args)), args, dtype)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.accuracy")
    parser.add_argument("--jax", action="store_true", help="measure JAX as well")
    libraries = ["olympus", "jax"] if parser.parse_args().jax else ["olympus"]
    for library in libraries:
        importlib.import_module(library).config.update(f"{library}_enable_x64", True)
        importlib.import_module(f"{library}.scipy.stats")
    columns = [f"{a} {d}" for d in ("float32", "float64") for a in libraries]
    print(f"| function | {' | '.join(columns)} |")
    print("|---" * (1 + len(columns)) + "|")
    for case in cases():
        values = []
        for dtype in ("float32", "float64"):
            for library in libraries:
                units = measure(library, case, dtype)
                values.append("" if units is None else f"{units:.3g}")
        name = f"{case.page.split('.')[-1]}.{case.name}"
        print(f"| `{name}` | {' | '.join(values)} |", flush=True)


if __name__ == "__main__":
    main()
