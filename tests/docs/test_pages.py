"""The code of every page runs, and so do the examples in public docstrings."""

from __future__ import annotations

import doctest
import importlib
import inspect
import subprocess
import sys

import numpy as np
import pytest

import olympus.lax
import olympus.numpy
from docs import checker
from structure import source

check_docs = checker.load()

# What examples take for granted, as docs/reference/index.md says.
NAMES = {"np": np, "olympus": olympus, "jnp": olympus.numpy, "lax": olympus.lax}
PAGES = {str(p.relative_to(checker.ROOT)): p for p in check_docs.pages()}


@pytest.mark.documents
@pytest.mark.parametrize("name", PAGES)
def test_the_code_of_a_page_runs(name):
    done = subprocess.run(
        [sys.executable, str(checker.SCRIPT), str(PAGES[name])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def examples():
    """(page, name, test) for each public docstring with an example, each once."""
    finder = doctest.DocTestFinder(recurse=False, exclude_empty=True)
    seen = set()
    for path in source.public_modules():
        page = importlib.import_module(source.module_name(path))
        for name in getattr(page, "__all__", None) or sorted(vars(page)):
            thing = getattr(page, name)
            if id(thing) in seen or not _is_documented(thing):
                continue
            seen.add(id(thing))
            for test in _tests(finder, thing, f"{page.__name__}.{name}"):
                yield pytest.param(test, id=test.name, marks=_marks(page.__name__))


# Pages of so many examples that a run takes a part of them.
_LONG = (
    "olympus.numpy",
    "olympus.lax",
    "olympus.nn",
    "olympus.random",
    "olympus.scipy",
)


def _marks(page):
    if page.startswith(_LONG):
        return [pytest.mark.slow, pytest.mark.sampled(10)]
    return []


def _is_documented(thing):
    ours = (getattr(thing, "__module__", None) or "").startswith("olympus")
    return ours and callable(thing) and not inspect.ismodule(thing)


def _tests(finder, thing, name):
    found = finder.find(thing, name, module=False, globs=NAMES)
    if inspect.isclass(thing):
        for part, method in vars(thing).items():
            if inspect.isfunction(method) and not part.startswith("_"):
                found += finder.find(
                    method, f"{name}.{part}", module=False, globs=NAMES
                )
    return [test for test in found if test.examples]


@pytest.mark.parametrize("test", list(examples()))
def test_the_example_of_a_docstring_prints_what_it_shows(test):
    report = []
    runner = doctest.DocTestRunner(
        verbose=False,
        optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE,
    )
    result = runner.run(test, out=report.append)
    assert not result.failed, "".join(report)


# Functions of these pages show themselves at work; a class may say what it is instead.
_SHOWN = [
    "olympus.image",
    "olympus.lax",
    "olympus.nn",
    "olympus.nn.initializers",
    "olympus.numpy",
    "olympus.numpy.fft",
    "olympus.numpy.linalg",
    "olympus.ops",
    "olympus.random",
    "olympus.scipy.linalg",
    "olympus.scipy.signal",
    "olympus.scipy.special",
    "olympus.scipy.stats",
    "olympus.scipy.stats.beta",
    "olympus.scipy.stats.norm",
]
# A general form whose example would be a page, and a type for annotations.
_WITHOUT_EXAMPLE = ("ragged_dot_general", "Key")


@pytest.mark.parametrize("name", _SHOWN)
def test_every_function_has_an_example(name):
    page = importlib.import_module(name)
    bare = [
        entry
        for entry in page.__all__
        if _is_documented(thing := getattr(page, entry))
        and entry not in _WITHOUT_EXAMPLE
        and not entry.endswith("_p")
        and not inspect.isclass(thing)
        and hasattr(thing, "__name__")
        and not hasattr(thing, "dtype")
        and ">>>" not in thing.__doc__
    ]
    assert not bare
