"""Functions shared by the derivatives: flat calls, and values for users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.api import derivative_checks, parameters
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, high_values, ir, program_equality, trace
from olympus._src.core.refs import Ref
from olympus._src.core.symbolic_values import Zero
from olympus._src.foundation import source_info
from olympus._src.interpreters import ad, concrete_arrays, evaluate
from olympus._src.lax import families
from olympus._src.lax.choice import convert_element_type_p
from olympus._src.sharding.named import NamedSharding

ArrayImpl = concrete_arrays.ArrayImpl
float0 = dtypes.float0

# -- functions of leaves ---------------------------------------------------------------


class Found:
    """What a call of a user's function returned in addition to flat results."""

    __slots__ = ("_auxiliary", "structure")
    structure: Any

    def __init__(self) -> None:
        self._auxiliary: tuple[list[Any], Any] | None = None

    def keep_aux(self, aux: Any) -> None:
        """Keeps the auxiliary value, without its tangents."""
        leaves, structure = tree.tree_flatten(aux)
        self._auxiliary = [_auxiliary(x) for x in leaves], structure

    @property
    def aux(self) -> Any:
        """The auxiliary value.

        It is made where it is read, after the function: classes of users may note the
        transformation that they are made in.
        """
        if self._auxiliary is None:
            return None
        leaves, structure = self._auxiliary
        return structure.unflatten(leaves)


def on_leaves(
    api: str, fun: Callable[..., Any], call: Any, structure: Any, has_aux: bool
) -> tuple[Callable[..., list[Any]], Found]:
    """A function of leaves that returns leaves, and the record of its other results.

    Args:
      api: the public function, for messages.
      fun: the user's function, for messages.
      call: what to call with the arguments' trees; often `fun` itself.
      structure: of a sequence of the arguments.
      has_aux: the result is a pair, of which the second is not differentiated.
    """
    out_info = Found()

    def flat(*leaves: Any) -> list[Any]:
        result = call(*structure.unflatten(leaves))
        if has_aux:
            result, aux = _pair(api, fun, result)
            out_info.keep_aux(aux)
        outs, out_info.structure = tree.tree_flatten(result)
        for i, x in enumerate(outs):
            if type(x) is not ad.JVPTracer and not avals_.is_array_like(x):
                path = parameters.leaf_path(out_info.structure, i)
                raise TypeError(
                    f"{api}: {source_info.function_name(fun)} must return arrays, got "
                    f"{x!r} of type {type(x)} at result{path}; return other values as "
                    "auxiliary output, with has_aux"
                )
        return outs

    return flat, out_info


def _pair(api: str, fun: Any, result: Any) -> Any:
    if isinstance(result, (tuple, list)) and len(result) == 2:
        return result
    got = type(result).__name__
    if avals_.is_array_like(result):
        got = avals_.aval_of(result).short()
    if isinstance(result, (tuple, list)):
        got += f" of length {len(result)}"
    raise TypeError(
        f"{api}: with has_aux, {source_info.function_name(fun)} must return a pair "
        "of its "
        f"result and an auxiliary value, got {got}; return (result, auxiliary), or "
        "leave has_aux out"
    )


def _auxiliary(x: Any) -> Any:
    return as_result(ad.primal_of(x)) if type(x) is ad.JVPTracer else x


_NUMBERS = frozenset((bool, int, float, complex))


def as_result(x: Any) -> Any:
    """A result, tangent or cotangent as the value that a user gets.

    Python numbers to which no operation was applied stay as they are.
    """
    return x if type(x) in _NUMBERS else as_array(x)


def as_array(x: Any) -> Any:
    """A result, tangent or cotangent as an array."""
    kind = type(x)
    if kind is ArrayImpl:
        return x
    if kind is not Zero:
        return x if isinstance(x, trace.Tracer) else _concrete(x)
    aval = x.aval
    if aval.is_high:
        return aval.vspace_zero()
    if aval.dtype == float0:
        return families.no_values(aval.shape)
    if not aval.shape or evaluate.is_evaluating():
        return concrete_arrays.put(np.zeros(aval.shape, aval.dtype), aval)
    return families.instantiate(x)


def _concrete(x: Any) -> Any:
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype == float0:
        return x
    if high_values.are_in_use() and high_values.is_high_value(x):
        return x
    if type(x) in _NUMBERS or isinstance(x, np.floating):
        return concrete_arrays.as_own_array(x)
    return concrete_arrays.as_operand(x)


def with_still_arrays(leaves: list[Any], nonzero: Sequence[bool] | None) -> list[Any]:
    """Arguments as a function that is linearised sees them: all look like arrays.

    Those with a tangent are traced; the others, such as Python integers, become arrays.
    """
    arrays = list(leaves)
    for i, x in enumerate(leaves):
        kind = type(x)
        if kind is ArrayImpl or kind is Ref or isinstance(x, trace.Tracer):
            continue
        aval = avals_.aval_of(x)
        if aval.to_tangent() is not aval or (nonzero is not None and not nonzero[i]):
            arrays[i] = as_array(x)
    return arrays


