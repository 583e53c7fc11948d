"""MLIR's Python modules, which jaxlib has."""

from olympus._src.runtime import library_names

ir = library_names.module("mlir.ir")
passmanager = library_names.module("mlir.passmanager")

__all__ = ["ir", "passmanager"]
