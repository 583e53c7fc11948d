"""Parameters of users' functions: their names, and which ones options select."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src import tree
from olympus._src.foundation import source_info
from olympus._src.programs.parameter_names import code_of

_POSITIONAL_ONLY = inspect.Parameter.POSITIONAL_ONLY
_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
_VAR_POSITIONAL = inspect.Parameter.VAR_POSITIONAL
_VAR_KEYWORD = inspect.Parameter.VAR_KEYWORD


def check_callable(api: str, fun: Any) -> None:
    """Raises TypeError unless `fun` can be called."""
    if not callable(fun):
        raise TypeError(
            f"{api}: expected a callable, got {fun!r}; pass the function itself, not "
            "its result"
        )


# -- options that name parameters ------------------------------------------------------


def as_positions(
    api: str,
    value: Any,
    option: str = "argnums",
    requirement: str = "an int or a sequence of ints",
) -> tuple[int, ...]:
    """Positions of arguments as a tuple of ints.

    Args:
      api: the public function.
      value: what the user gave.
      option: the name of its parameter.
      requirement: in words, for the message.

    Raises:
      TypeError: the value holds something else.
    """
    try:
        items = (value,) if hasattr(value, "__index__") else tuple(value)
        return tuple([i.__index__() for i in items])
    except (TypeError, AttributeError):
        raise TypeError(
            f"{api}: {option} must be {requirement}, got {value!r}"
        ) from None


def as_argnums(api: str, argnums: Any) -> tuple[int, ...]:
    """The positions of the arguments to differentiate by, one at least.

    Raises:
      TypeError: `argnums` is not an int or sequence of ints.
      ValueError: it is empty.
    """
    positions = as_positions(api, argnums)
    if not positions:
        raise ValueError(
            f"{api}: argnums must name at least one argument, got {argnums!r}"
        )
    return positions


def as_names(
    api: str,
    value: Any,
    option: str,
    requirement: str = "a str or a sequence of strs",
) -> tuple[str, ...]:
    """Names of arguments as a tuple.

    Args:
      api, value, option, requirement: as in `as_positions`.

    Raises:
      TypeError: the value holds something else.
    """
    is_one = isinstance(value, str) or not hasattr(value, "__iter__")
    names = (value,) if is_one else tuple(value)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"{api}: {option} must be {requirement}, got {value!r}")
    return names


def count_from_start(
    positions: Sequence[int], count: int, refuse: Callable[[int], Exception]
) -> list[int]:
    """Positions among `count` arguments, of which negative ones count from the end.

    Args:
      positions: as the user gave them.
      count: how many arguments there are.
      refuse: makes the error for a position where none is.
    """
    for i in positions:
        if not -count <= i < count:
            raise refuse(i)
    return [i % count for i in positions]


NO_ARGUMENTS: tuple[tuple[int, ...], tuple[str, ...]] = (), ()


def resolve_options(
    fun: Callable[..., Any],
    kind: str,
    argnums: int | Sequence[int] | None,
    argnames: str | Sequence[str] | None,
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Positions and names of chosen arguments; each is inferred from the other.

    Args:
      fun: the user's function.
      kind: 'static' or 'donate', for messages.
      argnums, argnames: what the user gave.

    Raises:
      ValueError: an argument does not exist.
      TypeError: positions are not integers, or names not strings.
    """
    if argnums is None and argnames is None:
        return NO_ARGUMENTS
    nums = () if argnums is None else as_positions("jit", argnums, f"{kind}_argnums")
    names = () if argnames is None else as_names("jit", argnames, f"{kind}_argnames")
    if not nums and not names:
        return NO_ARGUMENTS
    signature = read_signature(fun)
    if signature is None:
        return nums, names
    parameters = list(signature.parameters.values())
    _check_exist(fun, kind, nums, names, parameters)
    positional = [p for p in parameters if p.kind in (_POSITIONAL_ONLY, _POSITIONAL)]
    if argnums is None:
        by_name = {p.name: i for i, p in enumerate(positional)}
        nums = tuple([by_name[n] for n in names if n in by_name])
    elif argnames is None:
        nums = _normalize_positions(nums, positional, parameters)
        names = tuple(
            [
                positional[i].name
                for i in nums
                if i < len(positional) and positional[i].kind is _POSITIONAL
            ]
        )
    return _normalize_positions(nums, positional, parameters), names


def _check_exist(
    fun: Any, kind: str, nums: Any, names: Any, parameters: list[inspect.Parameter]
) -> None:
    kinds = {p.kind for p in parameters}
    known = [
        p.name for p in parameters if p.kind not in (_VAR_POSITIONAL, _VAR_KEYWORD)
    ]
    where = f"{source_info.function_name(fun)}({', '.join(known)})"
    if _VAR_POSITIONAL not in kinds:
        count = sum(p.kind in (_POSITIONAL_ONLY, _POSITIONAL) for p in parameters)
        for i in nums:
            if not -count <= i < count:
                raise ValueError(
                    f"jitted function has {kind}_argnums={i}, but {where} takes only "
                    f"{count} positional arguments"
                )
    if _VAR_KEYWORD not in kinds:
        for name in names:
            if name not in known:
                raise ValueError(
                    f"jitted function has {kind}_argnames={name!r}, but {where} has "
                    "no argument of that name"
                )


