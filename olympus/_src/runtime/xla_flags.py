"""Flags of XLA for a whole process, which are no options of a program."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

_VARIABLE = "XLA_FLAGS"

# From jaxlib 0.11.2 on XLA describes shardings by the names of axes. Where the sizes of
# a mesh's axes do not divide each other, it then ends the process at some changes of
# division ("Could not slice dimension"). The form before it has no such limit.
_CHOSEN = {"xla_enable_hlo_sharding_v3": "false"}


@contextlib.contextmanager
def choose() -> Iterator[None]:
    """Lets XLA read flags of ours, but for those that the user sets.

    XLA reads the variable once in a process, at the start of the first client. So it
    holds our flags during that start only, and not for the processes of a user.
    """
    before = os.environ.get(_VARIABLE)
    flags = [f"--{k}={v}" for k, v in _CHOSEN.items() if k not in (before or "")]
    os.environ[_VARIABLE] = " ".join([*([before] if before else []), *flags])
    try:
        yield
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before
