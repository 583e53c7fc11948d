"""One thing that differs between two calls."""

from __future__ import annotations

from typing import NamedTuple


class Change(NamedTuple):
    """One thing that differs between two calls.

    Attributes:
      subject: an argument's path, or the name of a variable, setting or option.
      attribute: what differs of it, as in 'shape'.
      old, new: as text; '' where there is none.
    """

    subject: str
    attribute: str
    old: str
    new: str
