"""`python -m olympus explain`: codes of errors lead to what the page says of them."""

from __future__ import annotations

import inspect
import traceback

import pytest

import olympus
import olympus.numpy as jnp
from olympus import errors
from olympus._src import native
from olympus._src.command import explain
from olympus._src.command.command import Failure
from olympus._src.command.main import main
from olympus._src.foundation import error_codes
from olympus._src.foundation import errors as all_errors


def test_each_class_has_one_code():
    classes = {
        name
        for name, kind in vars(all_errors).items()
        if inspect.isclass(kind) and not name.startswith("_")
    }
    assert set(error_codes.CODES) == {*classes, "OlympusRuntimeError"}
    codes = [*error_codes.CODES.values(), *{row[2] for row in error_codes.FREQUENT}]
    assert len(codes) == len(set(codes))


def test_each_code_has_its_section():
    sections = explain.sections()
    by_class = {title: code for code, title, _ in sections.values()}
    assert by_class.items() >= error_codes.CODES.items()
    frequent = {row[2] for row in error_codes.FREQUENT}
    assert set(sections) == {*error_codes.CODES.values(), *frequent}
    assert all(len(section.text) > 60 for section in sections.values())


MISTAKES = {
    "OLY101": lambda: olympus.jit(lambda x: jnp.zeros(int(x)))(1),
    "OLY102": lambda: olympus.jit(lambda x: 1 if x > 0 else 2)(1.0),
    "OLY303": lambda: _strictly(lambda: jnp.ones(2, "int32") + jnp.ones(2, "float32")),
    "OLY403": lambda: _checked(lambda: jnp.log(-jnp.ones(1))),
    "OLY501": lambda: jnp.sum([1, 2]),
    "OLY502": lambda: jnp.ones(2).__setitem__(0, 1),
    "OLY503": lambda: olympus.grad(lambda x: 2 * x)(jnp.ones(3)),
    "OLY504": lambda: olympus.jit(lambda x: x + jnp.ones(4))(jnp.ones((2, 3))),
    "OLY505": lambda: olympus.grad(lambda x: x)(1),
}


def _strictly(f):
    with olympus.numpy_dtype_promotion("strict"):
        f()


def _checked(f):
    with olympus.debug_nans(True):
        f()


@pytest.mark.parametrize("code", MISTAKES)
def test_errors_name_their_code(code):
    with pytest.raises(Exception) as info:  # noqa: PT011 - each has its own class
        MISTAKES[code]()
    assert error_codes.code_of(info.value) == code
    # Outside of `jit`, functions of Python alone have no boundary for errors.
    if native.calls is not None and code != "OLY502":
        printed = "".join(traceback.format_exception(info.value))
        assert printed.count(f"python -m olympus explain {code}") == 1


def test_errors_of_users_have_none():
    class Mine(TypeError):
        pass

    def f(x):
        raise Mine("arrays")

    with pytest.raises(Mine) as info:
        olympus.jit(f)(1)
    assert error_codes.code_of(info.value) is None


@pytest.mark.parametrize("name", ["OLY102", "oly102", "TracerBoolConversionError"])
def test_a_section_is_printed(name, capsys):
    assert main(["explain", name]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("OLY102: TracerBoolConversionError\n====")
    assert "jnp.where" in printed
    assert "```" not in printed
    assert "](" not in printed


def test_topics_are_whole_pages(capsys):
    for topic in explain.TOPICS:
        assert main(["explain", topic]) == 0
        printed = capsys.readouterr().out
        assert len(printed) > 1000
        assert "```" not in printed
        assert "kernelspec" not in printed


def test_all_are_listed(capsys):
    assert main(["explain"]) == 0
    printed = capsys.readouterr().out
    assert all(code in printed for code in error_codes.CODES.values())
    assert "why_nan" in printed


def test_unknown_codes_suggest_near_ones(capsys):
    with pytest.raises(Failure, match="did you mean"):
        explain.explain("TracerBoolConversion")
    assert main(["explain", "OLY999"]) == 2
    assert "lists all" in capsys.readouterr().err


def test_classes_are_found_by_their_whole_name():
    whole = f"olympus.errors.{errors.LeakError.__name__}"
    assert explain.explain(whole) == explain.explain("OLY202")
