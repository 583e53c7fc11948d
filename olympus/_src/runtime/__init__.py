"""The machine: the only package that imports jaxlib."""

# First, whichever file of the package is asked for: see there.
from olympus._src.runtime import loading as loading
