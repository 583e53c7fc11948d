"""Modules of JAX on the state of refs."""
