"""The options with which a program is built, beyond those that its user gives."""

from __future__ import annotations

from olympus._src.runtime import versions
from olympus._src.runtime.compiling import Options

_PASSES = "xla_disable_hlo_passes"


def complete(options: Options, platform: str, has_barriers: bool) -> Options:
    """A user's options with those that the program needs.

    Args:
      options: XLA's options by name, as the user gave them.
      platform: where the program runs.
      has_barriers: whether fusion must stop at the program's barriers.
    """
    if has_barriers and platform == "cpu" and versions.JAXLIB_VERSION < (0, 11):
        # It takes barriers out before it fuses; later versions do it after.
        return _without_pass(options, "cse_barrier_expander")
    return options


def _without_pass(options: Options, name: str) -> Options:
    """The options, with one more of XLA's passes switched off."""
    chosen = dict(options)
    off = str(chosen.get(_PASSES, ""))
    chosen[_PASSES] = f"{off},{name}" if off else name
    return tuple(sorted(chosen.items()))
