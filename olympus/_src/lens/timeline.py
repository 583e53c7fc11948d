"""The timeline of a session: what was traced, lowered and compiled, when, and why.

It listens to what olympus reports of its work anyway: the durations of its stages, and
the notes of misses that `explain_retraces` shows. Nothing listens outside of a session.
"""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any, NamedTuple

from olympus._src.explanations import records
from olympus._src.explanations.records import Retrace
from olympus._src.foundation import events, source_info
from olympus._src.lens import timeline_page, timeline_text
from olympus._src.lens.shown import Shown
from olympus._src.lens.terminal import Branch

_STAGES = {
    "/olympus/core/compile/trace_duration": "trace",
    "/olympus/core/compile/to_mlir_module_duration": "lower",
    "/olympus/core/compile/backend_compile_duration": "compile",
}
_ORDER = tuple(_STAGES.values())
_LOADED = "/olympus/compilation_cache/cache_retrieval_time_sec"
_MAX_SPANS = 100_000


class Span(NamedTuple):
    """One stage of making a program.

    Attributes:
      stage: 'trace', 'lower', 'compile', or 'load' for what the cache on disk had.
      name: of the function.
      start_s, seconds: when it began, from the start of the session, and how long it
        took.
      thread: the name of the thread.
      position: the user's line.
    """

    stage: str
    name: str
    start_s: float
    seconds: float
    thread: str
    position: Any


class Making:
    """The making of one program: its stages, and why it was made.

    Attributes:
      name: of the function.
      spans: its stages, in order.
      depth: how many other makings it is within, as jitted functions that a function
        calls while it is traced.
      record: of `explain_retraces`; None for what has none.
      is_again: whether the same line of code had a program before.
    """

    def __init__(self, span: Span) -> None:
        self.name = span.name
        self.spans = [span]
        self.depth = 0
        self.record: Retrace | None = None
        self.is_again = False

    @property
    def start_s(self) -> float:
        """When it began."""
        return self.spans[0].start_s

    @property
    def end_s(self) -> float:
        """When it ended."""
        return self.spans[-1].start_s + self.spans[-1].seconds

    @property
    def seconds(self) -> float:
        """What its stages took together."""
        return sum(span.seconds for span in self.spans)

    @property
    def place(self) -> str:
        """Where the function is, as "file:line"; '' where that is not known."""
        return self.record.subject.place if self.record is not None else ""

    @property
    def site(self) -> str:
        """The user's line that asked for it, as "file:line"."""
        position = self.spans[0].position
        return f"{position.file}:{position.line}" if position.line else position.file

    @property
    def cause(self) -> str:
        """Why it was made again, in a line; '' for a first time."""
        if self.record is None or not self.is_again:
            return ""
        return " ".join(self.record.cause.split())

    @property
    def cure(self) -> str:
        """How to avoid it, where there is a way."""
        return self.record.cure if self.record is not None and self.is_again else ""

    @property
    def is_reused(self) -> bool:
        """Whether an equal program was in memory, so that nothing was compiled."""
        return self.record is not None and self.record.program_reused

    @property
    def disk(self) -> str:
        """What the cache on disk had, in words, where that is known."""
        return self.record.disk if self.record is not None else ""

    def takes(self, span: Span) -> bool:
        """Whether a stage belongs to it: it is a later one of the same function."""
        last = self.spans[-1]
        stages = ["compile" if s.stage == "load" else s.stage for s in (last, span)]
        is_later = _ORDER.index(stages[1]) > _ORDER.index(stages[0])
        return is_later and span.name == self.name


