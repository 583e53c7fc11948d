"""Functions shared by custom rules: selecting arguments, comparing trees."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.api import parameters
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, trace
from olympus._src.core.symbolic_values import SymbolicZero, Zero
from olympus._src.foundation import errors, source_info
from olympus._src.interpreters import concrete_arrays
from olympus._src.lax import families
from olympus._src.programs import inner_programs, parameter_names

_POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)


# The methods that register rules.
_RULES = frozenset(("defvjp", "defjvp", "defjvps", "def_vmap"))


class Decorated:
    """A function with a rule, which takes those of the function that it decorates too.

    With `custom_vjp(custom_vmap(f))` both are registered on the one name that there is.
    """

    def __getattr__(self, name: str) -> Any:
        if name in _RULES:
            return getattr(self.__dict__["fun"], name)
        kind = type(self).__name__
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")


class Arguments:
    """The parameters of a decorated function.

    The function's signature is read when a call first needs it.

    Args:
      what: the decorator, for messages.
      fun: the user's function.
      nondiff_argnums, nondiff_argnames: as given to the decorator.

    Raises:
      TypeError: these are not ints or not names.
    """

    __slots__ = ("_names", "_nums", "_signature", "fun", "what")
    derived_fields = ("_signature",)

    def __init__(
        self, what: str, fun: Any, nondiff_argnums: Any, nondiff_argnames: Any
    ) -> None:
        self.what = what
        self.fun = fun
        self._nums = parameters.as_positions(
            what, nondiff_argnums, "nondiff_argnums", "an int or ints"
        )
        self._names = parameters.as_names(
            what, nondiff_argnames, "nondiff_argnames", "a str or strs"
        )
        self._signature: Any = None

    @property
    def name(self) -> str:
        """The user's function."""
        return source_info.function_name(self.fun)

    def positional(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, ...]:
        """The arguments by position, with defaults filled in."""
        code = getattr(self.fun, "__code__", None)
        if not kwargs and code is not None and len(args) == code.co_argcount:
            return args
        signature = self._read_signature()
        if signature is None:
            if kwargs:
                raise TypeError(
                    f"{self.what}: arguments of {self.name}, which has no signature, "
                    f"must be given by position, got {sorted(kwargs)} by keyword"
                )
            return args
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.what}: {self.name}: {error}") from None
        # Not what is in `bound.kwargs`, as are those behind an argument not given.
        known = signature.parameters
        alone = [
            n for n in kwargs if n not in known or known[n].kind not in _POSITIONAL
        ]
        if alone:
            raise TypeError(
                f"{self.what}: arguments of {self.name} must have a position, got "
                f"{', '.join(alone)} by keyword only; close over them, or make "
                "them positional parameters"
            )
        bound.apply_defaults()
        return bound.args

    def split(
        self, args: tuple[Any, ...]
    ) -> tuple[dict[int, Any], list[Any], list[int]]:
        """The arguments that are not differentiated by position, and the others."""
        nums = self._positions(len(args))
        static = {i: args[i] for i in sorted(nums)}
        dynamic = [i for i in range(len(args)) if i not in nums]
        return static, [args[i] for i in dynamic], dynamic

    def flatten(
        self, args: Sequence[Any], positions: Sequence[int]
    ) -> tuple[list[Any], Any]:
        """Leaves and structure of the arguments, which must be arrays."""
        leaves, structure = tree.tree_flatten(tuple(args))
        if not all(map(avals_.is_array_like, leaves)):
            names = parameter_names.parameter_names(self.fun, max(positions) + 1)
            for position, arg in zip(positions, args, strict=True):
                self._check_arrays(names[position], arg)
        # Nothing else looks at them where the function just runs.
        return list(map(avals_.narrow_numpy, leaves)), structure

    def _check_arrays(self, name: str, arg: Any) -> None:
        for path, leaf in tree.tree_flatten_with_path(arg)[0]:
            if not avals_.is_array_like(leaf):
                raise TypeError(
                    f"{self.what}: arguments of {self.name} must be arrays or numbers, "
                    f"got {inner_programs.value_text(leaf)} at "
                    f"{name}{tree.keystr(path)}; name the argument in "
                    "nondiff_argnums, or close over it"
                )

    def _read_signature(self) -> Any:
        if self._signature is None:
            self._signature = parameters.read_signature(self.fun) or False
        return self._signature or None

    def _positions(self, count: int) -> set[int]:
        def refuse(i: int) -> Exception:
            return ValueError(
                f"{self.what}: nondiff_argnums must be positions of arguments, got "
                f"{i} for {count} arguments of {self.name}"
            )

        positions = set(parameters.count_from_start(self._nums, count, refuse))
        if self._names:
            names = self._parameter_names()
            for name in self._names:
                if name not in names:
                    raise ValueError(
                        f"{self.what}: nondiff_argnames must be parameters of "
                        f"{self.name}, got {name!r}; it has {', '.join(names)}"
                    )
                if names.index(name) < count:
                    positions.add(names.index(name))
        return positions

    def _parameter_names(self) -> list[str]:
        signature = self._read_signature()
        if signature is None:
            return []
        return [p.name for p in signature.parameters.values() if p.kind in _POSITIONAL]


