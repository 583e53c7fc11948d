"""Policies of rematerialisation: which values of a program are kept for its derivative.

A policy is called with an operation, the types of its operands and its parameters. It
returns whether the results may be kept: True or `Saveable`, False or `Recompute`, or an
`Offloadable`, which keeps them in another memory. Policies that are made of settings
compare by them, so that two made alike share what is traced and compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from olympus._src.core.primitive import Primitive
from olympus._src.foundation import source_info
from olympus._src.lax.checkpoint_names import name_p
from olympus._src.lax.contraction import dot_general_p
from olympus._src.lax.convolution import conv_general_dilated_p

Policy = Callable[..., Any]


class Decision:
    """An answer of a policy; there are two, `Saveable` and `Recompute`."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


Saveable = Decision("Saveable")
Recompute = Decision("Recompute")


class Offloadable:
    """A policy's answer: keep the value, in another memory.

    Args:
      src: the memory where it is computed and used, as in 'device'.
      dst: the memory where it waits, as in 'pinned_host'.

    Example:
      >>> from olympus.ad_checkpoint import Offloadable
      >>> Offloadable("device", "pinned_host")
      Offloadable(src='device', dst='pinned_host')
    """

    __slots__ = ("dst", "src")

    def __init__(self, src: str, dst: str) -> None:
        self.src = src
        self.dst = dst

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is Offloadable
            and other.src == self.src
            and other.dst == self.dst
        )

    def __hash__(self) -> int:
        return hash((self.src, self.dst))

    def __repr__(self) -> str:
        return f"Offloadable(src={self.src!r}, dst={self.dst!r})"


def decide(policy: Policy | None, eqn: Any) -> Any:
    """A policy's answer for an equation: `Saveable`, `Recompute` or an `Offloadable`.

    Raises:
      TypeError: it answered something else.
    """
    if policy is None:
        return Recompute
    answer = policy(eqn.primitive, *[v.aval for v in eqn.invars], **eqn.params)
    if isinstance(answer, (Decision, Offloadable)):
        return answer
    if isinstance(answer, bool):
        return Saveable if answer else Recompute
    raise TypeError(
        f"checkpoint: the policy {format_policy(policy)} must return a bool, Saveable, "
        f"Recompute or an Offloadable, got {answer!r} for {eqn.primitive.name}"
    )


def format_policy(policy: Policy | None) -> str:
    """A policy in programs and messages."""
    if policy is None or isinstance(policy, _Chosen):
        return repr(policy)
    return source_info.function_name(policy)


# -- policies without settings ---------------------------------------------------------


def everything_saveable(*_: object, **__: object) -> bool:
    """Keeps all that the derivative needs, as without `checkpoint`."""
    return True


def nothing_saveable(*_: object, **__: object) -> bool:
    """Computes everything again from the arguments, as with no policy."""
    return False


def dots_saveable(prim: Primitive, *_: object, **params: object) -> bool:
    """Keeps the results of matrix products and convolutions."""
    return prim is dot_general_p or prim is conv_general_dilated_p


def dots_with_no_batch_dims_saveable(
    prim: Primitive, *_: object, **params: object
) -> bool:
    """Keeps the results of matrix products that have no batch dimensions.

    Those are products with weights; products of activations with each other, as in
    attention, have batch dimensions and are computed again.
    """
    return _is_plain_dot(prim, params)


def _is_plain_dot(prim: Any, params: Any) -> bool:
    if prim is not dot_general_p:
        return False
    _, (lhs_batch, rhs_batch) = params["dimension_numbers"]
    return not lhs_batch and not rhs_batch


# -- policies with settings ------------------------------------------------------------


class _Chosen:
    """A policy made of settings.

    Args:
      name: the function that made it.
      settings: what that was given; equal ones make equal policies.
      answer: the policy.
    """

    def __init__(self, name: str, settings: Any, answer: Policy) -> None:
        self._key = (name, settings)
        self._answer = answer

    def __call__(self, prim: Any, *avals: Any, **params: Any) -> Any:
        return self._answer(prim, *avals, **params)

    def __eq__(self, other: object) -> bool:
        return type(other) is _Chosen and other._key == self._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        name, settings = self._key
        if isinstance(settings, frozenset):
            settings = sorted(settings)
        return f"{name}({', '.join(map(_format_setting, settings))})"


def _format_setting(value: Any) -> str:
    if isinstance(value, frozenset):
        return f"{{{', '.join(map(repr, sorted(value)))}}}"
    return repr(value) if isinstance(value, str) else format_policy(value)


