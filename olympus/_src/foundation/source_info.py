"""Where in the user's program something happens.

A frame belongs to the user unless its file is one of olympus's own, of a library that
asked to be left out, or of the standard library's call wrappers. `capture` runs for
every traced operation, so it only notes the call stack, as code objects and instruction
offsets; whose the frames are, their files, lines and columns are worked out when
somebody reads them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

_SOURCES = os.path.join(_PACKAGE, "_src") + os.sep

# Files whose frames only pass a call on; a user did not write them either.
_WRAPPERS = ("contextlib.py", "functools.py")

_excluded: list[str] = [_PACKAGE + os.sep]
_internal: set[str] = set()  # file names that are known not to be the user's
_users: set[str] = set()  # file names that are known to be
_MAX_USERS = 65_536  # notebooks make a new file name for each cell

_getframe = sys._getframe


def is_internal(filename: str) -> bool:
    """Whether frames of this file are left out of what users see."""
    if filename in _users:
        return False
    if filename in _internal:
        return True
    directory, name = os.path.split(filename)
    wrapper = name in _WRAPPERS and directory == _STANDARD_LIBRARY
    frozen = filename.startswith("<frozen ")
    internal = wrapper or frozen or filename.startswith(tuple(_excluded))
    if len(_users) >= _MAX_USERS:
        _users.clear()
    (_internal if internal else _users).add(filename)
    return internal


_STANDARD_LIBRARY = os.path.dirname(os.__file__)


def register_exclusion(path: str) -> None:
    """Leaves the frames of a file, or of all files below a directory, out.

    Args:
      path: the file or directory; libraries built on olympus give their own.
    """
    path = os.path.abspath(path)
    _excluded.append(path + os.sep if os.path.isdir(path) else path)
    _internal.clear()
    _users.clear()


def unregister_exclusion(path: str) -> None:
    """Takes back what `register_exclusion` of the same path did."""
    path = os.path.abspath(path)
    for form in (path, path + os.sep):
        if form in _excluded[1:]:
            _excluded.remove(form)
    _internal.clear()


def defining_file() -> str:
    """The file in which a caller's object is defined, as it is shown to readers.

    Functions of olympus may make the object for a file: what counts is at whose top
    level they are called, or the first file that is not of olympus.

    Returns:
      The path below `olympus/_src`; or the name of a file elsewhere.
    """
    frame: FrameType | None = _getframe(1)
    while frame is not None:
        code = frame.f_code
        is_own = code.co_filename.startswith(_SOURCES)
        if is_own and code.co_name == "<module>":
            return code.co_filename[len(_SOURCES) :].replace(os.sep, "/")
        if not is_own:
            return os.path.basename(code.co_filename)
        frame = frame.f_back
    return "the file that defines it"


# A code object and the offset of an instruction in it.
_Frame = tuple[CodeType, int]


class Position:
    """A place in the user's program, and where the calls that led there are.

    Args:
      stack: the frames of the call, innermost first, of the user and others; or an
        object whose `raw_frames()` gives their code objects and instruction offsets.
    """

    __slots__ = ("_place", "_stack", "_users")

    def __init__(self, stack: Any) -> None:
        self._stack = stack
        self._users: tuple[_Frame, ...] | None = None
        self._place: tuple[int, int, int, int] | None = None

    @property
    def _frames(self) -> tuple[_Frame, ...]:
        """The user's frames, innermost first; where there are none, the outermost."""
        stack, users = self._stack, self._users  # in this order: threads share them
        if users is None:
            if type(stack) is not list:
                stack = list(zip(*stack.raw_frames(), strict=True))
            own = [f for f in stack if not is_internal(f[0].co_filename)]
            users = self._users = _below_shells(own) or tuple(stack[-1:])
            self._stack = None
        return users

    @property
    def callers(self) -> tuple[Position, ...]:
        """The places of the user's calls that led here, innermost first."""
        return tuple([Position([frame]) for frame in self._frames[1:]])

    @property
    def file(self) -> str:
        """The file's name, as Python compiled it."""
        return self._frames[0][0].co_filename

    @property
    def function(self) -> str:
        """The function's qualified name."""
        return self._frames[0][0].co_qualname

    @property
    def line(self) -> int:
        """The line, from 1; 0 where it is unknown."""
        return self._span()[0]

    @property
    def end_line(self) -> int:
        """The line on which the expression ends."""
        return self._span()[1]

    @property
    def column(self) -> int:
        """The column, from 1; 0 where it is unknown."""
        return self._span()[2]

    @property
    def end_column(self) -> int:
        """The column after the expression's last character, from 1."""
        return self._span()[3]

    def _span(self) -> tuple[int, int, int, int]:
        if self._place is None:
            self._place = _span(*self._frames[0])
        return self._place

    @property
    def key(self) -> tuple[str, int, int]:
        """Equal for equal places: file, line, column."""
        return self.file, self.line, self.column

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        mine, others = self._frames[0], other._frames[0]
        return mine[1] == others[1] and mine[0] is others[0]

    def __hash__(self) -> int:
        code, lasti = self._frames[0]
        return hash((id(code), lasti))

    def __str__(self) -> str:
        file = shown_file(self.file)
        return f"{file}:{self.line}:{self.column} ({self.function})"

    def __repr__(self) -> str:
        return f"<Position {self}>"


