"""MLIR's dialects, by the names that libraries have for them."""

from types import ModuleType

from olympus._src.runtime import library_names


def _dialect(name: str) -> ModuleType:
    return library_names.module(f"mlir.dialects.{name}")


arith = _dialect("arith")
builtin = _dialect("builtin")
chlo = _dialect("chlo")
func = _dialect("func")
hlo = _dialect("stablehlo")
math = _dialect("math")
sdy = _dialect("sdy")

__all__ = ["arith", "builtin", "chlo", "func", "hlo", "math", "sdy"]