class Timeline(Shown):
    """What a session traced, lowered, compiled and loaded, when, and why.

    It records within a `with` block, or from `start` to `stop`. In a notebook it shows
    itself; `save` writes a page that needs no network, `show` opens it, and `str` gives
    it as text.

    Attributes:
      name: of the session.
      seconds: how long it was recorded.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._loading = threading.local()
        self._spans: list[Span] = []
        self._records: list[tuple[Retrace, bool]] = []
        self._start = 0.0
        self._end: float | None = 0.0
        self._stop_records: Any = None

    # -- recording ---------------------------------------------------------------------

    def start(self) -> None:
        """Begins to record; what was recorded before is forgotten.

        Raises:
          RuntimeError: it records already.
        """
        if self._end is None:
            raise RuntimeError(
                "Timeline.start: requires a timeline that is stopped, got one that "
                "records; call stop() first"
            )
        self._spans, self._records = [], []
        self._start, self._end = time.perf_counter(), None
        events.register_event_duration_secs_listener(self._add)
        self._stop_records = records.listen(self._add_record)

    def stop(self) -> None:
        """Ends the recording; again and again does nothing."""
        if self._end is not None:
            return
        self._end = time.perf_counter()
        events.unregister_event_duration_listener(self._add)
        self._stop_records()

    def __enter__(self) -> Timeline:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _add(self, event: str, seconds: float, **labels: Any) -> None:
        if event == events.spoken_name(_LOADED):
            self._loading.has_loaded = True
            return
        stages = {events.spoken_name(name): stage for name, stage in _STAGES.items()}
        stage = stages.get(event)
        if stage is None or len(self._spans) >= _MAX_SPANS:
            return
        if stage == "compile" and getattr(self._loading, "has_loaded", False):
            self._loading.has_loaded = False
            stage = "load"
        start = time.perf_counter() - seconds - self._start
        thread = threading.current_thread().name
        name = str(labels.get("fun_name", ""))
        span = Span(stage, name, start, seconds, thread, source_info.capture())
        with self._lock:
            self._spans.append(span)

    def _add_record(self, record: Retrace) -> None:
        with self._lock:
            if len(self._records) < _MAX_SPANS:
                self._records.append((record, record.is_again()))

    # -- reading -----------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """How long it recorded."""
        end = time.perf_counter() if self._end is None else self._end
        return end - self._start

    @property
    def spans(self) -> tuple[Span, ...]:
        """All stages, in the order of their ends."""
        with self._lock:
            return tuple(self._spans)

    @property
    def makings(self) -> tuple[Making, ...]:
        """The programs that were made, in the order in which that began."""
        makings = _group(self.spans)
        with self._lock:
            known = list(self._records)
        _join(makings, known)
        makings.sort(key=lambda making: making.start_s)
        _nest(makings)
        return tuple(makings)

    def to_html(self) -> str:
        """The page."""
        return timeline_page.html(self)

    def tree(self) -> Branch:
        """What terminals show."""
        return timeline_text.tree(self)

    def __str__(self) -> str:
        return str(self.tree())

    def __repr__(self) -> str:
        return f"<Timeline of {self.name}: {timeline_text.headline(self)}>"


def _group(spans: tuple[Span, ...]) -> list[Making]:
    """Stages of one thread that follow each other and are of one function."""
    makings: list[Making] = []
    last: dict[tuple[str, str], Making] = {}
    for span in spans:
        making = last.get((span.thread, span.name))
        if making is not None and making.takes(span):
            making.spans.append(span)
            continue
        last[span.thread, span.name] = making = Making(span)
        makings.append(making)
    return makings


def _join(makings: list[Making], known: list[tuple[Retrace, bool]]) -> None:
    """Gives makings the notes that say why, by durations, which both have."""
    by_seconds: dict[float, tuple[Retrace, bool]] = {}
    for record, is_again in known:
        for seconds in (record.trace_s, record.lower_s, record.compile_s):
            if seconds:
                by_seconds[seconds] = record, is_again
    for making, span in itertools.chain.from_iterable(
        [(making, span) for span in making.spans] for making in makings
    ):
        note = by_seconds.get(span.seconds)
        if note is not None and making.record is None:
            making.record, making.is_again = note


def _nest(makings: list[Making]) -> None:
    """Notes which began while others were not yet through, in the same thread."""
    is_open: dict[str, list[Making]] = {}
    for making in makings:
        around = is_open.setdefault(making.spans[0].thread, [])
        while around and not any(_holds(span, making) for span in around[-1].spans):
            around.pop()
        making.depth = len(around)
        around.append(making)


def _holds(span: Span, making: Making) -> bool:
    return span.start_s <= making.start_s < span.start_s + span.seconds


def timeline(name: str = "session") -> Timeline:
    """Records what is traced, lowered, compiled and loaded: when, how long, and why.

    Args:
      name: what the page is called.

    Returns:
      A `Timeline`, which records within a `with` block.

    Example:
      >>> import olympus
      >>> import olympus.numpy as jnp
      >>> f = olympus.jit(lambda x: x * 2)
      >>> with olympus.timeline() as session:
      ...     _ = f(jnp.ones(3)), f(jnp.ones(4))
      >>> [making.cause for making in session.makings if making.is_again]
      ['the shape of x changed from [3] to [4] (axis 0: 3 to 4)']
    """
    return Timeline(name)
