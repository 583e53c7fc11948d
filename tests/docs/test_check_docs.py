"""The checker of the documentation finds what it says it finds."""

from __future__ import annotations

import pytest

from docs import checker

check_docs = checker.load()


def run(tmp_path, monkeypatch, text):
    monkeypatch.setattr(check_docs, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    return check_docs.run_page(page)


def cell(source, kind="{code-cell}"):
    return f"words\n\n```{kind}\n{source}\n```\n\n"


def test_cells_share_a_namespace(tmp_path, monkeypatch):
    text = cell("x = 1") + cell("assert x == 1", "{code-cell} ipython3")
    assert run(tmp_path, monkeypatch, text) == 0


def test_a_failing_cell_is_found_at_its_line(tmp_path, monkeypatch, capsys):
    assert run(tmp_path, monkeypatch, cell("x = 1\nx / 0")) == 1
    printed = capsys.readouterr().out
    assert "page.md:4:" in printed
    assert "line 5" in printed
    assert "ZeroDivisionError" in printed


TAGS = ":tags: [raises-exception]\n"


def test_a_tagged_cell_must_raise(tmp_path, monkeypatch, capsys):
    named = "# raises ZeroDivisionError"
    assert run(tmp_path, monkeypatch, cell(f"{TAGS}1 / 0  {named}")) == 0
    assert run(tmp_path, monkeypatch, cell(f"{TAGS}1 / 1  {named}")) == 1
    assert "raised nothing" in capsys.readouterr().out


def test_a_tagged_cell_must_raise_what_it_names(tmp_path, monkeypatch, capsys):
    assert run(tmp_path, monkeypatch, cell(f"{TAGS}1 / 0  # raises TypeError")) == 1
    assert run(tmp_path, monkeypatch, cell(f"{TAGS}1 / 0")) == 1
    assert "expected TypeError" in capsys.readouterr().out


def test_plain_python_blocks_run(tmp_path, monkeypatch, capsys):
    assert run(tmp_path, monkeypatch, cell("1 / 0", "python")) == 1
    assert run(tmp_path, monkeypatch, cell("1 / 0", "text")) == 0


def test_sessions_print_what_they_show(tmp_path, monkeypatch, capsys):
    text = cell("x = 2", "python")
    assert run(tmp_path, monkeypatch, text + cell(">>> x + 1\n3", "python")) == 0
    assert run(tmp_path, monkeypatch, text + cell(">>> x + 1\n4", "python")) == 1
    assert "Expected" in capsys.readouterr().out


def test_sessions_leave_their_names_to_later_blocks(tmp_path, monkeypatch):
    text = cell(">>> x = 1", "python") + cell("assert x == 1", "python")
    assert run(tmp_path, monkeypatch, text) == 0


def test_an_open_block_is_an_error():
    with pytest.raises(SyntaxError, match="line 3"):
        check_docs.cells("words\n```python\nx = 1\n")
