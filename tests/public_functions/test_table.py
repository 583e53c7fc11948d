"""Every public function is in the table, with all that the runners need of it."""

from __future__ import annotations

import importlib

import pytest

from tests.public_functions import table
from tests.public_functions.entries import NAMESPACES, Entry


@pytest.mark.parametrize("page", [*table.PAGES, *table.PAGES_OF_CLASSES])
def test_every_public_function_is_in_the_table(page: str) -> None:
    everything = set(importlib.import_module(f"olympus.{page}").__all__)
    is_of_classes = page in table.PAGES_OF_CLASSES
    needed = everything if is_of_classes else table.functions(page)
    names = set(table.entries_of(page))
    assert needed - names == set(), "add an entry: see tests/public_functions"
    assert names - everything == set(), "not a name of the page"


@pytest.mark.parametrize("page", [*table.PAGES, *table.PAGES_OF_CLASSES])
def test_calls_are_drawn_or_a_reason_is_given(page: str) -> None:
    for name, entries in table.entries_of(page).items():
        drawn = any(e.draw or e.alias for e in entries)
        assert drawn != any(e.undrawn for e in entries), f"{page}.{name}"


@pytest.mark.parametrize("page", table.SMOOTH_PAGES)
def test_points_where_functions_are_smooth_or_a_reason_is_given(page: str) -> None:
    by_name = table.entries_of(page)
    for name in table.functions(page):
        fields = [e.smooth for e in by_name[name] if e.name == name and e.smooth]
        assert len(fields) == 1, f"{page}.{name}: one field `smooth` of all its entries"


def test_pages_with_smooth_points_are_swept_for_completeness() -> None:
    pages = {e.page for e in table.ENTRIES if e.smooth}
    assert pages == set(table.SMOOTH_PAGES)


@pytest.mark.parametrize("page", NAMESPACES)
def test_types_are_recorded_or_a_reason_is_given(page: str) -> None:
    by_name = table.entries_of(page)
    for name in table.functions(page):
        own = [e for e in by_name[name] if e.name == name]
        recorded = any(e.types for e in own)
        assert recorded != any(e.unrecorded for e in own), f"{page}.{name}"


def test_aliases_are_the_same_function() -> None:
    for alias in (e for e in table.ENTRIES if e.alias):
        assert alias.function() is Entry(alias.page, alias.alias).function()
        assert any(e.draw for e in table.entries_of(alias.page)[alias.alias])


def test_entries_with_labels_are_drawn_alone() -> None:
    """The fields that other runners read are in the entry without a label."""
    for e in table.ENTRIES:
        assert not (e.label and (e.smooth or e.types or e.standard)), e.id


def test_ids_are_unique_among_drawn_entries() -> None:
    assert len({e.id for e in table.DRAWN}) == len(table.DRAWN)
