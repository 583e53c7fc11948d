"""Kinds of values that settings take: in words, checked, and read from a text."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from olympus._src.foundation.setting_states import MISSING

_TRUE = ("1", "true", "t", "yes", "y", "on")
_FALSE = ("0", "false", "f", "no", "n", "off", "")


class Kind:
    """What values a setting takes: in words, checked, and read from a text."""

    __slots__ = ("accept", "optional", "read", "words")

    def __init__(
        self,
        words: str,
        accept: Callable[[Any], Any],
        read: Callable[[str], Any],
        *,
        optional: bool = False,
    ) -> None:
        self.words = words
        self.accept = accept  # a value for a value, MISSING for a wrong one
        self.read = read  # the same for a text
        self.optional = optional

    def check(self, name: str, value: Any) -> Any:
        """The value to keep for a user's value."""
        if value is None and self.optional:
            return None
        setting = self.accept(value)
        if setting is MISSING:
            raise ValueError(
                f"{name}: the value must be {self.words}"
                f"{' or None' if self.optional else ''}, got {value!r}"
            )
        return setting

    def check_text(self, name: str, text: str) -> Any:
        """The value for the text of an environment variable."""
        if self.optional and text in ("", "None", "none"):
            return None
        try:
            setting = self.read(text)
        except ValueError:
            setting = MISSING
        if setting is MISSING:
            raise ValueError(
                f"{name.upper()}: the environment variable must be {self.words}, got "
                f"{text!r}; unset it or choose one of those"
            )
        return setting


def _read_truth(text: str) -> Any:
    word = text.strip().lower()
    return True if word in _TRUE else False if word in _FALSE else MISSING


def _accept_truth(value: Any) -> Any:
    if isinstance(value, str):
        return _read_truth(value)
    # NumPy's truth values and 0 and 1 are equal to Python's.
    return bool(value) if value in (True, False) else MISSING


def _accept_integer(value: Any) -> Any:
    if isinstance(value, (bool, str, float)) or not hasattr(value, "__index__"):
        return MISSING
    return value.__index__()


def _accept_number(value: Any) -> Any:
    if isinstance(value, (bool, str)) or not hasattr(value, "__float__"):
        return MISSING
    return float(value)


def _accept_text(value: Any) -> Any:
    return value if isinstance(value, str) else MISSING


def _accept_path(value: Any) -> Any:
    return os.fspath(value) if isinstance(value, (str, os.PathLike)) else MISSING


def _accept_device(value: Any) -> Any:
    # This package knows no device class; a Device has a platform.
    known = isinstance(value, str) or hasattr(value, "platform")
    return value if known else MISSING


TRUTH = Kind("True or False", _accept_truth, _read_truth)
INTEGER = Kind("an integer", _accept_integer, int)
MAYBE_INTEGER = Kind("an integer", _accept_integer, int, optional=True)
NUMBER = Kind("a number", _accept_number, float)
TEXT = Kind("a string", _accept_text, str)
MAYBE_TEXT = Kind("a string", _accept_text, str, optional=True)
PATH = Kind("a path", _accept_path, str, optional=True)
DEVICE = Kind(
    "a Device such as olympus.devices('cpu')[0], or the name of a platform",
    _accept_device,
    str,
    optional=True,
)


def choice(*values: str, optional: bool = False) -> Kind:
    def accept(value: Any) -> Any:
        return value if isinstance(value, str) and value in values else MISSING

    words = "one of " + ", ".join(map(repr, values))
    return Kind(words, accept, accept, optional=optional)


def name_in(names: set[str], words: str) -> Kind:
    """A kind of the names in a set, which may grow.

    Texts of the environment may name what is added later.
    """

    def accept(value: Any) -> Any:
        return value if isinstance(value, str) and value in names else MISSING

    return Kind(words, accept, str)
