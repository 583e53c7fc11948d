"""The settings as users find, read and change them: by their public names."""

from __future__ import annotations

import functools
import os
from typing import Any, NoReturn

from olympus._src.foundation import absl_flags, setting_types
from olympus._src.foundation.setting_states import MISSING, State

PREFIX = "olympus_"

# Every setting by its public name.
registry: dict[str, State] = {}
_kinds: dict[str, setting_types.Kind] = {}


# The end of the help of a setting that is read nowhere.
_UNREAD = " Accepted so that programs which set it run; nothing depends on it yet."


def define(
    name: str,
    kind: setting_types.Kind,
    value: Any,
    help: str,
    *,
    traces: bool = False,
    implied: Any = MISSING,
    followers: tuple[State, ...] = (),
    honoured: bool = True,
    state: type[State] = State,
    short_variable: str | None = None,
) -> State:
    """A setting whose start value the environment may give.

    The variable is the setting's name in capitals; `short_variable` is another.
    """
    full = PREFIX + name
    help = help if honoured else help + _UNREAD
    check = functools.partial(kind.check, full)
    if kind is setting_types.TRUTH and implied is MISSING:
        implied = True
    setting = state(
        full,
        check,
        value,
        help,
        traces=traces,
        implied=implied,
        followers=followers,
        honoured=honoured,
    )
    registry[full] = setting
    _kinds[full] = kind
    text = os.environ.get(full.upper())
    if text is not None:
        setting.set(kind.check_text(full, text))
    elif short_variable is not None and short_variable in os.environ:
        setting.set(kind.check_text(short_variable, os.environ[short_variable]))
    return setting


def set_from_text(name: str, source: str, text: str) -> None:
    """Sets a setting to what a text says.

    Args:
      name: the setting's public name.
      source: who says it, for errors.
      text: the value.
    """
    registry[name].set(_kinds[name].check_text(source, text))


class Config:
    """All settings by their public names.

    Example:
      >>> from olympus._src.foundation.config import config
      >>> config.update("olympus_numpy_rank_promotion", "warn")
      >>> config.olympus_numpy_rank_promotion
      'warn'
      >>> config.update("olympus_numpy_rank_promotion", "allow")
    """

    __slots__ = ()

    def update(self, name: str, value: Any) -> None:
        """Sets a setting in all threads, except inside blocks that set it.

        Args:
          name: its public name, as in "olympus_enable_x64".
          value: the new value.

        Raises:
          AttributeError: there is no such setting.
          ValueError: the setting does not take that value.
          RuntimeError: it is too late for this setting.
        """
        _find(name, "config.update").set(value)

    def read(self, name: str) -> Any:
        """The value of a setting in this thread.

        Args:
          name: its public name.

        Returns:
          The value.

        Raises:
          AttributeError: there is no such setting.
        """
        return _find(name, "config.read").value

    def config_with_absl(self) -> None:
        """Defines a flag of absl for each setting, which absl's `app.run` applies.

        Raises:
          ImportError: absl is not installed.
        """
        absl_flags.define_flags(registry)

    def parse_flags_with_absl(self) -> None:
        """Sets the settings that flags of the command line name, with absl.

        Raises:
          ImportError: absl is not installed.
        """
        absl_flags.parse_flags(registry)

    @property
    def values(self) -> dict[str, Any]:
        """All settings with their values in this thread."""
        return {name: state.value for name, state in registry.items()}

    @property
    def states(self) -> dict[str, State]:
        """All settings."""
        return dict(registry)

    @property
    def x64_enabled(self) -> bool:
        """Whether 64-bit dtypes are allowed in this thread."""
        return bool(registry[PREFIX + "enable_x64"].value)

    def __getattr__(self, name: str) -> Any:
        state = registry.get(name)
        if state is not None:
            return state.value
        state = registry.get(PREFIX + name)
        if state is not None:
            return state
        if name.startswith("__"):
            raise AttributeError(name)
        return _find(name, "config")

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(
            f"config: settings change by a call, got the assignment of {name!r}; write "
            f"config.update({name!r}, {value!r})"
        )

    def __dir__(self) -> list[str]:
        methods = [name for name in vars(Config) if not name.startswith("_")]
        return [*methods, *registry]

    def __repr__(self) -> str:
        changed = [
            f"{name}={state.value!r}"
            for name, state in registry.items()
            if state.value != state.default
        ]
        return f"Config({', '.join(changed)})"


def _find(name: str, where: str) -> State:
    state = registry.get(name)
    if state is not None:
        return state
    near = _near(name)
    remedy = f"did you mean {' or '.join(near)}?" if near else "see config.values"
    raise AttributeError(f"{where}: there is no setting {name!r}; {remedy}")


def _near(name: str) -> list[str]:
    """Up to three names that share most pairs of letters with a wrong name."""
    bare = name.lower().removeprefix(PREFIX).removeprefix("jax_")
    if PREFIX + bare in registry:
        return [PREFIX + bare]
    own_pairs = _pairs(bare)
    scored = []
    for known in registry:
        pairs = _pairs(known.removeprefix(PREFIX))
        common = len(own_pairs & pairs)
        scored.append((-2 * common / (len(own_pairs) + len(pairs) + 1), known))
    return [known for score, known in sorted(scored)[:3] if score < -0.5]


def _pairs(text: str) -> set[str]:
    return {text[i : i + 2] for i in range(len(text) - 1)}
