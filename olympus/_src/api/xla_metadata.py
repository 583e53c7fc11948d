"""Functions whose operations carry attributes for the compiler and its tools."""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.api import parameters
from olympus._src.api.jit import jit
from olympus._src.core import scopes
from olympus._src.core.array_type import PyTree
from olympus._src.core.trace import current
from olympus._src.foundation import config
from olympus._src.lax.operation_metadata import xla_metadata_value_p
from olympus._src.programs.call_metadata import Attributes, CallMetadata


def xla_metadata_call(f: Callable[..., Any] | None = None, /, **meta: Any) -> Any:
    """A function whose operations carry attributes in compiled programs.

    Args:
      f: a function of arrays and pytrees of them; None gives a decorator.
      **meta: attributes by name: strings, numbers and booleans.

    Returns:
      The function, jitted. In other programs it is a call with these attributes, which
      XLA gives to each of the operations. Its derivatives and batches have them too.

    Raises:
      TypeError: `f` is not callable, or a value is none of these.

    Source: `mhlo.frontend_attributes`.

    Example:
      >>> import olympus, olympus.numpy as jnp
      >>> from olympus.experimental.xla_metadata import xla_metadata_call
      >>> block = xla_metadata_call(lambda x: jnp.sin(x), tag="block")
      >>> 'tag = "block"' in olympus.jit(lambda x: block(x) + 1).lower(1.0).as_text()
      True
    """
    if f is None:
        return functools.partial(xla_metadata_call, **meta)
    return xla_metadata_call2(f, meta)


def xla_metadata_call2(
    f: Callable[..., Any] | Mapping[str, Any] | None = None,
    /,
    metadata: Mapping[str, Any] | None = None,
    *,
    ad_metadata: Any = "same",
) -> Any:
    """As `xla_metadata_call`, with other attributes for the backward pass.

    Args:
      f: a function of arrays and pytrees of them; None gives a decorator, and so do
        the attributes in its place.
      metadata: attributes by name: strings, numbers and booleans.
      ad_metadata: those of the linear programs that derivatives make of it; 'same' for
        `metadata`, or 'drop' for none.

    Raises:
      TypeError: `f` is not callable, or an attribute is of another type.
      ValueError: `ad_metadata` is another string.

    Example:
      >>> import olympus, olympus.numpy as jnp
      >>> from olympus.experimental.xla_metadata import xla_metadata_call2
      >>> f = xla_metadata_call2(jnp.sin, {"tag": "x"}, ad_metadata="drop")
      >>> text = olympus.jit(olympus.grad(f)).lower(1.0).as_text()
      >>> text.count('tag = "x"')
      1
    """
    fun: Any = f
    if isinstance(f, Mapping) and metadata is None:
        fun, metadata = None, f
    if fun is None:
        return functools.partial(
            xla_metadata_call2, metadata=metadata, ad_metadata=ad_metadata
        )
    parameters.check_callable("xla_metadata_call", fun)
    own = _as_attributes("metadata", metadata or {})
    if isinstance(ad_metadata, str):
        if ad_metadata not in ("same", "drop"):
            raise ValueError(
                f"xla_metadata_call2: ad_metadata must be 'same', 'drop' or a "
                f"dictionary, got {ad_metadata!r}"
            )
        of_derivative = own if ad_metadata == "same" else ()
    else:
        of_derivative = _as_attributes("ad_metadata", ad_metadata)
    function: Any = jit(fun)
    function.marks = {"metadata": CallMetadata(own, of_derivative)}
    return function


def _as_attributes(what: str, values: Mapping[str, Any]) -> Attributes:
    if not isinstance(values, Mapping):
        raise TypeError(
            f"xla_metadata_call2: {what} must be a dictionary, got "
            f"{type(values).__name__}"
        )
    pairs = [
        (name, _as_text("xla_metadata_call", name, value))
        for name, value in values.items()
    ]
    return tuple(sorted(pairs))


def _as_text(where: str, name: str, value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (str, numbers.Number)):
        return str(value)
    raise TypeError(
        f"{where}: {name} must be a string, a number or a boolean, got "
        f"{type(value).__name__}; pass str(value)"
    )


