"""The lens on calls that are given as text: `python -m olympus lens`, `%%lens`."""

from __future__ import annotations

import pytest

import olympus
from olympus._src.command.main import main
from olympus._src.lens.calls import look_at

PROGRAM = """
import olympus.numpy as jnp

def step(x, *, scale=1.0):
    return jnp.tanh(x) * scale

x = jnp.ones((4, 4))
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "program_of_lens.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize("source", ["step(x)", "y = step(x, scale=2.0)", "step(*[x])"])
def test_the_last_statement_is_looked_at(source):
    namespace = {}
    exec(PROGRAM, namespace)
    view = look_at(f"z = 3\n{source}", namespace)
    assert view.name == "step"
    assert namespace["z"] == 3


@pytest.mark.parametrize("source", ["", "x", "y = 3", "for i in x: f(i)"])
def test_anything_else_is_refused(source):
    with pytest.raises(ValueError, match="lens: the last statement must be a call"):
        look_at(source, {"x": 1})


def test_a_page_is_written(program, capsys, tmp_path):
    assert main(["lens", f"{program}:step(x, scale=3.0)", "-o", "page.html"]) == 0
    assert capsys.readouterr().out == "page.html\n"
    assert "</html>" in (tmp_path / "page.html").read_text()


def test_text_is_printed(program, capsys):
    assert main(["lens", "program_of_lens:step(x)", "--text"]) == 0
    assert "return jnp.tanh(x) * scale" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("step", "requires MODULE:CALL"),
        ("absent_module:f(1)", "no module 'absent_module' here"),
        ("absent.py:f(1)", "no file 'absent.py'"),
        ("program_of_lens:absent(x)", "name 'absent' is not defined"),
        ("program_of_lens:step(", "was never closed"),
    ],
)
@pytest.mark.usefixtures("program")
def test_wrong_words_are_explained(capsys, word, message):
    assert main(["lens", word]) == 2
    assert message in capsys.readouterr().err


def test_notebooks_have_magics():
    class Shell:
        user_ns: dict

        def register_magic_function(self, function, kind, name):
            self.magic, self.kind, self.name = function, kind, name

    shell = Shell()
    shell.user_ns = {}
    olympus.load_ipython_extension(shell)
    exec(PROGRAM, shell.user_ns)
    assert (shell.kind, shell.name) == ("line_cell", "lens")
    assert shell.magic("step(x)").name == "step"
    assert shell.magic("", "w = x + 1\nstep(w)").name == "step"
