"""The tables of causes: each is explained by what changed, at its line, with its cure.

A few entries may lack something, none may be told what is not so.
"""

from __future__ import annotations

import pytest

import olympus
from tests.explanations import (
    causes,
    causes_devices,
    causes_last,
    causes_more,
    causes_rare,
    causes_unseen,
    harness,
)

TABLE = [
    *causes.CAUSES,
    *causes_more.CAUSES,
    *causes_rare.CAUSES,
    *causes_unseen.CAUSES,
    *causes_last.CAUSES,
]


@pytest.fixture(autouse=True)
def restored_settings():
    before = dict(olympus.config.values)
    yield
    assert dict(olympus.config.values) == before


def check(cause):
    verdict = harness.judge(cause)
    assert verdict.is_right, f"{verdict.told} where {cause.changes} was expected"
    assert verdict.cure == cause.cure
    assert verdict.at_line, f"at {verdict.record.site}"
    lines = verdict.record.cause.splitlines()
    assert len(lines) <= 5
    assert " at 0x" not in repr(verdict.record)


@pytest.mark.parametrize("cause", TABLE, ids=lambda c: c.name)
def test_what_is_told(cause):
    check(cause)


@pytest.mark.eight_devices
@pytest.mark.parametrize("cause", causes_devices.CAUSES, ids=lambda c: c.name)
def test_what_is_told_of_devices(cause):
    check(cause)


def test_the_tables_have_many_causes_of_many_kinds():
    whole = [*TABLE, *causes_devices.CAUSES]
    assert len({c.name for c in whole}) == len(whole) >= 60
    assert len({c.cure for c in whole}) >= 15
