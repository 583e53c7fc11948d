"""Which process is named for which signs, without processes."""

from __future__ import annotations

import pytest

from olympus._src.runtime import peers
from olympus._src.runtime.coordination_service import Beat, Signs

LIMITS = peers.Limits(silence_s=3.0, lag_s=20.0)
RUNNING = Beat(9, 5, program="jit_f")
LATE = Beat(9, 4, program="jit_f")

# Beats of processes 1 and 2; when they came and moved; how long this process waits at
# step 5; who is named, and how.
CASES = {
    "all is well": (RUNNING, RUNNING, 0.0, 100.0, None, None),
    "silence": (RUNNING, RUNNING, 3.5, None, 1, "process 1 has given no sign .* 3.5 s"),
    "silence of one that ended": (
        Beat(9, 5, True), Beat(9, 5, True), 50.0, 1.0, None, None
    ),
    "late": (RUNNING, LATE, 0.0, 19.0, None, None),
    "too late": (RUNNING, LATE, 0.0, 21.0, 2, "process 2 lives, .* 21.0 s.* step 5"),
    "too late and silent": (
        RUNNING, LATE, 2.0, 25.0, 2, "process 2 has given no sign .* 2.0 s, and has st"
    ),
    "late, and nobody waits": (RUNNING, LATE, 0.0, None, None, None),
    "ended before": (Beat(9, 4, True), RUNNING, 0.0, 0.1, 1, "process 1 has ended, wh"),
    "ended before, and nobody waits": (
        Beat(9, 4, True), RUNNING, 0.0, None, None, None
    ),
    "ended after": (Beat(9, 6, True), RUNNING, 0.0, 0.1, None, None),
    "ended by another": (
        Beat(9, 6, True, 2), RUNNING, 0.0, 0.1, 2, "process 2 has failed, as process 1"
    ),
    "ended by this one": (
        Beat(9, 6, True, 0), RUNNING, 0.0, 0.1, 1, "has ended, as it waited for this"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_failure_is_named(name):
    first, second, silence_s, waiting_s, process, message = CASES[name]
    signs = Signs([1, 2], 0.0)
    now = 200.0
    rows = [("a/1", first.text()), ("a/2", second.text()), ("a/0", RUNNING.text())]
    signs.note(rows, now - silence_s - 50)
    for beat in (first, second):
        beat.count += 1
    rows = [("a/1", first.text()), ("a/2", second.text())]
    signs.note(rows, now - silence_s)
    failure = peers.find_failure(signs, 5, waiting_s, LIMITS, now)
    for beat in (first, second):
        beat.count -= 1
    if process is None:
        assert failure is None
        return
    assert (failure.process_index, failure.step) == (process, signs.beats[process].step)
    with pytest.raises(RuntimeError, match=message):
        raise failure


def test_no_limit_of_lag():
    signs = Signs([1], 0.0)
    signs.note([("a/1", LATE.text())], 999.9)
    limits = peers.Limits(silence_s=3.0, lag_s=0.0)
    assert peers.find_failure(signs, 5, 999.0, limits, 1000.0) is None


def test_all_are_gone():
    signs = Signs([1, 2], 0.0)
    signs.note([("a/1", Beat(1, 0, True).text()), ("a/2", RUNNING.text())], 1.0)
    assert not signs.are_all_gone(3.0, 2.0)
    assert signs.are_all_gone(3.0, 4.5)
    assert Signs([], 0.0).are_all_gone(3.0, 0.0)


def test_a_beat_is_read_as_it_was_written():
    beat = Beat(3, 4, True, 2, "jit a name")
    again = Beat.parse(beat.text())
    assert again.text() == beat.text()
    assert again.program == "jit a name"
