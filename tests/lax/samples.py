"""Samples of every first-order primitive, and inputs they refuse."""

from __future__ import annotations

from tests.lax import (
    samples_elementwise,
    samples_reductions,
    samples_shaping,
    samples_slicing,
    samples_sorting,
)

_FAMILIES = (
    samples_elementwise,
    samples_shaping,
    samples_reductions,
    samples_slicing,
    samples_sorting,
)

SAMPLES = [s for family in _FAMILIES for s in family.SAMPLES]
ERRORS = [e for family in _FAMILIES for e in family.ERRORS]

WITHOUT_SAMPLE: dict[str, str] = {}
WITHOUT_REFERENCE = {
    "clz": "NumPy does not count leading zeros",
    "eq_to": "NumPy has no total order of floats",
    "le_to": "NumPy has no total order of floats",
    "lt_to": "NumPy has no total order of floats",
}
