"""Largest errors of special and elementary functions, in units of the last place.

    python -m bench.accuracy                a table of olympus
    python -m bench.accuracy --jax          with JAX, where it is installed
    python -m bench.accuracy --where        and the arguments of the largest errors
    python -m bench.accuracy hyp2f1 sici    only these
    python -m bench.exact                   write exact values anew, by mpmath

Arguments are drawn from the whole domain, log-uniform and uniform, by a fixed seed.
float32 is held against SciPy in float64; float64 against `bench/exact.npz`, values of
60 digits that are rounded to float64, at fewer points. JAX's functions run in a process
each, since some do not end.
"""

from __future__ import annotations

import argparse
import decimal
import importlib
import json
import pathlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.special
import scipy.stats

_COUNT = 2000
_EXACT_COUNT = 200
EXACT_FILE = pathlib.Path(__file__).with_name("exact.npz")
_LIMIT_S = 60


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


class Error(NamedTuple):
    """The largest error in units of the last place, and where it is."""

    units: float
    point: tuple[float, ...]


# Arguments that are whole numbers, by their positions.
_WHOLE = {
    "bernoulli": (0,),
    "comb": (0, 1),
    "expn": (0,),
    "factorial": (0,),
    "polygamma": (0,),
    "sph_harm_y": (0, 1),
}


def _stack(f: Any, *xs: Any) -> Any:
    return f(np.stack(xs), axis=0)


def _join(x: Any, y: Any) -> Any:
    """Complex numbers of the precision of the parts."""
    return (x + 1j * y).astype(np.result_type(x, np.complex64))


# How functions are called whose arguments are not just arrays of one dtype.
_CALLS: dict[str, Callable[..., Any]] = {
    "bessel_jn": lambda f, z: f(z, v=3),
    "log_softmax": _stack,
    "loggamma": lambda f, x, y: f(_join(x, y)),
    "logsumexp": _stack,
    "multigammaln": lambda f, a: f(a, 3),
    "polygamma": lambda f, n, x: f(n.astype(np.int32), x),
    "softmax": _stack,
    "sph_harm_y": lambda f, n, m, *angles: f(
        n.astype(np.int32), m.astype(np.int32), *angles
    ),
    "wofz": lambda f, x, y: f(_join(x, y)),
}

