"""Pytrees: flatten, registry, key paths, prefix errors."""
