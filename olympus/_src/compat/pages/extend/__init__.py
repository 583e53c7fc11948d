"""Modules below `jax.extend`."""
