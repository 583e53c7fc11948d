"""Every differentiable public function: all derivatives agree with each other.

A run sweeps a part of the cases, which the seed in the report's header chooses;
`OLYMPUS_SWEEP=all` sweeps them all.
"""

from __future__ import annotations

from typing import Any

import pytest

import olympus.lax
import olympus.lax.linalg
import olympus.nn
from tests.sampling import part
from tests.sweep import lax_cases, linalg_cases, nn_cases, numpy_cases
from tests.sweep.arguments import Case
from tests.sweep.checking import check

TABLES = {
    "numpy": ([olympus.numpy], numpy_cases),
    "lax": ([olympus.lax], lax_cases),
    "nn": ([olympus.nn], nn_cases),
    "linalg": (
        [olympus.numpy.linalg, olympus.numpy.fft, olympus.lax.linalg],
        linalg_cases,
    ),
}
CASES = [case for _, table in TABLES.values() for case in table.CASES]
SLOW_SHARE, QUICK = 16, 4  # one in so many cases; so many cases

_chosen = part(CASES, SLOW_SHARE)
_long = {id(case) for case in linalg_cases.CASES}  # compile for a second


def marks(i: int, case: Case) -> list[Any]:
    return [] if i < QUICK and id(case) not in _long else [pytest.mark.slow]


PARAMS = [
    pytest.param(c, marks=marks(i, c), id=f"{c.name}-{i}")
    for i, c in enumerate(_chosen)
]


@pytest.mark.parametrize(("modules", "table"), TABLES.values(), ids=TABLES)
def test_every_public_function_is_in_a_table(modules: Any, table: Any) -> None:
    """In the table of those swept, or among those that have no derivative."""
    public = {
        name
        for module in modules
        for name in module.__all__
        if callable(getattr(module, name))
        and not isinstance(getattr(module, name), type)
        and not hasattr(getattr(module, name), "bind")
    }
    swept = {case.name for case in table.CASES}
    others = table.WITHOUT_DERIVATIVE | getattr(table, "ELSEWHERE", set())
    assert public - swept - others == set()
    assert (swept | others) - public == set()
    assert swept & others == set()


@pytest.mark.parametrize("case", PARAMS)
def test_all_derivatives_agree(case: Case) -> None:
    check(case)
