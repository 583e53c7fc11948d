"""Compiling with a cache on disk: a second process loads what a first one compiled.

The cache never changes what a program computes or whether it runs. What goes wrong with
it is reported once and the program is compiled, as it would be without a cache.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from olympus._src.foundation import caching, compile_notes, config, events, logs
from olympus._src.foundation import compiler_settings as compiler
from olympus._src.runtime import (
    client,
    compiling,
    cpu_kernels,
    fused_bodies,
    prefetch,
    private_folder,
    shardings,
)
from olympus._src.runtime.compiling import Options
from olympus._src.runtime.stored_program import StoredProgram
from olympus._src.runtime.versions import (
    CompileOptions,
    DeviceList,
    LoadedExecutable,
    XlaRuntimeError,
)

if TYPE_CHECKING:
    from olympus._src.runtime.disk_cache import DiskCache, Entry

_EVENTS = "/olympus/compilation_cache/"
# XLA writes files about what it compiles under these, so it has to compile.
_DUMPS = "xla_dump_"

_lock = threading.RLock()
_opened: dict[str, DiskCache | None] = {}  # by folder; None where it must not be used
_reported: set[str] = set()
_closed: set[str] = set()  # folders that could not be written

# -- which cache -----------------------------------------------------------------------


def folder() -> str:
    """The folder that the settings choose, which need not be there.

    Returns:
      An absolute path; '' where none is chosen and the user has no home.
    """
    chosen = compiler.compilation_cache_dir.value
    if chosen is None:
        base = private_folder.users_cache_folder()
        return os.path.join(base, "olympus") if os.path.isabs(base) else ""
    return _absolute(chosen)


@caching.bounded_cache(64, "folders of compiled programs")
def _absolute(chosen: str) -> str:
    """A folder's absolute path, which a change of directory does not affect."""
    return os.path.abspath(os.path.expanduser(chosen))


def is_on() -> bool:
    """Whether the settings ask for a cache."""
    enabled = compiler.enable_compilation_cache.value
    return bool(enabled) and compiler.compilation_cache_max_size.value != 0


def reset() -> None:
    """Forgets which folders were looked at, and what was reported of them."""
    with _lock:
        _opened.clear()
        _reported.clear()
        _closed.clear()


def private_place() -> str | None:
    """The cache's folder, which only this user may write; None where there is none."""
    cache = _open() if is_on() else None
    return None if cache is None else cache.folder


def _open() -> DiskCache | None:
    """The cache to use now, checked once; None where there is none."""
    place = folder()
    if place not in _opened:
        with _lock:
            if place not in _opened:
                _opened[place] = _open_at(place)
    cache = _opened.get(place)  # None also where `reset` came between
    if cache is not None:
        cache.max_bytes = compiler.compilation_cache_max_size.value
    return cache


def _open_at(place: str) -> DiskCache | None:
    # Late, with hashing and JSON: programs that compile nothing do without (5 ms).
    from olympus._src.runtime import disk_cache

    try:
        if not place:
            raise FileNotFoundError("the user has no home")
        cache = disk_cache.DiskCache(private_folder.prepare(place))
    except private_folder.Unsafe as error:
        _report(place, f"is not used: {error}", error, _OTHER_FOLDER)
        return None
    except OSError as error:
        if compiler.compilation_cache_dir.value is None:
            # Nobody requested it: machines without a home to write to are common.
            logs.info(f"compile cache: off, since {_reason(error)}")
            return None
        _report(place, f"is not used: {_reason(error)}", error, _OTHER_FOLDER)
        return None
    events.record_event(_EVENTS + "tasks_using_cache")
    return cache


def _is_dumping(options: Options) -> bool:
    named = any(name.startswith(_DUMPS) for name, _ in options)
    return named or _DUMPS in os.environ.get("XLA_FLAGS", "")


# -- compiling -------------------------------------------------------------------------


