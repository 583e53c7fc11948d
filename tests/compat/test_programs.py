"""Programs written for JAX, run under the door, print what JAX printed."""

import subprocess
import sys

import pytest

from tests.compat import differences, program_table

# A few of each group run every time; the rest are slow for the programs they compile.
QUICK = [
    "concepts_tracing",
    "errors_classes",
    "facts_versions",
    "pytrees_basics",
    "reprs_jaxprs",
    "reprs_objects",
]
NAMES = program_table.list_programs()
SLOW = program_table.group_programs([name for name in NAMES if name not in QUICK])


def check(names):
    printed = program_table.run_programs(names)
    outcomes = {
        name: differences.compare(name, program_table.read_record(name), printed[name])
        for name in names
    }
    assert not {name: both for name, both in outcomes.items() if any(both)}


def test_programs_print_what_they_print_on_jax():
    check(QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("group", SLOW)
def test_other_programs_print_what_they_print_on_jax(group):
    check(SLOW[group])


def test_each_program_has_a_record_and_each_record_a_program():
    records = {path.stem for path in program_table.RECORDS.glob("*.txt")}
    assert records == set(NAMES)
    assert len(NAMES) >= 60
    assert set(differences.INTENDED) <= records


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("x 1.0", "x 1.1"),
        ("x 1", "x 2"),
        ("x", "y"),
        ("[1.5 2.5]", "[1.5]"),
        ("1e-05", "2e-05"),
        ("mul a b", "mul b a"),
    ],
)
def test_lines_that_differ_are_told(theirs, ours):
    assert not program_table.agree(theirs, ours)
    assert differences.compare("none", [theirs], [ours]) == ([(1, theirs, ours)], [])


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("[0.1  2. ]", "[0.10000001 2.]"),
        ("b:f32[] = jit[", "b:f32[] = pjit["),
        ("reduce_sum[axes=(0,) out_sharding=None] c", "reduce_sum[axes=(0,)] c"),
    ],
)
def test_lines_that_say_the_same_agree(theirs, ours):
    assert program_table.agree(theirs, ours)


def test_missing_lines_and_stale_entries_are_told(monkeypatch):
    monkeypatch.setitem(differences.INTENDED, "p", [("a", "b", "reason")])
    assert differences.compare("p", ["a"], ["b"]) == ([], [])
    assert differences.compare("p", ["a"], ["a"]) == ([], ["a"])
    assert differences.compare("p", ["a", "c"], ["b"]) == ([(2, "c", "(no line)")], [])


def test_an_exception_is_a_line_of_the_programs_text(tmp_path):
    program = tmp_path / "fails.py"
    program.write_text("print('first')\n1 / 0\n")
    runner = [sys.executable, "-c", _RUN_ONE, str(program_table.RUNNER), str(program)]
    done = subprocess.run(runner, capture_output=True, text=True, check=True)
    assert "['first', 'ENDED BY ZeroDivisionError: division by zero']" in done.stdout


_RUN_ONE = """
import pathlib, runpy, sys
runner = runpy.run_path(sys.argv[1])
program = pathlib.Path(sys.argv[2])
runner["run_program"].__globals__["FOLDER"] = program.parent
print(runner["run_program"](program.stem))
"""
