"""Functions that a part of the machine computes: the host, or a stream of a GPU."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from olympus._src import tree
from olympus._src.api import parameters, placement, xla_metadata
from olympus._src.sharding.memory_spaces import Space

# What XLA calls the parts.
_TYPES = {
    "device_host": {"_xla_compute_type": "host"},
    "device": {"_xla_compute_type": "dense", "inlineable": "false"},
    "tpu_sparsecore": {"_xla_compute_type": "sparseoffload"},
}
_STREAM = re.compile(r"gpu_stream:(\d+)")


def compute_on(
    f: Callable[..., Any] | None = None,
    *,
    compute_type: str,
    out_memory_spaces: Any,
    compiler_options: Mapping[str, Any] | None = None,
) -> Any:
    """A function that a part of the machine computes, in compiled programs.

    Args:
      f: a function of arrays and pytrees of them; None gives a decorator.
      compute_type: 'device_host' for the host of the device, 'device', 'tpu_sparsecore'
        or 'gpu_stream:' and a number.
      out_memory_spaces: a `memory.Space` for the results, or a tree of them that is a
        prefix of the result.
      compiler_options: XLA's options for this part, by name.

    Returns:
      The function. Its derivatives are computed there too. On a CPU, where the host is
      the device, it is as any other.

    Raises:
      TypeError: `f` is not callable, or `out_memory_spaces` holds something else.
      ValueError: there is no such `compute_type`, or `out_memory_spaces` is no prefix.

    Example:
      >>> import olympus, olympus.numpy as jnp
      >>> from olympus.experimental.compute_on import compute_on
      >>> device = olympus.memory.Space.Device
      >>> @compute_on(compute_type="device_host", out_memory_spaces=device)
      ... def f(x):
      ...     return 2 * x
      >>> print(f(jnp.arange(3)))
      [0 2 4]
    """
    attributes = _attributes_of(compute_type)
    if compiler_options is not None:
        attributes = {
            **attributes,
            "backend_config": json.dumps(dict(compiler_options)),
        }
    for space in tree.tree_leaves(out_memory_spaces, _is_none):
        if not isinstance(space, Space):
            raise TypeError(
                "compute_on: out_memory_spaces must be of memory.Space, got "
                f"{space!r}; write memory.Space.Device"
            )
    if f is None:
        return functools.partial(
            compute_on,
            compute_type=compute_type,
            out_memory_spaces=out_memory_spaces,
            compiler_options=compiler_options,
        )
    parameters.check_callable("compute_on", f)
    call = xla_metadata.xla_metadata_call2(f, attributes)

    @functools.wraps(f)
    def compute(*args: Any, **kwargs: Any) -> Any:
        out = call(*args, **kwargs)
        what = "compute_on out_memory_spaces"
        spaces = tree.broadcast_prefix(
            out_memory_spaces, out, what=what, full_name="result"
        )
        return placement.device_put(out, tree.tree_structure(out).unflatten(spaces))

    return compute


def _is_none(x: Any) -> bool:
    return x is None


def _attributes_of(compute_type: str) -> dict[str, str]:
    stream = _STREAM.fullmatch(compute_type)
    if stream is not None:
        return {"_xla_stream_annotation": stream[1], "inlineable": "false"}
    if compute_type not in _TYPES:
        raise ValueError(
            f"compute_on: compute_type must be {', '.join(map(repr, _TYPES))} or "
            f"'gpu_stream:' and a number, got {compute_type!r}"
        )
    return _TYPES[compute_type]
