"""`inspect_array_sharding`: how the compiler divides values inside of a program.

XLA calls back for a custom call named `InspectSharding` while it partitions a module,
and removes it. The text holds a placeholder for the function; it is replaced when the
module is compiled, and what XLA said is passed on when it has compiled.

Programs of one device have no such call: where they run is all there is to say.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from olympus._src import tree
from olympus._src.callbacks import callback as host
from olympus._src.callbacks.debugging import debug_effect
from olympus._src.core.array_type import PyTree
from olympus._src.core.primitive import Primitive
from olympus._src.lax import sharding_rules
from olympus._src.lowering import types
from olympus._src.lowering.inspections import Inspection

_numbers = itertools.count()  # one for each, so that equal programs share no text


def _lower(ctx: Any, operand: str, *, callback: Any) -> Any:
    aval = ctx.avals_in[0]
    module = ctx.module
    ndim, number = aval.storage.ndim, next(_numbers)
    inspection = Inspection(callback, ndim, module.manual, number)
    module.inspections.append(inspection)
    if module.divided_over is not None and module.divided_over.size > 1:
        ctx.block.op1(
            "stablehlo.custom_call",
            [operand],
            [aval],
            aval,
            f'call_target_name = "InspectSharding", backend_config = '
            f"{types.string(inspection.placeholder)}, has_side_effect = true",
        )
    return []


def _impl(x: Any, *, callback: Any) -> Any:
    callback(host.as_operands([x])[0].sharding)
    return []


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    return inspect_sharding_p.bind(*primals, **params), []


def _batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    return inspect_sharding_p.bind(*args, **params), []


inspect_sharding_p = Primitive(
    "inspect_sharding",
    multiple_results=True,
    abstract=lambda *args, **params: (),
    shard=sharding_rules.no_results,
    effects=lambda *args, **params: frozenset((debug_effect,)),
    lower=_lower,
    impl=_impl,
    jvp=_jvp,
    transpose=lambda cts, *args, **params: [None] * len(args),
    batch=_batch,
    may_make_nan=False,
    needs_full_build=True,
)


def inspect_array_sharding(value: PyTree, *, callback: Callable[[Any], None]) -> None:
    """Calls a function with the sharding of each array of a tree.

    Outside of `jit` it is called at once. In a compiled program the compiler chooses
    how a value is divided, so the function is called when the program has been
    compiled, and not when it runs. Under `vmap` the value has the mapped axes too; in
    `shard_map` it is one device's part, which only the axes that are not manual can
    divide.

    Args:
      value: a tree of arrays.
      callback: takes a `Sharding`; its result is ignored.

    Raises:
      TypeError: `callback` is not a function.

    Example:
      >>> import olympus
      >>> import olympus.numpy as jnp
      >>> from olympus.sharding import NamedSharding, PartitionSpec as P
      >>> mesh = olympus.make_mesh((1,), ('x',))
      >>> x = olympus.device_put(jnp.zeros(4), NamedSharding(mesh, P('x')))
      >>> olympus.debug.inspect_array_sharding(x, callback=lambda s: print(s.spec))
      P('x',)
    """
    host.check_callback("debug.inspect_array_sharding", callback)
    for leaf in tree.tree_leaves(value):
        inspect_sharding_p.bind(leaf, callback=callback)
