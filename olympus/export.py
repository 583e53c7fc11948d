"""Programs that leave the process, and the symbolic shapes that they may have."""

from olympus._src.api.symbolic_shapes import is_symbolic_dim as is_symbolic_dim
from olympus._src.api.symbolic_shapes import symbolic_args_specs as symbolic_args_specs
from olympus._src.api.symbolic_shapes import symbolic_dim_bounds as symbolic_dim_bounds
from olympus._src.api.symbolic_shapes import symbolic_shape as symbolic_shape
from olympus._src.core.symbolic_scope import SymbolicScope as SymbolicScope

__all__ = [
    "SymbolicScope",
    "is_symbolic_dim",
    "symbolic_args_specs",
    "symbolic_dim_bounds",
    "symbolic_shape",
]
