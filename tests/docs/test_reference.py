"""The reference has a page for each public page, and says what differs from NumPy."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
from pathlib import Path

import pytest

import olympus.scipy.special
from structure import source

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "reference_pages.py"


@pytest.fixture(scope="module")
def pages():
    spec = importlib.util.spec_from_file_location("reference_pages", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("page_texts", "object_texts"):  # which nobody changes here
        setattr(module, name, functools.cache(getattr(module, name)))
    return module


def test_there_is_a_page_for_each_public_page(pages):
    expected = {source.module_name(path) for path in source.public_modules()}
    assert set(pages.page_texts()) == expected


@pytest.mark.slow
def test_each_function_and_class_has_a_page(pages):
    texts, objects = pages.page_texts(), pages.object_texts()
    assert "autofunction:: olympus.numpy.sin" in objects["olympus.numpy.sin"]
    assert "Defined in `olympus/_src/" in objects["olympus.numpy.median"]
    for text in texts.values():
        for link in re.findall(r"\]\(objects/(.*?)\.md\)", text):
            assert link in objects


@pytest.mark.slow
def test_a_class_is_documented_on_one_page(pages):
    objects = pages.object_texts()
    homes = [name for name in objects if name.endswith(".custom_jvp")]
    assert len(homes) == 1
    for page in ("olympus", "olympus.custom_derivatives"):
        text = pages.page_texts()[page]
        assert f"[`custom_jvp`](objects/{homes[0]}.md)" in text


def test_a_difference_is_a_paragraph_of_the_docstring(pages):
    docstring = """The elements in rising order.

    Differs from NumPy: the order of equal elements is kept
    unless `stable` is False.

    Args:
      a: array.
    """
    text = "the order of equal elements is kept unless `stable` is False."
    assert list(pages.differences(docstring)) == [("NumPy", text)]
    assert not list(pages.differences("Differs from NumPy in nothing."))
    assert not list(pages.differences(None))


def test_a_page_collects_the_differences_of_its_functions(pages):
    for page, text in pages.page_texts().items():
        for name, thing in pages.members(page):
            for _, difference in pages.differences(getattr(thing, "__doc__", None)):
                assert f"`{name}`\n: {difference}\n" in text


def test_what_differs_in_all_of_a_page_is_said_first(pages):
    text = pages.page_texts()["olympus.scipy.special"]
    ((library, difference),) = pages.differences(olympus.scipy.special.__doc__)
    assert library == "SciPy"
    head = "## Where this differs from SciPy\n\nEverything here\n: "
    assert f"{head}{difference}\n" in text


def test_callable_objects_and_values_are_on_their_page(pages):
    text = pages.page_texts()["olympus.numpy"]
    assert "[`add`](objects/olympus.numpy.add.md)" in text
    values = text.partition("## Values and types")[2]
    assert "`pi`" in values


@pytest.mark.slow
def test_what_is_named_for_numpy_or_scipy_refers_to_it(pages, monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    listed = importlib.import_module("inventories").names()
    objects = pages.object_texts()
    referred = {
        name
        for text in objects.values()
        for name in re.findall(r"\{py:obj\}`(.+?)`", text)
    }
    assert referred <= listed
    assert "{py:obj}`numpy.sin`" in objects["olympus.numpy.sin"]
    assert "{py:obj}`scipy.stats.norm`" in objects["olympus.scipy.stats.norm.cdf"]
    assert "{py:obj}" not in objects["olympus.numpy.top_k"]
