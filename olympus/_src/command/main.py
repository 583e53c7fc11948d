"""The command `python -m olympus`: finds the sub-command and reports its failure."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from olympus._src.command import (
    cache,
    environment,
    explain,
    inspect_file,
    launch,
    look,
    run,
    timeline,
)
from olympus._src.command.command import Command, Failure

COMMANDS: tuple[Command, ...] = (
    cache.COMMAND,
    environment.COMMAND,
    explain.COMMAND,
    inspect_file.COMMAND,
    launch.COMMAND,
    look.COMMAND,
    run.COMMAND,
    timeline.COMMAND,
)

# Exit statuses: what argparse, the shell and the C library use for the same.
_WRONG_USE = 2
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a sub-command.

    Args:
      arguments: the words after `python -m olympus`; None for those of this process.

    Returns:
      The exit status: 0 for success, 1 for a failed check, 2 for wrong usage.
    """
    namespace = _parser().parse_args(arguments)
    try:
        status = namespace.command.run(namespace)
        sys.stdout.flush()
    except Failure as failure:
        print(f"olympus {namespace.command.name}: {failure}", file=sys.stderr)
        return _WRONG_USE
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has gone; Python would complain when it flushes.
        _drop_output()
        return 0
    except OSError as error:  # as where the disk is full
        _drop_output()
        print(f"olympus {namespace.command.name}: {error}", file=sys.stderr)
        return _WRONG_USE
    except MemoryError:
        print(f"olympus {namespace.command.name}: out of memory", file=sys.stderr)
        return _WRONG_USE
    return status


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m olympus",
        description="Runs programs, and looks after what olympus keeps in files.",
    )
    choices = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        part = choices.add_parser(
            command.name,
            help=command.help,
            description=f"{command.help}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(part)
        part.set_defaults(command=command)
    return parser
