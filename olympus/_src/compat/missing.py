"""Errors about names of JAX that olympus does not have."""

from __future__ import annotations


class _Text(str):
    """Says both JAX's name and olympus's; `vocabulary` translates plain texts only."""

    __slots__ = ()


_PAGE = "docs/jax_programs.md"


def _told(name: str) -> str:
    return (
        f"olympus runs this program in place of JAX and has no {name}; {_PAGE} lists "
        "what is there, and `python -m olympus.compat.jax --report` what a program uses"
    )


def module(name: str) -> ModuleNotFoundError:
    """The error of an import of a module that is not there."""
    text = f"No module named {name!r}: {_told(name)}"
    return ModuleNotFoundError(_Text(text), name=name)


def attribute(module: str, name: str) -> AttributeError:
    """The error of a name that a module does not have."""
    text = f"module {module!r} has no attribute {name!r}: {_told(f'{module}.{name}')}"
    return AttributeError(_Text(text), name=name)
