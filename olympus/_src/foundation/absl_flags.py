"""Settings as command-line flags of the library absl, for programs that use it."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from olympus._src.foundation.setting_states import State

_defined: set[str] = set()


def _import_flags(what: str) -> ModuleType:
    try:
        return importlib.import_module("absl.flags")
    except ImportError:
        raise ImportError(
            f"config.{what}: the library absl is required, got none; install absl-py, "
            "or set olympus's settings by environment variables or config.update"
        ) from None


def define_flags(settings: dict[str, State]) -> None:
    """Defines a flag for each setting; absl's `app.run` applies those that are given.

    Args:
      settings: by the names of their flags.

    Raises:
      ImportError: absl is not installed.
    """
    flags = _import_flags("config_with_absl")
    for name, state in settings.items():
        if name not in _defined:
            _defined.add(name)
            _define_flag(flags, name, state)
    app: Any = importlib.import_module("absl.app")
    app.call_after_init(lambda: _apply_flags(flags, settings))


def _define_flag(flags: Any, name: str, state: State) -> None:
    definitions = {
        bool: flags.DEFINE_bool,
        int: flags.DEFINE_integer,
        float: flags.DEFINE_float,
    }
    value = state.value if isinstance(state.value, (bool, int, float, str)) else None
    define = definitions.get(type(state.default), flags.DEFINE_string)
    define(name, value, state.help)


def _apply_flags(flags: Any, settings: dict[str, State]) -> None:
    for name, state in settings.items():
        flag = flags.FLAGS[name]
        if flag.present and flag.value != state.value:
            state.set(flag.value)


def parse_flags(settings: dict[str, State]) -> None:
    """Defines the flags, and takes those of settings from the command line.

    Other flags stay, for the program to parse.

    Args:
      settings: by the names of their flags.

    Raises:
      ImportError: absl is not installed.
    """
    flags = _import_flags("parse_flags_with_absl")
    define_flags(settings)
    arguments = [a for a in sys.argv[1:] if _names_setting(a, settings)]
    flags.FLAGS([sys.argv[0], *arguments], known_only=True)
    _apply_flags(flags, settings)


def _names_setting(argument: str, settings: dict[str, State]) -> bool:
    """Whether a word of the command line is the flag of a setting."""
    name = argument.lstrip("-").partition("=")[0]
    is_flag = argument.startswith("-")
    return is_flag and (name in settings or name.removeprefix("no") in settings)
