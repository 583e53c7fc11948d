"""What operations of `lax` are for sparse operands, by their records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src.core import avals, dtypes
from olympus._src.core.primitive import Primitive
from olympus._src.lax import (
    arithmetic,
    bessel,
    bitwise,
    choice,
    complex_numbers,
    concatenation,
    contraction,
    convolution,
    elementwise,
    families,
    gather,
    reductions,
    rounding,
    shaping,
    slicing,
    special,
    stacking,
    transcendental,
    trigonometry,
)
from olympus._src.sparse import (
    bcoo_convolution,
    bcoo_functions,
    bcoo_shaping,
    bcoo_slicing,
    bcsr_functions,
    conversion,
    layouts,
)
from olympus._src.sparse.bcoo import BCOO
from olympus._src.sparse.bcsr import BCSR

aval_of = avals.aval_of
Rule = Callable[..., Any]


def is_sparse(x: Any) -> bool:
    """Whether a value is a sparse array that operations have rules for.

    The other formats are pytrees of arrays, with products of their own.
    """
    return isinstance(x, (BCOO, BCSR))


# -- one operand -----------------------------------------------------------------------

# Of zero they give zero, and of a sum the sum.
_LINEAR = (
    arithmetic.neg_p,
    complex_numbers.real_p,
    complex_numbers.imag_p,
    complex_numbers.conj_p,
    shaping.copy_p,
)
# Of zero they give zero.
_ZERO_PRESERVING = (
    complex_numbers.abs_p,
    trigonometry.asin_p,
    trigonometry.asinh_p,
    trigonometry.atan_p,
    trigonometry.atanh_p,
    bessel.bessel_i1e_p,
    transcendental.cbrt_p,
    rounding.ceil_p,
    special.erf_p,
    special.erf_inv_p,
    transcendental.expm1_p,
    rounding.floor_p,
    transcendental.log1p_p,
    rounding.round_p,
    arithmetic.sign_p,
    trigonometry.sin_p,
    trigonometry.sinh_p,
    transcendental.sqrt_p,
    arithmetic.square_p,
    trigonometry.tan_p,
    trigonometry.tanh_p,
    reductions.reduce_precision_p,
)


def with_data(mat: Any, data: Any) -> Any:
    """A sparse array with the positions of another."""
    leaves, info = mat.tree_flatten()
    return type(mat).tree_unflatten(info, (data, *leaves[1:]))


def make_unique(mat: Any) -> Any:
    """The array with each position once; as many elements are stored."""
    if mat.unique_indices:
        return mat
    if isinstance(mat, BCSR):
        return bcsr_functions.bcsr_sum_duplicates(mat, nse=mat.nse)
    return bcoo_functions.bcoo_sum_duplicates(mat, nse=mat.nse)


def _apply_linear(p: Primitive) -> Rule:
    return lambda x, **params: with_data(x, p.bind(x.data, **params))


def _apply_to_unique(p: Primitive) -> Rule:
    def rule(x: Any, **params: Any) -> Any:
        x = make_unique(x)
        return with_data(x, p.bind(x.data, **params))

    return rule


def _convert(x: Any, *, new_dtype: Any, **params: Any) -> Any:
    old, new = x.dtype, new_dtype
    narrows = dtypes.issubdtype(new, bool) or (
        dtypes.issubdtype(new, int) and not dtypes.issubdtype(old, int)
    )
    if narrows and old != new:
        x = make_unique(x)
    data = choice.convert_element_type_p.bind(x.data, new_dtype=new, **params)
    return with_data(x, data)


def _integer_pow(x: Any, *, y: int) -> Any:
    if y <= 0:
        raise _dense_result("integer_pow with exponent <= 0")
    x = make_unique(x)
    return with_data(x, arithmetic.integer_pow_p.bind(x.data, y=y))


def _dense_result(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"sparsify: sparse rule for {name} is not implemented because it would result "
        "in dense output. If this is your intent, use sparse.todense() to convert your "
        "arguments to dense matrices."
    )


# -- two operands ----------------------------------------------------------------------


def _fit(x: Any, shape: tuple[int, ...]) -> Any:
    """A sparse operand in the shape of a result: axes of size 1 are repeated."""
    if x.shape == shape:
        return x
    first = len(shape) - x.ndim
    axes = tuple(range(first, len(shape)))
    return bcoo_shaping.bcoo_broadcast_in_dim(x, shape=shape, broadcast_dimensions=axes)


def _shape_of(x: Any) -> tuple[int, ...]:
    return tuple(x.shape if is_sparse(x) else aval_of(x).shape)


def _result_shape(x: Any, y: Any) -> tuple[int, ...]:
    a, b = _shape_of(x), _shape_of(y)
    if len(a) != len(b):
        return max(a, b, key=len)
    return tuple([max(m, n) if min(m, n) else 0 for m, n in zip(a, b, strict=True)])


def _share_layout(x: BCOO, y: BCOO) -> tuple[BCOO, BCOO]:
    """Two sparse arrays with as many batch and dense axes, the fewer of both."""
    n_batch, n_dense = min(x.n_batch, y.n_batch), min(x.n_dense, y.n_dense)
    if (n_batch, n_dense) == (x.n_batch, x.n_dense) == (y.n_batch, y.n_dense):
        return x, y
    x, y = (m.update_layout(n_batch=n_batch, n_dense=n_dense) for m in (x, y))
    return x, y


def _add(x: Any, y: Any) -> Any:
    if not (is_sparse(x) and is_sparse(y)):
        return arithmetic.add_p.bind(*map(conversion.todense, (x, y)))
    shape = _result_shape(x, y)
    x, y = _fit(x, shape), _fit(y, shape)
    if x.indices is y.indices and x.shape == y.shape:
        return with_data(x, x.data + y.data)
    x, y = _share_layout(x, y)
    n = x.n_batch
    batch = shape[:n]
    buffers: Any = []
    for a, b in ((x.data, y.data), (x.indices, y.indices)):
        dtype = dtypes.result_type(a, b)
        parts = [
            layouts.fill_batch(elementwise.convert_element_type(c, dtype), batch)
            for c in (a, b)
        ]
        buffers.append(concatenation.concatenate(parts, n))
    return BCOO(tuple(buffers), shape=shape)


def _sub(x: Any, y: Any) -> Any:
    if not (is_sparse(x) and is_sparse(y)):
        return arithmetic.sub_p.bind(*map(conversion.todense, (x, y)))
    return _add(x, with_data(y, arithmetic.neg_p.bind(y.data)))


def _mul(x: Any, y: Any) -> Any:
    shape = _result_shape(x, y)
    if is_sparse(x) and is_sparse(y):
        if x.indices is y.indices and x.shape == y.shape and x.unique_indices:
            return with_data(x, x.data * y.data)
        return bcoo_functions.bcoo_multiply_sparse(
            *_share_layout(_fit(x, shape), _fit(y, shape))
        )
    mat, v = (x, y) if is_sparse(x) else (y, x)
    mat = _fit(mat, shape)
    data = bcoo_functions.bcoo_multiply_dense(mat, v)
    return with_data(mat, data)


def _div(x: Any, y: Any) -> Any:
    if is_sparse(y):
        raise _dense_result("div by a sparse array")
    x = _fit(x, _result_shape(x, y))
    if dtypes.issubdtype(x.dtype, int) or dtypes.issubdtype(x.dtype, bool):
        x = make_unique(x)
    y = elementwise.convert_element_type(y, x.dtype)
    return with_data(x, bcoo_functions.divide_by_dense(x, y))


# Sums and products of booleans, which are logical; of integers' bits there is no rule.


def _or(x: Any, y: Any) -> Any:
    if x.dtype != bool:
        raise _dense_result("or")
    if not (is_sparse(x) and is_sparse(y)):
        return bitwise.or_p.bind(*map(conversion.todense, (x, y)))
    return _add(x, y)


def _and(x: Any, y: Any) -> Any:
    if x.dtype != bool:
        raise _dense_result("and")
    return _mul(x, y)


# -- products, shapes ------------------------------------------------------------------


def _dot_general(x: Any, y: Any, **params: Any) -> Any:
    if isinstance(x, BCSR) or isinstance(y, BCSR):
        return bcsr_functions.bcsr_dot_general(x, y, **params)
    return bcoo_functions.bcoo_dot_general(x, y, **params)


def _transpose(x: Any, *, permutation: Any) -> Any:
    return bcoo_functions.bcoo_transpose(x, permutation=permutation)


def _reduce_sum(x: Any, *, axes: Any) -> Any:
    out = bcoo_shaping.sum_axes(x, axes)
    return out if out.shape else out.todense()


def _concatenate(*xs: Any, dimension: int) -> Any:
    if not all(map(is_sparse, xs)):
        raise _dense_result("concatenate of sparse and dense arrays")
    if any(isinstance(x, BCSR) for x in xs):
        return bcsr_functions.bcsr_concatenate(xs, dimension=dimension)
    return bcoo_shaping.bcoo_concatenate(xs, dimension=dimension)


def _stack(*xs: Any, axis: int) -> Any:
    if not all(map(is_sparse, xs)):
        raise _dense_result("stack of sparse and dense arrays")
    shape = xs[0].shape
    full = (*shape[:axis], 1, *shape[axis:])
    axes = tuple([a for a in range(len(full)) if a != axis])
    if isinstance(xs[0], BCSR):
        broadcast: Rule = bcsr_functions.bcsr_broadcast_in_dim
    else:
        broadcast = bcoo_shaping.bcoo_broadcast_in_dim
    wide = [broadcast(x, shape=full, broadcast_dimensions=axes) for x in xs]
    return _concatenate(*wide, dimension=axis)


def _unstack(x: Any, *, axis: int) -> list[Any]:
    parts = []
    for i in range(x.shape[axis]):
        starts, limits = [0] * x.ndim, list(x.shape)
        starts[axis], limits[axis] = i, i + 1
        part = bcoo_slicing.bcoo_slice(x, start_indices=starts, limit_indices=limits)
        parts.append(bcoo_shaping.bcoo_squeeze(part, dimensions=(axis,)))
    return parts


def _reshape(x: Any, *, new_sizes: Any, dimensions: Any, **_: Any) -> Any:
    return bcoo_shaping.bcoo_reshape(x, new_sizes=new_sizes, dimensions=dimensions)


def _broadcast(x: Any, *, shape: Any, broadcast_dimensions: Any, **_: Any) -> Any:
    return bcoo_shaping.bcoo_broadcast_in_dim(
        x, shape=shape, broadcast_dimensions=broadcast_dimensions
    )


def _dynamic_slice(x: Any, *starts: Any, slice_sizes: Any) -> Any:
    return bcoo_slicing.bcoo_dynamic_slice(x, starts, slice_sizes)


def _gather(
    x: Any,
    indices: Any,
    *,
    dimension_numbers: Any,
    slice_sizes: Any,
    mode: Any,
    fill_value: Any,
    **_: Any,
) -> Any:
    fill = None if fill_value is not None and fill_value != 0 else fill_value
    return bcoo_slicing.bcoo_gather(
        x, indices, dimension_numbers, slice_sizes, mode=mode, fill_value=fill
    )


_BCOO_RULES: dict[Primitive, Rule] = {
    **{p: _apply_linear(p) for p in _LINEAR},
    **{p: _apply_to_unique(p) for p in _ZERO_PRESERVING},
    choice.convert_element_type_p: _convert,
    arithmetic.integer_pow_p: _integer_pow,
    arithmetic.add_p: _add,
    families.add_any_p: _add,
    arithmetic.sub_p: _sub,
    arithmetic.mul_p: _mul,
    arithmetic.div_p: _div,
    bitwise.or_p: _or,
    bitwise.and_p: _and,
    contraction.dot_general_p: _dot_general,
    families.transpose_p: _transpose,
    families.reduce_sum_p: _reduce_sum,
    concatenation.concatenate_p: _concatenate,
    stacking.stack_p: _stack,
    stacking.unstack_p: _unstack,
    shaping.reshape_p: _reshape,
    families.broadcast_in_dim_p: _broadcast,
    shaping.rev_p: lambda x, *, dimensions: bcoo_shaping.bcoo_rev(x, dimensions),
    shaping.squeeze_p: bcoo_shaping.bcoo_squeeze,
    concatenation.slice_p: bcoo_slicing.bcoo_slice,
    slicing.dynamic_slice_p: _dynamic_slice,
    gather.gather_p: _gather,
    convolution.conv_general_dilated_p: bcoo_convolution.bcoo_conv_general_dilated,
    conversion.todense_p: lambda x, **_: conversion.todense(x),
}

_BCSR_RULES: dict[Primitive, Rule] = {
    **{p: _apply_linear(p) for p in _LINEAR},
    **{p: _apply_to_unique(p) for p in _ZERO_PRESERVING},
    choice.convert_element_type_p: _convert,
    arithmetic.integer_pow_p: _integer_pow,
    contraction.dot_general_p: _dot_general,
    concatenation.concatenate_p: _concatenate,
    stacking.stack_p: _stack,
    families.broadcast_in_dim_p: lambda x, *, shape, broadcast_dimensions, **_: (
        bcsr_functions.bcsr_broadcast_in_dim(
            x, shape=shape, broadcast_dimensions=broadcast_dimensions
        )
    ),
    conversion.todense_p: lambda x, **_: conversion.todense(x),
}

# Of zero they do not give zero.
_DENSE_RESULTS = (
    *(trigonometry.cos_p, trigonometry.acos_p, trigonometry.cosh_p),
    *(transcendental.exp_p, transcendental.log_p, transcendental.logistic_p),
    transcendental.pow_p,
)


def find_rule(p: Primitive, args: Any) -> Rule:
    """The rule of an operation for operands of which some are sparse.

    Raises:
      NotImplementedError: there is none.
    """
    sparse = [x for x in args if is_sparse(x)]
    rules = _BCOO_RULES
    if not all(isinstance(x, BCOO) for x in sparse):
        rules = _BCSR_RULES
    rule = rules.get(p)
    if rule is not None:
        return rule
    if p in _DENSE_RESULTS or rules is _BCOO_RULES:
        raise _dense_result(p.name)
    kinds = ", ".join(sorted({type(x).__name__ for x in sparse}))
    raise NotImplementedError(
        f"sparsify: sparse rule for {p.name} is not implemented, got operands {kinds}; "
        "convert them to BCOO, or use sparse.todense()"
    )
