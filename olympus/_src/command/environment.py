"""`python -m olympus environment`: what a report of a problem should say."""

from __future__ import annotations

import argparse

from olympus._src.api import placement
from olympus._src.command.command import Command


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none."""


def _run(arguments: argparse.Namespace) -> int:
    placement.print_environment_info()
    return 0


COMMAND = Command(
    "environment",
    "Print the versions and devices that a report of a problem should name",
    _add_arguments,
    _run,
)
