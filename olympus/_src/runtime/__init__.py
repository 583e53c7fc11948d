"""The machine: the only package that imports jaxlib."""

# Imported first, whichever file of the package is imported: see there.
from olympus._src.runtime import loading as loading
