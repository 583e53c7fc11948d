"""Optimizers as three functions, and their states as pytrees.

The rule of an optimizer is written for one array; `optimizer` applies it to each leaf
of a tree of parameters.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from olympus._src import tree
from olympus._src.core.array_type import Array, PyTree
from olympus._src.example_libraries.schedules import Step
from olympus._src.numpy import arithmetic, contractions, elementary, selection

# Of the leaves of a tree of parameters.
Params = Any
State = Any  # what an optimizer keeps, parameters among it
Updates = Any  # gradients, in the structure of the parameters


class OptimizerState(NamedTuple):
    """What an optimizer keeps for a tree of parameters: a pytree of arrays.

    Args:
      packed_state: for each parameter, the leaves of its state.
      tree_def: the structure of the parameters.
      subtree_defs: the structure of each parameter's state.
    """

    packed_state: Any
    tree_def: Any
    subtree_defs: Any


def _children(state: OptimizerState) -> tuple[Any, Any]:
    return (state.packed_state,), (state.tree_def, state.subtree_defs)


tree.register_pytree_node(
    OptimizerState,
    _children,
    lambda structures, packed: OptimizerState(*packed, *structures),
)

InitFn = Callable[[Params], OptimizerState]
UpdateFn = Callable[[Step, Updates, OptimizerState], OptimizerState]
ParamsFn = Callable[[OptimizerState], Params]


class Optimizer(NamedTuple):
    """An optimizer: a triple of functions.

    Args:
      init_fn: the state of initial parameters, `init_fn(params)`.
      update_fn: the next state, `update_fn(step, gradients, state)`.
      params_fn: the parameters, `params_fn(state)`.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> opt_init, opt_update, get_params = optimizers.sgd(0.5)
      >>> state = opt_init({"w": 1.0})
      >>> state = opt_update(0, {"w": 3.0}, state)
      >>> get_params(state)
      {'w': -0.5}
    """

    init_fn: InitFn
    update_fn: UpdateFn
    params_fn: ParamsFn


class JoinPoint:
    """Marks where the state of one parameter begins in a tree of states.

    Args:
      subtree: the state of the parameter.
    """

    __slots__ = ("subtree",)

    def __init__(self, subtree: PyTree) -> None:
        self.subtree = subtree

    def __repr__(self) -> str:
        return f"JoinPoint({self.subtree!r})"


def optimizer(
    opt_maker: Callable[
        ...,
        tuple[
            Callable[[Params], State],
            Callable[[Step, Updates, State], State],
            Callable[[State], Params],
        ],
    ],
) -> Callable[..., Optimizer]:
    """Makes an optimizer of trees from the rule for one array.

    Args:
      opt_maker: a function of step sizes and such, which returns functions like those
        of `Optimizer`, of one array and its state, a pytree of arrays.

    Returns:
      A function with the same parameters that returns an `Optimizer`.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> @optimizers.optimizer
      ... def descent(step_size):
      ...     init = lambda x: x
      ...     update = lambda i, g, x: x - step_size * g
      ...     return init, update, lambda x: x
      >>> init, update, params = descent(0.5)
      >>> params(update(0, [2.0, 4.0], init([1.0, 1.0])))
      [0.0, -1.0]
    """

    @functools.wraps(opt_maker)
    def make_optimizer(*args: Any, **kwargs: Any) -> Optimizer:
        init, update, get_params = opt_maker(*args, **kwargs)

        def init_tree(params: Params) -> OptimizerState:
            leaves, structure = tree.tree_flatten(params)
            return _pack(structure, [init(x) for x in leaves])

        def update_tree(
            i: Step, grad_tree: Updates, opt_state: OptimizerState
        ) -> OptimizerState:
            grads, structure = tree.tree_flatten(grad_tree)
            _check_gradients(opt_state.tree_def, structure)
            pairs = zip(grads, _states(opt_state), strict=True)
            updated = _pack(structure, [update(i, g, state) for g, state in pairs])
            _check_states(make_optimizer.__name__, opt_state, updated)
            return updated

        def params_of(opt_state: OptimizerState) -> Params:
            params = [get_params(state) for state in _states(opt_state)]
            return tree.tree_unflatten(opt_state.tree_def, params)

        return Optimizer(init_tree, update_tree, params_of)

    return make_optimizer


def _pack(structure: Any, states: list[Any]) -> OptimizerState:
    pairs = [tree.tree_flatten(state) for state in states]
    packed = tuple([leaves for leaves, _ in pairs])
    return OptimizerState(packed, structure, tuple([d for _, d in pairs]))


def _states(opt_state: OptimizerState) -> list[Any]:
    """The state of each parameter."""
    pairs = zip(opt_state.subtree_defs, opt_state.packed_state, strict=True)
    return [tree.tree_unflatten(structure, leaves) for structure, leaves in pairs]


def _check_gradients(params: Any, gradients: Any) -> None:
    if params != gradients:
        raise TypeError(
            "optimizers: gradients must have the structure of the parameters, got "
            f"{gradients} for parameters {params}; give the result of olympus.grad "
            "with respect to the whole tree"
        )


def _check_states(name: str, before: OptimizerState, after: OptimizerState) -> None:
    for old, new in zip(before.subtree_defs, after.subtree_defs, strict=True):
        if old != new:
            raise TypeError(
                f"optimizers.{name}: the update must keep the structure of a "
                f"parameter's state, got {new} from {old}; give the state of the same "
                "optimizer, and return what `init` returns"
            )


# -- states as trees -------------------------------------------------------------------


def unpack_optimizer_state(opt_state: OptimizerState) -> PyTree:
    """An optimizer's state as a tree like the parameters, to save it.

    Args:
      opt_state: state of an optimizer.

    Returns:
      The tree of the parameters with a `JoinPoint` at each leaf, which holds the state
      of that parameter.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> state = optimizers.sgd(0.1).init_fn({"w": 2.0})
      >>> optimizers.unpack_optimizer_state(state)
      {'w': JoinPoint(2.0)}
    """
    marked = [JoinPoint(state) for state in _states(opt_state)]
    return tree.tree_unflatten(opt_state.tree_def, marked)


def pack_optimizer_state(marked_pytree: PyTree) -> OptimizerState:
    """The state of an optimizer from a tree of `JoinPoint`s.

    Args:
      marked_pytree: what `unpack_optimizer_state` returns.

    Returns:
      An optimizer's state.

    Raises:
      TypeError: a leaf is not a `JoinPoint`.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> marked = {"w": optimizers.JoinPoint(2.0)}
      >>> optimizers.sgd(0.1).params_fn(optimizers.pack_optimizer_state(marked))
      {'w': 2.0}
    """
    leaves, structure = tree.tree_flatten(marked_pytree)
    for leaf in leaves:
        if not isinstance(leaf, JoinPoint):
            raise TypeError(
                "optimizers.pack_optimizer_state: each leaf must be a JoinPoint, got "
                f"{leaf!r}; wrap the state of each parameter, JoinPoint(state)"
            )
    return _pack(structure, [leaf.subtree for leaf in leaves])


# -- gradients -------------------------------------------------------------------------


def l2_norm(tree: PyTree) -> Array:
    """The Euclidean norm of all numbers in a tree.

    Args:
      tree: arrays.

    Returns:
      A scalar.

    Example:
      >>> from olympus.example_libraries import optimizers
      >>> print(optimizers.l2_norm({"a": 3.0, "b": [4.0]}))
      5.0
    """
    return _norm_of(tree)


def _norm_of(values: PyTree) -> Any:
    squares = [
        arithmetic.real(contractions.vdot(x, x)) for x in tree.tree_leaves(values)
    ]
    return elementary.sqrt(sum(squares, start=0.0))


def clip_grads(grad_tree: PyTree, max_norm: float) -> PyTree:
    """Gradients scaled down to a largest norm.

    Args:
      grad_tree: arrays.
      max_norm: where their `l2_norm` is larger, all are scaled to this norm.

    Returns:
      A tree of the same structure.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus.example_libraries import optimizers
      >>> print(optimizers.clip_grads([onp.array([6.0, 8.0])], 5.0))
      [Array([3., 4.], dtype=float32)]
    """
    norm = _norm_of(grad_tree)
    is_small = norm < max_norm

    def clip(g: Any) -> Any:
        return selection.where(is_small, g, g * (max_norm / norm))

    return tree.tree_map(clip, grad_tree)