def _names(function: str, names: Iterable[Any]) -> frozenset[str]:
    names = tuple(names)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(
                f"{function}: names must be strings, got {name!r}; give each name as "
                "a separate argument"
            )
    return frozenset(names)


def save_anything_except_these_names(*names_not_to_save: str) -> Policy:
    """A policy that keeps all values but those of some names.

    Args:
      *names_not_to_save: names given by `olympus.ad_checkpoint.checkpoint_name`.

    Returns:
      A policy for `olympus.checkpoint`. What a named value is computed from may be
      kept, and then the named value is only copied.
    """
    names = _names("save_anything_except_these_names", names_not_to_save)

    def answer(prim: Any, *_: object, **params: object) -> bool:
        return prim is not name_p or params["name"] not in names

    return _Chosen("save_anything_except_these_names", names, answer)


def save_any_names_but_these(*names_not_to_save: str) -> Policy:
    """A policy that keeps the values that have a name, except for some names.

    Args:
      *names_not_to_save: names given by `olympus.ad_checkpoint.checkpoint_name`.

    Returns:
      A policy for `olympus.checkpoint`.
    """
    names = _names("save_any_names_but_these", names_not_to_save)

    def answer(prim: Any, *_: object, **params: object) -> bool:
        return prim is name_p and params["name"] not in names

    return _Chosen("save_any_names_but_these", names, answer)


def save_only_these_names(*names_which_can_be_saved: str) -> Policy:
    """A policy that keeps the values of some names, and no others.

    Args:
      *names_which_can_be_saved: names given by
        `olympus.ad_checkpoint.checkpoint_name`.

    Returns:
      A policy for `olympus.checkpoint`.
    """
    names = _names("save_only_these_names", names_which_can_be_saved)

    def answer(prim: Any, *_: object, **params: object) -> bool:
        return prim is name_p and params["name"] in names

    return _Chosen("save_only_these_names", names, answer)


def save_from_both_policies(policy_1: Policy, policy_2: Policy) -> Policy:
    """A policy that keeps what either of two would keep.

    Args:
      policy_1, policy_2: policies that return a bool.

    Returns:
      A policy for `olympus.checkpoint`.

    Raises:
      ValueError: when it is called, if one of the two does not return a bool.
    """

    def answer(prim: Any, *avals: Any, **params: Any) -> bool:
        first = policy_1(prim, *avals, **params)
        second = policy_2(prim, *avals, **params)
        if not isinstance(first, bool) or not isinstance(second, bool):
            raise ValueError(
                "save_from_both_policies: both policies must return bools, got "
                f"{first!r} and {second!r} for {prim}; write a custom policy"
            )
        return first or second

    return _Chosen("save_from_both_policies", (policy_1, policy_2), answer)


def save_and_offload_only_these_names(
    *,
    names_which_can_be_saved: Iterable[str],
    names_which_can_be_offloaded: Iterable[str],
    offload_src: str,
    offload_dst: str,
) -> Policy:
    """A policy that keeps the values of some names, those of some in another memory.

    Args:
      names_which_can_be_saved: names of values to keep where they are.
      names_which_can_be_offloaded: names of values to keep in the other memory.
      offload_src: the memory where values are computed, as in 'device'.
      offload_dst: the memory where they wait, as in 'pinned_host'.

    Returns:
      A policy for `olympus.checkpoint`.

    Raises:
      ValueError: a name is in both lists.
    """
    function = "save_and_offload_only_these_names"
    saved = _names(function, names_which_can_be_saved)
    moved = _names(function, names_which_can_be_offloaded)
    if saved & moved:
        raise ValueError(
            f"{function}: a name must be in one list only, got {sorted(saved & moved)} "
            "in names_which_can_be_saved and names_which_can_be_offloaded"
        )

    def answer(prim: Any, *_: Any, **params: Any) -> Any:
        if prim is name_p and params["name"] in saved:
            return Saveable
        if prim is name_p and params["name"] in moved:
            return Offloadable(offload_src, offload_dst)
        return Recompute

    return _Chosen(function, (saved, moved, offload_src, offload_dst), answer)


def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
    """A policy that keeps plain matrix products in another memory, and nothing else.

    Args:
      offload_src: the memory where products are computed, as in 'device'.
      offload_dst: the memory where they wait, as in 'pinned_host'.

    Returns:
      A policy for `olympus.checkpoint`.
    """

    def answer(prim: Any, *_: Any, **params: Any) -> Any:
        if _is_plain_dot(prim, params):
            return Offloadable(offload_src, offload_dst)
        return Recompute

    settings = (offload_src, offload_dst)
    return _Chosen("offload_dot_with_no_batch_dims", settings, answer)