def load(
    text: str | bytes,
    devices: DeviceList,
    built: CompileOptions,
    options: Options,
    callbacks: Sequence[Callable[..., Any]] = (),
) -> LoadedExecutable | StoredProgram:
    """Loads a module from the cache, or compiles it and keeps what that gave.

    Args:
      text: the module, as text or as bytecode.
      devices: where it runs.
      built: XLA's options object.
      options: what the user gave.
      callbacks: functions that the module calls by their index.

    Raises:
      ValueError: an option is unknown or has a wrong value.
      RuntimeError: XLA refuses the module.
    """
    cache = _open() if is_on() and not _is_dumping(options) else None
    if cache is None:
        if is_on():
            compile_notes.add(_why_unused(options))
        loaded = build(_code(text), devices, built, options, callbacks)
        return _keep_bytes(loaded, text, devices[0])
    from olympus._src.runtime import cache_key

    key = cache_key.key(_code(text), built, devices[0])
    events.record_event(_EVENTS + "compile_requests_use_cache")

    def compile_again() -> LoadedExecutable:
        return build(_code(text), devices, built, options, callbacks)

    def parts() -> dict[str, str]:
        return cache_key.parts(_code(text), built, devices[0], options)

    entry = _fetch(cache, key, devices, built, compile_again, callbacks)
    if entry is None:
        if config.explain_cache_misses.value or config.report.value:
            from olympus._src.runtime import disk_misses

            name = _name(_code(text))
            compile_notes.add(disk_misses.explain(cache, key, name, parts()))
        entry = _compile(cache, key, text, compile_again, devices[0], parts)
    program, size = entry
    is_usual = len(devices) == 1 and devices[0] == client.default_device()
    has_defaults = not callbacks and all(name in _OF_CODE for name, _ in options)
    if is_usual and has_defaults:  # as programs are loaded ahead
        prefetch.trail.note(cache.folder, key, size)
    return program


# Options of the code that is built, which do nothing where the code is loaded.
_OF_CODE = ("xla_backend_optimization_level",)


def _why_unused(options: Options) -> str:
    if _is_dumping(options):
        return "not looked for on disk, since XLA is to write dumps of it"
    return f"the cache on disk is off: {folder() or 'no folder'} cannot be used"


def build(
    code: Any,
    devices: DeviceList,
    built: CompileOptions,
    options: Options,
    callbacks: Sequence[Callable[..., Any]] = (),
) -> LoadedExecutable:
    """Compiles a module; what XLA measures for it on a GPU is kept in the cache."""
    extra = _xla_caches(built, devices[0])
    if extra:
        # A copy: the options themselves are part of the keys of programs.
        built = CompileOptions.ParseFromString(built.SerializeAsString())
        built.env_option_overrides = [*built.env_option_overrides, *extra]
    return compiling.load(code, devices, built, options, callbacks)


# Names of XLA's caches, which are its options.
TUNING = "xla_gpu_per_fusion_autotune_cache_dir"
KERNELS = "xla_gpu_kernel_cache_file"


def _xla_caches(built: CompileOptions, device: Any) -> list[tuple[str, Any]]:
    """Options for the caches that XLA keeps by itself, beside the compiled programs."""
    if device.platform == "cpu" or client.platform_of(device) != "cuda":
        return []
    chosen = (compiler.persistent_cache_enable_xla_caches.value or "none").split(",")
    chosen = [name.strip() for name in chosen]
    cache = _open() if is_on() else None
    if cache is None or chosen == ["none"]:
        return []
    names = [n for n in (TUNING, KERNELS) if n in chosen or "all" in chosen]
    extra: list[tuple[str, Any]] = [(n, os.path.join(cache.folder, n)) for n in names]
    if TUNING in names:
        # One of several processes writes; the others would write the same.
        mode = "UPDATE" if client.process_index() == 0 else "READ"
        name = "xla_gpu_experimental_autotune_cache_mode"
        extra.append((name, f"AUTOTUNE_CACHE_MODE_{mode}"))
    of_user = {name for name, _ in built.env_option_overrides}
    return [(name, value) for name, value in extra if name not in of_user]


def has(
    text: str | bytes, device: Any, built: CompileOptions, options: Options
) -> bool:
    """Whether the cache has an entry for a module; it may still turn out damaged."""
    cache = _open() if is_on() and not _is_dumping(options) else None
    if cache is None:
        return False
    from olympus._src.runtime import cache_key

    return os.path.isfile(cache.path(cache_key.key(_code(text), built, device)))


_MAX_NOTES = 1000


