"""Functions work where dtypes must agree and where ranks must: what they do inside is
their own affair.

Drawn calls whose arrays have one dtype, or one rank, are traced with the setting and
without; nothing is compiled. Calls that are refused without it do not count.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import olympus
from tests.differential import running
from tests.differential.running import Case
from tests.public_functions import table
from tests.public_functions.drawing import Draw
from tests.public_functions.entries import Entry
from tests.sampling import EVERYTHING, SEED

CASES = 16 if EVERYTHING else 3
PARTS = 4

# Here the caller's own numbers meet, or the table's own function does it.
REFUSED = {
    "strict": {
        # A spacing or a jump that is a float beside whole numbers.
        "numpy.gradient",
        "numpy.unwrap",
        "numpy.r_",
        # The table multiplies the factors, of which some are real.
        "numpy.linalg.eigh",
        "numpy.linalg.svd",
        "scipy.linalg.eigh",
        "scipy.linalg.svd",
    },
    "raise": {
        # The table's functions of vectors broadcast; so do its products of factors.
        "numpy.apply_along_axis",
        "scipy.linalg.lu",
    },
}
SETTINGS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "strict": (olympus.numpy_dtype_promotion, lambda x: x.dtype),
    "raise": (olympus.numpy_rank_promotion, np.ndim),
}


def draw(entry: Entry, number: int) -> Case:
    """As `running.draw`, without an oracle."""
    x64 = number % 2 == 1
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call = entry.draw(Draw(SEED, entry.id, number, x64))
    return Case(entry, number, x64, call, None)


def is_well_typed(case: Case, setting: str) -> bool:
    """Whether all arrays agree, and no Python number is of a higher kind."""
    arrays, _ = running.taken_apart(case.call)
    if len({SETTINGS[setting][1](x) for x in arrays}) != 1:
        return False
    # An integer is mostly an axis or a size; beside booleans here it is a value.
    is_value = case.entry.id == "numpy.where"
    kinds = (int, float, complex) if is_value else (float, complex)
    numbers = [x for x in case.call.args if isinstance(x, kinds)]
    return setting == "raise" or all(
        np.can_cast(type(x), arrays[0].dtype, "same_kind") for x in numbers
    )


def trace(case: Case, setting: Any) -> Any:
    """None, or the exception of a call that is traced."""
    arrays, put = running.taken_apart(case.call)

    def call(xs: Any) -> Any:
        args, kwargs = put(xs)
        return case.entry.function()(*args, **kwargs)

    with olympus.enable_x64(case.x64), setting:
        run = (lambda: olympus.eval_shape(call, arrays)) if case.entry.jit else None
        return running.attempt(run or (lambda: call(arrays)))


def failures(entry: Entry) -> list[str]:
    lines = []
    for number in range(CASES):
        case = draw(entry, number)
        for setting, (switch, _) in SETTINGS.items():
            if entry.id.partition("-")[0] in REFUSED[setting]:
                continue
            if not is_well_typed(case, setting):
                continue
            out = trace(case, switch(setting))
            if not isinstance(out, Exception):
                continue
            if not isinstance(trace(case, contextlib.nullcontext()), Exception):
                lines.append(f"{setting}: {case}: {out}")
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_functions_promote_nothing_of_their_own(part: int) -> None:
    lines = [line for e in table.DRAWN[part::PARTS] for line in failures(e)]
    assert not lines, "\n".join(lines)
