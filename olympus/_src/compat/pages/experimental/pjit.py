"""An older name of `jit`, which takes all that it took."""

from olympus._src.api.jit import jit as pjit

DEPRECATED = {"pjit": "write jax.jit"}

__all__ = ["pjit"]
