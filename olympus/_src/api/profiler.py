"""Profiles: what programs do in time, and what holds memory."""

from __future__ import annotations

import contextlib
import functools
import glob
import gzip
import http.server
import json
import os
import socketserver
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from olympus._src.foundation import source_info
from olympus._src.runtime import profiling
from olympus._src.runtime.profiling import (
    ProfileData as ProfileData,
)
from olympus._src.runtime.profiling import (
    ProfileEvent as ProfileEvent,
)
from olympus._src.runtime.profiling import (
    ProfileLine as ProfileLine,
)
from olympus._src.runtime.profiling import (
    ProfileOptions as ProfileOptions,
)
from olympus._src.runtime.profiling import (
    ProfilePlane as ProfilePlane,
)

get_profiled_instructions_proto = profiling.get_profiled_instructions_proto
F = TypeVar("F", bound=Callable[..., Any])
Path = str | os.PathLike[str]


class TraceAnnotation(profiling.Annotation):
    """Names what a `with` block does on the timeline of a profile.

    Args:
      name: what is shown.
      **kwargs: more about the event: numbers and strings by name.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus import profiler
      >>> with profiler.TraceAnnotation('product', size=3):
      ...     product = onp.ones((3, 3)) @ onp.ones((3, 3))
    """


class StepTraceAnnotation(TraceAnnotation):
    """Names a step, as of training, for which profiles show statistics.

    Args:
      name: what is shown.
      **kwargs: more about the step; its number is `step_num`.

    Example:
      >>> from olympus import profiler
      >>> for i in range(2):
      ...     with profiler.StepTraceAnnotation('train', step_num=i):
      ...         pass
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__(name, _r=1, **kwargs)  # marks the root of a step


def annotate_function(func: F, name: str | None = None, **decorator_kwargs: Any) -> F:
    """Names each call of a function on the timeline of a profile.

    Args:
      func: the function.
      name: what is shown; default its name.
      **decorator_kwargs: more about each event.

    Example:
      >>> from olympus import profiler
      >>> @profiler.annotate_function
      ... def double(x):
      ...     return 2 * x
      >>> double(3)
      6
    """
    shown = name or source_info.function_name(func)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with TraceAnnotation(shown, **decorator_kwargs):
            return func(*args, **kwargs)

    return wrapper  # type: ignore[return-value]


class ProfileSession:
    """A recording of what programs do: a `with` block, or from `start` to `stop`.

    Args:
      log_dir: where its files are written when it ends; None for nowhere.
      create_perfetto_link: print an address that shows it in the Perfetto viewer, and
        wait until it was opened.
      create_perfetto_trace: write `perfetto_trace.json.gz` too.
      profiler_options: what to record.

    Attributes:
      data: once it has ended, the serialized events; `ProfileData` reads them.

    Raises:
      RuntimeError: another recording is under way, or none is when it should end.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus import profiler
      >>> with profiler.ProfileSession() as session:
      ...     total = onp.arange(3).sum().block_until_ready()
      >>> profile = profiler.ProfileData.from_serialized_xspace(session.data)
      >>> '/host:CPU' in [plane.name for plane in profile.planes]
      True
    """

    def __init__(
        self,
        log_dir: Path | None = None,
        create_perfetto_link: bool = False,
        create_perfetto_trace: bool = False,
        profiler_options: ProfileOptions | None = None,
    ) -> None:
        self.data: bytes | None = None
        self._log_dir = log_dir
        self._link = create_perfetto_link
        self._file = create_perfetto_trace
        self._options = profiler_options
        self._session: profiling.Session | None = None

    @property
    def profile_data(self) -> ProfileData | None:
        """The events, to be read; None before it has ended."""
        if self.data is None:
            return None
        return ProfileData.from_serialized_xspace(self.data)

    def start(self) -> None:
        """Begins to record."""
        with _underway.lock:
            if _underway.session is not None:
                raise RuntimeError(
                    "start_trace: one profile may be recorded at a time, got another "
                    "while one has already been started; call stop_trace first"
                )
            self._session = profiling.Session(self._options)
            _underway.session = self

    def stop(self) -> bytes:
        """Ends it, writes its files, and returns the serialized events."""
        with _underway.lock:
            session = self._session
            if session is None or _underway.session is not self:
                raise RuntimeError(
                    "stop_trace: a profile must be under way, got none: no profile "
                    "started; call start_trace first"
                )
            self._session = _underway.session = None
            self.data = session.stop()
        if self._log_dir is not None:
            session.export(self.data, self._log_dir)
            _write_perfetto(self._log_dir, self._link, self._file)
        return self.data

    def __enter__(self) -> ProfileSession:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


class _Underway:
    lock = threading.Lock()
    session: ProfileSession | None = None


_underway = _Underway()


def start_trace(
    log_dir: Path,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: ProfileOptions | None = None,
) -> None:
    """Begins a recording that `stop_trace` ends; see `trace`."""
    ProfileSession(
        log_dir, create_perfetto_link, create_perfetto_trace, profiler_options
    ).start()


def stop_trace() -> None:
    """Ends the recording that is under way, and writes its files.

    Raises:
      RuntimeError: none is.
    """
    session = _underway.session
    (ProfileSession() if session is None else session).stop()


@contextlib.contextmanager
def trace(
    log_dir: Path | None = None,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: ProfileOptions | None = None,
) -> Iterator[ProfileSession]:
    """Records what programs, and Python, do in a `with` block.

    The files are read by TensorBoard's profile plugin (`*.xplane.pb`), and by Perfetto
    and Chrome (`*.trace.json.gz`).

    Args:
      log_dir: the folder below which they are written, in `plugins/profile/` and the
        time; None for no files.
      create_perfetto_link: print an address that shows the recording in the Perfetto
        viewer, and wait until it was opened.
      create_perfetto_trace: write `perfetto_trace.json.gz` too.
      profiler_options: a `ProfileOptions`.

    Yields:
      The `ProfileSession`, which has the events as `profile_data` after the block.

    Raises:
      RuntimeError: another recording is under way.

    Example:
      >>> import tempfile
      >>> import olympus.numpy as onp
      >>> from olympus import profiler
      >>> with profiler.trace(tempfile.mkdtemp()):
      ...     total = onp.arange(3).sum().block_until_ready()
    """
    with ProfileSession(
        log_dir, create_perfetto_link, create_perfetto_trace, profiler_options
    ) as session:
        yield session


def export_profile_data(
    profile_data: bytes,
    log_dir: Path,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    session_id: str | None = None,
) -> None:
    """Writes the files of a recording that `ProfileSession.stop` returned.

    Args:
      profile_data: the serialized events.
      log_dir: the folder below which they are written.
      create_perfetto_link, create_perfetto_trace: as for `trace`.
      session_id: the name of the folder in `plugins/profile`; default the time.

    Example:
      >>> import os, tempfile
      >>> from olympus import profiler
      >>> session = profiler.ProfileSession()
      >>> session.start()
      >>> folder = tempfile.mkdtemp()
      >>> profiler.export_profile_data(session.stop(), folder, session_id='first')
      >>> os.listdir(os.path.join(folder, 'plugins', 'profile'))
      ['first']
    """
    if not isinstance(profile_data, bytes):
        raise TypeError(
            "export_profile_data: profile_data must be the bytes that "
            f"ProfileSession.stop returned, got {type(profile_data).__name__}"
        )
    with _underway.lock:
        if _underway.session is not None:
            raise RuntimeError(
                "export_profile_data: no profile may be under way, got one; call "
                "stop_trace first"
            )
        session = profiling.Session()  # only one of these can write files
        session.stop()
    if session_id is None:
        session.export(profile_data, log_dir)
    else:
        _export_as(session, profile_data, log_dir, session_id)
    _write_perfetto(log_dir, create_perfetto_link, create_perfetto_trace)


def _export_as(session: Any, data: bytes, log_dir: Path, session_id: str) -> None:
    """Writes the files of a recording in a folder of a chosen name."""
    profiles = os.path.join(os.fspath(log_dir), "plugins", "profile")
    os.makedirs(profiles, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=profiles) as folder:
        session.export(data, folder)
        (written,) = glob.glob(os.path.join(folder, "plugins", "profile", "*"))
        os.replace(written, os.path.join(profiles, session_id))


# -- the Perfetto viewer ---------------------------------------------------------------

_PERFETTO_FILE = "perfetto_trace.json.gz"
_VIEWER = "https://ui.perfetto.dev/#!/?url="
_PORT = 9001  # the only one from which the viewer may read


def _write_perfetto(log_dir: Path, link: bool, file: bool) -> None:
    """Writes the newest recording below a folder for Perfetto, where that is wanted."""
    if not link and not file:
        return
    pattern = os.path.join(os.fspath(log_dir), "plugins", "profile", "*", "")
    newest = max(glob.glob(pattern), key=os.path.getmtime)
    (source,) = glob.glob(os.path.join(newest, "*.trace.json.gz"))[:1]
    with gzip.open(source, "rb") as f:
        events = json.load(f)
    events.pop("metadata", None)  # which the viewer takes for that of Chrome
    path = os.path.join(newest, _PERFETTO_FILE)
    with gzip.open(path, "wt", encoding="utf-8") as f:
        json.dump(events, f)
    if link:
        _serve_once(newest)


def _serve_once(folder: str) -> None:
    """Serves a folder to the viewer, until it has read the recording."""
    done = threading.Event()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def end_headers(self) -> None:
            self.send_header("Access-Control-Allow-Origin", "*")
            super().end_headers()

        def do_GET(self) -> None:
            super().do_GET()
            done.set()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    socketserver.TCPServer.allow_reuse_address = True
    handler = functools.partial(Handler, directory=folder)
    with socketserver.TCPServer(("127.0.0.1", _PORT), handler) as server:
        address = f"http://127.0.0.1:{server.server_address[1]}/{_PERFETTO_FILE}"
        print(f"Open URL in browser: {_VIEWER}{address}", flush=True)
        while not done.is_set():
            server.handle_request()


# -- memory, servers -------------------------------------------------------------------


def device_memory_profile(backend: str | None = None) -> bytes:
    """What holds the memory of the devices now: arrays and programs.

    Args:
      backend: a platform; default the default device's.

    Returns:
      A profile in the format of pprof, compressed by gzip.

    Example:
      >>> from olympus import profiler
      >>> len(profiler.device_memory_profile()) > 100
      True
    """
    return gzip.compress(profiling.heap_profile(backend))


def save_device_memory_profile(filename: Path, backend: str | None = None) -> None:
    """Writes `device_memory_profile` to a file, which `pprof` opens."""
    profile = device_memory_profile(backend)
    folder = os.path.dirname(os.path.abspath(os.fspath(filename)))
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as f:
        f.write(profile)
    os.replace(f.name, filename)


def start_server(port: int, requires_backend: bool = True) -> Any:
    """Lets TensorBoard and others record this process, by a port of this machine.

    Args:
      port: its number.
      requires_backend: the devices are made ready first, so that they can be recorded.

    Returns:
      The server, which runs until `stop_server`.

    Raises:
      ValueError: one runs already.
    """
    return profiling.start_server(port, requires_backend)


def stop_server() -> None:
    """Ends the server.

    Raises:
      ValueError: none runs.
    """
    profiling.stop_server()


def register_subprocess(pid: int, port: int) -> Callable[[], None]:
    """Records another process of this machine with each profile of this one.

    Args:
      pid: the process.
      port: that of its profiler server.

    Returns:
      A function that ends this.
    """
    return profiling.register_subprocess(pid, port)
