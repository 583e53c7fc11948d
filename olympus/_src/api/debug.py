"""`debug.breakpoint`: a prompt at a point of a program, each time it is reached.

The prompt sees the Python frames as they were while the place was traced, with the
values that their arrays have now.
"""

from __future__ import annotations

import cmd
import linecache
import sys
import traceback
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, TextIO

from olympus._src import tree
from olympus._src.callbacks import debugging
from olympus._src.core import trace
from olympus._src.foundation import source_info


class Frame:
    """A Python frame: where it was, and its variables.

    Attributes:
      file, function, line: its place.
      locals: its variables by name.
      globals: the variables of its module.
    """

    __slots__ = ("file", "function", "globals", "line", "locals")

    def __init__(
        self, file: str, function: str, line: int, locals_: Any, globals_: Any
    ) -> None:
        self.file = file
        self.function = function
        self.line = line
        self.locals = locals_
        self.globals = globals_

    def with_locals(self, locals_: Any) -> Frame:
        """The same frame with other values."""
        return Frame(self.file, self.function, self.line, locals_, self.globals)

    def text(self, marker: str = " ") -> str:
        """The place and its line, as tracebacks show them."""
        source = linecache.getline(self.file, self.line).strip()
        return f"{marker} {self.file}({self.line}) {self.function}\n    {source}"


def breakpoint(
    *,
    backend: str | None = None,
    filter_frames: bool = True,
    num_frames: int | None = None,
    ordered: bool = False,
    token: Any = None,
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
    **kwargs: Any,
) -> Any:
    """Opens a prompt each time the program reaches this point.

    The prompt understands `p` and `pp` (print an expression), `l` (list the source),
    `bt` (the frames), `u` and `d` (up and down), `c` (continue) and `q` (quit).

    Args:
      backend: 'cli' or None for a prompt on the terminal.
      filter_frames: leave out the frames of olympus itself.
      num_frames: frames to keep, innermost first; None for all.
      ordered: keep the program's order among ordered effects.
      token: returned as it is, to tie the breakpoint to a value.
      stdin: where commands are read; None for `sys.stdin`.
      stdout: where answers are written; None for `sys.stdout`.
      **kwargs: further options of a backend; the prompt has none.

    Raises:
      ValueError: `backend` is unknown.
      TypeError: an option is unknown.
    """
    if backend not in (None, "cli"):
        raise ValueError(
            f"debug.breakpoint: backend must be 'cli' or None, got {backend!r}; leave "
            "it out"
        )
    if kwargs:
        raise TypeError(
            f"debug.breakpoint: the option {min(kwargs)!r} is unknown; known are stdin "
            "and stdout"
        )
    frames = _frames(sys._getframe(1), filter_frames, num_frames)
    traced, rebuild = _split_traced([f.locals for f in frames])

    def stop(*values: Any) -> None:
        variables = rebuild(values)
        now = [f.with_locals(v) for f, v in zip(frames, variables, strict=True)]
        Prompt(now, stdin, stdout).run()

    debugging.debug_callback(stop, *traced, ordered=ordered)
    return token


def _frames(
    innermost: FrameType | None, filter_frames: bool, limit: int | None
) -> list[Frame]:
    frames: list[Frame] = []
    frame = innermost
    while frame is not None and (limit is None or len(frames) < limit):
        code = frame.f_code
        if not (filter_frames and source_info.is_internal(code.co_filename)):
            frames.append(
                Frame(
                    code.co_filename,
                    code.co_name,
                    frame.f_lineno,
                    dict(frame.f_locals),
                    frame.f_globals,
                )
            )
        frame = frame.f_back
    return frames