def whole(static: dict[int, Any], rest: Sequence[Any]) -> list[Any]:
    """All arguments by position, from those that `Arguments.split` gave."""
    args = list(rest)
    for i, x in static.items():
        args.insert(i, x)
    return args


def check_no_tracers(arguments: Arguments, static: dict[int, Any]) -> None:
    """Raises UnexpectedTracerError for a traced value among static arguments."""
    for i, arg in static.items():
        if any(isinstance(x, trace.Tracer) for x in tree.tree_leaves(arg)):
            name = parameter_names.parameter_names(arguments.fun, i + 1)[i]
            raise errors.UnexpectedTracerError(
                f"{arguments.what}: the argument {name} of {arguments.name} is named "
                "in nondiff_argnums and must not be a traced value, since the "
                "backward rule runs after its trace has ended; make it a "
                "differentiated argument, with None as its cotangent"
            )


def flatten_results(what: str, fun: Any, result: Any) -> tuple[list[Any], Any]:
    """Leaves and structure of what a user's function returned."""
    leaves, structure = tree.tree_flatten(result)
    if not all(map(avals_.is_array_like, leaves)):
        for path, leaf in tree.tree_flatten_with_path(result)[0]:
            if not avals_.is_array_like(leaf):
                raise TypeError(
                    f"{what}: {inner_programs.fun_text(fun)} must return arrays, got "
                    f"{inner_programs.value_text(leaf)} at result{tree.keystr(path)}; "
                    "return "
                    "numbers and arrays only"
                )
    return leaves, structure


class Results:
    """The structure of a function's results, recorded by what runs first: the function
    itself or one of its rules.
    """

    __slots__ = ("structure",)

    def __init__(self) -> None:
        self.structure: Any = None

    def agree(self, what: str, name: str, rule: Any, structure: Any) -> None:
        """Notes a structure; raises TypeError where it is not the one noted before."""
        if self.structure is None:
            self.structure = structure
        elif self.structure != structure:
            where = inner_programs.structure_mismatch(
                structure, self.structure, "the rule's result", f"{name}'s result"
            )
            raise TypeError(
                f"{what}: the rule {inner_programs.fun_text(rule)} must return the "
                "results "
                f"of {name} first, in their structure, got {where}"
            )


def on_leaves(
    what: str, fun: Any, static: dict[int, Any], structure: Any, results: Results
) -> Callable[..., list[Any]]:
    """The user's function from leaves to leaves; records its structure in `results`."""

    def call(*flat: Any) -> list[Any]:
        out = fun(*whole(static, structure.unflatten(flat)))
        outs, results.structure = flatten_results(what, fun, out)
        return outs

    return call


def as_seen(t: Any, aval: Any, *, symbolic: bool) -> Any:
    """A tangent or cotangent as a user's rule sees it: an array unless it is zero.

    Args:
      t: a value or a Zero.
      aval: the type of what it belongs to, which says whether it is weak.
      symbolic: whether the rule requested symbolic zeros.
    """
    if type(t) is Zero:
        return SymbolicZero(t.aval) if symbolic else concrete_zero(t.aval)
    if isinstance(t, np.generic) and aval.dtype != dtypes.float0:
        return concrete_arrays.as_array(t.item() if aval.weak_type else t)
    return concrete_arrays.as_array(t) if isinstance(t, (int, float, complex)) else t


def concrete_zero(aval: Any) -> Any:
    """Zeros of a tangent's type; those of integers are NumPy arrays of dtype float0."""
    if aval.is_high:
        return aval.vspace_zero()
    if aval.dtype == dtypes.float0:
        return np.zeros(aval.shape, dtypes.float0)
    if aval.shape:
        return families.instantiate(Zero(aval))
    zero = np.zeros((), aval.dtype)[()]
    return concrete_arrays.as_array(zero.item() if aval.weak_type else zero)


def known_zero(t: Any) -> bool:
    """Whether the value that a user's rule returned has a type that is always zero."""
    return type(t) in (SymbolicZero, Zero) or avals_.is_float0(avals_.aval_of(t))


def check_rule(what: str, argument: str, rule: Any) -> None:
    """Raises TypeError for a rule that is not a function."""
    remedy = "pass the function itself, not its result"
    inner_programs.check_callable(what, remedy, **{argument: rule})


def copy_names(wrapper: Any, fun: Callable[..., Any]) -> None:
    """Gives a wrapper the name, text and attributes of what it wraps."""
    source_info.update_wrapper(wrapper, fun)