def last_seconds(name: str) -> float | None:
    """How long the last program of a module's name took that is in the cache."""
    cache = _open() if is_on() else None
    if cache is None:
        return None
    from olympus._src.runtime import disk_cache

    for file in itertools.islice(reversed(cache.files()), _MAX_NOTES):
        note = disk_cache.read_note(file.path)
        if note is not None and note[0] == name:
            return note[1]
    return None


def _fetch(
    cache: DiskCache,
    key: str,
    devices: DeviceList,
    built: Any,
    compile_again: Any,
    callbacks: Sequence[Callable[..., Any]],
) -> tuple[StoredProgram, int] | None:
    """The program of a key, loaded, and its size; None if it has to be compiled."""
    start = time.perf_counter()
    ready = None if callbacks else prefetch.trail.take(key)
    ready = ready or _load_entry(cache, key, devices, built, callbacks)
    if ready is None:
        return None
    entry, loaded, is_short = ready
    seconds = time.perf_counter() - start
    saved = float(entry.fields["compile_s"])
    events.record_event(_EVENTS + "cache_hits")
    events.record_event_duration_secs(_EVENTS + "cache_retrieval_time_sec", seconds)
    events.record_event_duration_secs(
        _EVENTS + "compile_time_saved_sec", saved - seconds
    )
    compile_notes.add(
        f"loaded from the cache on disk in {seconds:.3f} s; compiling it had taken "
        f"{saved:.3f} s"
    )
    if config.log_compiles.value or config.explain_cache_misses.value:
        logs.warning(
            f"Loaded {entry.fields['name']} from the compile cache in {seconds:.4f} s; "
            f"compiling it had taken {saved:.4f} s"
        )

    def serialize() -> bytes:
        again = _read(cache, key)
        return compiling.serialize(compile_again()) if again is None else again.program

    def load_whole() -> LoadedExecutable:
        return compiling.load_serialized(serialize(), devices, built, callbacks)

    if is_short:
        return StoredProgram(loaded, serialize, load_whole), len(entry.short)
    return StoredProgram(loaded, serialize), len(entry.program)


def _compile(
    cache: DiskCache,
    key: str,
    text: str | bytes,
    compile_now: Any,
    device: Any,
    parts: Any,
) -> tuple[LoadedExecutable | StoredProgram, int]:
    """The program, compiled and kept, and its size in the cache; 0 if not there."""
    start = time.perf_counter()
    loaded = compile_now()
    seconds = time.perf_counter() - start
    size = _keep(cache, key, _name(_code(text)), loaded, seconds, device, parts)
    return _keep_bytes(loaded, text, device), size


# Of a program, on every CPU device.
_MOST_KEPT_BYTES = 1 << 17


def _keep_bytes(
    loaded: LoadedExecutable, text: str | bytes, device: Any
) -> LoadedExecutable | StoredProgram:
    """The program, with its bytes where jaxlib would not write them any more.

    It does not of a program for a CPU that sorts and has run.
    """
    if device.platform != "cpu" or b"stablehlo.sort" not in _code(text):
        return loaded
    try:
        program = compiling.serialize(loaded)
    except XlaRuntimeError:
        return loaded
    if len(program) > _MOST_KEPT_BYTES:
        return loaded
    return StoredProgram(loaded, lambda: program)


def _load_entry(
    cache: DiskCache,
    key: str,
    devices: DeviceList,
    built: Any,
    callbacks: Sequence[Callable[..., Any]] = (),
) -> Any:
    """An entry, its loaded program, and whether that is of the short form.

    None if it is not there or no good.
    """
    entry = _read(cache, key)
    if entry is None:
        return None
    # Its module, which would have said so, need not have been seen yet.
    # (Fusions call none of the functions that this looks for.)
    cpu_kernels.prepare_for(entry.short or entry.program)
    if entry.short is not None:
        with contextlib.suppress(XlaRuntimeError):  # the whole program is there too
            short = compiling.load_serialized(entry.short, devices, built, callbacks)
            return entry, short, True
    try:
        loaded = compiling.load_serialized(entry.program, devices, built, callbacks)
    except XlaRuntimeError as error:
        _report(cache.path(key), f"is replaced: {error}", error)
        return None
    return entry, loaded, False


