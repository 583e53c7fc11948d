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
    """An interpreter of primitives; `parent` is the one its rules run in.

    A library derives its own from it, with `process_primitive` and, for functions with
    custom derivatives, `process_custom_jvp_call` and `process_custom_vjp_call`, and
    makes it current with `extend.core.set_current_trace`.
    """

    __slots__ = ("__weakref__", "level", "parent")
    # Whether its function has returned; only traces that record a program know.
    ended: bool = False
    # Whether `set_current` says what is around it, as for a library's own.
    is_adopted: bool = True
    level: int
    parent: Trace | None

    def __init__(self, parent: Trace | None = None) -> None:
        self.parent = parent
        self.level = 0 if parent is None else parent.level + 1

    def takes(self, other: Trace) -> bool:
        """Whether values of another interpreter are values of this one."""
        return other is self

    def process(self, primitive: Any, args: tuple[Any, ...], params: Any) -> Any:
        """Applies `primitive` to `args`; returns one result, or a list of them."""
        if primitive.offer is not None:
            return primitive.offer(self, args, params)
        return self.process_primitive(primitive, args, params)

    def process_primitive(self, primitive: Any, tracers: Any, params: Any, /) -> Any:
        """Applies an operation; returns one result, or a list of them."""
        raise NotImplementedError(
            f"{type(self).__name__}: an interpreter must define process_primitive("
            f"self, primitive, tracers, params), which {primitive} needs; write that "
            "method"
        )

    def lift_number(self, x: Any) -> Any:
        """An array that the function just made of a number, as it sees it.

        Libraries written for JAX tell by a traced one that they are within `jit`.
        """
        return x if self.parent is None else self.parent.lift_number(x)

    @property
    def main(self) -> Trace:
        """The interpreter, of which libraries ask whether two are the same."""
        return self

    def full_raise(self, value: Any) -> Any:
        """The value as this interpreter takes it; by default, as it is."""
        return value

    def process_call(
        self, call_primitive: Any, f: Any, tracers: Any, params: Any, /
    ) -> Any:
        """Applies a call of a function, `f.call_wrapped`; by default, its operations.

        Returns:
          A list of results.
        """
        del call_primitive, params
        return f.call_wrapped(*tracers)

    def process_custom_jvp_call(
        self,
        primitive: Any,
        fun: Any,
        jvp: Any,
        tracers: Any,
        /,
        *,
        symbolic_zeros: bool,
    ) -> Any:
        """Applies a function with a custom derivative; see `custom_jvp`.

        Args:
          primitive: the operation; `primitive.bind(fun, jvp, *values,
            symbolic_zeros=...)` applies it in the current interpreter.
          fun: `fun.call_wrapped(*values)` gives a list of results.
          jvp: `jvp.call_wrapped(*values, *tangents)` gives results, then tangents.
          tracers: the operands.
          symbolic_zeros: whether the rule gets zeros as such.

        Returns:
          A list of results.
        """
        raise self._undefined(primitive, "process_custom_jvp_call")

    def process_custom_vjp_call(
        self,
        primitive: Any,
        fun: Any,
        fwd: Any,
        bwd: Any,
        tracers: Any,
        /,
        *,
        out_trees: Any,
        symbolic_zeros: bool,
    ) -> Any:
        """Applies a function with a custom derivative; see `custom_vjp`.

        Args:
          primitive: the operation; `primitive.bind(fun, fwd, bwd, *values,
            out_trees=..., symbolic_zeros=...)` applies it in the current interpreter.
          fun: `fun.call_wrapped(*values)` gives a list of results.
          fwd: `fwd.call_wrapped(*values)`, each value followed by whether it has a
            nonzero tangent, gives a list of residuals and then results.
          bwd: `bwd.call_wrapped(*residuals, *cotangents)` gives those of the operands.
          tracers: the operands.
          out_trees: after a call of `fwd`, gives the structures of the results and of
            the residuals, and a list of None.
          symbolic_zeros: whether the rules get zeros as such.

        Returns:
          A list of results.
        """
        raise self._undefined(primitive, "process_custom_vjp_call")

    def _undefined(self, primitive: Any, method: str) -> NotImplementedError:
        return NotImplementedError(
            f"{type(self).__name__}: an interpreter must define {method} for functions "
            f"with custom derivatives ({primitive}); write it, as in "
            "`return fun.call_wrapped(*tracers)`, which drops the rule"
        )

    def explain(self, tracer: Tracer) -> str:
        """Sentences on which function is traced and what the value depends on."""
        return ""

    def made_at(self, tracer: Tracer) -> str:
        """Where the tracer was made, for errors about leaks."""
        return ""

    def origin(self, tracer: Tracer) -> str:
        """What the tracer is in the user's program: an argument, or a result."""
        return ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(level={self.level}/0)"