def _split_traced(
    variables: list[dict[str, Any]],
) -> tuple[list[Any], Callable[[Sequence[Any]], list[dict[str, Any]]]]:
    """The traced values among variables, and a function that puts others in place."""
    leaves, structure = tree.tree_flatten(variables, is_leaf=_is_no_node)
    open_traces = set()
    step = trace.current.trace
    while step is not None:
        open_traces.add(step)
        step = step.parent
    flags = [isinstance(x, trace.Tracer) and x._trace in open_traces for x in leaves]

    def rebuild(values: Sequence[Any]) -> list[dict[str, Any]]:
        remaining = iter(values)
        whole = [
            next(remaining) if f else x for x, f in zip(leaves, flags, strict=True)
        ]
        return structure.unflatten(whole)

    return [x for x, f in zip(leaves, flags, strict=True) if f], rebuild


def _is_no_node(x: Any) -> bool:
    """Whether a value is a leaf; flattening warns about some, such as generators."""
    return not (tree.is_tree_node(type(x)) or hasattr(type(x), "_fields"))


class Prompt(cmd.Cmd):
    """Reads commands until one of them continues the program.

    Args:
      frames: innermost first.
      stdin, stdout: where to read and write; None for those of the process.
    """

    prompt = "(oldb) "

    def __init__(self, frames: Sequence[Frame], stdin: Any, stdout: Any) -> None:
        super().__init__(stdin=stdin or sys.stdin, stdout=stdout or sys.stdout)
        self.use_rawinput = stdin is None
        self._frames = list(frames)
        self._at = 0

    def run(self) -> None:
        """Prompts until the user continues or quits."""
        self._say("Entering oldb:")
        self.cmdloop()

    @property
    def frame(self) -> Frame:
        """The frame being looked at."""
        return self._frames[self._at]

    def _say(self, text: str) -> None:
        self.stdout.write(f"{text}\n")
        self.stdout.flush()

    def _evaluate(self, expression: str, show: Callable[[Any], str]) -> None:
        try:
            # The user asked to evaluate this text in the user's own frame.
            value = eval(expression, self.frame.globals, self.frame.locals)
        except Exception:
            self._say(traceback.format_exc(limit=0).rstrip())
        else:
            self._say(show(value))

    def do_p(self, expression: str) -> None:
        """Prints an expression: p EXPRESSION."""
        self._evaluate(expression, repr)

    def do_pp(self, expression: str) -> None:
        """Prints an expression as `print` does: pp EXPRESSION."""
        self._evaluate(expression, str)

    def do_list(self, _: str) -> None:
        """Lists the source around the current line: l(ist)."""
        line = self.frame.line
        for number in range(max(line - 5, 1), line + 6):
            source = linecache.getline(self.frame.file, number)
            if source:
                marker = "->" if number == line else "  "
                self._say(f"{marker} {number:4} {source.rstrip()}")

    def do_bt(self, _: str) -> None:
        """Shows the frames, outermost first: bt, w(here)."""
        for i in range(len(self._frames) - 1, -1, -1):
            self._say(self._frames[i].text(">" if i == self._at else " "))

    def do_up(self, _: str) -> None:
        """Moves to the caller: u(p)."""
        self._go(1)

    def do_down(self, _: str) -> None:
        """Moves to the callee: d(own)."""
        self._go(-1)

    def _go(self, step: int) -> None:
        if not 0 <= self._at + step < len(self._frames):
            self._say("there is no frame further on")
            return
        self._at += step
        self._say(self.frame.text(">"))

    def do_continue(self, _: str) -> bool:
        """Continues the program: c(ontinue)."""
        return True

    def do_quit(self, _: str) -> bool:
        """Aborts the program: q(uit)."""
        raise KeyboardInterrupt("debug.breakpoint: the user gave up")

    def emptyline(self) -> bool:
        """Does nothing."""
        return False

    def default(self, line: str) -> None:
        """Evaluates what is not a command, as Python would."""
        self._evaluate(line, repr)

    do_c = do_cont = do_EOF = do_continue
    do_q = do_exit = do_quit
    do_u, do_d, do_l, do_w, do_where = do_up, do_down, do_list, do_bt, do_bt
