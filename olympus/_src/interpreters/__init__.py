"""Interpreters of the olympuspr: staging, batching, evaluation."""

from olympus._src.foundation.late_files import load_late

load_late(
    __name__,
    "ad cipher_limits constant_warnings donation_warnings effect_tokens embedding "
    "equal_cuts equal_elements equal_rows joined_scatters kept_values pad_sums "
    "placed_values portable product_order progress_display ref_arguments residuals "
    "type_constraints",
)
