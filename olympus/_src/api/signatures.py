"""Calls by signature: which arguments are static, and what types the others have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src import tree
from olympus._src.api import parameters
from olympus._src.core import ir
from olympus._src.foundation import caching, source_info
from olympus._src.programs.parameter_names import structure_paths


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

    def dynamic(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments that are not static."""
        nums = {i + len(args) if i < 0 else i for i in self.nums}
        positional = tuple([x for i, x in enumerate(args) if i not in nums])
        return positional, {k: v for k, v in kwargs.items() if k not in self.names}

    def _check_hashable(self, name: Any, value: Any) -> None:
        try:
            hash(value)
        except TypeError:
            which = f"at position {name}" if isinstance(name, int) else f"{name!r}"
            cure = "pass a tuple in place of a list, or a hashable object"
            if hasattr(value, "dtype"):
                cure = (
                    "an array cannot be one: leave it out of static_argnums and "
                    "static_argnames, or pass its numbers as a tuple"
                )
            raise ValueError(
                f"Non-hashable static argument {which} of type "
                f"{type(value).__name__} in the call of the jitted function "
                f"{source_info.function_name(self.fun)}; static arguments are part "
                f"of the cache key; {cure}"
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
        """The key that calls with the same program share."""
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
        args, kwargs = self.structure.children()
        names = [*self.argument_names(), *kwargs.node_data()[1]]
        return structure_paths(names, [*args.children(), *kwargs.children()])

    def argument_names(self) -> list[str]:
        """A name for each positional argument that is not static."""
        args, _ = self.structure.children()
        static = {i for i, _ in self.static_args}
        names = self._positional_names(len(args.children()) + len(static))
        return [n for i, n in enumerate(names) if i not in static]

    def static_names(self) -> list[str]:
        """A name for each positional argument that is static."""
        args, _ = self.structure.children()
        names = self._positional_names(len(args.children()) + len(self.static_args))
        return [names[i] for i, _ in self.static_args]

    def _positional_names(self, count: int) -> list[str]:
        names, varargs = parameters.positional_names(self.fun)
        missing = range(count - len(names))
        more = [f"{varargs}[{i}]" for i in missing] if varargs else []
        names = [*names, *more]
        names += [f"args[{i}]" for i in range(len(names), count)]
        return names[:count]

    def debug_info(self, traced_for: str = "jit") -> ir.DebugInfo:
        """Names for messages about the traced function."""
        description = source_info.describe_function(self.fun)
        return ir.DebugInfo(traced_for, description, LazyNames(self))

    def light(self) -> Call:
        """The call without its arrays and function, which may outlive the call."""
        fun = (
            self.fun
            if type(self.fun) is parameters.Names
            else parameters.Names(self.fun)
        )
        light = Call(fun, self.static_args, self.static_kwargs, (), self.structure)
        light.avals = list(self.avals)
        return light

    def without_values(self) -> Call:
        """`light`, without the static values too: what names are made of."""
        light = self.light()
        if self.static_args:
            light.static_args = [(i, None) for i, _ in self.static_args]
        light.static_kwargs = ()
        return light

    def donated(self, options: Any) -> list[bool]:
        """Which leaves may be overwritten."""
        if not options.donate_argnums and not options.donate_argnames:
            return [False] * self.structure.num_leaves
        args, kwargs = self.structure.children()
        static = {i for i, _ in self.static_args}
        count = len(args.children()) + len(static)
        positions = [i for i in range(count) if i not in static]
        chosen = {i + count if i < 0 else i for i in options.donate_argnums}
        flags: list[bool] = []
        for position, value in zip(positions, args.children(), strict=True):
            flags += [position in chosen] * value.num_leaves
        for name, value in zip(kwargs.node_data()[1], kwargs.children(), strict=True):
            flags += [name in options.donate_argnames] * value.num_leaves
        return flags


class LazyNames(Sequence[str]):
    """Paths of a call's leaves, computed on demand."""

    __slots__ = ("_names", "call")

    def __init__(self, call: Call) -> None:
        self.call = call.without_values()
        self._names: list[str] | None = None

    def names(self) -> list[str]:
        """All paths."""
        if self._names is None:
            self._names = self.call.paths()
        return self._names

    def __getitem__(self, i: Any) -> Any:
        return self.names()[i]

    def __len__(self) -> int:
        return self.call.structure.num_leaves

    def __repr__(self) -> str:
        return repr(tuple(self))
