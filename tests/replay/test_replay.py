"""The comparison of two versions' programs sees what differs, and nothing else."""

from __future__ import annotations

import itertools

from tests.replay.comparing import Renamings
from tests.replay.programs import describe, programs


def test_texts_equal_but_for_names_are_explained():
    renamings = Renamings()
    assert renamings.explain("a = _turned x _turned", "a = _rotate x _rotate")
    assert renamings.pairs == {"_turned": "_rotate"}


def test_a_name_stands_for_one_other_everywhere():
    renamings = Renamings()
    assert not renamings.explain("_turned _turned", "_rotate _flip")
    assert renamings.pairs == {}
    assert renamings.explain("_turned", "_rotate")
    assert not renamings.explain("_turned", "_flip")


def test_other_differences_are_seen():
    for before, after in [("add a b", "add b a"), ("f32[3]", "f32[4]"), ("x", "x x")]:
        assert not Renamings().explain(before, after)


def test_programs_are_described_the_same_way_twice():
    some = list(itertools.islice(programs(), 0, 120, 7))
    texts = [describe(p) for p in some]
    assert texts == [describe(p) for p in some]
    assert sum("stablehlo" in text for text in texts) > len(texts) - 3
