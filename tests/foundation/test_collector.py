"""Blocks that the garbage collector leaves alone, and imports in them."""

from __future__ import annotations

import gc

import pytest

from olympus._src.foundation.collector import Paused
from tests import fresh


@pytest.fixture(autouse=True)
def _as_it_was():
    thresholds, enabled = gc.get_threshold(), gc.isenabled()
    yield
    gc.set_threshold(*thresholds)
    (gc.enable if enabled else gc.disable)()


_BLOCK = """
import gc
from olympus._src.foundation.collector import Paused

def make_objects():
    return [[i] for i in range(20_000)]

def count_collections(make):
    seen = []
    gc.callbacks.append(lambda phase, info: seen.append(phase))
    kept = make()
    gc.callbacks.pop()
    return len(seen)

def make():
    with Paused():
        kept = make_objects()
    young = {id(x) for generation in (0, 1) for x in gc.get_objects(generation)}
    assert id(kept[0]) not in young and id(kept[-1]) not in young

before = gc.get_threshold()
assert count_collections(make_objects) > 0
assert count_collections(make) == 0
assert gc.get_threshold() == before and gc.isenabled()
assert count_collections(make_objects) > 0
"""


def test_a_block_has_no_collections_and_those_after_do_not_walk_over_what_it_made():
    fresh.run(_BLOCK)


def test_garbage_of_a_block_is_collected_later():
    gc.collect()
    with Paused():
        cycle = []
        cycle.append(cycle)
        del cycle
    assert gc.collect() >= 1


def test_collections_begin_again_after_an_error():
    before = gc.get_threshold()
    with pytest.raises(ValueError, match="inside"), Paused():
        raise ValueError("inside")
    assert gc.get_threshold() == before


def test_a_block_in_a_block_ends_nothing():
    before = gc.get_threshold()
    with Paused():
        with Paused():
            inside = gc.get_threshold()
        assert gc.get_threshold() == inside != before
    assert gc.get_threshold() == before


@pytest.mark.parametrize("before", [True, False], ids=["before", "meanwhile"])
def test_a_user_who_turns_collections_off_has_them_off(before):
    thresholds = gc.get_threshold()
    if before:
        gc.disable()
    with Paused():
        gc.disable()
    assert not gc.isenabled()
    assert gc.get_threshold() == thresholds


def test_a_threshold_that_is_set_meanwhile_holds():
    with Paused():
        gc.set_threshold(123, 4, 5)
    assert gc.get_threshold()[:2] == (123, 4)
    gc.set_threshold(0)
    with Paused():
        assert gc.get_threshold()[0] == 0
    assert gc.get_threshold()[0] == 0


def test_what_a_user_has_frozen_stays_so():
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        with Paused():
            pass
        assert abs(gc.get_freeze_count() - count) < 100
    finally:
        gc.unfreeze()


_IMPORT = """
import gc, sys
{before}
import numpy
was = gc.get_threshold(), gc.isenabled()
frozen = gc.get_freeze_count()
phases = []
gc.collect()
# Some may be due before the block in the package begins, whose first lines Python
# compiles where it keeps no bytecode of them.
gc.callbacks.append(lambda *args: phases.append("olympus._src.api" in sys.modules))
try:
    import olympus
except ImportError as error:
    print(type(error).__name__)
else:
    print(not any(phases))
assert (gc.get_threshold(), gc.isenabled()) == was
# Python 3.12 itself starts with some hundreds.
assert gc.get_freeze_count() == frozen or gc.get_freeze_count() == 0 and frozen < 1000
"""


@pytest.mark.parametrize(
    ("before", "shown"),
    [
        ("", "True"),
        ("gc.disable()", "True"),
        ("gc.set_threshold(500, 5, 5)", "True"),
        ("sys.modules['jaxlib'] = None", "ModuleNotFoundError"),
    ],
    ids=["plain", "disabled", "thresholds", "without jaxlib"],
)
@pytest.mark.parametrize("is_compiled", [True, False], ids=["bytecode", "source"])
def test_importing_olympus_leaves_the_collector_as_it_was(
    before, shown, is_compiled, tmp_path
):
    kept = {} if is_compiled else {"PYTHONPYCACHEPREFIX": str(tmp_path)}
    out, _ = fresh.run(_IMPORT.format(before=before), **kept)
    assert out == f"{shown}\n"
