"""The programs that are compiled beside JAX, and the judgement of their times."""

import json
import math

import pytest

import olympus
from bench import blowup_programs, blowups, models

LIB = models.Library("olympus")
SMALL = [(f.__name__, sizes[0]) for f, sizes in blowup_programs.SIZES.items()]


def lowered(name, size, seed=0):
    f, args = blowup_programs.make(LIB, name, size, seed, gradient=False)
    return olympus.jit(f).lower(*args).as_text()


@pytest.mark.parametrize(("name", "size"), SMALL)
def test_programs_grow_at_most_with_their_size(name, size):
    once, twice = (lowered(name, n).count("\n") for n in (size, 2 * size))
    assert twice < 2.5 * once + 20


def test_equal_seeds_give_equal_programs():
    assert lowered("chain", 20, 3) == lowered("chain", 20, 3)
    assert lowered("chain", 20, 3) != lowered("chain", 20, 4)


def test_every_class_is_listed_at_two_sizes_with_gradients():
    listed = blowups.programs(["chain", "grid"], [0, 1])
    assert len(listed) == len(set(listed)) == 2 * 2 * 2 * 2
    assert str(listed[1]) == "gradient of chain 20, seed 0"


def test_ratios_are_reported_beyond_the_limits():
    ours, theirs = blowups.Figures(1.6, 1.05e-3), blowups.Figures(1.0, 1e-3)
    assert blowups.lost(blowups.ratios(ours, theirs))
    assert not blowups.lost(blowups.ratios(blowups.Figures(1.4, 1e-3), theirs))
    assert blowups.lost(blowups.ratios(blowups.Figures(1.0, 1.2e-3), theirs))
    assert blowups.lost(blowups.ratios(blowups.ENDLESS, theirs))
    assert not blowups.lost(blowups.ratios(ours, blowups.ENDLESS))


def test_calls_of_next_to_nothing_are_equal():
    short, shorter = blowups.Figures(1.0, 4e-6), blowups.Figures(1.0, 3e-6)
    assert blowups.ratios(short, shorter).run == 1.0


def test_programs_after_an_endless_one_are_measured(monkeypatch):
    todo = blowups.programs(["chain"], [0])
    line = json.dumps((1.0, 2.0))
    answers = iter([([line], False), ([line], True), ([line], True)])
    monkeypatch.setattr(blowups, "_process", lambda *args: next(answers))
    found = blowups.figures("python", "olympus", todo[:3], 1.0)
    assert found == [(1.0, 2.0), blowups.ENDLESS, (1.0, 2.0)]


def test_a_process_that_dies_fails_one_program(monkeypatch):
    answers = iter([([], True), ([json.dumps((1.0, 2.0))], True)])
    monkeypatch.setattr(blowups, "_process", lambda *args: next(answers))
    todo = blowups.programs(["chain"], [0])[:2]
    found = blowups.figures("python", "olympus", todo, 1.0)
    assert math.isnan(found[0].compile)
    assert found[1] == (1.0, 2.0)
