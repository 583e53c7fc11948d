"""Traces and tracers: the interpreters of primitives that are applied.

Each thread has one current trace. `Primitive.bind` hands every application to it. An
interpreter sets itself as the current trace while it runs a user's function, wraps the
values it follows in tracers, and applies its rules in the trace that was current
before.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, NoReturn

from olympus._src.core import array_type, avals
from olympus._src.foundation import errors


class Trace:
    """An interpreter of primitives; `parent` is the one its rules run in."""

    __slots__ = ("__weakref__", "level", "parent")
    # Whether its function has returned; only traces that record a program know.
    ended: bool = False
    level: int
    parent: Trace | None

    def __init__(self, parent: Trace | None) -> None:
        self.parent = parent
        self.level = 0 if parent is None else parent.level + 1

    def process(self, primitive: Any, args: tuple[Any, ...], params: Any) -> Any:
        """Applies `primitive` to `args`; returns one result, or a list of them."""
        raise NotImplementedError

    def explain(self, tracer: Tracer) -> str:
        """Sentences on which function is traced and what the value depends on."""
        return ""

    def made_at(self, tracer: Tracer) -> str:
        """Where the tracer was made, for errors about leaks."""
        return ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(level={self.level}/0)"


class _Current(threading.local):
    """What tracing knows, for each thread."""

    trace: Any = None  # the current interpreter; set_base gives the default
    position: Any = None  # overrides the captured source position of new equations
    scope: tuple[str, ...] = ()  # named scopes that are open
    axis_env: tuple[Any, ...] = ()  # (name, size) of mapped axes that are open
    manual: Any = None  # the mesh whose axes the program is manual along
    join: Any = None  # has operands vary along the same of these axes

    def axis_context(self) -> tuple[Any, Any]:
        """What tracing depends on besides settings and arguments, for caches."""
        return self.axis_env, self.manual


current = _Current()


def axis_size(name: Any, what: str) -> int:
    """The size of the innermost mapped axis of a name.

    Args:
      name: the axis.
      what: the function that asks, for the message.

    Raises:
      NameError: no axis of that name is mapped here.
    """
    for known, size in reversed(current.axis_env):
        if known == name:
            return size
    raise unbound_axis(name, what)


def unbound_axis(name: Any, what: str) -> NameError:
    """The error for a name that no mapped axis has."""
    names = ", ".join(repr(n) for n, _ in current.axis_env)
    return NameError(
        f"{what}: unbound axis name: {name}; it must be the axis_name of a vmap around "
        f"the call, got {names or 'no named axis'} there; call the function under "
        f"vmap(..., axis_name={name!r})"
    )


def set_base(trace: Trace) -> None:
    """Names the interpreter at the bottom, which runs operations (a hook)."""
    _Current.trace = trace
    _Base.trace = trace


class _Base:
    trace: Any = None


def base() -> Any:
    """The interpreter at the bottom of every thread."""
    return _Base.trace


class set_current:
    """Makes `trace` the current interpreter for a `with` block."""

    __slots__ = ("previous", "trace")

    def __init__(self, trace: Any) -> None:
        self.trace = trace

    def __enter__(self) -> Any:
        self.previous = current.trace
        current.trace = self.trace
        return self.trace

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        current.trace = self.previous


class Tracer:
    """A value of a program that is being traced; it has a type but no data."""

    __slots__ = ("__weakref__", "_trace", "aval")
    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 1000

    def __init__(self, trace: Trace, aval: Any) -> None:
        self._trace = trace
        self.aval = aval

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        """Element type."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.aval.size

    @property
    def weak_type(self) -> bool:
        """Whether the dtype is weak in promotion."""
        return self.aval.weak_type

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.aval.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.aval.size * self.aval.dtype.itemsize

    def __repr__(self) -> str:
        return f"Traced<{self.aval!r}>with<{self._trace!r}>"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        if spec:
            raise TypeError(
                f"format: a traced value has no number to format with {spec!r}, got "
                f"{self!r}; print it with olympus.debug.print"
            )
        return repr(self)

    def __bool__(self) -> bool:
        raise self._conversion(errors.TracerBoolConversionError, "boolean conversion")

    def __int__(self) -> int:
        raise self._concretization("int()")

    def __float__(self) -> float:
        raise self._concretization("float()")

    def __complex__(self) -> complex:
        raise self._concretization("complex()")

    def __index__(self) -> int:
        raise self.refusal(
            errors.TracerIntegerConversionError,
            "The __index__() method was called on traced array with shape "
            f"{self.aval.str_long()}.",
        )

    def item(self, *args: int) -> NoReturn:
        """Refuses: a traced value has no Python number."""
        raise self._concretization("item()")

    def tolist(self) -> NoReturn:
        """Refuses: a traced value has no Python list."""
        raise self._concretization("tolist()")

    def tobytes(self, order: Any = "C") -> NoReturn:
        """Refuses: a traced value has no bytes."""
        del order
        raise self._concretization("tobytes()")

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise self.refusal(
            errors.TracerArrayConversionError,
            "The numpy.ndarray conversion method __array__() was called on traced "
            f"array with shape {self.aval.str_long()}.",
            "\nUse olympus.numpy in place of numpy inside traced functions.",
        )

    def explanation(self) -> str:
        """Why there is no concrete value, as the end of an error message."""
        text = self._trace.explain(self)
        return "\n" + text if text else ""

    def refusal(self, kind: type[Exception], what: str, cure: str = "") -> Exception:
        """An error of `kind`: what was asked, why there is no value, what to read."""
        return kind(f"{what}{self.explanation()}{cure}\n{see(kind)}")

    def _conversion(self, kind: type[Exception], what: str) -> Exception:
        # Two full stops, as in the message that users of JAX know.
        return self.refusal(
            kind,
            f"Attempted {what} of traced array with shape {self.aval.str_long()}..",
        )

    def _concretization(self, what: str) -> Exception:
        return self.refusal(
            errors.ConcretizationTypeError,
            "Abstract tracer value encountered where concrete value is expected: "
            f"{what} of traced array with shape {self.aval.str_long()}.",
        )

    def block_until_ready(self) -> Tracer:
        """Returns at once: there is nothing to wait for."""
        return self

    def copy_to_host_async(self) -> None:
        """Does nothing: there is no data."""

    def __copy__(self) -> Tracer:
        return self

    def __deepcopy__(self, memo: Any) -> Tracer:
        return self

    def __reduce__(self) -> NoReturn:
        raise self._concretization("pickling")