class _Current(threading.local):
    """What tracing knows, for each thread."""

    trace: Any = None  # the current interpreter; set_base gives the default
    position: Any = None  # overrides the captured source position of new equations
    scope: tuple[Any, ...] = ()  # what is open now; see core.scopes
    axis_env: tuple[Any, ...] = ()  # (name, size) of mapped axes that are open
    manual: Any = None  # the mesh whose axes the program is manual along
    join: Any = None  # has operands vary along the same of these axes
    taken: Any = None  # what take_current last took away
    pushes_forward = False  # whether linear programs are for tangents, as of linearize

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
    """Makes `trace` the current interpreter for a `with` block, in this thread.

    Args:
      trace: the interpreter; None for the one at the bottom.
      check_leaks: has no effect.
    """

    __slots__ = ("previous", "trace")

    def __init__(self, trace: Any, check_leaks: bool = False) -> None:
        del check_leaks
        self.trace = base() if trace is None else trace

    def __enter__(self) -> Any:
        self.previous = current.trace
        if self.trace.is_adopted:
            _adopt(self.trace, self.previous)
        current.trace = self.trace
        return self.trace

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        current.trace = self.previous


def _adopt(trace: Any, previous: Any) -> None:
    """Says what is around a library's own interpreter, which may not know it.

    Where it took the one around away first, that is it.
    """
    step = previous
    while step is not None:
        if step is trace:
            return
        step = getattr(step, "parent", None)
    around = previous
    if previous is base() and current.taken is not None:
        around = current.taken
    trace.parent = around
    trace.level = around.level + 1


class take_current:
    """Takes the current interpreter away for a `with` block, and gives it.

    Operations in the block are run, until another interpreter is set.

    Example:
      >>> from olympus.extend import core
      >>> with core.take_current_trace() as parent:
      ...     parent
      EvalTrace
    """

    __slots__ = ("_previous", "_taken")

    def __enter__(self) -> Any:
        self._previous, self._taken = current.trace, current.taken
        current.taken, current.trace = self._previous, base()
        return self._previous

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        current.trace, current.taken = self._previous, self._taken


class Tracer:
    """A value of a program that is being traced; it has a type but no data."""

    __slots__ = ("__weakref__", "_trace", "aval")
    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 1000

    def __init__(self, trace: Trace, aval: Any = None) -> None:
        self._trace = trace
        if not self.has_computed_aval():
            self.aval = aval

    @classmethod
    def has_computed_aval(cls) -> bool:
        """Whether the class has a property in place of the attribute."""
        return isinstance(getattr(cls, "aval", None), property)

    def full_lower(self) -> Any:
        """The value itself: a class may return what it wraps."""
        return self

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
                f"{self.aval.short()}; print it with "
                f"olympus.debug.print('{{:{spec}}}', x)"
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
            "\nIn place of `if` write olympus.numpy.where(condition, a, b) or "
            "olympus.lax.cond, in place of `while` olympus.lax.while_loop, in place of "
            "`and`, `or`, `not` the operators &, |, ~.",
        )

    def _concretization(self, what: str) -> Exception:
        return self.refusal(
            errors.ConcretizationTypeError,
            "Abstract tracer value encountered where concrete value is expected: "
            f"{what} of traced array with shape {self.aval.str_long()}.",
            "\nA traced value stays an array until the function returns: compute with "
            "it as it is, and convert its dtype with x.astype(...).",
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


def name_operands(error: Exception, operands: Any) -> None:
    """Adds to an error about operands what each of them is in the user's program."""
    if type(error) not in (TypeError, ValueError) or _OPERANDS in str(error):
        return
    rows = [
        f"{x.aval.short()} is {origin}"
        for x in operands
        if isinstance(x, Tracer) and (origin := x._trace.origin(x))  # noqa: SLF001
    ]
    if rows:
        error.args = (f"{error}\n{_OPERANDS} {', '.join(rows)}.",)


_OPERANDS = "Of the operands"


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
