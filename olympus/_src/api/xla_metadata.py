"""Functions whose operations carry attributes for the compiler and its tools."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from olympus._src.api import parameters
from olympus._src.api.jit import jit
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
    f: Callable[..., Any] | None = None,
    /,
    metadata: Mapping[str, Any] | None = None,
    *,
    ad_metadata: Any = "same",
) -> Any:
    """As `xla_metadata_call`, with other attributes for the backward pass.

    Args:
      f: a function of arrays and pytrees of them; None gives a decorator.
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
    if f is None:
        return functools.partial(
            xla_metadata_call2, metadata=metadata, ad_metadata=ad_metadata
        )
    parameters.check_callable("xla_metadata_call", f)
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
    function: Any = jit(f)
    function.marks = {"metadata": CallMetadata(own, of_derivative)}
    return function


def _as_attributes(what: str, values: Mapping[str, Any]) -> Attributes:
    if not isinstance(values, Mapping):
        raise TypeError(
            f"xla_metadata_call2: {what} must be a dictionary, got "
            f"{type(values).__name__}"
        )
    pairs = [(name, _as_text(name, value)) for name, value in values.items()]
    return tuple(sorted(pairs))


def _as_text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise TypeError(
        f"xla_metadata_call: {name} must be a string, a number or a boolean, got "
        f"{type(value).__name__}; pass str(value)"
    )


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
