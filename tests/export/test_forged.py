"""Exported programs that were forged: errors of our own, and no end of the process."""

from __future__ import annotations

import contextlib
import json

import pytest

from olympus import export
from tests.export import mutation_trial


@pytest.fixture(scope="module")
def program():
    return mutation_trial.programs()[1]


def _with_size(data, size):
    header, sections = mutation_trial._split(data)
    text = json.dumps(header).replace('"n"', json.dumps(size))
    assert size in text
    return mutation_trial._joined(json.loads(text), sections)


SIZES = {
    "a power": "n^99999999",
    "a power of a number": "9^99999999",
    "a number": "9" * 5000,
    "nested": "max(" * 5000,
    "long": "n + " * 100_000 + "n",
}


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_sizes_that_would_take_for_ever(program, size):
    with pytest.raises(ValueError, match=r"export\.deserialize: "):
        export.deserialize(_with_size(program, size))


def test_changed_headers_raise_errors_of_our_own(program, rng):
    for _ in range(150):
        header, sections = mutation_trial._split(program)
        header["fields"] = mutation_trial._change_value(rng, header["fields"])
        with contextlib.suppress(TypeError, ValueError):
            export.deserialize(mutation_trial._joined(header, sections))


def test_a_module_read_elsewhere_first(program):
    header, sections = mutation_trial._split(program)
    forged = mutation_trial._joined(header, bytes(len(sections)))
    with pytest.raises(
        ValueError, match=r"export\.deserialize: .* module cannot be read"
    ):
        export.deserialize(forged, isolate=True)


@pytest.mark.slow
def test_mutations_do_not_end_the_process():
    wrong = []
    originals = mutation_trial.programs()
    for data in originals:
        assert mutation_trial.read_and_call(data, isolate=True) is None
        assert export.deserialize(data, isolate=True).fun_name == "scores"
    mutation_trial.run(20, 0, isolate=True, report=wrong.append)
    assert not wrong, "\n".join(wrong)
