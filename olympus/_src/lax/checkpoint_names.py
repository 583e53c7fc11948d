"""Names for values, by which policies of rematerialisation know them."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core.array_type import PyTree
from olympus._src.core.primitive import Primitive
from olympus._src.lax import families, sharding_rules
from olympus._src.tree import tree_map


def _jvp(primals: Any, tangents: Any, *, name: str) -> Any:
    # The tangent has no name: a policy that saves the value does not save it too.
    return name_p.bind(*primals, name=name), tangents[0]


name_p: Primitive = Primitive(
    "name",
    shard=sharding_rules.linear_in(sharding_rules.keep),
    abstract=lambda operand, *, name: operand,
    lower=lambda ctx, x, *, name: x,
    jvp=_jvp,
    batch=lambda axis, args, dims, *, name: (name_p.bind(*args, name=name), dims[0]),
    reference=lambda x, *, name: np.array(x),
    taylor=families.linear_series(),
)


def checkpoint_name(x: PyTree, name: str) -> PyTree:
    """The same values, known by a name to policies of `olympus.checkpoint`.

    Args:
      x: a pytree of arrays.
      name: the name that all its leaves get; see `save_only_these_names` in
        `olympus.checkpoint_policies`.

    Returns:
      A pytree of the same structure.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> from olympus.ad_checkpoint import checkpoint_name
      >>> def f(x):
      ...     return onp.cos(checkpoint_name(onp.sin(x), "inner"))
      >>> keep = olympus.checkpoint_policies.save_only_these_names("inner")
      >>> print(olympus.grad(olympus.checkpoint(f, policy=keep))(0.0))
      -0.0
    """
    return tree_map(lambda leaf: name_p.bind(leaf, name=name), x)


def checkpoint_name_fwd(x: PyTree, name: str) -> PyTree:
    """The same values, named where they are computed and not where differentiated.

    Args: as those of `checkpoint_name`, which names no tangents either.

    Returns:
      A pytree of the same structure.
    """
    return checkpoint_name(x, name)
