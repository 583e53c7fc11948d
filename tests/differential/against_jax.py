"""The same calls of olympus and of JAX, where that is installed: values, dtypes, weak
types and kinds of errors must be equal.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import olympus
from tests.differential import running
from tests.differential.comparing import Disagreement, agree, leaves
from tests.differential.running import Case, Failure, Outcome
from tests.public_functions.entries import Entry


def theirs(case: Case) -> Any:
    """What JAX gives for a case."""
    jax = importlib.import_module("jax")
    args, kwargs = case.call
    with jax.enable_x64(case.x64):
        return case.entry.function("jax")(*args, **kwargs)


def described(x: Any) -> str:
    if not hasattr(x, "dtype"):
        return type(x).__name__
    weak = getattr(x, "weak_type", False) or getattr(
        getattr(x, "aval", None), "weak_type", False
    )
    return f"{x.dtype}{list(x.shape)}{'*' if weak else ''}"


def quietly(f: Callable[[], Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return running.attempt(f)


def compare(case: Case) -> Failure | None:
    got = quietly(lambda: running.by_itself(case))
    want = quietly(lambda: theirs(case))
    if isinstance(want, Exception) or isinstance(got, Exception):
        if type(got).__name__ == type(want).__name__:
            return None
        return Failure(case, "jax", f"{brief(got)}, theirs {brief(want)}")
    types = [list(map(described, leaves(x))) for x in (got, want)]
    if types[0] != types[1]:
        return Failure(case, "jax", f"{types[0]}, theirs {types[1]}")
    scale = case.entry.size(case.call, [np.asarray(x) for x in leaves(want)])
    try:
        agree(got, want, case.entry.ulps, scale, signs=case.entry.signs)
    except Disagreement as e:
        return Failure(case, "jax", str(e))
    return None


def brief(x: Any) -> str:
    if isinstance(x, Exception):
        return f"{type(x).__name__}: {str(x).splitlines()[0] if str(x) else ''}"
    return ", ".join(map(described, leaves(x)))


def sweep(entry: Entry, numbers: range, seed: int, eager: int) -> Outcome:
    """As `running.sweep`, against JAX; all calls run outside of `jit`."""
    failures = []
    refused = 0
    for number in numbers:
        case = running.draw(entry, number, seed)
        refused += isinstance(case.want, Exception)
        failure = compare(case)
        if failure is not None:
            failures.append(failure)
    olympus.clear_caches()
    importlib.import_module("jax").clear_caches()
    return Outcome(len(numbers), refused, failures)
