"""Each test begins without notes of those before it."""

from __future__ import annotations

import pytest

from olympus._src.explanations import records


@pytest.fixture(autouse=True)
def no_earlier_notes():
    records.forget()
