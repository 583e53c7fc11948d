"""The benchmark's comparison of two sides, on figures that are given."""

from __future__ import annotations

import argparse
import io
import json

import pytest

from bench import __main__ as bench
from bench import comparing, turns
from bench.comparing import Figure

SIDES = ("after", "before")


def figures(after, before):
    return {
        "case": {"after": list(map(Figure, after)), "before": list(map(Figure, before))}
    }


@pytest.mark.parametrize(
    ("after", "before", "is_lost"),
    [
        ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], False),
        ([1.04, 1.04, 1.04], [1.0, 1.0, 1.0], False),  # within the tolerance
        ([1.06, 1.06, 1.06], [1.0, 1.0, 1.0], True),
        ([1.06, 1.06, 1.06], [0.9, 1.0, 1.1], False),  # within the noise of one side
        ([0.96, 1.06, 1.16], [1.0, 1.0, 1.0], False),  # or of the other
        (
            [1.0, 2.0, 4.0],
            [1.0, 2.0, 4.0],
            False,
        ),  # rounds of a machine that slows down
        ([1.1, 2.2, 4.4], [1.0, 2.0, 4.0], True),  # which hides no loss
        ([1.2, 1.21, 1.22], [0.9, 1.0, 1.1], True),  # beyond it
        ([1.0, 1.0, 9.0], [1.0, 1.0, 1.0], False),  # one round that was disturbed
        ([0.5, 0.5, 0.5], [1.0, 1.0, 1.0], False),
    ],
)
def test_what_is_lost(after, before, is_lost):
    lost = comparing.lost(figures(after, before), SIDES)
    assert lost == (["case"] if is_lost else [])


