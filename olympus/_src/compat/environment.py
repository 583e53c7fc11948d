"""Settings that the environment gives under JAX's names."""

from __future__ import annotations

import os

from olympus._src.foundation import public_settings


def apply_variables() -> None:
    """Sets what variables `JAX_...` say, where `OLYMPUS_...` says nothing."""
    for variable, text in os.environ.items():
        if not variable.startswith("JAX_"):
            continue
        name = public_settings.PREFIX + variable[len("JAX_") :].lower()
        if name in public_settings.registry and name.upper() not in os.environ:
            public_settings.set_from_text(name, variable, text)