def _below_shells(frames: list[_Frame]) -> tuple[_Frame, ...]:
    """Frames up to that of a module or cell; what runs those is not the user's."""
    for i, (code, _) in enumerate(frames):
        if code.co_name == "<module>" or code.co_name.startswith("<cell line"):
            return tuple(frames[: i + 1])
    return tuple(frames)


def shown_file(file: str) -> str:
    """The name of a file as messages show it: of a cell, its number in the notebook."""
    if "ipykernel_" not in file and not file.startswith("<ipython-input-"):
        return file
    # IPython is not imported here; it knows the files that it made for cells.
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    describe = getattr(getattr(shell, "compile", None), "format_code_name", None)
    named = describe(file) if callable(describe) else None
    return " ".join(named) if named else file


def short_file(file: str) -> str:
    """A file's name without its folder, as messages show it."""
    shown = shown_file(file)
    return os.path.basename(file) if shown == file else shown


def _span(code: CodeType, lasti: int) -> tuple[int, int, int, int]:
    """First line, last line, first column, end column of an instruction."""
    # Python keeps one entry for each two-byte code unit.
    unit = lasti // 2
    for i, (line, end_line, column, end_column) in enumerate(code.co_positions()):
        if i == unit:
            return (
                line or code.co_firstlineno,
                end_line or line or code.co_firstlineno,
                0 if column is None else column + 1,
                0 if end_column is None else end_column + 1,
            )
    return code.co_firstlineno, code.co_firstlineno, 0, 0


def _python_stack() -> list[_Frame]:
    """All frames of the call that is running, innermost first."""
    frames: list[_Frame] = []
    frame: FrameType | None = _getframe(1)
    while frame is not None:
        frames.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return frames


_note_stack: Callable[[], Any] = _python_stack


def set_stack_reader(read: Callable[[], Any]) -> None:
    """Has `capture` note call stacks in another way, faster than Python can.

    Args:
      read: gives an object whose `raw_frames()` are the code objects and the
        instruction offsets of the running call, innermost first; or None.
    """
    global _note_stack
    _note_stack = read


def capture() -> Position:
    """The innermost place of the user's program in the call that is running."""
    return Position(_note_stack() or _python_stack())


def capture_stack(limit: int = -1) -> list[Position]:
    """The user's frames of the call that is running, innermost first.

    Args:
      limit: how many to give at most; negative for all.
    """
    positions: list[Position] = []
    frame: FrameType | None = _getframe(1)
    while frame is not None and len(positions) != limit:
        code = frame.f_code
        if not is_internal(code.co_filename):
            positions.append(Position([(code, frame.f_lasti)]))
        frame = frame.f_back
    return positions


# -- functions -------------------------------------------------------------------------


def _inner(f: Any) -> Any:
    """What a wrapper wraps: one step towards the function that the user wrote."""
    for attribute in ("__wrapped__", "func", "__func__"):
        wrapped = getattr(f, attribute, None)
        if callable(wrapped):
            return wrapped
    return None


def update_wrapper(wrapper: Any, fun: Any) -> None:
    """Gives a wrapper the name, text and signature of the function it wraps."""
    wrapper.__name__ = name = function_name(fun)
    wrapper.__qualname__ = _text_of(fun, "__qualname__") or name
    module = _text_of(fun, "__module__")
    if module is not None:
        wrapper.__module__ = module
    wrapper.__doc__ = _text_of(fun, "__doc__")  # where it has none: not its class's own
    wrapper.__wrapped__ = fun
    annotations = getattr(fun, "__annotations__", None)
    if isinstance(annotations, dict):
        wrapper.__annotations__ = annotations
    parameters = getattr(fun, "__type_params__", None)
    if isinstance(parameters, tuple):
        wrapper.__type_params__ = parameters


def _text_of(fun: Any, attribute: str) -> str | None:
    """An attribute that functions have; objects may call anything by its name."""
    text = getattr(fun, attribute, None)
    return text if isinstance(text, str) else None


def function_name(f: Callable[..., Any]) -> str:
    """A name for a callable, for messages and modules.

    Objects without a name give that of what they wrap, or of their class.
    """
    seen = 0
    while seen < _MAX_DEPTH:
        name = getattr(f, "__name__", None)
        if isinstance(name, str):
            return name
        inner = _inner(f)
        if inner is None:
            break
        f = inner
        seen += 1
    return type(f).__name__


_MAX_DEPTH = 32  # a wrapper that wraps itself must not hang us


def function_code(f: Callable[..., Any]) -> CodeType | None:
    """The code a callable runs, through wrappers, partials and methods; or None."""
    for _ in range(_MAX_DEPTH):
        inner = _inner(f)
        if inner is None:
            code = getattr(f, "__code__", None)
            if isinstance(code, CodeType):
                return code
            owner = f if isinstance(f, type) else type(f)
            inner = getattr(owner, "__init__" if owner is f else "__call__", None)
            if not hasattr(inner, "__code__"):
                return None
        f = inner
    return None


def describe_function(f: Callable[..., Any]) -> str:
    """A callable's name, and where it was written, as "f at file:line"."""
    return f"{function_name(f)} at {function_location(f)}"


def function_location(f: Callable[..., Any]) -> str:
    """Where a callable was written, as "file:line".

    Callables without Python code give a text that says what they are.
    """
    code = function_code(f)
    if code is None:
        return f"<no source: {type(f).__name__} {function_name(f)}>"
    return f"{shown_file(code.co_filename)}:{code.co_firstlineno}"
