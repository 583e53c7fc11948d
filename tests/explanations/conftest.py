"""Each test begins without notes of those before it."""

from __future__ import annotations

import pytest

from olympus._src.explanations import records
from olympus._src.foundation import compiler_settings


@pytest.fixture(autouse=True)
def no_earlier_notes():
    records.forget()


@pytest.fixture(autouse=True)
def eager_programs_are_compiled():
    """What NumPy computes has no notes."""
    with compiler_settings.first_runs_by_numpy(False):
        yield