class _MetadataBlock:
    """Gives the operations inside attributes: a context manager and a decorator."""

    __slots__ = ("_changes", "_outer")

    def __init__(self, changes: scopes.Changes) -> None:
        self._changes = changes
        self._outer: list[tuple[scopes.Scope, Any]] = []

    def __enter__(self) -> None:
        changes = self._changes
        merged = scopes.merge_changes([config.xla_metadata.value, changes])
        setting = config.xla_metadata(merged)
        setting.__enter__()
        self._outer.append((current.scope, setting))
        current.scope = (*current.scope, scopes.Metadata(changes))

    def __exit__(self, *error: object) -> None:
        current.scope, setting = self._outer.pop()
        setting.__exit__(*error)

    def __call__(self, fun: Callable[..., Any]) -> Callable[..., Any]:
        parameters.check_callable("set_xla_metadata", fun)

        @functools.wraps(fun)
        def with_metadata(*args: Any, **kwargs: Any) -> Any:
            with _MetadataBlock(self._changes):
                return fun(*args, **kwargs)

        return with_metadata


def set_xla_metadata(x: PyTree = None, **kwargs: Any) -> Any:
    """Gives operations attributes in compiled programs.

    Args:
      x: a pytree of arrays: the operation that each of them is the result of has the
        attributes. None gives a block for `with`, which is a decorator too: all
        operations that are applied inside have them.
      **kwargs: attributes by name: strings, numbers and booleans. In a block they take
        the place of those of blocks around it; None takes one away.

    Returns:
      The values of `x`, or the block.

    Raises:
      TypeError: a value is none of these.

    Source: `mhlo.frontend_attributes`.

    Example:
      >>> import olympus, olympus.numpy as jnp
      >>> from olympus.experimental.xla_metadata import set_xla_metadata
      >>> @olympus.jit
      ... def f(x):
      ...     with set_xla_metadata(part="first"):
      ...         x = jnp.sin(x)
      ...     return set_xla_metadata(jnp.cos(x), part="second") + 1
      >>> for line in f.lower(1.0).as_text().splitlines():
      ...     if "{part" in line:
      ...         print(line.partition(" : ")[0].strip())
      %0 = stablehlo.sine %arg0 {mhlo.frontend_attributes = {part = "first"}}
      %1 = stablehlo.cosine %0 {mhlo.frontend_attributes = {part = "second"}}
    """
    if callable(x):
        raise TypeError(
            "set_xla_metadata: x must be an array or a pytree of them, got a function, "
            f"{x!r}; write set_xla_metadata(name=value)(function)"
        )
    changes = tuple(
        [
            (k, None if v is None else _as_text("set_xla_metadata", k, v))
            for k, v in kwargs.items()
        ]
    )
    if x is None:
        return _MetadataBlock(changes)
    params = {"xla_metadata_kvs": scopes.merge_changes([changes])}
    return tree.tree_map(lambda leaf: xla_metadata_value_p.bind(leaf, **params), x)


def fuse_limit() -> Any:
    """A block whose operations XLA is not to fuse with those outside.

    They carry the attribute `FUSE_LIMIT`. Compilers that do not know it ignore it, as
    those for CPUs do.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental.xla_metadata import fuse_limit
      >>> with fuse_limit():
      ...     print(jnp.cos(0.0))
      1.0
    """
    return set_xla_metadata(FUSE_LIMIT=True)


def must_fuse_call(identifier: str) -> Callable[[Callable[..., Any]], Any]:
    """A decorator of functions whose operations XLA is to put into one kernel.

    They carry the attribute `MUST_FUSE`. Compilers that do not know it ignore it, as
    those for CPUs do.

    Args:
      identifier: what the compiler calls the kernel.

    Example:
      >>> from olympus.experimental.xla_metadata import must_fuse_call
      >>> must_fuse_call("scale")(lambda x: 2 * x + 1)(3.0).item()
      7.0
    """
    return functools.partial(xla_metadata_call, MUST_FUSE=identifier)


def scheduling_group(name: str) -> Callable[[Callable[..., Any]], Any]:
    """A decorator of functions whose operations XLA is to run one after another.

    They carry the attribute `scheduling_group`. Compilers that do not know it ignore
    it, as those for CPUs do.

    Args:
      name: of the group.

    Example:
      >>> from olympus.experimental.scheduling_groups import scheduling_group
      >>> scheduling_group("scale")(lambda x: 2 * x + 1)(3.0).item()
      7.0
    """
    return functools.partial(xla_metadata_call, scheduling_group=name)
