"""Functions of flat values with the transformations that libraries put around them.

A `WrappedFun` is a function and a list of transformations, each with arguments of its
own; two of equal parts are equal, so that caches can be keyed by them. A transformation
is a generator, which yields the arguments of the function below and then its own
result; or, of the second kind, a function that calls it.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.foundation import caching, config, source_info

_EMPTY = object()


class StoreException(Exception):
    """An auxiliary result was read before there was one, or written twice."""


class Store:
    """A place for one auxiliary result of a transformation."""

    __slots__ = ("_value",)

    def __init__(self) -> None:
        self._value: Any = _EMPTY

    def __bool__(self) -> bool:
        return self._value is not _EMPTY

    def store(self, value: Any) -> None:
        """Writes it.

        Raises:
          StoreException: there is one.
        """
        if self:
            raise StoreException("Store occupied: the function was called before")
        self._value = value

    def reset(self) -> None:
        """Forgets it."""
        self._value = _EMPTY

    @property
    def val(self) -> Any:
        """What was written.

        Raises:
          StoreException: nothing was.
        """
        if not self:
            raise StoreException("Store empty: the function was not called yet")
        return self._value

    def __call__(self) -> Any:
        return self.val


class WrappedFun:
    """A function with transformations around it; see `wrap_init`.

    Args:
      f: the function.
      f_transformed: the same with the transformations that are functions around it.
      transforms: pairs of a transformation and its arguments, the outermost first.
      stores: for each a place for its auxiliary result, or None.
      params: keyword arguments of the function, as pairs.
      in_type: types of its arguments, or None.
      debug_info: names for messages.
    """

    __slots__ = (
        "debug_info",
        "f",
        "f_transformed",
        "in_type",
        "params",
        "stores",
        "transforms",
    )

    def __init__(
        self,
        f: Callable[..., Any],
        f_transformed: Callable[..., Any],
        transforms: Sequence[tuple[Any, tuple[Any, ...]]],
        stores: Sequence[Store | None],
        params: Sequence[tuple[str, Any]],
        in_type: Any = None,
        debug_info: ir.DebugInfo | None = None,
    ) -> None:
        self.f = f
        self.f_transformed = f_transformed
        self.transforms = tuple(transforms)
        self.stores = tuple(stores)
        self.params = tuple(params)
        self.in_type = in_type
        self.debug_info = debug_info

    @property
    def __name__(self) -> str:
        return source_info.function_name(self.f)

    def wrap(
        self, gen: Any, gen_static_args: tuple[Any, ...], out_store: Store | None
    ) -> WrappedFun:
        """The function with one more transformation, a generator, around it."""
        below, static = self.f_transformed, gen_static_args
        called: Any = functools.partial(_run_generator, gen, below, static)
        if out_store is not None:
            called = functools.partial(_keep_aux, called, out_store)
        return self.around((gen, gen_static_args), out_store, called)

    def around(
        self, transform: tuple[Any, tuple[Any, ...]], store: Store | None, called: Any
    ) -> WrappedFun:
        """The function with one more transformation, which `called` applies."""
        return WrappedFun(
            self.f,
            called,
            (transform, *self.transforms),
            (store, *self.stores),
            self.params,
            None,
            self.debug_info,
        )

    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """Calls it, through all transformations."""
        return self.f_transformed(*args, **{**dict(self.params), **kwargs})

    def populate_stores(self, stores: Sequence[Store | None]) -> None:
        """Takes auxiliary results from the places of an equal function."""
        for own, other in zip(self.stores, stores, strict=True):
            if own is not None and other is not None:
                own.store(other.val)

    def _parts(self) -> Any:
        return self.f, self.transforms, self.params, self.in_type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WrappedFun) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        lines = [
            f"{i} : {source_info.function_name(gen)} {args}"
            for i, (gen, args) in enumerate(self.transforms)
        ]
        return "\n".join(["Wrapped function:", *lines, f"Core: {self.__name__}"])


def wrap_init(
    f: Callable[..., Any],
    params: dict[str, Any] | None = None,
    *,
    debug_info: ir.DebugInfo | None = None,
) -> WrappedFun:
    """A function as one that transformations can be put around.

    Args:
      f: the function.
      params: keyword arguments that it is always given.
      debug_info: names for messages; see `api_util.debug_info`.

    Example:
      >>> from olympus.extend import linear_util
      >>> linear_util.wrap_init(lambda x, y: x + y, {'y': 2}).call_wrapped(1)
      3
    """
    pairs = () if params is None else tuple(sorted(params.items()))
    return WrappedFun(f, f, (), (), pairs, None, debug_info)


def transformation(gen: Any, fun: Any = None, *gen_static_args: Any) -> Any:
    """Puts a generator around a function; without one, makes it do so.

    Args:
      gen: takes its own arguments and then those of the call; yields a pair of the
        positional and keyword arguments for the function below, is sent its result,
        and yields its own.
      fun: a `WrappedFun`.
      *gen_static_args: its own arguments.

    Example:
      >>> from olympus.extend import linear_util
      >>> @linear_util.transformation
      ... def shifted(by, x):
      ...     out = yield (x + by,), {}
      ...     yield 10 * out
      >>> shifted(linear_util.wrap_init(lambda x: x), 1).call_wrapped(2)
      30
    """
    if fun is None:
        return functools.partial(transformation, gen)
    return fun.wrap(gen, gen_static_args, None)


def transformation_with_aux(gen: Any, fun: Any = None, *gen_static_args: Any) -> Any:
    """`transformation` by a generator that yields pairs of a result and another value.

    Returns:
      The function, and what returns the other value once it was called.
    """
    if fun is None:
        return functools.partial(transformation_with_aux, gen)
    store = Store()
    return fun.wrap(gen, gen_static_args, store), store


def transformation2(gen: Any, fun: Any = None, *gen_static_args: Any) -> Any:
    """Puts a function around a function; without one, makes it do so.

    Args:
      gen: takes the function below, its own arguments, and those of the call.
      fun: a `WrappedFun`.
      *gen_static_args: its own arguments.
    """
    if fun is None:
        return functools.partial(transformation2, gen)
    called = functools.partial(gen, fun.f_transformed, *gen_static_args)
    return fun.around((gen, gen_static_args), None, called)


def transformation_with_aux2(
    gen: Any,
    fun: Any = None,
    *gen_static_args: Any,
    use_eq_store: bool = False,
    unk_names: bool = False,
) -> Any:
    """`transformation2` by a function that also takes a place for another value.

    Returns:
      The function, and what returns the other value once it was called.
    """
    del use_eq_store, unk_names
    if fun is None:
        return functools.partial(transformation_with_aux2, gen)
    store = Store()
    called = functools.partial(gen, fun.f_transformed, store, *gen_static_args)
    return fun.around((gen, gen_static_args), store, called), store


def _run_generator(gen: Any, below: Any, static: Any, *args: Any, **kwargs: Any) -> Any:
    steps = gen(*static, *args, **kwargs)
    inner_args, inner_kwargs = next(steps)
    return steps.send(below(*inner_args, **inner_kwargs))


def _keep_aux(run: Any, store: Store, *args: Any, **kwargs: Any) -> Any:
    out, aux = run(*args, **kwargs)
    store.store(aux)
    return out


def merge_linear_aux(aux1: Store, aux2: Store) -> tuple[bool, Any]:
    """The auxiliary value of one of two functions, of which one was called.

    Returns:
      Whether it is that of the first, and the value.

    Raises:
      StoreException: both were called, or none.
    """
    if bool(aux1) == bool(aux2):
        raise StoreException(
            "merge_linear_aux: one of two functions must have been called, got "
            f"{'both' if aux1 else 'none'}"
        )
    return (True, aux1()) if aux1 else (False, aux2())


def cache(call: Callable[..., Any], *, explain: Any = None) -> Callable[..., Any]:
    """Has a function of a `WrappedFun` and hashable values remember its results.

    Results live as long as the wrapped function. Auxiliary values are remembered too.

    Args:
      call: the function.
      explain: has no effect.
    """
    del explain
    known: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()

    @functools.wraps(call)
    def memoized(fun: WrappedFun, *args: Any) -> Any:
        results = known.setdefault(fun.f, {})
        key = (fun.transforms, fun.params, fun.in_type, args, config.trace_context())
        if key in results:
            result, stores = results[key]
            fun.populate_stores(stores)
            return result
        result = call(fun, *args)
        results[key] = result, fun.stores
        return result

    memoized.cache_clear = known.clear  # type: ignore[attr-defined]
    caching.register(known.clear, f"results of {source_info.function_name(call)}")
    return memoized
