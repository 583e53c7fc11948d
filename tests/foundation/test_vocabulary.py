"""The words of errors in programs that were written for JAX."""

from __future__ import annotations

import pytest

from olympus._src.foundation import vocabulary

TEXTS = [
    (
        "set olympus_enable_x64, or OLYMPUS_ENABLE_X64=1",
        "set jax_enable_x64, or JAX_ENABLE_X64=1",
    ),
    ("use `olympus.numpy.sum` of olympus", "use `jax.numpy.sum` of JAX"),
    ("f at /home/a/olympus/b.py:3 of olympus", "f at /home/a/olympus/b.py:3 of JAX"),
    (r"f at C:\olympus_1\b.py:3", r"f at C:\olympus_1\b.py:3"),
    ("one\n  two\tolympus", "one\n  two\tJAX"),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_files_keep_their_names(text, expected):
    assert vocabulary.translate(text) == expected
