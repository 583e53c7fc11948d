"""The machine: the only room that imports jaxlib."""

# First, whichever file of the room is asked for: see there.
from olympus._src.runtime import loading as loading
