"""What becomes of the cotangents of a pullback: results, added to refs, or left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src import tree
from olympus._src.api import parameters
from olympus._src.core import avals as avals_
from olympus._src.core import refs
from olympus._src.foundation import source_info, tracebacks


class _Marker:
    """What is all said by its class."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class GradValue(_Marker):
    """Asks `VJP.with_refs` for a cotangent as a result, as without refs.

    Example:
      >>> import olympus
      >>> olympus.ad.GradValue()
      GradValue()
    """

    __slots__ = ()


class DontWant(_Marker):
    """Says to `VJP.with_refs` that a cotangent is not needed.

    Example:
      >>> import olympus
      >>> olympus.ad.DontWant()
      DontWant()
    """

    __slots__ = ()


class GradRef(_Marker):
    """The result in place of a cotangent that was added to a ref.

    Example:
      >>> import olympus
      >>> value, pullback = olympus.vjp(olympus.numpy.sin, 0.0)
      >>> total = olympus.new_ref(0.0)
      >>> pullback.with_refs(total)(1.0), total[...].item()
      ((GradRef(),), 1.0)
    """

    __slots__ = ()


class DidntWant(_Marker):
    """The result in place of a cotangent that was not needed.

    Example:
      >>> import olympus
      >>> value, pullback = olympus.vjp(olympus.numpy.multiply, 2.0, 3.0)
      >>> pullback = pullback.with_refs(olympus.ad.GradValue(), olympus.ad.DontWant())
      >>> ct, other = pullback(1.0)
      >>> ct.item(), other
      (3.0, DidntWant())
    """

    __slots__ = ()


def _flatten_marker(marker: Any) -> Any:
    return (), type(marker)


for _kind in (GradValue, DontWant, GradRef, DidntWant):
    tree.register_pytree_node(_kind, _flatten_marker, lambda kind, _: kind())


class RefPullback:
    """A pullback that adds cotangents to refs; a pytree, as the pullback is.

    Attributes:
      pull: the pullback, a function from the result's cotangent.
      targets: for each leaf of the arguments a ref, `GradValue()` or `DontWant()`.
    """

    __slots__ = ("pull", "targets")

    def __init__(self, pull: Callable[[Any], Any], targets: Sequence[Any]) -> None:
        self.pull = pull
        self.targets = targets

    def __call__(self, cotangent: Any) -> Any:
        try:
            cotangents, structure = tree.tree_flatten(self.pull(cotangent))
            results = map(_deliver, self.targets, cotangents)
            return structure.unflatten(results)
        except Exception as error:
            tracebacks.hide(error)
            raise

    def __repr__(self) -> str:
        return f"{self.pull!r}.with_refs({', '.join(map(repr, self.targets))})"


tree.register_pytree_node(
    RefPullback,
    lambda f: ((f.pull, f.targets), None),
    lambda _, children: RefPullback(*children),
)


def _deliver(target: Any, cotangent: Any) -> Any:
    if type(target) is GradValue:
        return cotangent
    if type(target) is DontWant:
        return DidntWant()
    target.addupdate(cotangent)
    return GradRef()


def pull_to_refs(pull: Any, fun: Any, in_tree: Any, in_avals: Any, targets: Any) -> Any:
    """A pullback whose cotangents go to targets, which are checked.

    Args:
      pull: the pullback.
      fun: the function that was differentiated, for messages.
      in_tree: structure of the tuple of its arguments.
      in_avals: types of the arguments' cotangents.
      targets: a tuple of that structure; each leaf a ref of the leaf's type,
        `GradValue()` or `DontWant()`.
    """
    name = source_info.function_name(fun)
    leaves, structure = tree.tree_flatten(targets, is_leaf=_is_choice)
    if structure != in_tree:
        raise ValueError(
            "VJP.with_refs: refs must be passed in the structure of the arguments of "
            f"{name}, {in_tree}, got {structure}; where none is meant pass "
            "ad.GradValue() or ad.DontWant()"
        )
    for i, (target, aval) in enumerate(zip(leaves, in_avals, strict=True)):
        if not _is_choice(target):
            _check_ref(target, aval, name, parameters.argument_path(fun, in_tree, i))
    return RefPullback(pull, leaves)


def _is_choice(x: Any) -> bool:
    return type(x) in (GradValue, DontWant)


def _check_ref(target: Any, aval: Any, name: str, path: str) -> None:
    actual = avals_.aval_of(target) if avals_.is_array_like(target) else None
    if actual is None or not refs.is_ref_type(actual):
        is_class = isinstance(target, type)
        kind = target.__name__ if is_class else f"a value of {type(target).__name__}"
        raise TypeError(
            f"VJP.with_refs: for {path} of {name} a ref, ad.GradValue() or "
            f"ad.DontWant() is needed, got {kind}; make a ref with new_ref"
        )
    if actual.shape != aval.shape or actual.dtype != aval.dtype:
        raise ValueError(
            f"VJP.with_refs: the ref for {path} of {name} must hold {aval.short()}, as "
            f"the cotangent is, got {actual.inner_aval.short()}"
        )
