"""The word for a program, where one is shown: olympus's own, or JAX's.

Parameters that hold programs are stored under JAX's names (`jaxpr`, `call_jaxpr`), so
that libraries written for it read and replace them; users of olympus read its own word.
"""

from __future__ import annotations

import re

OLYMPUS = "olympuspr"
JAX = "jaxpr"

# One word for the process: prints of one program must agree.
_word = OLYMPUS


def speak(word: str) -> None:
    """Sets the word, OLYMPUS or JAX, by which programs are shown from here on."""
    global _word
    _word = word


def is_jax() -> bool:
    """Whether programs run in place of JAX."""
    return _word == JAX


def label(parameter: str) -> str:
    """The name under which a parameter is shown."""
    return parameter.replace(JAX, _word)


def name() -> str:
    """The name under which olympus runs, as attributes in modules have it."""
    return "jax" if _word == JAX else "olympus"


def translate_error(error: BaseException) -> None:
    """Has an error's text say what it says in the words of the program that runs."""
    if _word == JAX and error.args and type(error.args[0]) is str:
        error.args = (translate(error.args[0]), *error.args[1:])


def translate(text: str) -> str:
    """A text in which modules, classes and settings have JAX's names."""
    if "lympus" not in text and "OLYMPUS" not in text:
        return text
    words = re.split(r"(\s+)", text)
    return "".join([w if _is_file(w) else _translate_word(w) for w in words])


def _is_file(word: str) -> bool:
    """Whether a word names a file of a program, which is called as it is."""
    return ".py" in word and ("/" in word or "\\" in word)


def _translate_word(word: str) -> str:
    for pattern, replacement in _TRANSLATIONS:
        word = re.sub(pattern, replacement, word)
    return word


# `re` compiles them when the first text is translated, and keeps them.
_TRANSLATIONS = (
    ("olympuspr", "jaxpr"),
    ("Olympuspr", "Jaxpr"),
    ("OLYMPUS_", "JAX_"),
    ("olympus_", "jax_"),
    (r"olympus(?=\.\w)", "jax"),
    (r"\b(olympus|OLYMPUS)\b", "JAX"),
)
