"""The stages of a call of a jitted function: traced, lowered, compiled."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.jit_function import JitFunction as Wrapped
from olympus._src.api.stages import ArgInfo as ArgInfo
from olympus._src.api.stages import Compiled as Compiled
from olympus._src.api.stages import CompilerOptions as CompilerOptions
from olympus._src.api.stages import Lowered as Lowered
from olympus._src.api.stages import Traced as Traced
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = ["ArgInfo", "Compiled", "CompilerOptions", "Lowered", "Traced", "Wrapped"]

_claim(__name__)
