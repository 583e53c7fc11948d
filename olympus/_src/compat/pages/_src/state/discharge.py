"""Functions of arrays, of functions that change refs."""

from olympus._src.pallas.kernel_functions import run_state as run_state

__all__ = ["run_state"]
