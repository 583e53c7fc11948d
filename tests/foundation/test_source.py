"""Positions in the user's program."""

import contextlib
import functools
import sys

from olympus._src.foundation import source_info


def _here():
    return source_info.capture()


def test_capture_gives_the_innermost_user_frame():
    position = _here()
    assert position.file == __file__
    assert position.function == "_here"
    assert position.line == _here.__code__.co_firstlineno + 1
    text = "    return source_info.capture()"
    assert position.column == text.index("source_info") + 1
    assert position.end_column == len(text) + 1
    assert str(position) == f"{__file__}:{position.line}:12 (_here)"


def test_positions_compare_by_place():
    first, second = (_here() for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert first != source_info.capture()
    assert first.key == second.key


def _module(path, text):
    """Runs a file's text as a module whose file name is `path`."""
    names = {"source_info": source_info, "__name__": "made"}
    exec(compile(text, str(path), "exec"), names)
    return names


def test_frames_of_the_package_are_left_out():
    inner = source_info.__file__.replace("foundation/source_info.py", "lax/made.py")
    names = _module(
        inner, "def f(g):\n  return g()\ndef h():\n  return source_info.capture()"
    )
    assert source_info.is_internal(inner)
    assert not source_info.is_internal(__file__)
    position = names["h"]()
    assert position.function == "test_frames_of_the_package_are_left_out"
    # The user's function called from inside counts again.
    assert names["f"](_here).function == "_here"


def test_call_wrappers_of_the_standard_library_are_left_out():
    seen = []

    @contextlib.contextmanager
    def block():
        yield

    inner = source_info.__file__.replace("foundation/source_info.py", "lax/made2.py")
    names = _module(inner, "def f():\n  return source_info.capture()")
    wrapped = block()(names["f"])
    seen.append(wrapped())
    assert seen[0].file == __file__


def test_libraries_may_leave_themselves_out(tmp_path):
    path = tmp_path / "library" / "part.py"
    path.parent.mkdir()
    names = _module(path, "def f():\n  return source_info.capture()")
    assert names["f"]().file == str(path)
    source_info.register_exclusion(str(path.parent))
    try:
        assert names["f"]().file == __file__
        assert not source_info.is_internal(str(tmp_path / "library_two.py"))
    finally:
        source_info._excluded.pop()
        source_info._users.clear()


def test_stack_is_innermost_first_and_bounded():
    def deep(n):
        return source_info.capture_stack(3) if n == 0 else deep(n - 1)

    assert [p.function.split(".")[-1] for p in deep(5)] == ["deep"] * 3
    assert len(source_info.capture_stack()) > 3


class _Callable:
    def __call__(self, x):
        return x

    def method(self, x):
        return x


def _plain(x):
    return x


@functools.wraps(_plain)
def _wrapper(*args):
    return _plain(*args)


def test_function_names():
    assert source_info.function_name(_plain) == "_plain"
    assert source_info.function_name(functools.partial(_plain)) == "_plain"
    assert source_info.function_name(_wrapper) == "_plain"
    assert source_info.function_name(_Callable()) == "_Callable"
    assert source_info.function_name(_Callable().method) == "method"
    assert source_info.function_name(lambda x: x) == "<lambda>"
    assert source_info.function_name(len) == "len"


def test_function_locations():
    where = f"{__file__}:{_plain.__code__.co_firstlineno}"
    assert source_info.function_location(_plain) == where
    assert source_info.function_location(functools.partial(_plain, 1)) == where
    assert source_info.function_location(_wrapper) == where
    call = f"{__file__}:{_Callable.__call__.__code__.co_firstlineno}"
    assert source_info.function_location(_Callable()) == call
    assert source_info.function_location(functools.partial(_Callable())) == call
    method = f"{__file__}:{_Callable.method.__code__.co_firstlineno}"
    assert source_info.function_location(_Callable().method) == method
    assert source_info.function_location(len) == (
        "<no source: builtin_function_or_method len>"
    )
    assert source_info.function_location(_Callable).startswith(
        "<no source: type _Callable"
    )


def test_a_wrapper_of_itself_ends():
    def f():
        pass

    f.__wrapped__ = f
    assert source_info.function_location(f).startswith("<no source")


def test_code_without_positions_still_has_a_line():
    code = _plain.__code__
    assert source_info.Position([(code, 10_000)]).line == code.co_firstlineno
    assert sys.version_info >= (3, 11)
