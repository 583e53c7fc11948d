"""What a sub-command is: a name, its arguments and a function."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple


class Command(NamedTuple):
    """A sub-command of `python -m olympus`.

    Attributes:
      name: the word that calls it.
      help: what it does, in a line without a full stop.
      add_arguments: gives a parser its arguments.
      run: does it; takes the parsed arguments and returns the exit status.
    """

    name: str
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


class Failure(Exception):
    """A sub-command cannot do what was requested; the message is for the user."""
