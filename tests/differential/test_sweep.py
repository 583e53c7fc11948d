"""Every public function of the swept pages agrees with NumPy or SciPy.

A run takes a part of the entries and some cases of each, which the seed in the report's
header chooses; `OLYMPUS_SWEEP=all` takes all entries and more cases.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.differential import complete, public_functions, running
from tests.differential.entries import Entry
from tests.sampling import EVERYTHING, SEED, is_in_part

CASES = 48 if EVERYTHING else running.GROUP
EAGER = 4 if EVERYTHING else running.GROUP
QUICK = 4  # entries among the quick tests


def is_taken(entry: Entry) -> bool:
    return is_in_part(entry.id, public_functions.SHARES[entry.id])


TAKEN = [
    pytest.param(e, marks=[] if i < QUICK else [pytest.mark.slow], id=e.id)
    for i, e in enumerate(filter(is_taken, public_functions.ENTRIES))
]


@pytest.mark.parametrize("page", complete.PAGES)
def test_every_public_function_is_in_a_table(page: str) -> None:
    """In a table, or among those that are tested elsewhere."""
    public, covered = public_functions.functions(page), public_functions.covered(page)
    elsewhere = complete.PAGES[page]
    assert public - covered - elsewhere == set()
    assert elsewhere & covered == set(), "in a table now: take it off the list"
    assert (covered | elsewhere) - public == set(), "not a function of the page"


@pytest.mark.parametrize("page", complete.PAGES_OF_CLASSES)
def test_every_class_is_in_a_table(page: str) -> None:
    """As functions are; a distribution is a module."""
    public = set(importlib.import_module(f"olympus.{page}").__all__)
    assert public - public_functions.covered(page) == complete.PAGES_OF_CLASSES[page]


@pytest.mark.parametrize("page", complete.PAGES)
def test_aliases_are_the_same_function(page: str) -> None:
    for alias, name in public_functions.ALIASES.get(page, {}).items():
        entry = next(
            e for e in public_functions.ENTRIES if (e.page, e.name) == (page, name)
        )
        assert Entry(page, alias, entry.draw).function() is entry.function()


@pytest.mark.parametrize("entry", TAKEN)
def test_cases_agree(entry: Entry, record_property: Callable[[str, Any], None]) -> None:
    out = running.sweep(entry, range(CASES), SEED, EAGER)
    record_property("cases run", out.cases)
    record_property("cases failed", len(out.failures))
    assert not out.failures, "\n" + "\n".join(map(str, out.failures))