array_type.register_tracers(Tracer, avals.ShapedArray)


def see(kind: type[Exception]) -> str:
    """Where the documentation says more about an error."""
    return (
        "See https://docs.olympus.dev/en/latest/errors.html"
        f"#olympus.errors.{kind.__name__}"
    )


def leak_error(tracer: Tracer, where: str) -> errors.UnexpectedTracerError:
    """The error for a tracer in a trace that it does not belong to."""
    owner = tracer._trace  # noqa: SLF001 - the tracer's own package
    origin = owner.made_at(tracer)
    return errors.UnexpectedTracerError(
        f"Encountered an unexpected tracer of type {tracer.aval.short()} in {where}. "
        + (_ESCAPED if owner.ended else _CLOSED_OVER)
        + (f"\n{origin}" if origin else "")
        + (_CURE_ESCAPED if owner.ended else _CURE_CLOSED_OVER)
        + f"\n{see(errors.UnexpectedTracerError)}"
    )


_ESCAPED = (
    "A traced value escaped the function it belongs to, through a global, an "
    "attribute, a closure or a generator, and was used after the trace ended."
)
_CURE_ESCAPED = (
    "\nReturn the value from the function instead, or find the place with "
    "olympus.checking_leaks()."
)
_CLOSED_OVER = (
    "The value is differentiated or mapped by an active transformation, but it is "
    "used outside of that transformation: a function with a custom rule (custom_jvp, "
    "custom_vjp, custom_vmap) or one of its rules closes over it, or it was passed "
    "to another thread."
)
_CURE_CLOSED_OVER = (
    "\nPass the value to that function as an argument, and handle it in the rule."
)
