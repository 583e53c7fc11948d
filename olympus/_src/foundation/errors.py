"""Every error class of olympus, in one tree.

    Exception
    ├── TypeError
    │   ├── OlympusTypeError
    │   │   ├── ConcretizationTypeError       a number is required of a traced value
    │   │   │   └── TracerBoolConversionError     ... by `if`, `while`, `and`, `bool`
    │   │   ├── TracerArrayConversionError    NumPy was given a traced value
    │   │   ├── TracerIntegerConversionError  a traced value was used as an index
    │   │   ├── UnexpectedTracerError         a traced value outlived its trace
    │   │   ├── KeyReuseError                 a random key was consumed twice
    │   │   └── ShardingTypeError             types divide arrays in ways that conflict
    │   └── OlympusprTypeError                a program that is not well typed
    ├── FloatingPointError
    │   └── BadNumberError                    a result is NaN or infinite
    ├── IndexError
    │   └── OlympusIndexError
    │       └── NonConcreteBooleanIndexError  a mask that is traced has no known size
    ├── ValueError
    │   ├── InconclusiveDimensionOperation    symbolic sizes that cannot be compared
    │   └── TypePromotionError                dtypes that strict promotion refuses
    └── RuntimeError
        ├── LeakError                         a trace ended, its values still exist
        ├── InternalError                     an invariant of olympus is broken
        ├── ProcessFailureError               another process died, ended or hangs
        └── OlympusRuntimeError               the compiler or a device refused; it is
                                              the engine's, see runtime.versions

Classes take a finished message: the package that raises knows the function, the
argument and the remedy.
"""

from __future__ import annotations


def describe(error: BaseException) -> str:
    """An exception's class and text, where it has one, as valid UTF-8."""
    try:
        text = str(error)
    except Exception as failure:
        text = f"(its __str__ raised {type(failure).__name__})"
    text = f"{type(error).__name__}: {text}"
    return text.encode(errors="backslashreplace").decode()


class OlympusTypeError(TypeError):
    """A value is of the wrong kind for the place where it is used."""


class OlympusIndexError(IndexError):
    """An index is of the wrong kind or out of bounds."""


class ConcretizationTypeError(OlympusTypeError):
    """A Python number is required of a value that is still being traced.

    While a function is traced its arguments have a shape and a dtype but no data, so
    neither Python's control flow nor `int`, `float` or a shape argument can read them.

    Example:
      >>> from olympus import errors
      >>> issubclass(errors.ConcretizationTypeError, TypeError)
      True
    """


class TracerBoolConversionError(ConcretizationTypeError):
    """A traced value was converted to a Python bool, as by `if x > 0:`.

    Write the choice as `olympus.numpy.where` or `olympus.lax.cond`, or mark the
    argument static.

    Example:
      >>> from olympus import errors
      >>> issubclass(errors.TracerBoolConversionError, errors.ConcretizationTypeError)
      True
    """


class TracerArrayConversionError(OlympusTypeError):
    """A traced value was given to a NumPy function.

    Call the function of the same name in `olympus.numpy`, or wrap the NumPy code in
    `olympus.pure_callback`.
    """


class TracerIntegerConversionError(OlympusTypeError):
    """A traced value was used where Python needs an int, such as a list's index.

    Index an array made by `olympus.numpy.asarray` instead of a list, or mark the
    argument static.
    """


class NonConcreteBooleanIndexError(OlympusIndexError):
    """A traced boolean mask was used as an index, so the result has no known size.

    Write the selection as `olympus.numpy.where` with three arguments, or give the
    size by the `size` argument of `olympus.numpy.nonzero`.
    """


class OlympusprTypeError(TypeError):
    """A program of the intermediate language breaks the language's typing rules."""


class TypePromotionError(ValueError):
    """Two dtypes have no implicit common dtype under the current promotion rules."""


class InconclusiveDimensionOperation(ValueError):
    """An operation on symbolic sizes whose answer depends on the unknown sizes."""


class LeakError(RuntimeError):
    """A trace ended while some of its values were still reachable."""


class InternalError(RuntimeError):
    """An invariant of olympus itself is broken; a report of it is welcome."""


class ProcessFailureError(RuntimeError):
    """Another process of the program has died, has ended, or hangs.

    Attributes:
      process_index: the number of that process.
      step: how many programs over several processes it had started.
    """

    def __init__(self, message: str, process_index: int = -1, step: int = 0) -> None:
        super().__init__(message)
        self.process_index = process_index
        self.step = step


class UnexpectedTracerError(OlympusTypeError):
    """A traced value was used after the trace that made it had ended.

    It escaped through a global, an attribute, a closure or a generator. Return it from
    the traced function instead.
    """


class KeyReuseError(OlympusTypeError):
    """A random key was consumed a second time, which repeats its numbers."""


class BadNumberError(FloatingPointError):
    """A result is NaN or infinite, with the setting `debug_nans` or `debug_infs`.

    Attributes:
      primitive: the operation that made it; None where that is not known.
      position: the user's line, or None.
      direction: 'backward' or 'forward' within a derivative, or ''.
      iterations: that of each loop around it, the outermost first, from 0.
      index: of the first bad element.
      operands, results: the operation's values there, arrays of NumPy.
      cure: what usually helps, or ''.

    Example:
      >>> from olympus import errors
      >>> issubclass(errors.BadNumberError, FloatingPointError)
      True
    """

    primitive: str | None = None
    position: object = None
    direction: str = ""
    iterations: tuple[int, ...] = ()
    index: tuple[int, ...] = ()
    operands: tuple[object, ...] = ()
    results: tuple[object, ...] = ()
    cure: str = ""


class ShardingTypeError(OlympusTypeError):
    """The types of an operation's operands do not tell how its result is divided.

    Along explicit axes of a mesh types say how arrays are divided. Give the result's
    sharding by `out_sharding`, move an operand by `olympus.reshard`, or leave a
    function to the compiler by `olympus.sharding.auto_axes`.

    Example:
      >>> from olympus import errors
      >>> issubclass(errors.ShardingTypeError, TypeError)
      True
    """


# Messages and pickles name a class by the public module in which users find it.
for _kind in [kind for kind in globals().values() if isinstance(kind, type)]:
    _kind.__module__ = "olympus.errors"
del _kind
