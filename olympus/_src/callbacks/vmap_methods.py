"""What `vmap` does with calls out of the program, which have no batching rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.control_flow import scan
from olympus._src.lax import families
from olympus._src.programs import inner_programs

METHODS = (
    "sequential",
    "sequential_unrolled",
    "expand_dims",
    "broadcast_all",
    "legacy_vectorized",
)


def check(what: str, vmap_method: str | None) -> None:
    """Raises ValueError for a method that does not exist."""
    if vmap_method is not None and vmap_method not in METHODS:
        raise ValueError(
            f"{what}: vmap_method must be one of {', '.join(METHODS)}, got "
            f"{vmap_method!r}; pass one of these"
        )


def batch(
    p: Any,
    what: tuple[str, str],
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    params: dict[str, Any],
    widen: Callable[[int, Sequence[Any]], dict[str, Any]],
) -> Any:
    """A rule `batch`, by the parameter `vmap_method`.

    Args:
      p: the primitive.
      what: the public function, and what it calls, for messages.
      axis, args, dims: as all such rules get them.
      params: of the application.
      widen: parameters for one call whose results have that many more rows in front,
        of what it is called with.
    """
    method = params["vmap_method"]
    if method is None:
        raise NotImplementedError(
            f"{what[0]}: under vmap the argument vmap_method must say how to call "
            f"{what[1]} for a batch, got None; pass one of {', '.join(METHODS)}"
        )
    if method.startswith("sequential"):
        unroll = method == "sequential_unrolled"
        return apply_in_turn(p, args, dims, params, unroll)
    stretch = {
        "broadcast_all": lambda x: families.insert_axis(x, 0, axis.size),
        "expand_dims": lambda x: families.insert_axis(x, 0, 1),
        "legacy_vectorized": lambda x: x,
    }[method]
    batched = [
        stretch(x) if d is None else families.move_axis(x, d, 0)
        for x, d in zip(args, dims, strict=True)
    ]
    outs = p.bind(*batched, **{**params, **widen(axis.size, batched)})
    return outs, [0] * len(outs)


def apply_in_turn(
    p: Any, args: Any, dims: Any, params: Any, unroll: bool = False
) -> Any:
    """Applies a callback to one element after another."""
    batched = [
        families.move_axis(x, d, 0)
        for x, d in zip(args, dims, strict=True)
        if d is not None
    ]

    def step(_: Any, rows: Any) -> Any:
        return (), p.bind(*inner_programs.fill_mapped(args, dims, rows), **params)

    outs = scan.scan(step, (), batched, unroll=unroll)[1]
    return outs, [0] * len(outs)
