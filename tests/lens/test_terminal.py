"""Trees in terminals, with `rich` and without."""

from __future__ import annotations

import io
import sys
import types
import webbrowser

import pytest

import olympus
import olympus.numpy as jnp
from olympus._src.lens import terminal
from olympus._src.lens.terminal import Branch, Part, branch

TREE = Branch(
    [Part("f ", "title"), Part("3 µs", "number")],
    [branch("a", [branch("b"), branch("c", style="added")]), branch("d")],
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def view():
    return olympus.lens(lambda x: jnp.sin(x) * 2)(jnp.ones(4))


def test_plain_trees_have_lines():
    assert str(TREE) == "f 3 µs\n├── a\n│   ├── b\n│   └── c\n└── d"


def test_files_get_plain_text(capsys, view):
    assert view.show("terminal") == ""
    text = capsys.readouterr().out
    assert "jnp.sin(x) * 2" in text
    assert "XLA" in text
    assert "\x1b" not in text


def test_terminals_without_rich_have_a_pager(monkeypatch):
    pages = []
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr(terminal, "_rich", lambda: None)
    monkeypatch.setattr("pydoc.pager", pages.append)
    terminal.show(TREE)
    assert pages == [str(TREE)]


def test_terminals_with_rich_have_colours(monkeypatch):
    shown = []

    class Console:
        def pager(self, styles):
            assert styles
            return self

        def __enter__(self):
            shown.append("begin")

        def __exit__(self, *error):
            shown.append("end")

        def print(self, tree):
            shown.append(tree)

    class Tree:
        def __init__(self, label, guide_style=""):
            self.label, self.children = label, []

        def add(self, label):
            self.children.append(Tree(label))
            return self.children[-1]

    class Text:
        @staticmethod
        def assemble(*pairs):
            return pairs

    for name, attribute in (("console", Console), ("tree", Tree), ("text", Text)):
        module = types.ModuleType(f"rich.{name}")
        setattr(module, attribute.__name__, attribute)
        monkeypatch.setitem(sys.modules, f"rich.{name}", module)
    monkeypatch.setitem(sys.modules, "rich", types.ModuleType("rich"))
    monkeypatch.setattr(sys, "stdout", Terminal())
    terminal.show(TREE)
    begin, tree, end = shown
    assert (begin, end) == ("begin", "end")
    assert tree.label == (("f ", "bold"), ("3 µs", "cyan"))
    a, d = tree.children
    assert (a.label, d.label) == ((("a", ""),), (("d", ""),))
    assert [child.label for child in a.children] == [(("b", ""),), (("c", "green"),)]


def test_the_browser_is_for_screens(monkeypatch, capsys, view):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    path = view.show()
    assert opened == [f"file://{path}"]
    assert view.show("browser") != path
    monkeypatch.setattr(sys, "stdout", stream := Terminal())
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(terminal, "_rich", lambda: None)
    monkeypatch.setattr("pydoc.pager", stream.write)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert view.show() == ""
    assert "XLA" in stream.getvalue()
    monkeypatch.setenv("DISPLAY", ":0")
    assert view.show().endswith(".html")


def test_another_place_is_refused(view):
    with pytest.raises(ValueError, match=r"show: where must be .*, got 'paper'"):
        view.show("paper")
