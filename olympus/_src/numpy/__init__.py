"""NumPy semantics over lax."""

from olympus._src.foundation.late_files import load_late

load_late(
    __name__,
    "at decompositions diagonals functional index_routines index_updates "
    "linear_systems masked_updates symbolic_ranges",
)
