"""Random numbers; the names are those of `jax.random`."""
