"""`import jax` as olympus: modules of JAX's names over olympus's own."""
