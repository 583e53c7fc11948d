"""Derivatives with respect to the elements of sparse arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src import tree
from olympus._src.api import grad as api_grad
from olympus._src.api import jacobians
from olympus._src.core import avals
from olympus._src.foundation import source_info
from olympus._src.lax import shaping
from olympus._src.sparse.bcoo import BCOO
from olympus._src.sparse.formats import JAXSparse

aval_of = avals.aval_of


def _is_sparse(x: Any) -> bool:
    return isinstance(x, JAXSparse)


def _differentiate(
    transform: Callable[..., Any],
    fun: Callable[..., Any],
    argnums: Any,
    pick: Callable[[Any], tuple[Any, Callable[[Any], Any]]],
    options: Any,
) -> Callable[..., Any]:
    """A derivative in which sparse arguments stand for their data.

    Args:
      transform: a transformation of functions of dense arrays.
      fun: the user's function.
      argnums: which arguments to differentiate with respect to.
      pick: takes the derivatives out of what the transformed function returns, and says
        how to put others in their place.
      options: of the transformation.
    """
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def derivative(*args: Any, **kwargs: Any) -> Any:
        chosen = [operator.index(i) % max(1, len(args)) for i in numbers]
        sparse = [args[i] for i in chosen]
        dense = [tree.tree_map(_data_of, x, is_leaf=_is_sparse) for x in sparse]

        def call(*datas: Any) -> Any:
            full = list(args)
            for i, array, data in zip(chosen, sparse, datas, strict=True):
                full[i] = tree.tree_map(_with_data, array, data, is_leaf=_is_sparse)
            return fun(*full, **kwargs)

        inner = transform(call, argnums=tuple(range(len(chosen))), **options)
        slopes, put_back = pick(inner(*dense))
        outs = _restore(slopes, sparse)
        return put_back(outs[0] if isinstance(argnums, int) else tuple(outs))

    source_info.update_wrapper(derivative, fun)
    return derivative


def _data_of(x: Any) -> Any:
    return x.data if _is_sparse(x) else x


def _with_data(x: Any, data: Any) -> Any:
    if not _is_sparse(x):
        return data
    leaves, info = x.tree_flatten()
    return type(x).tree_unflatten(info, (data, *leaves[1:]))


def _restore(slopes: Any, sparse: Sequence[Any]) -> list[Any]:
    """Derivatives in the structure of the arguments."""
    return [
        tree.tree_map(lambda x, s: _with_slope(x, s), array, slope, is_leaf=_is_sparse)
        for array, slope in zip(sparse, slopes, strict=True)
    ]


def _with_slope(x: Any, slope: Any) -> Any:
    """A derivative as a sparse array, whose axes the result's axes precede."""
    if not _is_sparse(x):
        return slope
    lead = aval_of(slope).shape[: aval_of(slope).ndim - aval_of(x.data).ndim]
    if not lead:
        return _with_data(x, slope)
    if not isinstance(x, BCOO):
        raise NotImplementedError(
            f"sparse.jacobian: arguments must be BCOO where the result has axes, got "
            f"{x!r}; convert it with to_bcoo or BCOO.fromdense"
        )
    shape = aval_of(x.indices).shape
    full = (*lead, *shape)
    axes = tuple(range(len(lead), len(full)))
    return BCOO(
        (slope, shaping.broadcast_in_dim(x.indices, full, axes)),
        shape=(*lead, *x.shape),
        indices_sorted=x.indices_sorted,
        unique_indices=x.unique_indices,
    )


def _plain(result: Any) -> Any:
    return result, lambda slopes: slopes


def _before_aux(result: Any) -> Any:
    return result[0], lambda slopes: (slopes, result[1])


def _after_value(result: Any) -> Any:
    return result[1], lambda slopes: (result[0], slopes)


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    **kwargs: Any,
) -> Callable[..., Any]:
    """As `olympus.grad`, where sparse arguments give sparse gradients.

    A gradient has the positions of its argument: it says how the function depends on
    the elements that are stored, and on no others.

    Args:
      fun: a function of arrays, sparse arrays and trees of them.
      argnums: which arguments to differentiate with respect to.
      has_aux: `fun` returns a pair of the scalar and an auxiliary value.
      kwargs: more options of `olympus.grad`.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> g = sparse.grad(lambda x: (x @ jnp.array([1.0, 2.0])).sum())(sparse.eye(2))
      >>> g, g.data.tolist()
      (BCOO(float32[2, 2], nse=2), [1.0, 2.0])
    """
    options = {"has_aux": has_aux, **kwargs}
    pick = _before_aux if has_aux else _plain
    return _differentiate(api_grad.grad, fun, argnums, pick, options)


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    **kwargs: Any,
) -> Callable[..., tuple[Any, Any]]:
    """As `olympus.value_and_grad`, where sparse arguments give sparse gradients.

    Args:
      fun: a function of arrays, sparse arrays and trees of them.
      argnums: which arguments to differentiate with respect to.
      has_aux: `fun` returns a pair of the scalar and an auxiliary value.
      kwargs: more options of `olympus.value_and_grad`.

    Example:
      >>> from olympus.experimental import sparse
      >>> sparse.value_and_grad(lambda x: 2 * x.sum())(sparse.eye(2))[1].data.tolist()
      [2.0, 2.0]
    """
    options = {"has_aux": has_aux, **kwargs}
    return _differentiate(api_grad.value_and_grad, fun, argnums, _after_value, options)


def jacfwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    **kwargs: Any,
) -> Callable[..., Any]:
    """As `olympus.jacfwd`, where BCOO arguments give BCOO.

    Args:
      fun: a function of arrays, sparse arrays and trees of them, which returns an
        array.
      argnums: which arguments to differentiate with respect to.
      has_aux: `fun` returns a pair of the result and an auxiliary value.
      kwargs: more options of `olympus.jacfwd`.

    Returns:
      A function; the axes of the result are batch axes of what it returns.

    Raises:
      NotImplementedError: when it is called: a sparse argument is no BCOO.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> sparse.jacfwd(lambda x: x @ jnp.ones(3))(sparse.eye(2, 3))
      BCOO(float32[2, 2, 3], nse=2, n_batch=1)
    """
    options = {"has_aux": has_aux, **kwargs}
    pick = _before_aux if has_aux else _plain
    return _differentiate(jacobians.jacfwd, fun, argnums, pick, options)


def jacrev(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    **kwargs: Any,
) -> Callable[..., Any]:
    """As `olympus.jacrev`, where BCOO arguments give BCOO.

    Args:
      fun: a function of arrays, sparse arrays and trees of them, which returns an
        array.
      argnums: which arguments to differentiate with respect to.
      has_aux: `fun` returns a pair of the result and an auxiliary value.
      kwargs: more options of `olympus.jacrev`.

    Returns:
      A function; the axes of the result are batch axes of what it returns.

    Raises:
      NotImplementedError: when it is called: a sparse argument is no BCOO.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import sparse
      >>> sparse.jacrev(lambda x: x @ jnp.ones(3))(sparse.eye(2, 3))
      BCOO(float32[2, 2, 3], nse=2, n_batch=1)
    """
    options = {"has_aux": has_aux, **kwargs}
    pick = _before_aux if has_aux else _plain
    return _differentiate(jacobians.jacrev, fun, argnums, pick, options)


jacobian = jacrev
