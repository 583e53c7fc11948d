"""An empty module, as it is in JAX."""
