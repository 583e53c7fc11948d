"""Every differentiable public function: all derivatives agree with each other.

The table of `tests/public_functions` says where functions are smooth. A run sweeps a
part of these points, which the seed in the report's header chooses; `OLYMPUS_SWEEP=all`
sweeps them all.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.public_functions import table
from tests.public_functions.points import SmoothCase
from tests.sampling import part
from tests.sweep.checking import check

# Factorisations and transforms compile for a second.
LONG = {"numpy.linalg", "numpy.fft", "lax.linalg"}
CASES = [(case, e.page in LONG) for e in table.ENTRIES for case in e.smooth_cases()]
SLOW_SHARE, QUICK = 40, 4  # one in so many cases; so many cases


def marks(i: int, is_long: bool) -> list[Any]:
    return [] if i < QUICK and not is_long else [pytest.mark.slow]


PARAMS = [
    pytest.param(case, marks=marks(i, is_long), id=f"{case.name}-{i}")
    for i, (case, is_long) in enumerate(part(CASES, SLOW_SHARE))
]


@pytest.mark.parametrize("case", PARAMS)
def test_all_derivatives_agree(case: SmoothCase) -> None:
    check(case)
