"""The lint of words finds retired words, and only those."""

from __future__ import annotations

import pytest

from docs import checker

check_words = checker.load("check_words")


def found_words(text):
    return [(line, word) for line, word, _ in check_words.words(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A dear call.\nIt takes a vector of truths.", [(1, "dear"), (2, "truths")]),
        (
            "Where whole\n    numbers are, open sizes too.",
            [(1, "whole numbers"), (2, "open sizes")],
        ),
        ("The truth value of a dearth; rooms.", [(1, "rooms")]),
        ("Transformations nest; an open file with room for more.", []),
    ],
)
def test_text(text, expected):
    assert found_words(text) == expected


def test_code_on_pages_is_no_text():
    page = "One `dear` name.\n\n```python\ntruths = 1\n```\n\nA dear one."
    assert found_words(check_words.page_text(page)) == [(7, "dear")]


def test_strings_and_comments_are_text():
    module = '"""A door."""\n\nx = 1  # dear\nraise ValueError(f"{x} truths")\n'
    text = check_words.module_text(module)
    assert found_words(text) == [(1, "door"), (3, "dear"), (4, "truths")]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("found = 1", ["found"]),
        ("is_found = 1", []),
        ("for made in x: pass", ["made"]),
        ("self.in_flowing = [t for moving in x]", ["in_flowing", "moving"]),
        ("f(given=found)\ndef f(given): return given", []),
    ],
)
def test_names(code, expected):
    assert [name for _, name, _ in check_words.names(code)] == expected
