"""Parts of JAX's implementation, which olympus has not: a module without names."""