def linearize_leaves(
    api: str,
    fun: Callable[..., Any],
    leaves: list[Any],
    structure: Any,
    has_aux: bool,
    nonzero: Sequence[bool] | None,
) -> tuple[list[Any], list[Any], ad.LinearProgram, Found]:
    """Runs a function, and keeps the linear program of its tangents.

    Args:
      api: the public function.
      fun: the user's function.
      leaves, structure: of a sequence of its arguments.
      has_aux: as in `on_leaves`.
      nonzero: which leaves have tangents; None for all that can.

    Returns:
      The arguments that it ran on, flat results, the linear program without what none
      of them needs, and what else the function returned.
    """
    flat, out_info = on_leaves(api, fun, fun, structure, has_aux)
    leaves = with_still_arrays(leaves, nonzero)
    outs, tape = ad.linearize(flat, leaves, ir.DebugInfo.of(api, fun), nonzero=nonzero)
    return leaves, outs, tape.pruned(), out_info


def seed_like(value: Any) -> Any:
    """The cotangent 1 of a number, where operations on it find the mesh that it is on.

    Where types name axes of a mesh and none is set, operands tell which it is.
    """
    seed = one_like(avals_.aval_of(value))
    if type(value) is not concrete_arrays.ArrayImpl:
        return seed
    place = value.committed_device
    if isinstance(place, NamedSharding) and place.mesh.explicit_axes:
        return concrete_arrays.placed_like(seed, value)
    return seed


def one_like(aval: Any) -> Any:
    """The number 1 in a scalar's type; weak where Python's own is of that type."""
    if aval.weak_type:
        one = 1.0 if aval.dtype.kind == "f" else complex(1.0)
        if avals_.aval_of(one) is aval:
            return one
    if dtypes.canonicalize_dtype(aval.dtype) != aval.dtype:  # made while x64 was on
        return convert_element_type_p.bind(
            np.float32(1), new_dtype=aval.dtype, weak_type=False, sharding=None
        )
    return np.ones((), aval.dtype)[()]


def linear_alike(x: Any, y: Any) -> bool:
    """Whether two linear functions, held as `program` and `outs`, are the same."""
    if source_info.function_name(x.fun) != source_info.function_name(y.fun):
        return False  # messages would name the other
    zeros = [[None if o is None else o.aval for o in p.outs] for p in (x, y)]
    return zeros[0] == zeros[1] and program_equality.alike(x.program, y.program)


def named(wrapper: Any, fun: Any, doc: str) -> Any:
    """Gives a wrapper the name and signature of the function it wraps."""
    source_info.update_wrapper(wrapper, fun)
    wrapper.__doc__ = doc
    return wrapper


# -- what is differentiated -----------------------------------------------------------


class Plan:
    """A function and the arguments that it is differentiated by.

    Args:
      api: the public function.
      fun: the user's function.
      argnums, has_aux, holomorphic: as given to it.
      accepts: the arguments' kind, as in `derivative_checks.check_input`.
      too_few: the error for a call of too few arguments.
    """

    __slots__ = (
        "accepts",
        "api",
        "fun",
        "has_aux",
        "holomorphic",
        "name",
        "positions",
        "single",
        "too_few",
    )

    def __init__(
        self,
        api: str,
        fun: Any,
        argnums: Any,
        has_aux: bool,
        holomorphic: bool,
        accepts: str,
        too_few: type[Exception] = ValueError,
    ) -> None:
        parameters.check_callable(api, fun)
        self.api = api
        self.fun = fun
        self.positions = parameters.as_argnums(api, argnums)
        self.single = hasattr(argnums, "__index__")
        self.has_aux = has_aux
        self.holomorphic = holomorphic
        self.accepts = accepts
        self.name = source_info.function_name(fun)
        self.too_few = too_few

    def arguments(self, args: Any, kwargs: Any) -> tuple[Any, list[Any], Any]:
        """The function of the chosen arguments, their leaves and their structure."""
        chosen = parameters.resolve_positions(
            self.api, self.fun, self.positions, len(args), self.too_few
        )
        some = tuple([args[i] for i in chosen])
        leaves, structure = tree.tree_flatten(some)
        for i, x in enumerate(leaves):

            def where(i: int = i) -> str:
                path = parameters.argument_path(self.fun, structure, i, chosen)
                return f"{path} of {self.name}"

            derivative_checks.check_input(
                x, self.api, where, self.holomorphic, self.accepts
            )
        return of_chosen(self.fun, args, kwargs, chosen), leaves, structure

    def check_outputs(self, outs: Sequence[Any], structure: Any) -> None:
        """Raises TypeError where the results have no such derivative."""
        for i, x in enumerate(outs):

            def where(i: int = i) -> str:
                return f"result{parameters.leaf_path(structure, i)} of {self.name}"

            derivative_checks.check_output(x, self.api, where, self.holomorphic)

    def inputs(self, structure: Any, leaves: list[Any]) -> Any:
        """Derivatives by the leaves of the arguments, as a tree of arguments."""
        arguments = structure.unflatten(leaves)
        return arguments[0] if self.single else arguments


def of_chosen(fun: Any, args: Any, kwargs: Any, chosen: list[int]) -> Any:
    """`fun` as a function of some of its arguments, the others as given."""

    def call(*some: Any) -> Any:
        arguments = list(args)
        for i, x in zip(chosen, some, strict=True):
            arguments[i] = x
        return fun(*arguments, **kwargs)

    return call
