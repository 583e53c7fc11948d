"""Every differentiable primitive, at its samples: all derivatives agree.

A run sweeps a part of the samples, which the seed in the report's header chooses;
`OLYMPUS_SWEEP=all` sweeps them all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from olympus._src.lax import scatter
from tests.lax import samples
from tests.lax.test_rules import doubled
from tests.public_functions.points import SmoothCase
from tests.sampling import part
from tests.sweep.checking import check

SLOW_SHARE, QUICK = 45, 3  # one in so many samples; the first so many
WIDE = {np.dtype(np.float32): np.float64, np.dtype(np.complex64): np.complex128}


def differs(s: Any) -> bool:
    """Whether the derivative is not the limit of differences, by convention.

    That of a complex sign is zero; complex factors are determined but for a phase,
    whose own movement the rules leave out and LAPACK does not.
    """
    if all(a.dtype.kind != "c" for a in s.args):
        return False
    return s.p.name == "sign" or "linalg" in s.p.file


SMOOTH = [
    s
    for s in samples.SAMPLES
    if s.smooth
    and s.p.jvp is not None
    and any(a.dtype in WIDE and a.size for a in s.args)
    and not differs(s)
]


def marks(i: int, s: Any) -> list[Any]:
    """Factorisations compile for longer than a quick test may take."""
    return [] if i < QUICK and "linalg" not in s.p.file else [pytest.mark.slow]


_chosen = part(SMOOTH, SLOW_SHARE)
PARAMS = [
    pytest.param(s, marks=marks(i, s), id=f"{s!r}-{i}") for i, s in enumerate(_chosen)
]


def as_case(s: Any) -> SmoothCase:
    """The primitive as a function of those arguments that move."""
    params = doubled(s)
    if params.get("update_jaxpr") is not None:
        wide = WIDE.get(s.args[0].dtype)
        params["update_jaxpr"] = scatter.update_program(s.p, np.dtype(wide))
    moving = [i for i, a in enumerate(s.args) if a.dtype in WIDE]
    args = [a.astype(WIDE.get(a.dtype, a.dtype)) for a in s.args]

    def f(*xs: Any) -> Any:
        given = list(args)
        for i, x in zip(moving, xs, strict=True):
            given[i] = x
        return s.p.bind(*given, **params)

    return SmoothCase(s.p.name, f, tuple(args[i] for i in moving))


@pytest.mark.slow
@pytest.mark.parametrize("s", PARAMS)
def test_all_derivatives_agree(s: Any) -> None:
    check(as_case(s))
