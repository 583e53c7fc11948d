"""`jax.config`: olympus's settings under JAX's names."""

from __future__ import annotations

import importlib
from typing import Any

from olympus._src.foundation import absl_flags, public_settings
from olympus._src.foundation import config as settings

_PREFIX = "jax_"
# Of difflib's ratio, at most 0.84 between a setting that only JAX has and these.
_MISSPELLED = 0.9


def _own(name: str) -> str | None:
    """The public name of the setting that JAX calls by a name; None: there is none."""
    if name.startswith(_PREFIX):
        name = public_settings.PREFIX + name[len(_PREFIX) :]
    return name if name in public_settings.registry else None


def _by_flags() -> dict[str, Any]:
    """The settings by their names in JAX, which are those of flags."""
    registry = public_settings.registry
    return {_PREFIX + n[len(public_settings.PREFIX) :]: s for n, s in registry.items()}


class Config:
    """Settings by their names in JAX.

    Those of JAX that olympus does not have are kept and read back: what they ask for,
    most often of another platform, has no meaning here. A name that nearly is one of
    those that it has is refused, since none of the others is so close to any of them.
    """

    def __init__(self) -> None:
        vars(self).update(_kept={}, _settings=settings.config)

    def update(self, name: str, value: Any) -> None:
        """Sets a setting in all threads."""
        own = _own(name)
        if own is not None:
            settings.config.update(own, value)
            return
        matches = importlib.import_module("difflib").get_close_matches  # seldom needed
        near = matches(name, _by_flags(), 1, _MISSPELLED)
        if near or not name.startswith(_PREFIX):
            hint = f"; did you mean {near[0]}?" if near else ""
            raise AttributeError(f"Unrecognized config option: {name}{hint}")
        self._kept[name] = value

    def read(self, name: str) -> Any:
        """The value of a setting."""
        own = _own(name)
        if own is not None:
            return settings.config.read(own)
        if name in self._kept:
            return self._kept[name]
        raise AttributeError(f"Unrecognized config option: {name}")

    @property
    def values(self) -> dict[str, Any]:
        """All settings with their values."""
        own = {
            _PREFIX + name[len(public_settings.PREFIX) :]: value
            for name, value in settings.config.values.items()
        }
        return {**own, **self._kept}

    def config_with_absl(self) -> None:
        """Defines a flag of absl for each setting."""
        absl_flags.define_flags(_by_flags())

    def parse_flags_with_absl(self) -> None:
        """Sets the settings that flags of the command line name, with absl."""
        absl_flags.parse_flags(_by_flags())

    def __getattr__(self, name: str) -> Any:
        if name.startswith(_PREFIX) and _own(name) is None:
            if name in self._kept:
                return self._kept[name]
            raise AttributeError(name)
        own = _own(name)
        return getattr(settings.config, name if own is None else own)

    def __setattr__(self, name: str, value: Any) -> None:
        self.update(name if name.startswith(_PREFIX) else _PREFIX + name, value)


config = Config()
