"""Frames of olympus leave tracebacks; the user's stay."""

import builtins
import traceback

import pytest

from olympus._src.foundation import config, source_info, tracebacks

INSIDE = source_info.__file__.replace("foundation/source_info.py", "api/made.py")

# Two public functions, as they are written inside the package.
TEXT = """
@api_boundary
def outer(f, *args):
    return middle(f, *args)

def middle(f, *args):
    return f(*args)

@api_boundary
def inner(x):
    "Doubles."
    return check(x)

def check(x):
    if x < 0:
        raise error(f"inner: x must not be negative, got {x}")
    return 2 * x
"""


class Negative(ValueError):
    """What the functions below raise."""


@pytest.fixture
def inside():
    names = {"api_boundary": tracebacks.api_boundary, "error": Negative}
    exec(compile(TEXT, INSIDE, "exec"), names)
    return names


def _frames(traceback_):
    return [entry.name for entry in traceback.extract_tb(traceback_)]


def _user_function(inside):
    def user(x):
        return inside["inner"](x)

    return user


def _error(inside, mode):
    with config.traceback_filtering(mode), pytest.raises(Negative) as caught:
        inside["outer"](_user_function(inside), -1)
    return caught.value


def test_users_frames_stay(inside):
    error = _error(inside, "auto")
    assert _frames(error.__traceback__) == ["_error", "user"]
    assert str(error) == "inner: x must not be negative, got -1"


def test_the_full_traceback_is_kept(inside):
    error = _error(inside, "auto")
    assert _frames(tracebacks.full_traceback(error)) == [
        "boundary",
        "outer",
        "middle",
        "user",
        "boundary",
        "inner",
        "check",
    ]


def test_one_note_says_how_to_see_it(inside):
    error = _error(inside, "auto")
    assert error.__notes__ == [tracebacks.NOTE]
    assert "OLYMPUS_TRACEBACK_FILTERING=off" in tracebacks.NOTE
    assert not hasattr(_error(inside, "remove_frames"), "__notes__")


def test_off_leaves_all(inside):
    error = _error(inside, "off")
    assert _frames(error.__traceback__)[1:] == [
        "boundary",
        "outer",
        "middle",
        "user",
        "boundary",
        "inner",
        "check",
    ]
    assert not hasattr(error, "__notes__")


def test_marks(inside):
    error = _error(inside, "tracebackhide")
    marked = []
    here = error.__traceback__
    while here is not None:
        hidden = here.tb_frame.f_locals.get("__tracebackhide__", False)
        marked.append((here.tb_frame.f_code.co_name, hidden))
        here = here.tb_next
    assert ("user", False) in marked
    assert ("check", True) in marked
    assert ("outer", True) in marked


def test_auto_removes_under_ipython_too(inside, monkeypatch):
    monkeypatch.setattr(builtins, "__IPYTHON__", True, raising=False)
    assert "check" not in _frames(_error(inside, "auto").__traceback__)


def test_a_cause_stays(inside):
    def user(x):
        try:
            inside["inner"](x)
        except Negative as error:
            raise KeyError("from the user") from error

    with pytest.raises(KeyError) as caught:
        inside["outer"](user, -1)
    assert isinstance(caught.value.__cause__, Negative)
    assert _frames(caught.value.__traceback__)[-1] == "user"


def test_errors_of_the_user_keep_their_frames(inside):
    def user(x):
        return deeper(x)

    def deeper(x):
        return x // 0

    with pytest.raises(ZeroDivisionError) as caught:
        inside["outer"](user, 1)
    assert _frames(caught.value.__traceback__)[-2:] == ["user", "deeper"]
    assert not set(_frames(caught.value.__traceback__)) & {"outer", "middle"}


def test_an_error_that_keeps_no_attributes_stays_whole(inside):
    class Slotted(Exception):
        __slots__ = ()

        def __setattr__(self, name, value):
            raise AttributeError(name)

    def user(x):
        raise Slotted

    with pytest.raises(Slotted) as caught:
        inside["outer"](user, 1)
    assert "middle" in _frames(caught.value.__traceback__)


def test_the_wrapper_looks_like_the_function(inside):
    assert inside["inner"].__doc__ == "Doubles."
    assert inside["inner"].__name__ == "inner"
    assert inside["inner"](3) == 6


# A public function that meets an error of its own on the way to another.
FALLBACK = """
@api_boundary
def find(table, key, other):
    try:
        return table[key]
    except KeyError:
        return other(key)
"""


def _found(error_of_other):
    names = {"api_boundary": tracebacks.api_boundary}
    exec(compile(FALLBACK, INSIDE, "exec"), names)
    with pytest.raises(Negative) as caught:
        names["find"]({}, 1, error_of_other)
    return "".join(traceback.format_exception(caught.value))


def test_errors_that_olympus_handled_are_not_printed():
    def other(key):
        raise Negative(key)

    assert "KeyError" not in _found(other)
    with config.traceback_filtering("off"):
        assert "KeyError" in _found(other)


def test_errors_that_the_user_handled_are_printed():
    def other(key):
        try:
            return [][key]
        except IndexError:
            raise Negative(key)  # noqa: B904 - the chain is what is tested

    assert "IndexError" in _found(other)


def test_a_cause_is_printed_without_our_frames(inside):
    def user(x):
        try:
            inside["inner"](x)
        except Negative as error:
            raise Negative("mine") from error

    with pytest.raises(Negative) as caught:
        inside["outer"](user, -1)
    text = "".join(traceback.format_exception(caught.value))
    assert "must not be negative, got -1" in text
    assert INSIDE not in text
