"""Every public function whose calls are drawn agrees with NumPy or SciPy.

A run takes a part of the entries and some cases of each, which the seed in the report's
header chooses; `OLYMPUS_SWEEP=all` takes all entries and more cases.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.differential import running
from tests.public_functions import table
from tests.public_functions.entries import Entry
from tests.sampling import EVERYTHING, SEED, is_in_part

CASES = 48 if EVERYTHING else running.GROUP
EAGER = 4 if EVERYTHING else running.GROUP
QUICK = 4  # entries among the quick tests


def is_taken(entry: Entry) -> bool:
    return is_in_part(entry.id, table.SHARES[entry.id])


TAKEN = [
    pytest.param(e, marks=[] if i < QUICK else [pytest.mark.slow], id=e.id)
    for i, e in enumerate(filter(is_taken, table.DRAWN))
]


@pytest.mark.parametrize("entry", TAKEN)
def test_cases_agree(entry: Entry, record_property: Callable[[str, Any], None]) -> None:
    out = running.sweep(entry, range(CASES), SEED, EAGER)
    record_property("cases run", out.cases)
    record_property("cases failed", len(out.failures))
    assert not out.failures, "\n" + "\n".join(map(str, out.failures))
