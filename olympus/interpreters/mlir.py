"""Lowering rules of primitives."""

from olympus._src.api.extension import lower_fun as lower_fun
from olympus._src.api.extension import lowerable_effects as lowerable_effects
from olympus._src.api.extension import register_lowering as register_lowering

__all__ = ["lower_fun", "lowerable_effects", "register_lowering"]
