"""The operations of the language, for libraries that read programs or write rules.

Names are those that the operations have in JAX, where they exist there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

import olympus as _olympus  # noqa: F401
from olympus._src.calls import pjit as _pjit
from olympus._src.custom_rules import linear_solve as _linear_solve
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.lax import families as _families

if _TYPE_CHECKING:
    from olympus._src.api.extension import (
        register_call_primitive_rules as register_call_primitive_rules,
    )
    from olympus._src.calls.call import call_p as call_p
    from olympus._src.calls.call import closed_call_p as closed_call_p
    from olympus._src.calls.call import create_call_primitive as create_call_primitive
    from olympus._src.calls.call import (
        eval_olympuspr_transpose as eval_olympuspr_transpose,
    )
    from olympus._src.control_flow.cond import cond_p as cond_p
    from olympus._src.control_flow.reduce import reduce_p as reduce_p
    from olympus._src.control_flow.reduce import reduce_window_p as reduce_window_p
    from olympus._src.control_flow.scan import scan_p as scan_p
    from olympus._src.control_flow.while_loop import while_p as while_p
    from olympus._src.custom_rules.custom_jvp import (
        custom_jvp_call_p as custom_jvp_call_p,
    )
    from olympus._src.custom_rules.custom_vjp import custom_lin_p as custom_lin_p
    from olympus._src.custom_rules.custom_vjp import (
        custom_vjp_call_p as custom_vjp_call_p,
    )
    from olympus._src.lax.approximate_top_k import approx_top_k_p as approx_top_k_p
    from olympus._src.lax.arithmetic import add_p as add_p
    from olympus._src.lax.arithmetic import div_p as div_p
    from olympus._src.lax.arithmetic import integer_pow_p as integer_pow_p
    from olympus._src.lax.arithmetic import max_p as max_p
    from olympus._src.lax.arithmetic import min_p as min_p
    from olympus._src.lax.arithmetic import mul_p as mul_p
    from olympus._src.lax.arithmetic import neg_p as neg_p
    from olympus._src.lax.arithmetic import one_minus_square_p as one_minus_square_p
    from olympus._src.lax.arithmetic import sign_p as sign_p
    from olympus._src.lax.arithmetic import square_p as square_p
    from olympus._src.lax.arithmetic import sub_p as sub_p
    from olympus._src.lax.barriers import after_all_p as after_all_p
    from olympus._src.lax.barriers import create_token_p as create_token_p
    from olympus._src.lax.barriers import stop_gradient_p as stop_gradient_p
    from olympus._src.lax.bessel import bessel_i0e_p as bessel_i0e_p
    from olympus._src.lax.bessel import bessel_i1e_p as bessel_i1e_p
    from olympus._src.lax.bitwise import and_p as and_p
    from olympus._src.lax.bitwise import clz_p as clz_p
    from olympus._src.lax.bitwise import not_p as not_p
    from olympus._src.lax.bitwise import or_p as or_p
    from olympus._src.lax.bitwise import population_count_p as population_count_p
    from olympus._src.lax.bitwise import shift_left_p as shift_left_p
    from olympus._src.lax.bitwise import (
        shift_right_arithmetic_p as shift_right_arithmetic_p,
    )
    from olympus._src.lax.bitwise import shift_right_logical_p as shift_right_logical_p
    from olympus._src.lax.bitwise import xor_p as xor_p
    from olympus._src.lax.checkpoint_names import name_p as name_p
    from olympus._src.lax.choice import clamp_p as clamp_p
    from olympus._src.lax.choice import convert_element_type_p as convert_element_type_p
    from olympus._src.lax.choice import is_finite_p as is_finite_p
    from olympus._src.lax.choice import select_n_p as select_n_p
    from olympus._src.lax.collective_exchanges import all_gather_p as all_gather_p
    from olympus._src.lax.collective_exchanges import all_to_all_p as all_to_all_p
    from olympus._src.lax.collective_exchanges import ppermute_p as ppermute_p
    from olympus._src.lax.collectives import axis_index_p as axis_index_p
    from olympus._src.lax.collectives import pmax_p as pmax_p
    from olympus._src.lax.collectives import pmin_p as pmin_p
    from olympus._src.lax.collectives import psum_p as psum_p
    from olympus._src.lax.comparison import eq_p as eq_p
    from olympus._src.lax.comparison import eq_to_p as eq_to_p
    from olympus._src.lax.comparison import ge_p as ge_p
    from olympus._src.lax.comparison import gt_p as gt_p
    from olympus._src.lax.comparison import le_p as le_p
    from olympus._src.lax.comparison import le_to_p as le_to_p
    from olympus._src.lax.comparison import lt_p as lt_p
    from olympus._src.lax.comparison import lt_to_p as lt_to_p
    from olympus._src.lax.comparison import ne_p as ne_p
    from olympus._src.lax.complex_numbers import abs_p as abs_p
    from olympus._src.lax.complex_numbers import complex_p as complex_p
    from olympus._src.lax.complex_numbers import conj_p as conj_p
    from olympus._src.lax.complex_numbers import imag_p as imag_p
    from olympus._src.lax.complex_numbers import real_p as real_p
    from olympus._src.lax.concatenation import concatenate_p as concatenate_p
    from olympus._src.lax.concatenation import pad_p as pad_p
    from olympus._src.lax.concatenation import slice_p as slice_p
    from olympus._src.lax.contraction import dot_general_p as dot_general_p
    from olympus._src.lax.convolution import (
        conv_general_dilated_p as conv_general_dilated_p,
    )
    from olympus._src.lax.cumulative import cumlogsumexp_p as cumlogsumexp_p
    from olympus._src.lax.cumulative import cummax_p as cummax_p
    from olympus._src.lax.cumulative import cummin_p as cummin_p
    from olympus._src.lax.cumulative import cumprod_p as cumprod_p
    from olympus._src.lax.cumulative import cumsum_p as cumsum_p
    from olympus._src.lax.families import broadcast_in_dim_p as broadcast_in_dim_p
    from olympus._src.lax.families import reduce_sum_p as reduce_sum_p
    from olympus._src.lax.families import transpose_p as transpose_p
    from olympus._src.lax.fourier import fft_p as fft_p
    from olympus._src.lax.gather import gather_p as gather_p
    from olympus._src.lax.linalg.cholesky_decomposition import cholesky_p as cholesky_p
    from olympus._src.lax.linalg.eigenvectors import eig_p as eig_p
    from olympus._src.lax.linalg.hermitian_eigenvectors import eigh_p as eigh_p
    from olympus._src.lax.linalg.lu_decomposition import lu_p as lu_p
    from olympus._src.lax.linalg.qr_decomposition import (
        householder_product_p as householder_product_p,
    )
    from olympus._src.lax.linalg.qr_decomposition import qr_p as qr_p
    from olympus._src.lax.linalg.schur_hessenberg import hessenberg_p as hessenberg_p
    from olympus._src.lax.linalg.schur_hessenberg import schur_p as schur_p
    from olympus._src.lax.linalg.singular_values import svd_p as svd_p
    from olympus._src.lax.linalg.triangular import (
        triangular_solve_p as triangular_solve_p,
    )
    from olympus._src.lax.linalg.tridiagonal import tridiagonal_p as tridiagonal_p
    from olympus._src.lax.linalg.tridiagonal import (
        tridiagonal_solve_p as tridiagonal_solve_p,
    )
    from olympus._src.lax.random_bits import rng_bit_generator_p as rng_bit_generator_p
    from olympus._src.lax.random_bits import rng_uniform_p as rng_uniform_p
    from olympus._src.lax.random_bits import threefry2x32_p as threefry2x32_p
    from olympus._src.lax.reductions import argmax_p as argmax_p
    from olympus._src.lax.reductions import argmin_p as argmin_p
    from olympus._src.lax.reductions import reduce_and_p as reduce_and_p
    from olympus._src.lax.reductions import reduce_max_p as reduce_max_p
    from olympus._src.lax.reductions import reduce_min_p as reduce_min_p
    from olympus._src.lax.reductions import reduce_or_p as reduce_or_p
    from olympus._src.lax.reductions import reduce_precision_p as reduce_precision_p
    from olympus._src.lax.reductions import reduce_prod_p as reduce_prod_p
    from olympus._src.lax.reductions import reduce_xor_p as reduce_xor_p
    from olympus._src.lax.rounding import ceil_p as ceil_p
    from olympus._src.lax.rounding import floor_p as floor_p
    from olympus._src.lax.rounding import nextafter_p as nextafter_p
    from olympus._src.lax.rounding import rem_p as rem_p
    from olympus._src.lax.rounding import round_p as round_p
    from olympus._src.lax.scatter import scatter_add_p as scatter_add_p
    from olympus._src.lax.scatter import scatter_max_p as scatter_max_p
    from olympus._src.lax.scatter import scatter_min_p as scatter_min_p
    from olympus._src.lax.scatter import scatter_mul_p as scatter_mul_p
    from olympus._src.lax.scatter import scatter_p as scatter_p
    from olympus._src.lax.shaping import (
        bitcast_convert_type_p as bitcast_convert_type_p,
    )
    from olympus._src.lax.shaping import copy_p as copy_p
    from olympus._src.lax.shaping import iota_p as iota_p
    from olympus._src.lax.shaping import reshape_p as reshape_p
    from olympus._src.lax.shaping import rev_p as rev_p
    from olympus._src.lax.shaping import squeeze_p as squeeze_p
    from olympus._src.lax.sharding_constraints import (
        sharding_constraint_p as sharding_constraint_p,
    )
    from olympus._src.lax.slicing import dynamic_slice_p as dynamic_slice_p
    from olympus._src.lax.slicing import (
        dynamic_update_slice_p as dynamic_update_slice_p,
    )
    from olympus._src.lax.sorting import sort_p as sort_p
    from olympus._src.lax.sorting import top_k_p as top_k_p
    from olympus._src.lax.special import digamma_p as digamma_p
    from olympus._src.lax.special import erf_inv_p as erf_inv_p
    from olympus._src.lax.special import erf_p as erf_p
    from olympus._src.lax.special import erfc_p as erfc_p
    from olympus._src.lax.special import lgamma_p as lgamma_p
    from olympus._src.lax.special import polygamma_p as polygamma_p
    from olympus._src.lax.special import zeta_p as zeta_p
    from olympus._src.lax.transcendental import cbrt_p as cbrt_p
    from olympus._src.lax.transcendental import exp2_p as exp2_p
    from olympus._src.lax.transcendental import exp_p as exp_p
    from olympus._src.lax.transcendental import expm1_p as expm1_p
    from olympus._src.lax.transcendental import log1p_p as log1p_p
    from olympus._src.lax.transcendental import log2_p as log2_p
    from olympus._src.lax.transcendental import log_p as log_p
    from olympus._src.lax.transcendental import logistic_p as logistic_p
    from olympus._src.lax.transcendental import pow_p as pow_p
    from olympus._src.lax.transcendental import rsqrt_p as rsqrt_p
    from olympus._src.lax.transcendental import sqrt_p as sqrt_p
    from olympus._src.lax.trigonometry import acos_p as acos_p
    from olympus._src.lax.trigonometry import acosh_p as acosh_p
    from olympus._src.lax.trigonometry import asin_p as asin_p
    from olympus._src.lax.trigonometry import asinh_p as asinh_p
    from olympus._src.lax.trigonometry import atan2_p as atan2_p
    from olympus._src.lax.trigonometry import atan_p as atan_p
    from olympus._src.lax.trigonometry import atanh_p as atanh_p
    from olympus._src.lax.trigonometry import cos_p as cos_p
    from olympus._src.lax.trigonometry import cosh_p as cosh_p
    from olympus._src.lax.trigonometry import sin_p as sin_p
    from olympus._src.lax.trigonometry import sinh_p as sinh_p
    from olympus._src.lax.trigonometry import tan_p as tan_p
    from olympus._src.lax.trigonometry import tanh_p as tanh_p
    from olympus._src.lax.windows import reduce_window_max_p as reduce_window_max_p
    from olympus._src.lax.windows import reduce_window_min_p as reduce_window_min_p
    from olympus._src.lax.windows import reduce_window_sum_p as reduce_window_sum_p
    from olympus._src.lax.windows import (
        select_and_gather_add_p as select_and_gather_add_p,
    )
    from olympus._src.lax.windows import (
        select_and_scatter_add_p as select_and_scatter_add_p,
    )
    from olympus._src.numerics.betainc import (
        regularized_incomplete_beta_p as regularized_incomplete_beta_p,
    )
    from olympus._src.numerics.igamma import igamma_grad_a_p as igamma_grad_a_p
    from olympus._src.numerics.igamma import igamma_p as igamma_p
    from olympus._src.numerics.igamma import igammac_p as igammac_p
    from olympus._src.numerics.polynomial import polynomial_p as polynomial_p
    from olympus._src.random.gamma import random_gamma_p as random_gamma_p
    from olympus._src.random.keys import random_bits_p as random_bits_p
    from olympus._src.random.keys import random_fold_in_p as random_fold_in_p
    from olympus._src.random.keys import random_seed_p as random_seed_p
    from olympus._src.random.keys import random_split_p as random_split_p
    from olympus._src.refs.operations import get_p as get_p
    from olympus._src.refs.operations import swap_p as swap_p
    from olympus._src.remat.remat import remat_p as remat_p

_LATE = {
    "api.extension": "register_call_primitive_rules",
    "calls.call": (
        "call_p closed_call_p create_call_primitive eval_olympuspr_transpose"
    ),
    "control_flow.cond": "cond_p",
    "control_flow.reduce": "reduce_p reduce_window_p",
    "control_flow.scan": "scan_p",
    "control_flow.while_loop": "while_p",
    "custom_rules.custom_jvp": "custom_jvp_call_p",
    "custom_rules.custom_vjp": "custom_lin_p custom_vjp_call_p",
    "lax.approximate_top_k": "approx_top_k_p",
    "lax.arithmetic": (
        "add_p div_p integer_pow_p max_p min_p mul_p neg_p "
        "one_minus_square_p sign_p square_p sub_p"
    ),
    "lax.barriers": "after_all_p create_token_p stop_gradient_p",
    "lax.bessel": "bessel_i0e_p bessel_i1e_p",
    "lax.bitwise": (
        "and_p clz_p not_p or_p population_count_p shift_left_p "
        "shift_right_arithmetic_p shift_right_logical_p xor_p"
    ),
    "lax.checkpoint_names": "name_p",
    "lax.choice": "clamp_p convert_element_type_p is_finite_p select_n_p",
    "lax.collective_exchanges": "all_gather_p all_to_all_p ppermute_p",
    "lax.collectives": "axis_index_p pmax_p pmin_p psum_p",
    "lax.comparison": "eq_p eq_to_p ge_p gt_p le_p le_to_p lt_p lt_to_p ne_p",
    "lax.complex_numbers": "abs_p complex_p conj_p imag_p real_p",
    "lax.concatenation": "concatenate_p pad_p slice_p",
    "lax.contraction": "dot_general_p",
    "lax.convolution": "conv_general_dilated_p",
    "lax.cumulative": "cumlogsumexp_p cummax_p cummin_p cumprod_p cumsum_p",
    "lax.families": "broadcast_in_dim_p reduce_sum_p transpose_p",
    "lax.fourier": "fft_p",
    "lax.gather": "gather_p",
    "lax.linalg.cholesky_decomposition": "cholesky_p",
    "lax.linalg.eigenvectors": "eig_p",
    "lax.linalg.hermitian_eigenvectors": "eigh_p",
    "lax.linalg.lu_decomposition": "lu_p",
    "lax.linalg.qr_decomposition": "householder_product_p qr_p",
    "lax.linalg.schur_hessenberg": "hessenberg_p schur_p",
    "lax.linalg.singular_values": "svd_p",
    "lax.linalg.triangular": "triangular_solve_p",
    "lax.linalg.tridiagonal": "tridiagonal_p tridiagonal_solve_p",
    "lax.random_bits": "rng_bit_generator_p rng_uniform_p threefry2x32_p",
    "lax.reductions": (
        "argmax_p argmin_p reduce_and_p reduce_max_p reduce_min_p "
        "reduce_or_p reduce_precision_p reduce_prod_p reduce_xor_p"
    ),
    "lax.rounding": "ceil_p floor_p nextafter_p rem_p round_p",
    "lax.scatter": "scatter_add_p scatter_max_p scatter_min_p scatter_mul_p scatter_p",
    "lax.shaping": "bitcast_convert_type_p copy_p iota_p reshape_p rev_p squeeze_p",
    "lax.sharding_constraints": "sharding_constraint_p",
    "lax.slicing": "dynamic_slice_p dynamic_update_slice_p",
    "lax.sorting": "sort_p top_k_p",
    "lax.special": "digamma_p erf_inv_p erf_p erfc_p lgamma_p polygamma_p zeta_p",
    "lax.transcendental": (
        "cbrt_p exp2_p exp_p expm1_p log1p_p log2_p log_p logistic_p pow_p "
        "rsqrt_p sqrt_p"
    ),
    "lax.trigonometry": (
        "acos_p acosh_p asin_p asinh_p atan2_p atan_p atanh_p cos_p cosh_p "
        "sin_p sinh_p tan_p tanh_p"
    ),
    "lax.windows": (
        "reduce_window_max_p reduce_window_min_p reduce_window_sum_p "
        "select_and_gather_add_p select_and_scatter_add_p"
    ),
    "numerics.betainc": "regularized_incomplete_beta_p",
    "numerics.igamma": "igamma_grad_a_p igamma_p igammac_p",
    "numerics.polynomial": "polynomial_p",
    "random.gamma": "random_gamma_p",
    "random.keys": "random_bits_p random_fold_in_p random_seed_p random_split_p",
    "refs.operations": "get_p swap_p",
    "remat.remat": "remat_p",
}

add_jaxvals_p = _families.add_any_p
jit_p = _pjit.pjit_p
linear_solve_p = _linear_solve.custom_linear_solve_p

_late = _Late(__name__, (), _LATE)

__all__ = [
    "abs_p",
    "acos_p",
    "acosh_p",
    "add_jaxvals_p",
    "add_p",
    "after_all_p",
    "all_gather_p",
    "all_to_all_p",
    "and_p",
    "approx_top_k_p",
    "argmax_p",
    "argmin_p",
    "asin_p",
    "asinh_p",
    "atan2_p",
    "atan_p",
    "atanh_p",
    "axis_index_p",
    "bessel_i0e_p",
    "bessel_i1e_p",
    "bitcast_convert_type_p",
    "broadcast_in_dim_p",
    "call_p",
    "cbrt_p",
    "ceil_p",
    "cholesky_p",
    "clamp_p",
    "closed_call_p",
    "clz_p",
    "complex_p",
    "concatenate_p",
    "cond_p",
    "conj_p",
    "conv_general_dilated_p",
    "convert_element_type_p",
    "copy_p",
    "cos_p",
    "cosh_p",
    "create_call_primitive",
    "create_token_p",
    "cumlogsumexp_p",
    "cummax_p",
    "cummin_p",
    "cumprod_p",
    "cumsum_p",
    "custom_jvp_call_p",
    "custom_lin_p",
    "custom_vjp_call_p",
    "digamma_p",
    "div_p",
    "dot_general_p",
    "dynamic_slice_p",
    "dynamic_update_slice_p",
    "eig_p",
    "eigh_p",
    "eq_p",
    "eq_to_p",
    "erf_inv_p",
    "erf_p",
    "erfc_p",
    "eval_olympuspr_transpose",
    "exp2_p",
    "exp_p",
    "expm1_p",
    "fft_p",
    "floor_p",
    "gather_p",
    "ge_p",
    "get_p",
    "gt_p",
    "hessenberg_p",
    "householder_product_p",
    "igamma_grad_a_p",
    "igamma_p",
    "igammac_p",
    "imag_p",
    "integer_pow_p",
    "iota_p",
    "is_finite_p",
    "jit_p",
    "le_p",
    "le_to_p",
    "lgamma_p",
    "linear_solve_p",
    "log1p_p",
    "log2_p",
    "log_p",
    "logistic_p",
    "lt_p",
    "lt_to_p",
    "lu_p",
    "max_p",
    "min_p",
    "mul_p",
    "name_p",
    "ne_p",
    "neg_p",
    "nextafter_p",
    "not_p",
    "one_minus_square_p",
    "or_p",
    "pad_p",
    "pmax_p",
    "pmin_p",
    "polygamma_p",
    "polynomial_p",
    "population_count_p",
    "pow_p",
    "ppermute_p",
    "psum_p",
    "qr_p",
    "random_bits_p",
    "random_fold_in_p",
    "random_gamma_p",
    "random_seed_p",
    "random_split_p",
    "real_p",
    "reduce_and_p",
    "reduce_max_p",
    "reduce_min_p",
    "reduce_or_p",
    "reduce_p",
    "reduce_precision_p",
    "reduce_prod_p",
    "reduce_sum_p",
    "reduce_window_max_p",
    "reduce_window_min_p",
    "reduce_window_p",
    "reduce_window_sum_p",
    "reduce_xor_p",
    "register_call_primitive_rules",
    "regularized_incomplete_beta_p",
    "rem_p",
    "remat_p",
    "reshape_p",
    "rev_p",
    "rng_bit_generator_p",
    "rng_uniform_p",
    "round_p",
    "rsqrt_p",
    "scan_p",
    "scatter_add_p",
    "scatter_max_p",
    "scatter_min_p",
    "scatter_mul_p",
    "scatter_p",
    "schur_p",
    "select_and_gather_add_p",
    "select_and_scatter_add_p",
    "select_n_p",
    "sharding_constraint_p",
    "shift_left_p",
    "shift_right_arithmetic_p",
    "shift_right_logical_p",
    "sign_p",
    "sin_p",
    "sinh_p",
    "slice_p",
    "sort_p",
    "sqrt_p",
    "square_p",
    "squeeze_p",
    "stop_gradient_p",
    "sub_p",
    "svd_p",
    "swap_p",
    "tan_p",
    "tanh_p",
    "threefry2x32_p",
    "top_k_p",
    "transpose_p",
    "triangular_solve_p",
    "tridiagonal_p",
    "tridiagonal_solve_p",
    "while_p",
    "xor_p",
    "zeta_p",
]

_claim(__name__)