def test_noise_is_the_distance_of_the_quartiles():
    assert comparing.noise([1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx(2 / 3)
    assert comparing.noise([2.0, 2.0, 2.0]) == 0
    assert comparing.noise([2.0]) == 0


def test_a_row_has_processor_time_beside():
    row = comparing.row("case", [Figure(2.0, 6.0)], [Figure(1.0, 2.0)])
    assert (row.ratio, row.cpu) == (2.0, 3.0)
    assert comparing.row("case", [Figure(2.0)], [Figure(1.0)]).cpu is None


def test_a_case_that_fails_on_the_new_side_is_lost():
    found = figures([1.0], [1.0]) | {"gone": {"before": [Figure(1.0)]}}
    found["new"] = {"after": [Figure(1.0)]}
    assert comparing.lost(found, SIDES) == ["gone"]
    rows, missing = comparing.rows(found, SIDES)
    assert [row.case for row in rows] == ["case"]
    assert missing == ["gone", "new"]


def test_tables():
    found = figures([2e-3, 2e-3], [1e-3, 1e-3])
    text = bench.table(found, SIDES, (), budgets=False)
    assert "| case | 2.00 ms | 1.00 ms | 2.00 |  | 0% | lost |" in text
    found = {"eager x": {"olympus": [Figure(2e-6, 2e-6)], "jax": [Figure(4e-6, 8e-6)]}}
    found["eager x"]["numpy"] = [Figure(1e-6)]
    text = bench.table(found, ("olympus", "jax"), ["numpy"], budgets=True)
    assert (
        "| eager x | 2.0 µs | 4.0 µs | 0.50 | 0.25 | 0% | 0.80 | met | 1.0 µs | 2.00 |"
        in text
    )


def test_sets_of_groups():
    assert bench.groups_of("quick") == list(bench.QUICK)
    assert bench.groups_of("calls,ode,calls") == ["calls", "ode"]


class Runs:
    """Stands for processes: seconds by side, and how often each side was run."""

    def __init__(self, **seconds):
        self.seconds = seconds
        self.count = 0

    def one(self, side, group):
        self.count += 1
        seconds = self.seconds[side.name]
        return {"case": Figure(seconds.pop(0) if len(seconds) > 1 else seconds[0])}

    def together(self, sides, group, only=()):
        return {side.name: self.one(side, group) for side in sides}


@pytest.fixture
def compare(monkeypatch, tmp_path):
    """Compares two sides whose processes are given; returns the exit status."""

    class Checkouts:
        HERE = tmp_path

        def with_reference(self, reference):
            return self

        def __enter__(self):
            return tmp_path, tmp_path

        def __exit__(self, *error):
            return None

    def run(runs):
        monkeypatch.setattr(bench, "checkouts", Checkouts())
        monkeypatch.setattr(bench, "run_once", runs.one)
        monkeypatch.setattr(bench, "run_sides", runs.together)
        given = argparse.Namespace(against="HEAD", rounds=3)
        return bench.against(given, ["group"])

    return run


def test_what_seems_lost_is_timed_again(compare, capsys):
    # The first calls write bytecode; three disturbed rounds, then quiet ones.
    runs = Runs(after=[9.0, 2.0, 2.0, 2.0, 1.0], before=[9.0, 1.0])
    found, is_lost = compare(runs)
    assert not is_lost
    assert len(found["case"]["after"]) > 3
    assert "lost: nothing" in capsys.readouterr().out


def test_what_is_slower_each_time_fails(compare, capsys):
    found, is_lost = compare(Runs(after=[1.1], before=[1.0]))
    assert is_lost
    assert len(found["case"]["after"]) == 3 * (1 + bench._AGAIN)
    assert "lost: case" in capsys.readouterr().out
    json.dumps(found)


def test_what_is_equal_is_timed_once(compare):
    runs = Runs(after=[1.0], before=[1.0])
    assert not compare(runs)[1]
    assert runs.count == 2 + 2 * 3


class Slow:
    """A case of few turns, which needs something new each time."""

    turns = 2

    def prepare(self):
        return 1.0

    def run(self, new):
        assert new


class Bytes:
    def count(self):
        return 640


def test_a_worker_answers_about_its_cases(monkeypatch, capsys):
    from bench import worker

    def fails():
        raise ValueError("no such function")

    asked = [("warm", "f"), ("turn", "f"), ("warm", "slow"), ("turn", "slow")]
    asked += [("warm", "bytes"), ("turn", "bytes"), ("warm", "fails"), ("turn", "f")]
    lines = io.StringIO("".join(json.dumps(request) + "\n" for request in asked))
    monkeypatch.setattr(worker.sys, "stdin", lines)
    monkeypatch.setattr(worker, "BUDGET_S", 0.001)
    monkeypatch.setattr(worker.gc, "disable", lambda: None)  # for other tests' sake
    cases = {"f": lambda: 1.0, "slow": Slow(), "bytes": Bytes(), "fails": fails}
    worker.serve(cases, lambda x: None)
    out, err = capsys.readouterr()
    names, f, timed, slow, once, one, size, failed, again = map(
        json.loads, out.splitlines()
    )
    assert names == ["f", "slow", "bytes", "fails"]
    assert (f, slow, one) == (worker.TURNS, 2, 1)
    assert size == [640, None]
    assert failed is None
    assert "no such function" in err
    assert all(wall >= 0 for wall, _ in (timed, once, again))


def test_sides_take_turns(capsys):
    sides = [turns.Side(name, "olympus", turns.HERE) for name in ("one", "other")]
    found = turns.play(sides, "small_operations", ["small -x"])
    assert list(found) == ["one", "other"]
    for figures in found.values():
        assert list(figures) == ["small -x"]
        assert figures["small -x"].wall > 0
    absent = turns.play(sides[:1], "no such group")
    assert absent == {"one": {}}
    assert "no such group" in capsys.readouterr().err


def test_cases_of_every_group_are_known():
    from bench import worker

    groups = worker.groups()
    own = set(bench.WHOLE)
    for name in (*bench.GROUPS, *bench.QUICK, *bench.LARGE):
        assert name in own or name in groups, name
