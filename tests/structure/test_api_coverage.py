"""tools/api_coverage says which functions take less than those of JAX."""

from __future__ import annotations

import pytest

from docs import checker


@pytest.fixture(scope="module")
def coverage():
    return checker.load("api_coverage")


@pytest.mark.parametrize(
    ("recorded", "ours"),
    [
        ("x y=", "x y="),
        ("x y", "x y="),  # more may be left out
        ("x y", "x y further="),
        ("x y", "x y further=@kw"),
        ("x", "x *further"),
        ("x", "x **further"),
        ("x@pos", "y"),  # its name is not used
        ("x@kw", "y= x"),  # also by position
        ("x y=@kw", "x y="),
        ("*args **kwargs", "*xs **options"),
        ("x _private=", "x"),
        ("", "x="),
    ],
)
def test_what_takes_all_calls_is_no_difference(coverage, recorded, ours):
    assert coverage.takes(recorded.split(), ours.split())


@pytest.mark.parametrize(
    ("recorded", "ours"),
    [
        ("x y", "x"),
        ("x y", "y x"),  # by position it is another
        ("x y", "x further= y"),
        ("x y=", "x y"),
        ("x", "x further"),
        ("x", "x further@kw"),
        ("x", "y"),
        ("x", "x@pos"),  # not by name
        ("x y", "x y@kw"),
        ("x=@kw", "x@kw"),
        ("x@kw", "x@pos"),
        ("x@kw", "**options"),  # which may do nothing
        ("*args", "x"),
        ("**kwargs", "*args"),
        ("_x", ""),
    ],
)
def test_what_takes_less_is_a_difference(coverage, recorded, ours):
    assert not coverage.takes(recorded.split(), ours.split())


def test_lists_and_truth_are_compared_in_both_directions(coverage):
    listed = [(m, n) for m, n, _ in coverage.rows("api_parameters.tsv")]
    compare = coverage.compare_list
    assert compare("api_parameters.tsv", listed, "less", "whole") == []
    (gone,) = compare("api_parameters.tsv", listed[1:], "less", "whole")
    module, name = map(coverage.ours, listed[0])
    assert gone.startswith(f"{module}.{name} is whole; take it from")
    names = [*listed, ("jax.numpy", "cos")]
    (found,) = compare("api_parameters.tsv", names, "less", "whole")
    assert found == "olympus.numpy.cos is less"


def test_every_difference_has_a_reason(coverage):
    for table in ("api_absent.tsv", "api_parameters.tsv"):
        assert all(len(row) == 3 and row[2] for row in coverage.rows(table))
