"""Names in JAX's words and in olympus's."""

from __future__ import annotations

# Parts of names, JAX's first. The order counts: longer parts come before their parts.
_PARTS = (
    ("JAXTypeError", "OlympusTypeError"),
    ("JAXIndexError", "OlympusIndexError"),
    ("JaxRuntimeError", "OlympusRuntimeError"),
    ("JaxException", "CheckException"),
    ("jaxpr", "olympuspr"),
    ("Jaxpr", "Olympuspr"),
)

ROOT = "jax"
_OWN_ROOT = "olympus"


def to_olympus(name: str) -> str:
    """A name of JAX as olympus spells it."""
    for theirs, ours in _PARTS:
        name = name.replace(theirs, ours)
    return name


def to_jax(name: str) -> str:
    """A name of olympus as JAX spells it."""
    for theirs, ours in _PARTS:
        name = name.replace(ours, theirs)
    return name


def own_module(module: str) -> str:
    """The module of olympus that has the place of one of JAX, as in `olympus.numpy`."""
    return to_olympus(_OWN_ROOT + module[len(ROOT) :])


def jax_module(module: str) -> str:
    """The module of JAX that has the place of one of olympus."""
    if module != _OWN_ROOT and not module.startswith(_OWN_ROOT + "."):
        return module
    return to_jax(ROOT + module[len(_OWN_ROOT) :])


def is_jax(module: str) -> bool:
    """Whether a module's name is `jax`, or that of a module below it."""
    return module == ROOT or module.startswith(ROOT + ".")
