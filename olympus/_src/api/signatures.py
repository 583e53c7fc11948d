"""Calls by signature: which arguments are static, what types the others have, and why
a call did not match an earlier one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src import tree
from olympus._src.api import parameters
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir, trace
from olympus._src.foundation import caching, source_info
from olympus._src.interpreters import concrete_arrays
from olympus._src.programs.parameter_names import leaf_paths

ShapedArray = avals_.ShapedArray

# -- one call --------------------------------------------------------------------------


class Parameters:
    """The function's parameters, and which of them are static."""

    __slots__ = ("fun", "names", "nums")

    def __init__(self, fun: Callable[..., Any], options: Any) -> None:
        self.fun = fun
        self.nums = options.static_argnums
        self.names = frozenset(options.static_argnames)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """Splits a call's arguments into static ones and leaves."""
        nums = [i + len(args) if i < 0 else i for i in self.nums]
        nums = [i for i in nums if 0 <= i < len(args)]
        static_args = tuple([(i, args[i]) for i in nums])
        static_kwargs = tuple(
            [(k, kwargs[k]) for k in sorted(kwargs) if k in self.names]
        )
        if nums:
            static_positions = set(nums)
            args = tuple([x for i, x in enumerate(args) if i not in static_positions])
        if static_kwargs:
            kwargs = {k: v for k, v in kwargs.items() if k not in self.names}
        for name, value in (*static_args, *static_kwargs):
            self._check_hashable(name, value)
        leaves, structure = tree.tree_flatten((args, kwargs))
        return Call(self.fun, static_args, static_kwargs, leaves, structure)

    def _check_hashable(self, name: Any, value: Any) -> None:
        try:
            hash(value)
        except TypeError:
            which = f"at position {name}" if isinstance(name, int) else f"{name!r}"
            raise ValueError(
                f"Non-hashable static argument {which} of type "
                f"{type(value).__name__} in the call of the jitted function "
                f"{source_info.function_name(self.fun)}; static arguments are part "
                "of the "
                "cache key, pass a tuple in place of a list or an array"
            ) from None


