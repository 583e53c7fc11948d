"""`import jax` as olympus: modules of JAX's names over olympus's own."""

from olympus._src.foundation.late_files import load_late

load_late(__name__, "distributions report")
