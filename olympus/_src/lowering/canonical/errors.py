"""What says that a text has a form that is not known here."""

from __future__ import annotations


class UnknownForm(ValueError):
    """A part of a module whose printed form is not known; MLIR prints the module."""