def _normalize_positions(
    nums: Any, positional: Any, parameters: Any
) -> tuple[int, ...]:
    if any(p.kind is _VAR_POSITIONAL for p in parameters):
        return tuple(nums)
    count = len(positional)
    return tuple(sorted({i + count if i < 0 else i for i in nums}))


def check_disjoint(static: Any, donate: Any) -> None:
    """Raises ValueError where an argument is both static and donated."""
    both = set(static[0]) & set(donate[0]) or set(static[1]) & set(donate[1])
    if both:
        raise ValueError(
            f"jit: arguments {sorted(both)} are both static and donated; a static "
            "argument has no buffer to donate"
        )


def resolve_positions(
    api: str, fun: Any, argnums: tuple[int, ...], count: int, kind: type[Exception]
) -> list[int]:
    """The positions of a call's arguments that `argnums` means.

    Args:
      api: the public function.
      fun: the user's function.
      argnums: may be negative.
      count: how many positional arguments the call has.
      kind: the error where there are too few.
    """

    def refuse(i: int) -> Exception:
        return (kind if i >= 0 else ValueError)(
            f"{api}: differentiating with respect to argnums={i} requires at least "
            f"{i + 1 if i >= 0 else -i} positional arguments, but "
            f"{source_info.function_name(fun)} was called with only {count}; give "
            "differentiated arguments by position, not by keyword"
        )

    positions = count_from_start(argnums, count, refuse)
    if len(set(positions)) != len(positions):
        raise ValueError(
            f"{api}: argnums must name each argument once, got {argnums} for a call of "
            f"{source_info.function_name(fun)} with {count} positional arguments"
        )
    return positions


# -- names -----------------------------------------------------------------------------


def read_signature(fun: Callable[..., Any]) -> inspect.Signature | None:
    """The signature of a function; None where it has none."""
    try:
        return inspect.signature(fun)
    except (ValueError, TypeError):
        return None


class Names:
    """The names of a function for messages, without the values of its closure.

    Parameters of a plain function are read from its code, on demand.

    Args:
      fun: the function.
    """

    __slots__ = ("__code__", "__name__", "_names")

    def __init__(self, fun: Any) -> None:
        plain = _plain_function(fun)
        self.__name__ = source_info.function_name(fun)
        self.__code__ = (
            source_info.function_code(fun) if plain is None else plain.__code__
        )
        self._names = positional_names(fun) if plain is None else None

    @classmethod
    def from_names(cls, name: str, positional: Sequence[str]) -> Names:
        """Of a function that is not here: its name, and those of its parameters."""
        names = cls.__new__(cls)
        names.__name__, names.__code__ = name, None
        names._names = (list(positional), "")
        return names

    def positional(self) -> tuple[list[str], str]:
        """Names of positional parameters, and of that which takes all others or ''."""
        if self._names is None:
            code: Any = self.__code__
            names = code.co_varnames
            count = code.co_argcount
            after = count + code.co_kwonlyargcount
            varargs = names[after] if code.co_flags & inspect.CO_VARARGS else ""
            self._names = list(names[:count]), varargs
        return self._names


def _plain_function(fun: Any) -> Any:
    """The function whose parameters are those of `fun`, or None if it is not plain."""
    while not hasattr(fun, "__signature__") and hasattr(fun, "__wrapped__"):
        if isinstance(fun, types.MethodType):  # which has its instance besides
            return None
        fun = fun.__wrapped__
    plain = isinstance(fun, types.FunctionType) and not hasattr(fun, "__signature__")
    return fun if plain else None


def positional_names(fun: Any) -> tuple[list[str], str]:
    """Names of positional parameters, and of that which takes all others or ''."""
    if type(fun) is Names:
        return fun.positional()
    signature = read_signature(fun)
    names: list[str] = []
    varargs = ""
    if signature is not None:
        for p in signature.parameters.values():
            if p.kind in (_POSITIONAL_ONLY, _POSITIONAL):
                names.append(p.name)
            elif p.kind is _VAR_POSITIONAL:
                varargs = p.name
    return names, varargs


def leaf_path(structure: Any, i: int) -> str:
    """How the leaf number `i` of a tree is reached, as in `['w'][0]`."""
    return tree.keystr(tree.leaf_key_paths(structure)[i])


def argument_path(fun: Any, structure: Any, i: int, positions: Any = None) -> str:
    """The leaf number `i` of a call's arguments, as in `params['w']`.

    Args:
      fun: the function that is called.
      structure: of a tuple or list of arguments.
      i: which of the leaves.
      positions: the positions of those arguments in the call; from 0 if None.
    """
    first, *others = tree.leaf_key_paths(structure)[i]
    position = first.idx if positions is None else positions[first.idx]
    return parameter_name(fun, position) + tree.keystr(tuple(others))


def parameter_name(fun: Any, position: int) -> str:
    """The name of a positional parameter; `argument 1` where it has none."""
    code, filled = code_of(fun)
    if code is not None and position + filled < code.co_argcount:
        return code.co_varnames[position + filled]
    return f"argument {position}"
