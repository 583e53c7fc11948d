"""Modules of jaxlib, as libraries name them."""

from __future__ import annotations

from olympus._src.runtime import library_names

_jax = library_names.module("_jax")
jaxlib = library_names.module("")
jax_jit = _jax.jax_jit
pytree = _jax.pytree
version_str: str = library_names.module("version").__version__
version = tuple([int(part) for part in version_str.split(".") if part.isdecimal()])
xla_client = library_names.module("xla_client")
cuda_versions = None  # jaxlib's own; plug-ins have theirs

__all__ = [
    "_jax",
    "cuda_versions",
    "jax_jit",
    "jaxlib",
    "pytree",
    "version",
    "version_str",
    "xla_client",
]