_SPECIAL: dict[str, tuple[tuple[float, float], ...]] = {
    "bessel_jn": ((-100, 100),),
    "beta": ((0.5, 100), (0.5, 100)),
    "betainc": ((0.5, 50), (0.5, 50), (0, 1)),
    "betaln": ((0.5, 1e4), (0.5, 1e4)),
    "boxcox": ((1e-3, 1e3), (-5, 5)),
    "boxcox1p": ((-0.99, 1e3), (-5, 5)),
    "comb": ((0, 60), (0, 60)),
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
    "expn": ((0, 50), (1e-6, 80)),
    "factorial": ((0, 33),),
    "fresnel": ((-50, 50),),
    "gamma": ((0.01, 33),),
    "gammainc": ((0.5, 100), (0.01, 200)),
    "gammaincc": ((0.5, 100), (0.01, 200)),
    "gammaln": ((0.01, 1e6),),
    "gammasgn": ((-20.5, 20),),
    "hyp1f1": ((-10, 10), (0.5, 20), (-50, 50)),
    "hyp2f1": ((-10, 10), (-10, 10), (0.5, 20), (-10, 1)),
    "i0": ((-80, 80),),
    "i0e": ((-1e4, 1e4),),
    "i1": ((-80, 80),),
    "i1e": ((-1e4, 1e4),),
    "kl_div": ((1e-3, 1e3), (1e-3, 1e3)),
    "log_ndtr": ((-100, 8),),
    "log_softmax": ((-40, 40), (-40, 40), (-40, 40)),
    "loggamma": ((-20, 20), (-20, 20)),
    "logit": ((1e-30, 1),),
    "logsumexp": ((-40, 40), (-40, 40), (-40, 40)),
    "multigammaln": ((1.1, 1e3),),
    "ndtr": ((-12, 12),),
    "ndtri": ((1e-30, 1),),
    "owens_t": ((-8, 8), (-8, 8)),
    "poch": ((0.5, 20), (0, 15)),
    "polygamma": ((0, 10), (0.01, 1e3)),
    "rel_entr": ((1e-3, 1e3), (1e-3, 1e3)),
    "sici": ((-100, 100),),
    "softmax": ((-40, 40), (-40, 40), (-40, 40)),
    "spence": ((0, 1e5),),
    "sph_harm_y": ((0, 12), (0, 12), (0, 3.14), (0, 6.28)),
    "wofz": ((-20, 20), (-4, 20)),
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
        reference = _REFERENCES.get(name) or getattr(scipy.special, name)
        yield Case("scipy.special", name, reference, ranges)
    for name, ranges in _STATS.items():
        distribution, method = name.split(".")
        reference = getattr(getattr(scipy.stats, distribution), method)
        yield Case("scipy.stats", name, reference, ranges)


# What SciPy calls otherwise.
_REFERENCES = {
    "bessel_jn": lambda z, v: [scipy.special.jv(k, z) for k in range(v + 1)],
}


# NumPy's own exp and log differ in the last bit from processor to processor, and the
# exact values are stored for these arguments.
def _exp(x: float) -> float:
    return float(decimal.Decimal(float(x)).exp())


def _log(x: float) -> float:
    return float(decimal.Decimal(float(x)).ln())


def draw(case: Case, dtype: str) -> list[np.ndarray]:
    """Arguments from the function's ranges: half uniform, half log-uniform."""
    count = _EXACT_COUNT if dtype == "float64" else _COUNT
    random = np.random.default_rng(len(case.name))
    out = []
    for position, (low, high) in enumerate(case.ranges):
        even = random.uniform(low, high, count // 2)
        top, least = max(abs(low), abs(high)), max(low, 1e-12)
        exponents = random.uniform(_log(least), _log(top), count - count // 2)
        sizes = np.array([_exp(x) for x in exponents])
        signs = np.where(random.uniform(size=sizes.shape) < 0.5, -1, 1)
        steep = sizes * signs if low < 0 < high and -low == high else sizes
        steep = np.clip(steep, low, high)
        mixed = np.concatenate([even, steep]).astype(dtype)
        if position in _WHOLE.get(case.name, ()):
            mixed = np.floor(mixed)
        out.append(random.permutation(mixed) if len(case.ranges) > 1 else mixed)
    if case.name == "sph_harm_y":
        out[1] = np.minimum(out[0], out[1])
    return out


def _call(
    case: Case, fun: Callable[..., Any], args: Sequence[np.ndarray]
) -> np.ndarray:
    """The results, stacked before the axis of the arguments."""
    out = _CALLS[case.name](fun, *args) if case.name in _CALLS else fun(*args)
    if isinstance(out, (tuple, list)):
        out = np.stack([np.asarray(part) for part in out])
    return np.atleast_2d(np.asarray(out))


def _largest(units: np.ndarray, args: Sequence[np.ndarray]) -> Error:
    units = np.max(np.where(np.isnan(units), np.inf, units), axis=0, initial=0)
    worst = int(np.argmax(units))
    return Error(float(units[worst]), tuple(float(a[worst]) for a in args))


def _is_usual(size: np.ndarray, dtype: str) -> np.ndarray:
    """Whether magnitudes are neither subnormal nor nearly infinite."""
    info = np.finfo(dtype)
    return (size > info.tiny * 4) & (size < info.max / 4)


def expect(case: Case, args: Sequence[np.ndarray], dtype: str) -> np.ndarray:
    """What the function should give: float64's results are those that are stored."""
    if dtype == "float64":
        with np.load(EXACT_FILE) as stored:
            return np.asarray(stored[f"{case.page}.{case.name}"])
    with np.errstate(all="ignore"):
        return _call(case, case.reference, [a.astype(np.float64) for a in args])


def measure(library: str, case: Case, dtype: str) -> Error | None:
    """The error of a library that is imported, with 64 bits on; None: it has none."""
    place = importlib.import_module(f"{library}.{case.page}")
    for part in case.name.split("."):
        place = getattr(place, part, None)
    if place is None:
        return None
    args = draw(case, dtype)
    out, exact = _call(case, place, args), expect(case, args, dtype)
    with np.errstate(all="ignore"):
        unit = np.spacing(np.abs(exact).astype(dtype)).astype(np.float64)
        gaps = np.abs(out - exact) / unit
    return _largest(np.where(_is_usual(np.abs(exact), dtype), gaps, 0), args)


def _measure_all(library: str, names: list[str]) -> Iterator[list[Error | None]]:
    """Errors in float32 and float64 of functions, one after another."""
    importlib.import_module(library).config.update(f"{library}_enable_x64", True)
    importlib.import_module(f"{library}.scipy.stats")
    for case in cases():
        if not names or case.name in names:
            yield [measure(library, case, dtype) for dtype in ("float32", "float64")]


def _measure_apart(library: str, name: str) -> list[Error | None] | str:
    """The same of one function in a process, or the reason why there is nothing."""
    command = [sys.executable, "-m", "bench.accuracy", "--as-json", library, name]
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, timeout=_LIMIT_S, check=True
        )
    except subprocess.TimeoutExpired:
        return f"{library}'s {name} did not end in {_LIMIT_S} s"
    except subprocess.CalledProcessError as failure:
        return f"{library}'s {name}: {failure.stderr.strip().splitlines()[-1]}"
    return [None if e is None else Error(*e) for e in json.loads(run.stdout)]


def _show(value: Error | None, where: bool) -> str:
    if value is None:
        return ""
    point = ", ".join(f"{x:.6g}" for x in value.point)
    return f"{value.units:.3g}" + (f" at {point}" if where else "")


def _print_table(libraries: list[str], names: list[str], where: bool) -> None:
    columns = [f"{d} {a}" for d in ("float32", "float64") for a in libraries]
    print(f"| function | {' | '.join(columns)} |")
    print("|---" * (1 + len(columns)) + "|")
    chosen = [c for c in cases() if not names or c.name in names]
    for case, own in zip(chosen, _measure_all("olympus", names), strict=True):
        errors = [own]
        for library in libraries[1:]:
            other = _measure_apart(library, case.name)
            if isinstance(other, str):
                print(other, file=sys.stderr, flush=True)
                other = [None, None]
            errors.append(other)
        values = [_show(e[dtype], where) for dtype in (0, 1) for e in errors]
        name = f"{case.page}.{case.name}"
        print(f"| `{name}` | {' | '.join(values)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.accuracy")
    parser.add_argument("--jax", action="store_true", help="measure JAX as well")
    parser.add_argument("--where", action="store_true", help="print arguments as well")
    parser.add_argument("--as-json", metavar="LIBRARY", help="errors of one function")
    parser.add_argument("names", nargs="*", help="only these functions")
    options = parser.parse_args()
    if options.as_json:
        print(json.dumps(next(_measure_all(options.as_json, options.names))))
        return
    libraries = ["olympus", "jax"] if options.jax else ["olympus"]
    _print_table(libraries, options.names, options.where)


if __name__ == "__main__":
    main()
