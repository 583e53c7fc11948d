"""Operations that are printed as they are written."""

from __future__ import annotations

# All operands and results are of the types that are written, without parentheses.
_TYPES = """
add after_all and atan2 cbrt ceil clamp complex cosine count_leading_zeros create_token
divide exponential exponential_minus_one floor iota log log_plus_one logistic maximum
minimum multiply negate not optimization_barrier or partition_id popcnt power
reduce_precision remainder reverse round_nearest_afz round_nearest_even rsqrt select
shift_left shift_right_arithmetic shift_right_logical sign sine sqrt subtract tan tanh
xor
"""
_CHLO_TYPES = """
acos acosh asin asinh atan atanh cosh digamma erf erf_inv erfc lgamma next_after
polygamma sinh zeta
"""
# The types are those of a function, as in `: (tensor<f32>) -> tensor<i32>`.
_FUNCTION_TYPES = """
bitcast_convert broadcast_in_dim compare concatenate dot_general dynamic_update_slice
fft get_dimension_size is_finite pad reduce reshape slice transpose
"""

# Whether the types of an operation are those of a function, by its name.
SAME = {
    **{f"stablehlo.{name}": False for name in _TYPES.split()},
    **{f"chlo.{name}": False for name in _CHLO_TYPES.split()},
    **{f"stablehlo.{name}": True for name in _FUNCTION_TYPES.split()},
}