def _read(cache: DiskCache, key: str) -> Entry | None:
    from olympus._src.runtime import disk_cache

    try:
        return cache.read(key)
    except disk_cache.Damaged as error:
        _report(cache.path(key), f"is replaced: {error}", error)
    except OSError as error:
        _report(cache.path(key), f"is not used: {_reason(error)}", error, _OTHER_FOLDER)
    except Exception as error:  # whatever it is, it must not stop a program
        _report(cache.path(key), f"is not used: {_describe(error)}", error)
    return None


def _describe(error: Exception) -> str:
    return str(error) or type(error).__name__


def _keep(
    cache: DiskCache,
    key: str,
    name: str,
    loaded: Any,
    seconds: float,
    device: Any,
    parts: Any,
) -> int:
    """Writes a program that was compiled, unless it is too small to be worth it.

    Returns:
      The bytes that were written; 0 for none.
    """
    events.record_event(_EVENTS + "cache_misses")
    shortest = compiler.persistent_cache_min_compile_time_secs.value
    if seconds < shortest:
        compile_notes.add(
            f"not kept on disk, since it compiled in less than {shortest:g} s"
        )
        return 0
    if cache.folder in _closed:
        return 0
    try:
        program = compiling.serialize(loaded)
    except XlaRuntimeError as error:  # a platform may not have it
        logs.debug(f"{name} is not kept in the compile cache: {error}")
        return 0
    if len(program) < compiler.persistent_cache_min_entry_size_bytes.value:
        return 0
    fields = {
        "name": name,
        "compile_s": round(seconds, 6),
        "created": int(time.time()),
        "platform": device.platform,
        "device": device.device_kind,
        "parts": parts(),
    }
    short = fused_bodies.leave_out(program) if device.platform == "cpu" else None
    try:
        cache.write(key, fields, program, short)
    except FileNotFoundError:
        with _lock:  # the folder was removed: the next program makes it again
            _opened.clear()
        return 0
    except OSError as error:
        _closed.add(cache.folder)
        _report(
            cache.folder,
            f"takes no more programs from this process: {_reason(error)}",
            error,
            _OTHER_FOLDER,
        )
        return 0
    return len(program)


def _name(code: bytes) -> str:
    """The name of a module, as in `module @jit_f {`."""
    head = code.lstrip()[:1000]
    if not head.startswith(b"module @"):
        return "(no name)"
    tail = head.removeprefix(b"module @")
    quoted = tail.startswith(b'"')
    name = tail[1:].split(b'"')[0] if quoted else tail.split(b" ")[0]
    return name.decode(errors="replace") or "(no name)"


def _code(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


# -- trouble ---------------------------------------------------------------------------

_COMPILED = "Its program was compiled again"
_OTHER_FOLDER = (
    "Programs are compiled as without a cache. Choose another folder by "
    "OLYMPUS_CACHE_DIR, or turn the cache off by OLYMPUS_ENABLE_COMPILATION_CACHE=0"
)


def _reason(error: OSError) -> str:
    return str(error.strerror or error)


def _report(where: str, what: str, error: Exception, remedy: str = _COMPILED) -> None:
    """Says once what is wrong, or raises it where the settings want that."""
    message = f"compile cache: {where} {what}"
    if compiler.raise_persistent_cache_errors.value:
        raise RuntimeError(message) from error
    kind = f"{type(error).__name__} {os.path.dirname(where)}"
    with _lock:
        if kind in _reported:
            return
        _reported.add(kind)
    logs.warning(f"{message}. {remedy}")


# -- ahead of the main thread ----------------------------------------------------------


def _follow_trail() -> None:
    """Starts to load what the last run of this script used."""
    is_enabled = is_on() and compiler.load_programs_ahead.value
    if is_enabled and (place := folder()):
        prefetch.trail.follow(place, _load_ahead)


def _load_ahead(key: str) -> Any:
    """An entry and its loaded program, for the default device."""
    cache = _open() if is_on() else None
    if cache is None:
        return None
    devices = shardings.placement_of(client.default_device()).device_list
    built = compiling.compile_options((), [devices[0]])
    entry = _load_entry(cache, key, devices, built)
    if entry is not None:
        events.record_event(_EVENTS + "programs_loaded_ahead")
    return entry


client.on_start(_follow_trail)
client.on_clear(prefetch.trail.forget)
