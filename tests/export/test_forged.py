"""Exported programs that were forged: errors of our own, and no end of the process."""

from __future__ import annotations

import contextlib
import json
import subprocess

import disk_caches
import numpy as np
import pytest

import olympus
from olympus import export
from olympus._src.runtime import portable, screening
from tests.export import mutation_trial
from tests.sampling import EVERYTHING, SEED

MUTATIONS = 60 if EVERYTHING else 30


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


def test_sizes_of_results_that_nothing_gives(program):
    header, sections = mutation_trial._split(program)
    shape = header["fields"]["out_avals"][0]["shape"]
    shape[0] = "p"
    with pytest.raises(ValueError, match="sizes of out_avals must follow"):
        export.deserialize(mutation_trial._joined(header, sections))


UNKNOWN = ["shabe_assertion", "shape assertio", "shape_assertio\\"]


@pytest.mark.slow
@pytest.mark.parametrize("name", UNKNOWN)
def test_custom_calls_that_nobody_answers_for(program, name):
    forged = bytes(program).replace(b"shape_assertion", name.encode().ljust(15, b"2"))
    header, sections = mutation_trial._split(forged)
    read = export.deserialize(mutation_trial._joined(header, sections))
    args = ({"w": np.ones((3, 2), np.float32)}, np.ones((4, 3), np.float32))
    with pytest.raises(ValueError, match=r"targets that its exporter allowed"):
        read.call(*args)


FORGED = {"zeros": bytes(3000), "no module": b"ML\xefR\x0dnothing" + bytes(100)}


@pytest.mark.slow
@pytest.mark.parametrize("module", FORGED.values(), ids=FORGED)
def test_unknown_modules_are_read_elsewhere_first(program, module, monkeypatch):
    unread = lambda data, marker: pytest.fail("read in this process")  # noqa: E731
    monkeypatch.setattr(portable, "functions", unread)
    header, sections = mutation_trial._split(program)
    changed = module + sections[len(module) :]
    assert len(changed) == len(sections)
    with pytest.raises(ValueError, match=r"export\.deserialize: .* cannot be read: "):
        export.deserialize(mutation_trial._joined(header, changed))


def _refuse_processes(*args, **kwargs):
    raise OSError("no more processes")


def test_known_modules_need_no_process(program, tmp_path, monkeypatch):
    with disk_caches.in_folder(tmp_path):
        export.deserialize(program, isolate=True)
        monkeypatch.setattr(subprocess, "run", _refuse_processes)
        export.deserialize(program)
        screening._forget()  # as in another process, which has the user's folder
        assert export.deserialize(program).fun_name == "scores"
    (lines,) = [p.read_text() for p in tmp_path.glob("screened-modules")]
    assert len(set(lines.split())) == 1
    screening._forget()
    with disk_caches.in_folder(tmp_path / "other"):
        with pytest.raises(ValueError, match="isolate=False if you trust who wrote it"):
            export.deserialize(program)
        assert export.deserialize(program, isolate=False).fun_name == "scores"


def test_what_a_process_wrote_it_reads_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(subprocess, "run", _refuse_processes)
    with disk_caches.in_folder(tmp_path):
        data = export.export(olympus.jit(lambda x: x * 3))(1.0).serialize(vjp_order=1)
        export.deserialize(data)
        screening._forget()
        export.deserialize(data)


def test_damage_is_seen_by_the_digest(program, rng):
    for _ in range(300):
        damaged = mutation_trial.mutate(program, rng, damage=True)
        if damaged != program:
            with pytest.raises(ValueError, match="digest"):
                export.deserialize(damaged)


@pytest.mark.slow
def test_mutations_do_not_end_the_process():
    wrong = []
    mutation_trial.run(MUTATIONS, SEED, report=wrong.append)
    assert not wrong, "\n".join(wrong)
