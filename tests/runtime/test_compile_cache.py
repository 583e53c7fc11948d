"""Compiling with a cache on disk: hits, misses, and trouble that changes nothing."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time

import disk_caches
import numpy as np
import pytest
from programs import call, double, load, loop, put

from olympus._src.core.avals import ShapedArray
from olympus._src.foundation import compiler_settings as compiler
from olympus._src.foundation import config, container
from olympus._src.runtime import (
    cache_key,
    compile_cache,
    compiling,
    disk_cache,
    executable,
    prefetch,
    private_folder,
)

F3 = ShapedArray((3,), np.dtype(np.float32))
TEXT = double((3,))
X = np.array([1, 2, 3], np.float32)


_compiled = {}


@pytest.fixture(autouse=True)
def quick_compiler(monkeypatch):
    """What the cache asks XLA to compile again is taken from before."""
    compile_now = compiling.load

    def load_once(code, devices, built, options, *rest):
        key = (code, built.SerializeAsString())
        if any(rest) or key not in _compiled:
            _compiled[key] = compile_now(code, devices, built, options, *rest)
        return _compiled[key]

    monkeypatch.setattr(compiling, "load", load_once)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def counts(folder):
    with disk_caches.in_folder(folder) as found:
        yield found


def run(text=TEXT, *avals):
    return np.asarray(call(load(text, *avals or (F3,)), put(X))[0])


def entries(folder):
    return sorted(folder.glob("*.program"))


# -- hits ------------------------------------------------------------------------------


def test_a_program_is_kept_and_loaded(counts, folder):
    first, second = run(), run()
    np.testing.assert_array_equal(first, 2 * X)
    np.testing.assert_array_equal(second, first)
    assert counts["compile_requests_use_cache"] == 2
    assert (counts.hits, counts.misses) == (1, 1)
    assert counts["cache_retrieval_time_sec"] == counts["compile_time_saved_sec"] == 1
    assert counts["tasks_using_cache"] == 1
    assert len(entries(folder)) == 1


def test_an_entry_says_what_it_holds(counts, folder):
    run()
    (path,) = entries(folder)
    data = path.read_bytes()
    entry = disk_cache.decode_entry(data, path.stem)
    assert entry.fields["name"] == "double"
    assert entry.fields["platform"] == "cpu"
    assert 0 < entry.fields["compile_s"] < 60
    assert abs(entry.fields["created"] - time.time()) < 60
    assert container.is_container(data)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (b"module @jit_f attributes {", "jit_f"),
        (b"\n  module @jit_f.1 {", "jit_f.1"),
        (b'module @"jit_<lambda> of @f" {', "jit_<lambda> of @f"),
        ('module @"jit_größe" {'.encode(), "jit_größe"),
        (b"module {", "(no name)"),
        (b"module @", "(no name)"),
        (b"ML\xefR\r@  ", "(no name)"),
        (b"", "(no name)"),
    ],
)
def test_names_of_modules(code, name):
    assert compile_cache._name(code) == name


def test_nobody_else_may_read_or_write_the_folder(counts, folder):
    run()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(p.stat().st_mode) for p in entries(folder)] == [0o600]


def test_a_hit_is_noted_as_a_use(counts, folder):
    run()
    (path,) = entries(folder)
    os.utime(path, (1, 1))
    run()
    assert time.time() - path.stat().st_mtime < 60


def test_a_loaded_program_does_what_a_compiled_one_does(counts):
    sine = loop(3, "%y = stablehlo.sine %x : tensor<3xf32>")
    compiled, loaded = load(sine, F3), load(sine, F3)
    assert (counts.hits, counts.misses) == (1, 1)
    assert loaded.hlo_text() == compiled.hlo_text()
    assert loaded.cost_analysis() == compiled.cost_analysis()
    ours, theirs = loaded.memory_analysis(), compiled.memory_analysis()
    assert ours.output_size_in_bytes == theirs.output_size_in_bytes == 12
    assert ours.temp_size_in_bytes == theirs.temp_size_in_bytes
    assert loaded.input_shardings() == compiled.input_shardings()
    assert loaded.devices == compiled.devices
    assert loaded.loaded.fingerprint == compiled.loaded.fingerprint
    again = executable.Executable(executable.deserialize(loaded.serialize()), [F3])
    for program in (loaded, again):
        np.testing.assert_array_equal(
            call(program, put(X))[0], call(compiled, put(X))[0]
        )


def test_a_loaded_program_serializes_where_its_entry_has_gone(counts, folder):
    run()
    loaded = load(TEXT, F3)
    entries(folder)[0].unlink()
    again = executable.Executable(executable.deserialize(loaded.serialize()), [F3])
    np.testing.assert_array_equal(call(again, put(X))[0], 2 * X)


def test_a_loaded_program_takes_donated_memory(counts):
    text = double((3,), donate=True)
    for _ in range(2):
        x = put(X)
        (y,) = call(load(text, F3, donated=(0,)), x)
        np.testing.assert_array_equal(y, 2 * X)
        assert x.is_deleted()
    assert counts.hits == 1


CALLING = """
    module @calls {
      func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {
        %y = stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {
          api_version = 4 : i32, backend_config = {index = 0 : ui64},
          operand_layouts = [dense<0> : tensor<1xindex>],
          result_layouts = [dense<0> : tensor<1xindex>]
        } : (tensor<3xf32>) -> tensor<3xf32>
        return %y : tensor<3xf32>
      }
    }"""


def test_a_kept_program_calls_the_functions_that_it_is_loaded_with(counts):
    for scale in (2, 3, 4):
        program = load(CALLING, F3, callbacks=[lambda x, n=scale: (np.asarray(x) * n,)])
        np.testing.assert_array_equal(call(program, put(X))[0], scale * X)
    assert (counts.hits, counts.misses) == (2, 1)


def test_a_program_that_calls_python_is_not_loaded_ahead(counts, monkeypatch):
    noted = []
    monkeypatch.setattr(prefetch.trail, "note", lambda *words: noted.append(words))
    load(CALLING, F3, callbacks=[lambda x: (x,)])
    assert not noted
    load(TEXT, F3)
    assert len(noted) == 1


# -- settings --------------------------------------------------------------------------


def test_switched_off(counts, folder):
    with compiler.enable_compilation_cache(False):
        run()
    with compiler.compilation_cache_max_size(0):
        run()
    assert not counts
    assert not folder.exists()


def test_a_change_of_folder_works_at_once(counts, folder, tmp_path):
    run()
    with compiler.compilation_cache_dir(str(tmp_path / "other")):
        run()
    run()
    assert (counts.hits, counts.misses) == (1, 2)


@pytest.mark.parametrize(
    "setting",
    [
        compiler.persistent_cache_min_compile_time_secs(1e6),
        compiler.persistent_cache_min_entry_size_bytes(1 << 30),
    ],
    ids=["seconds", "bytes"],
)
def test_what_is_too_small_is_not_kept(counts, folder, setting):
    with setting:
        run()
    assert counts.misses == 1
    assert not entries(folder)


def test_options_are_part_of_what_a_program_is(counts):
    a, b = ("xla_backend_optimization_level", 0), ("xla_cpu_enable_fast_math", True)
    for options in ((a, b), (b, a), (a,), ()):
        executable.compile(TEXT, options=options)
    # The same options in another order are the same.
    assert (counts.hits, counts.misses) == (1, 3)


def test_a_wrong_option_is_the_same_error_with_a_cache(counts):
    for _ in range(2):
        with pytest.raises(ValueError, match="'xla_no_such_option' must be an option"):
            executable.compile(TEXT, options=[("xla_no_such_option", 1)])


def test_a_module_that_xla_refuses_is_refused_each_time(counts, folder):
    for _ in range(2):
        with pytest.raises(RuntimeError):
            executable.compile("module {}")
    assert not entries(folder)


def test_options_that_write_files_have_xla_compile(counts, folder, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=/nowhere")
    run()
    assert not counts


def test_hits_are_logged_with_compilations(counts, caplog):
    with config.log_compiles(True):
        run()
        assert not caplog.messages
        run()
    (message,) = caplog.messages
    assert message.startswith("Loaded double from the compile cache in 0.")


# -- the folder by default -------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"HOME": "/h", "XDG_CACHE_HOME": "/x"}, "/x/olympus"),
        ("linux", {"HOME": "/h", "XDG_CACHE_HOME": ""}, "/h/.cache/olympus"),
        ("linux", {"HOME": "/h", "XDG_CACHE_HOME": "rel"}, "/h/.cache/olympus"),
        ("darwin", {"HOME": "/h", "XDG_CACHE_HOME": "/x"}, "/h/Library/Caches/olympus"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/olympus"),
    ],
)
def test_the_platforms_convention(monkeypatch, platform, variables, expected):
    monkeypatch.setattr(private_folder.sys, "platform", platform)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with compiler.compilation_cache_dir(None):
        assert compile_cache.folder() == expected


def test_a_chosen_folder_may_name_the_home(monkeypatch):
    monkeypatch.setenv("HOME", "/h")
    with compiler.compilation_cache_dir("~/programs"):
        assert compile_cache.folder() == "/h/programs"


def test_a_chosen_folder_stays_where_it_is(monkeypatch, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with compiler.compilation_cache_dir("a folder of this test"):
        before = compile_cache.folder()
        monkeypatch.chdir("elsewhere")
        assert (
            compile_cache.folder() == before == str(tmp_path / "a folder of this test")
        )


def test_no_home_is_no_warning(monkeypatch, caplog):
    monkeypatch.setattr(private_folder, "users_cache_folder", lambda: "~/.cache")
    with disk_caches.in_folder("x") as counts, compiler.compilation_cache_dir(None):
        np.testing.assert_array_equal(run(), 2 * X)
    assert not counts
    assert not caplog.messages


# -- trouble ---------------------------------------------------------------------------


def other_program():
    """Bytes of a good entry for another key."""
    data = executable.serialize(executable.compile(double((4,))))
    fields = {"key": "0" * 64, "name": "double", "compile_s": 0.1}
    return container.pack(
        container.Container(disk_cache.KIND, 1, fields, {"executable": data})
    )


def rewritten(change):
    """The entry with its parts changed, and a digest that fits."""

    def damage(data):
        whole = container.unpack(data, disk_cache.KIND, disk_cache.VERSIONS)
        change(whole)
        return container.pack(whole)

    return damage


def flipped(position):
    def damage(data):
        at = int(position * (len(data) - 1))
        return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]

    return damage


DAMAGES = {
    "empty": lambda data: b"",
    "one byte": lambda data: data[:1],
    "the mark": lambda data: data[:8],
    "half a length": lambda data: data[:12],
    "half a header": lambda data: data[:60],
    "half": lambda data: data[: len(data) // 2],
    "no digest": lambda data: data[:-32],
    "a byte short": lambda data: data[:-1],
    "a byte more": lambda data: data + b"\0",
    "zeros": lambda data: bytes(len(data)),
    "text": lambda data: b"module {}\n" * 100,
    "another program's": lambda data: other_program(),
    "a newer version": rewritten(lambda c: setattr(c, "version", 2)),
    "an older version": rewritten(lambda c: setattr(c, "version", 0)),
    "another kind": rewritten(lambda c: setattr(c, "kind", "bundle")),
    "no fields": rewritten(lambda c: c.fields.clear()),
    "fields that are a list": rewritten(lambda c: setattr(c, "fields", [])),
    "no time": rewritten(lambda c: c.fields.pop("compile_s")),
    "a time that is text": rewritten(lambda c: c.fields.update(compile_s="1")),
    "a time beyond floats": rewritten(lambda c: c.fields.update(compile_s=10**400)),
    "no number as time": rewritten(lambda c: c.fields.update(compile_s=float("nan"))),
    "a name that is a list": rewritten(lambda c: c.fields.update(name=["f"])),
    "a section without a name": rewritten(lambda c: c.sections.update({7: b""})),
    "no executable": rewritten(lambda c: c.sections.clear()),
    "an empty executable": rewritten(lambda c: c.sections.update(executable=b"")),
    "half an executable": rewritten(
        lambda c: c.sections.update(executable=c.sections["executable"][:500])
    ),
    "a bit of the mark": flipped(0),
    "a bit of the header": flipped(0.02),
    "a bit of the program": flipped(0.6),
    "a bit of the digest": flipped(1),
}


@pytest.fixture
def entry(counts, folder):
    """The path of the entry of the program."""
    run()
    counts.clear()
    return entries(folder)[0]


def _is_replaced(entry, counts, original):
    np.testing.assert_array_equal(run(), 2 * X)
    assert (counts.hits, counts.misses) == (0, 1)
    found = disk_cache.decode_entry(entry.read_bytes(), entry.stem)
    assert len(found.program) == len(
        disk_cache.decode_entry(original, entry.stem).program
    )
    np.testing.assert_array_equal(run(), 2 * X)
    assert counts.hits == 1


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_entry_is_replaced(entry, counts, damage, caplog):
    original = entry.read_bytes()
    entry.write_bytes(damage(original))
    counts.clear()
    _is_replaced(entry, counts, original)
    assert len(caplog.messages) == 1
    assert str(entry) in caplog.messages[0]
    assert "is replaced: " in caplog.messages[0]


def test_an_entry_larger_than_the_memory_is_replaced(entry, counts, caplog):
    original = entry.read_bytes()
    os.truncate(entry, 1 << 40)
    _is_replaced(entry, counts, original)
    assert "File too large" in caplog.messages[0]


def test_whatever_reading_an_entry_raises_is_a_miss(entry, counts, monkeypatch):
    def fail(self, key):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(disk_cache.DiskCache, "read", fail)
        np.testing.assert_array_equal(run(), 2 * X)
    assert (counts.hits, counts.misses) == (0, 1)


def _as_folder(entry, data):
    entry.unlink()
    entry.mkdir()


def _as_link(entry, data):
    target = entry.with_name("elsewhere")
    entry.rename(target)
    entry.symlink_to(target)


def _as_dangling_link(entry, data):
    entry.unlink()
    entry.symlink_to("nowhere")


def _as_pipe(entry, data):
    entry.unlink()
    os.mkfifo(entry)


def _writable_by_others(entry, data):
    entry.chmod(0o666)


@pytest.mark.parametrize(
    "place",
    [_as_folder, _as_link, _as_dangling_link, _as_pipe, _writable_by_others],
)
def test_what_is_no_plain_file_of_the_users_is_replaced(entry, counts, place, caplog):
    original = entry.read_bytes()
    place(entry, original)
    _is_replaced(entry, counts, original)
    assert stat.S_ISREG(entry.lstat().st_mode)
    assert len(caplog.messages) == 1
    assert str(entry) in caplog.messages[0]


def test_a_folder_that_holds_something_is_left_alone(entry, counts, caplog):
    _as_folder(entry, b"")
    (entry / "thesis.txt").write_text("the only copy")
    for _ in range(2):
        np.testing.assert_array_equal(run(), 2 * X)
    assert counts.misses == 2
    assert (entry / "thesis.txt").read_text() == "the only copy"


def _failing(number):
    def fail(*args, **kwargs):
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize(
    ("call_of_os", "number"),
    [
        ("write", errno.ENOSPC),
        ("write", errno.EDQUOT),
        ("write", errno.EIO),
        ("replace", errno.EROFS),
        ("close", errno.EIO),
        ("open", errno.EACCES),
        ("open", errno.EMFILE),
        ("scandir", errno.EACCES),
    ],
)
def test_a_folder_that_takes_nothing(
    counts, folder, monkeypatch, call_of_os, number, caplog
):
    folder.mkdir(mode=0o700)
    with monkeypatch.context() as patch:
        patch.setattr(private_folder.os, call_of_os, _failing(number))
        for shape in ((3,), (4,), (5,)):
            executable.compile(double(shape))
    assert counts.misses == 3
    assert os.strerror(number) in caplog.messages[0]
    assert "OLYMPUS_CACHE_DIR" in caplog.messages[0]
    assert len(caplog.messages) == (2 if call_of_os == "open" else 1)
    # Nothing half-written is left, and nothing is tried again in this process.
    names = [p.name for p in folder.iterdir()]
    assert not [name for name in names if name.startswith(".writing")]


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE])
def test_an_entry_that_cannot_be_read(entry, counts, monkeypatch, number, caplog):
    with monkeypatch.context() as patch:
        patch.setattr(private_folder.os, "read", _failing(number))
        np.testing.assert_array_equal(run(), 2 * X)
    assert (counts.hits, counts.misses) == (0, 1)
    assert os.strerror(number) in caplog.messages[0]


def test_an_entry_that_goes_while_it_is_looked_for(entry, counts, monkeypatch):
    def gone(path, *rest):
        raise FileNotFoundError(errno.ENOENT, "gone", path)

    with monkeypatch.context() as patch:
        patch.setattr(private_folder, "read", gone)
        np.testing.assert_array_equal(run(), 2 * X)
    assert counts.misses == 1


def test_an_executable_that_xla_cannot_load(entry, counts, caplog):
    data = container.unpack(entry.read_bytes(), disk_cache.KIND, disk_cache.VERSIONS)
    data.sections["executable"] = b"nonsense"
    entry.write_bytes(container.pack(data))
    np.testing.assert_array_equal(run(), 2 * X)
    assert counts.misses == 1
    assert "is replaced" in caplog.messages[0]


def test_trouble_is_reported_once(entry, counts, caplog):
    for _ in range(3):
        entry.write_bytes(b"")
        run()
    assert len(caplog.messages) == 1


def test_errors_are_raised_where_that_is_wanted(entry, counts):
    entry.write_bytes(b"")
    with (
        compiler.raise_persistent_cache_errors(True),
        pytest.raises(RuntimeError, match=r"is replaced: .*got no bytes at all"),
    ):
        run()


def test_a_platform_that_cannot_serialize(counts, folder, monkeypatch):
    class Program:
        def serialize(self):
            raise executable.XlaRuntimeError("UNIMPLEMENTED")

    monkeypatch.setattr(compiling, "load", lambda *args: Program())
    assert type(executable.compile(TEXT)) is Program
    assert not entries(folder)


def test_a_folder_that_is_removed_is_made_again(entry, counts, folder, caplog):
    shutil.rmtree(folder)
    np.testing.assert_array_equal(run(), 2 * X)
    np.testing.assert_array_equal(run(), 2 * X)
    np.testing.assert_array_equal(run(), 2 * X)
    assert (counts.hits, counts.misses) == (1, 2)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not caplog.messages


# -- folders that must not be used -----------------------------------------------------


def _refused(folder, caplog, reason):
    with disk_caches.in_folder(folder) as counts:
        np.testing.assert_array_equal(run(), 2 * X)
        run()
    assert not counts
    (message,) = caplog.messages
    assert reason in message
    assert "OLYMPUS_CACHE_DIR" in message


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o1777])
def test_a_folder_that_others_may_write(folder, caplog, mode):
    folder.mkdir()
    folder.chmod(mode)
    _refused(folder, caplog, "must be writable by you alone, got mode")


@pytest.mark.parametrize("mode", [0o777, 0o707])
def test_a_folder_below_one_that_others_may_write(tmp_path, caplog, mode):
    above = tmp_path / "above"
    above.mkdir()
    above.chmod(mode)
    _refused(above / "cache", caplog, "others could put other programs in its place")


def test_a_folder_below_a_sticky_one(tmp_path):
    above = tmp_path / "above"
    above.mkdir()
    above.chmod(0o1777)
    with disk_caches.in_folder(above / "cache") as counts:
        run()
    assert counts.misses == 1


def test_a_link_to_a_safe_folder(tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("real")
    with disk_caches.in_folder(tmp_path / "link") as counts:
        run()
    assert counts.misses == 1
    assert len(entries(tmp_path / "real")) == 1


def test_a_link_to_a_folder_that_others_may_write(tmp_path, caplog):
    (tmp_path / "real").mkdir()
    (tmp_path / "real").chmod(0o777)
    (tmp_path / "link").symlink_to("real")
    _refused(tmp_path / "link", caplog, "must be writable by you alone")


@pytest.mark.parametrize("whose", ["folder", "above", "entry"])
def test_what_belongs_to_another_user(
    entry, folder, counts, monkeypatch, whose, caplog
):
    # Tests may run as root, for whom no file is closed: ownership is simulated.
    strange = {"folder": folder, "above": folder.parent, "entry": entry}[whose].stat()

    def owned(status):
        same = (status.st_ino, status.st_dev) == (strange.st_ino, strange.st_dev)
        parts = list(status)
        parts[4] = 12345 if same else parts[4]
        return os.stat_result(parts)

    for name in ("stat", "lstat", "fstat"):
        real = getattr(os, name)
        monkeypatch.setattr(
            private_folder.os, name, lambda *a, real=real, **k: owned(real(*a, **k))
        )
    compile_cache.reset()
    np.testing.assert_array_equal(run(), 2 * X)
    assert counts.hits == 0
    assert "uid 12345" in caplog.messages[0]


def test_a_file_in_the_folders_place(folder, caplog):
    folder.write_text("a file")
    _refused(folder, caplog, "must be a folder, got a file")


# -- keys ------------------------------------------------------------------------------


def test_the_number_of_cores_is_part_of_the_key(counts, monkeypatch):
    run()
    monkeypatch.setattr(cache_key.client, "_host_parallelism", "1000")
    run()
    assert counts.misses == 2


def test_the_cpus_features_are_part_of_the_key(counts, monkeypatch):
    run()
    monkeypatch.setattr(cache_key.machine, "_cpu", lambda: ("a model", "sse"))
    run()
    assert counts.misses == 2


def test_the_build_of_jaxlib_is_part_of_the_key(counts, monkeypatch):
    run()
    monkeypatch.setattr(cache_key.versions, "build", lambda: "0.10.2 [1]")
    run()
    assert counts.misses == 2


def test_parts_of_a_key_do_not_run_together():
    assert cache_key.digest(b"ab", b"c") != cache_key.digest(b"a", b"bc")
