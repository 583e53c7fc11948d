"""Applies operations at random: no input may end the process, or show an inner error.

    python -m tests.lax.random_operations [--count N] [--seed SEED] [--only NAME]

Each case is a sample of a primitive, or a call of a public function of `lax`, with
other dtypes, sizes and parameters, run eagerly and jitted. Cases run in processes of
their own, a few hundred in each: where one dies or hangs, the case is printed and the
next process goes on behind it.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import json
import math
import subprocess
import sys
import warnings

import numpy as np

_CHUNK = 250
_HANG_S = 60

# What users are promised to see. A device may refuse for want of memory.
_OWN = (
    NameError,
    TypeError,
    ValueError,
    OverflowError,
    NotImplementedError,
    IndexError,
)
_MEMORY = "RESOURCE_EXHAUSTED"

_ODD_INTS = (-1, 0, 1, 2, 3, 7, -5, 1 << 31, (1 << 31) - 1, 1 << 62, (1 << 63) - 1)
_ODD_INTS += (1 << 64, -(1 << 63))
# Multiples of 2**36 elements end the process in XLA for the CPU of jaxlib 0.12.
_HUGE = ((1 << 31) - 1, 1 << 31, (1 << 40) + 1, 1 << 62, (1 << 63) - 1)
# Larger arrays are compiled for, not made.
_MAX_ELEMENTS = 1 << 16

_DTYPES = [
    "bool",
    "int2",
    "uint2",
    "int4",
    "uint4",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3b11fnuz",
    "float8_e5m2fnuz",
    "float8_e3m4",
    "float8_e8m0fnu",
    "float4_e2m1fn",
]


class _Draw:
    """Random parts of cases, from one generator."""

    def __init__(self, seed, number):
        self.rng = np.random.default_rng([seed, number])

    def chance(self, share):
        return self.rng.random() < share

    def pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def dtype(self):
        from olympus import dtypes

        return np.dtype(dtypes.canonicalize_dtype(_named(self.pick(_DTYPES))))

    def size(self):
        return self.pick(_HUGE) if self.chance(0.3) else self.pick((0, 1, 2, 3, 5))

    def shapes(self, shapes):
        """The shapes with one size, where it occurs, replaced; or with another rank."""
        sizes = sorted({d for shape in shapes for d in shape})
        if self.chance(0.25) or not sizes:
            i = int(self.rng.integers(len(shapes))) if shapes else 0
            other = tuple(self.size() for _ in range(self.rng.integers(0, 4)))
            return [other if j == i else s for j, s in enumerate(shapes)]
        old, new = self.pick(sizes), self.size()
        return [tuple(new if d == old else d for d in s) for s in shapes]

    def other(self, value):
        """A value of about the same kind."""
        if isinstance(value, bool):
            return not value
        if isinstance(value, (int, np.integer)):
            near = (int(value) + 1, int(value) - 1)
            return self.pick(near if self.chance(0.4) else _ODD_INTS)
        if isinstance(value, float):
            return self.pick((0.0, -1.0, float("nan"), float("inf"), 1e308))
        if isinstance(value, np.dtype):
            return self.dtype()
        if type(value) in (tuple, list):
            return type(value)(self._other_items(list(value)))
        return value

    def _other_items(self, items):
        choice = self.rng.integers(4)
        if not items or choice == 0:
            return [*items, self.pick(_ODD_INTS) if not items else items[-1]]
        i = int(self.rng.integers(len(items)))
        if choice == 1:
            return items[:i] + items[i + 1 :]
        items[i] = self.other(items[i])
        return items

    def array(self, shape, dtype):
        """An array, a random key, or the type of an array that is not made."""
        import olympus

        if isinstance(dtype, str):
            key = olympus.random.key(0, impl=dtype)
            kind = olympus.ShapeDtypeStruct(shape, key.dtype)
            return kind if _is_large(shape) else olympus.random.split(key, shape)
        if _is_large(shape):
            return olympus.ShapeDtypeStruct(shape, dtype)
        values = self.rng.integers(-2, 3, shape) * self.pick((1, 1, 1, 100))
        if dtype.kind not in "iub" and self.chance(0.2):
            values = np.where(values > 0, np.inf, np.where(values < 0, np.nan, 0.5))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(values).astype(dtype)


def _named(name):
    import ml_dtypes

    return getattr(np, name) if hasattr(np, name) else getattr(ml_dtypes, name)


class _Case:
    """A function, its arguments and parameters."""

    def __init__(self, name, fun, args, params):
        self.name = name
        self.fun = fun
        self.args = args
        self.params = params

    def __str__(self):
        kinds = ", ".join(
            f"{a.dtype}{list(a.shape)}" if hasattr(a, "dtype") else repr(a)
            for a in self.args
        )
        shown = ", ".join(f"{k}={v!r}" for k, v in self.params.items())
        return f"{self.name}({kinds}; {shown})"


def _primitive_case(draw, only):
    from tests.lax.samples import SAMPLES

    samples = [s for s in SAMPLES if only in (None, s.p.name)]
    sample = draw.pick(samples)
    dtypes = [a.dtype for a in sample.args]
    shapes = [a.shape for a in sample.args]
    params = dict(sample.params)
    if draw.chance(0.7):
        new = draw.dtype()
        if draw.chance(0.7):  # of arguments alike, all change
            old = draw.pick(dtypes) if dtypes else None
            dtypes = [new if d == old else d for d in dtypes]
        else:
            dtypes = [draw.dtype() if draw.chance(0.5) else d for d in dtypes]
        if draw.chance(0.05) and dtypes:
            dtypes[0] = "threefry2x32"
    if draw.chance(0.4):
        shapes = draw.shapes(shapes)
    if params and draw.chance(0.5):
        name = draw.pick(sorted(params))
        params[name] = draw.other(params[name])
    args = [draw.array(s, d) for s, d in zip(shapes, dtypes, strict=True)]
    return _Case(sample.p.name, sample.p.bind, args, params)


def _public_case(draw, only):
    import inspect

    from olympus import lax

    names = [n for n in lax.__all__ if _is_plain(getattr(lax, n))]
    name = draw.pick([n for n in names if only in (None, n)] or names)
    fun = getattr(lax, name)
    shape = tuple(draw.size() for _ in range(draw.rng.integers(0, 4)))
    dtype = draw.dtype()
    args, params = [], {}
    for parameter in inspect.signature(fun).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is not parameter.empty:
            if draw.chance(0.3):
                params[parameter.name] = _value(draw, parameter, shape, dtype)
        elif parameter.kind is parameter.KEYWORD_ONLY:
            params[parameter.name] = _value(draw, parameter, shape, dtype)
        else:
            args.append(_value(draw, parameter, shape, dtype))
    return _Case(f"lax.{name}", fun, args, params)


# They need functions of the user's, or do more than compute.
_NOT_CALLED = frozenset(["infeed", "outfeed", "create_token"])


def _is_plain(fun):
    import inspect

    if not inspect.isfunction(fun) or fun.__name__ in _NOT_CALLED:
        return False
    functions = ("Callable", "callable")
    return not any(
        word in str(p.annotation)
        for p in inspect.signature(fun).parameters.values()
        for word in functions
    )


def _value(draw, parameter, shape, dtype):
    kind = str(parameter.annotation)
    if draw.chance(0.05):
        return draw.pick((None, "", "x", 1.5, (), (1, "a"), 1j, [[1]], object))
    if "Sequence[ArrayLike]" in kind or "Sequence[Array" in kind:
        return [draw.array(shape, dtype) for _ in range(draw.rng.integers(0, 4))]
    if "Array" in kind:
        if draw.chance(0.2):
            shape = draw.shapes([shape])[0]
        return draw.array(shape, draw.dtype() if draw.chance(0.15) else dtype)
    if "DType" in kind:
        return draw.dtype()
    if "bool" in kind and "Sequence" not in kind:
        return draw.chance(0.5)
    if "Sequence" in kind or "Shape" in kind or "tuple" in kind:
        if draw.chance(0.3):
            return tuple(shape)
        length = draw.pick((len(shape), len(shape), 0, 1, 2))
        pool = (0, 1, 2, -1) if draw.chance(0.7) else _ODD_INTS
        items = [draw.pick(pool) for _ in range(length)]
        pairs = draw.chance(0.2) or "pad" in parameter.name
        return [(i, draw.pick(pool)) for i in items] if pairs else items
    if "int" in kind:
        return draw.pick((0, 1, 2, -1) if draw.chance(0.7) else _ODD_INTS)
    if "float" in kind:
        return draw.pick((0.0, 0.5, -1.0, float("nan"), float("inf")))
    if "str" in kind:
        return draw.pick(("", "SAME", "VALID", "clip", "drop", "x"))
    return draw.pick((None, 0, 1, (), (1,)))


def make_case(seed, number, only=None):
    """The case of a number, which depends on nothing else."""
    draw = _Draw(seed, number)
    if draw.chance(0.65):
        return _primitive_case(draw, only)
    return _public_case(draw, only)


def _is_array(x):
    return hasattr(x, "shape") and hasattr(x, "dtype")


def run_case(case):
    """Runs a case jitted and eagerly; returns what happened, and a text about it."""
    import olympus

    arrays = [x for x in case.args if _is_array(x)]
    made = not any(isinstance(x, olympus.ShapeDtypeStruct) for x in arrays)

    def whole(*arrays):
        given = iter(arrays)
        args = [next(given) if _is_array(x) else x for x in case.args]
        return case.fun(*args, **case.params)

    def eager():
        olympus.block_until_ready(case.fun(*case.args, **case.params))

    def jitted():
        program = olympus.jit(whole).lower(*arrays)
        out = olympus.tree.leaves(program.out_info)
        if any(_is_long_and_empty(x.shape) for x in (*arrays, *out)):
            raise MemoryError  # it is not compiled
        compiled = program.compile()
        if not made or any(_is_large(x.shape) for x in out):
            raise MemoryError  # it is not run
        olympus.block_until_ready(compiled(*arrays))

    for way in (jitted, eager) if made else (jitted,):
        try:
            way()
        except MemoryError:
            return "compiled", None
        except _OWN as error:
            outcome = "refused", str(error)
        except Exception as error:
            if _MEMORY in str(error):
                return "refused", None
            return "wrong", f"{way.__name__}: {type(error).__name__}: {error!s:.300}"
        else:
            outcome = "ran", None
    return outcome


def _is_long_and_empty(shape):
    """Whether XLA, which goes along axes before an empty one, compiles for minutes."""
    return 0 in shape and math.prod(shape[: shape.index(0)]) > 2**24


def _is_large(shape):
    return any(d > _MAX_ELEMENTS for d in shape) or math.prod(shape) > _MAX_ELEMENTS


def _run_chunk(seed, start, stop, only):
    """Runs cases, saying each on standard output before it begins."""
    warnings.simplefilter("ignore")
    for number in range(start, stop):
        faulthandler.dump_traceback_later(_HANG_S, exit=True)
        case = make_case(seed, number, only)
        print(json.dumps([number, "begin", str(case)]), flush=True)
        print(json.dumps([number, *run_case(case)]), flush=True)
    faulthandler.cancel_dump_traceback_later()


def run(count, seed, only=None, report=print):
    """Runs cases in processes of their own.

    Returns:
      The numbers of deaths of a process and of errors that are not ours.
    """
    tally = collections.Counter()
    start = 0
    while start < count:
        stop = min(count, start + _CHUNK)
        chunk = f"{start},{stop}"
        command = [sys.executable, "-m", "tests.lax.random_operations"]
        command += ["--seed", str(seed), "--chunk", chunk]
        command += ["--only", only] if only else []
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )
        last = None
        for line in done.stdout.splitlines():
            number, what, text = json.loads(line)
            if what == "begin":
                last = (number, text)
                continue
            tally[what] += 1
            if what == "wrong":
                report(f"{number}: {last[1]}\n    {text}")
        if done.returncode == 0:
            start = stop
            continue
        tally["dead"] += 1
        begun = (start, "before any case") if last is None else last
        tail = "\n    ".join(done.stderr.strip().splitlines()[-6:])
        report(f"{begun[0]}: DIED ({done.returncode}): {begun[1]}\n    {tail}")
        start = begun[0] + 1
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--chunk", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.chunk:
        start, stop = map(int, options.chunk.split(","))
        _run_chunk(options.seed, start, stop, options.only)
        return
    tally = run(options.count, options.seed, options.only)
    print(
        f"{options.count} cases: {tally['dead']} processes died, "
        f"{tally['wrong']} errors that are not ours ({tally['ran']} ran, "
        f"{tally['compiled']} were compiled, {tally['refused']} refused)"
    )
    sys.exit(bool(tally["dead"] or tally["wrong"]))


if __name__ == "__main__":
    main()
