"""Lowering rules of primitives."""

from olympus._src.api.extension import lower_fun as lower_fun
from olympus._src.api.extension import register_lowering as register_lowering

__all__ = ["lower_fun", "register_lowering"]