class Call:
    """The arguments of one call: static values, and leaves in a tree.

    Attributes:
      leaves: the dynamic arguments, flat.
      avals: their types; set by the caller before tracing.
    """

    __slots__ = (
        "avals",
        "fun",
        "leaves",
        "static_args",
        "static_kwargs",
        "structure",
    )

    def __init__(
        self,
        fun: Any,
        static_args: Any,
        static_kwargs: Any,
        leaves: Any,
        structure: Any,
    ) -> None:
        self.fun = fun
        self.static_args = static_args
        self.static_kwargs = static_kwargs
        self.leaves = leaves
        self.structure = structure
        self.avals: list[Any] = []

    def key(self) -> Any:
        """What calls that share a program have in common."""
        return (self.structure, tuple(self.avals), self.static_key())

    def static_key(self) -> Any:
        """The static arguments; True and 1 and 1.0 are different values."""
        if not self.static_args and not self.static_kwargs:
            return None
        static = (*self.static_args, *self.static_kwargs)
        return tuple([(name, caching.exact(value)) for name, value in static])

    def arguments(self, leaves: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The user's arguments, with `leaves` in place of the call's own."""
        args, kwargs = self.structure.unflatten(leaves)
        args = list(args)
        for i, value in self.static_args:
            args.insert(i, value)
        kwargs = dict(kwargs)
        kwargs.update(self.static_kwargs)
        return args, kwargs

    def paths(self) -> list[str]:
        """A path for each leaf, as in `x` or `params['w']`."""
        args, kwargs = self.structure.unflatten(range(self.structure.num_leaves))
        names = [*self.argument_names(), *kwargs]
        paths = leaf_paths(names, [*args, *kwargs.values()])
        order = _leaf_order(args, kwargs)
        return [paths[i] for i in order]

    def argument_names(self) -> list[str]:
        """A name for each positional argument that is not static."""
        args, _ = self.structure.unflatten(range(self.structure.num_leaves))
        static = {i for i, _ in self.static_args}
        names = self._positional_names(len(args) + len(static))
        return [n for i, n in enumerate(names) if i not in static]

    def _positional_names(self, count: int) -> list[str]:
        names, varargs = parameters.positional_names(self.fun)
        missing = range(count - len(names))
        more = [f"{varargs}[{i}]" for i in missing] if varargs else []
        names = [*names, *more]
        names += [f"args[{i}]" for i in range(len(names), count)]
        return names[:count]

    def debug_info(self, traced_for: str = "jit") -> ir.DebugInfo:
        """Names for messages about the traced function."""
        return ir.DebugInfo(
            traced_for,
            source_info.function_name(self.fun),
            source_info.function_location(self.fun),
            LazyNames(self),
        )

    def light(self) -> Call:
        """The call without its arrays and function, for what outlives it."""
        fun = (
            self.fun
            if type(self.fun) is parameters.Names
            else parameters.Names(self.fun)
        )
        light = Call(fun, self.static_args, self.static_kwargs, (), self.structure)
        light.avals = list(self.avals)
        return light

    def donated(self, options: Any) -> list[bool]:
        """Which leaves may be overwritten."""
        if not options.donate_argnums and not options.donate_argnames:
            return [False] * self.structure.num_leaves
        args, kwargs = self.structure.unflatten(range(self.structure.num_leaves))
        static = {i for i, _ in self.static_args}
        count = len(args) + len(static)
        positions = [i for i in range(count) if i not in static]
        chosen = {i + count if i < 0 else i for i in options.donate_argnums}
        flags = [False] * self.structure.num_leaves
        for position, value in zip(positions, args, strict=True):
            if position in chosen:
                for i in tree.tree_leaves(value):
                    flags[i] = True
        for name, value in kwargs.items():
            if name in options.donate_argnames:
                for i in tree.tree_leaves(value):
                    flags[i] = True
        return flags


class LazyNames(Sequence[str]):
    """Paths of a call's leaves, found when somebody asks."""

    __slots__ = ("_call", "_names")

    def __init__(self, call: Call) -> None:
        self._call = call.light()
        self._names: list[str] | None = None

    def names(self) -> list[str]:
        """All paths."""
        if self._names is None:
            self._names = self._call.paths()
        return self._names

    def __getitem__(self, i: Any) -> Any:
        return self.names()[i]

    def __len__(self) -> int:
        return self._call.structure.num_leaves


def _leaf_order(args: Any, kwargs: Any) -> list[int]:
    """The order of leaves in the tree, as indices into positional-then-given order."""
    listed: list[int] = []
    for value in (*args, *kwargs.values()):
        listed += tree.tree_leaves(value)
    order = [0] * len(listed)
    for position, leaf in enumerate(listed):
        order[leaf] = position
    return order


# -- arguments and results -------------------------------------------------------------


def as_argument(x: Any, call: Call, i: int) -> Any:
    """A concrete array for an argument leaf."""
    try:
        return concrete_arrays.as_array(x)
    except TypeError as error:
        raise _bad_argument(x, call, i, error) from None


def argument_aval(x: Any, call: Call, i: int) -> Any:
    """The type of an argument leaf that may be a tracer."""
    try:
        return avals_.aval_of(x)
    except TypeError as error:
        raise _bad_argument(x, call, i, error) from None


def abstract_argument(x: Any, call: Call, i: int) -> Any:
    """The type of an argument leaf that may be only described."""
    if avals_.is_array_like(x):
        return argument_aval(x, call, i)
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        dtype = dtypes.canonicalize_dtype(x.dtype, allow_extended_dtype=True)
        return ShapedArray(tuple(x.shape), dtype, getattr(x, "weak_type", False))
    raise _bad_argument(x, call, i)


def _bad_argument(
    x: Any, call: Call, i: int, error: TypeError | None = None
) -> TypeError:
    path = call.paths()[i]
    known = source_info.function_code(call.fun) is not None
    where = f" at {source_info.function_location(call.fun)}" if known else ""
    return TypeError(
        f"Error interpreting argument to {source_info.function_name(call.fun)}{where} "
        "as an abstract array. The problematic "
        f"value is of type {type(x)} and was passed to the function at path {path}.\n"
        + (f"{error}.\n" if avals_.is_array_like(x) else "")
        + "Arguments must be arrays, numbers, or pytrees of them; mark Python values "
        "with static_argnums or static_argnames."
    )


def result_paths(result: Any, structure: Any) -> list[str]:
    """A path for each output, as in `result[0]['w']`."""
    if tree.is_one_leaf(structure):
        return ["result"]
    pairs = tree.tree_flatten_with_path(result)[0]
    return [f"result{tree.keystr(path)}" for path, _ in pairs]


def check_results(
    outs: Sequence[Any], paths: Sequence[str], info: ir.DebugInfo
) -> None:
    """Raises TypeError where an output is not an array."""
    for x, path in zip(outs, paths, strict=True):
        if not avals_.is_array_like(x):
            where = f" at {info.func_location}" if info.func_location else ""
            raise TypeError(
                f"function {info.func_name}{where} traced for {info.traced_for} "
                f"returned a value of type {type(x)} at output component {path}, "
                "which is not a valid olympus type; return arrays and numbers only"
            )


# -- why a call was traced again -------------------------------------------------------


class Retrace:
    """One tracing of a function: why, and what it cost.

    Attributes:
      function: name and place.
      cause: in words: the argument, what it was and what it is.
      cure: what to change, where there is something.
      trace_s, lower_s, compile_s: seconds; 0 where the stage has not run.
      program_reused: whether an equal program had been compiled before.
    """

    __slots__ = (
        "call",
        "cause",
        "compile_s",
        "cure",
        "function",
        "lower_s",
        "program_reused",
        "trace_s",
    )

    def __init__(
        self,
        call: Call,
        earlier: Sequence[Retrace],
        trace_s: float,
        remade: bool = False,
    ) -> None:
        name, where = (
            source_info.function_name(call.fun),
            source_info.function_location(call.fun),
        )
        self.function = f"{name} at {where}" if where else name
        self.call = _Signature(call)
        self.cause, self.cure = _cause(self.call, [r.call for r in earlier], remade)
        self.trace_s = trace_s
        self.program_reused = False
        self.lower_s = self.compile_s = 0.0

    def __repr__(self) -> str:
        cure = f" {self.cure}" if self.cure else ""
        stages = (
            ("trace", self.trace_s),
            ("lower", self.lower_s),
            ("compile", self.compile_s),
        )
        costs = ", ".join([f"{name} {s * 1e3:.1f} ms" for name, s in stages if s])
        again = "; traced again, program reused" if self.program_reused else ""
        return f"{self.function}: {self.cause}{again}.{cure} ({costs})"


class _Signature:
    """What is kept of a call: types and names, not values."""

    __slots__ = ("avals", "axes", "names", "static", "structure")

    def __init__(self, call: Call) -> None:
        self.avals = list(call.avals)
        self.axes = trace.current.axis_env
        self.structure = call.structure
        self.static = dict((*call.static_args, *call.static_kwargs))
        self.names = LazyNames(call)


def _cause(
    new: _Signature, earlier: Sequence[_Signature], remade: bool
) -> tuple[str, str]:
    if not earlier and remade:
        return (
            "first call of a new function object, whose code was traced before",
            "Make the function once, outside of the loop, to save the trace.",
        )
    if not earlier:
        return "first call", ""
    nearest = min(reversed(earlier), key=lambda old: _distance(new, old))
    if new.structure != nearest.structure:
        return (
            f"the arguments' structure changed from {nearest.structure} to "
            f"{new.structure}",
            "Pass the same containers and keyword names each time.",
        )
    for name, value in new.static.items():
        old = nearest.static.get(name)
        if old != value or type(old) is not type(value):
            return (
                f"the static argument {name} changed from {old!r} to {value!r}",
                "Pass it as an array if the function does not branch on it.",
            )
    for i, (a, b) in enumerate(zip(new.avals, nearest.avals, strict=True)):
        if a is not b:
            return _type_cause(new.names[i], b, a)
    if new.axes != nearest.axes:
        return (
            f"the named axes around the call changed from {_axes(nearest.axes)} to "
            f"{_axes(new.axes)}",
            "Name axes of vmap only where a collective refers to them.",
        )
    return (
        "a setting that affects tracing changed, or the cache was cleared",
        "Set olympus.config once, before the first call.",
    )


def _axes(axis_env: Sequence[Any]) -> str:
    named = [f"{name!r} of size {size}" for name, size in axis_env]
    return ", ".join(named) or "none"


def _distance(new: _Signature, old: _Signature) -> int:
    if new.structure != old.structure:
        return 1_000_000
    differing = sum(a is not b for a, b in zip(new.avals, old.avals, strict=True))
    differing += new.axes != old.axes
    return differing + 1000 * sum(old.static.get(k) != v for k, v in new.static.items())


def _type_cause(name: str, old: Any, new: Any) -> tuple[str, str]:
    if old.shape != new.shape:
        return (
            f"the shape of {name} changed from {list(old.shape)} to {list(new.shape)}",
            "Pad to one shape, or expect one compilation for each shape.",
        )
    if old.dtype != new.dtype:
        return (
            f"the dtype of {name} changed from {old.dtype} to {new.dtype}",
            "Convert it to one dtype before the call.",
        )
    return (
        f"the weak type of {name} changed from {old.weak_type} to {new.weak_type}",
        "Pass an array in place of a Python number, or always a Python number.",
    )
