"""The difference of two lenses: which lines belong together, and what they cost."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus._src.command.main import main
from olympus._src.lens import alignment, names
from olympus._src.lens.alignment import Line

X = np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8)


def dense(w, x):
    return jnp.tanh(x @ w)


def model(ws, x):
    for w in ws:
        x = dense(w, x)
    return (x**2).sum()


def centred(ws, x):
    x = x - x.mean(0)  # <- centred
    for w in ws:
        x = dense(w, x)
    return (x**2).sum()


def look(f, *args):
    return olympus.lens(f, measure=False)(*args)


@pytest.fixture(scope="module")
def diff():
    return look(model, [X, X], X).diff(look(centred, [X, X], X))


def changes(old, new):
    rows = alignment.align(
        [Line(text, "", 0) for text in old], [Line(text, "", 0) for text in new]
    )
    kinds = [row.kind for row in rows]
    assert [r.old for r in rows if r.old >= 0] == list(range(len(old)))
    assert [r.new for r in rows if r.new >= 0] == list(range(len(new)))
    return kinds


def test_other_names_are_no_change():
    old = ["b:f32[] = sin a", "c:f32[] = add b b", "in (c,)"]
    new = ["y:f32[] = sin x", "z:f32[] = add y y", "in (z,)"]
    assert changes(old, new) == ["same"] * 3


def test_other_operands_are_a_change():
    old = ["b:f32[] = sin a", "c:f32[] = cos a", "d:f32[] = add b c"]
    new = ["b:f32[] = sin a", "c:f32[] = cos a", "d:f32[] = add b b"]
    assert changes(old, new) == ["same", "same", "changed"]


def test_a_line_between_changes_what_takes_its_result():
    old = ["b:f32[] = sin a", "c:f32[] = exp b"]
    new = ["b:f32[] = sin a", "c:f32[] = neg b", "d:f32[] = exp c"]
    assert changes(old, new) == ["same", "added", "changed"]
    assert changes(new, old) == ["same", "removed", "changed"]


def test_short_primitives_are_no_names():
    assert changes(["b:f32[] = sin a"], ["b:f32[] = cos a"]) == ["removed", "added"]
    assert changes(["b:f32[] = sin a"], ["b:f32[2] = sin a"]) == ["changed"]


@pytest.mark.parametrize(
    ("text", "wiped", "values"),
    [
        ("    ] i h", "    ] _ _", ("i", "h")),
        ("  in (a, b) }", "  in (_, _) }", ("a", "b")),
        ("{ lambda ; a:f32[8]. let", "{ lambda ; _:f32[8]. let", ("a",)),
        ("unroll=1", "unroll=1", ()),
        (
            "%1 = stablehlo.add %0#2, dims = [] : f32",
            "_ = stablehlo.add _, dims = [] : f32",
            ("%1", "%0#2"),
        ),
        (
            "ROOT while.1 = (s32[], f32[8]) while(t.2), body=%r.1",
            "ROOT _ = (s32[], f32[8]) while(_), body=_",
            ("while.1", "t.2", "%r.1"),
        ),
        ("p = f32[] parameter(0)", "_ = f32[] parameter(0)", ("p",)),
        ("c.1 = f32[] constant(-2.5)", "_ = f32[] constant(-2.5)", ("c.1",)),
    ],
)
def test_names_are_told_from_the_rest(text, wiped, values):
    assert names.split(text) == (wiped, values)


def test_long_programs_with_nothing_in_common_are_aligned():
    old = [f"a:f32[{i}] = sin b" for i in range(1000)]
    new = [f"a:f32[{i}] = cos b" for i in range(1000)]
    assert changes(old, new) == ["removed"] * 1000 + ["added"] * 1000


def test_many_alike_lines():
    old = ["b:f32[] = sin a"] * 3000
    kinds = changes(old, [*old[:1000], "b:f32[] = cos a", *old[1000:]])
    assert kinds.count("same") == 3000
    assert kinds.count("added") == 1


def test_what_came_is_told(diff):
    program, stablehlo, xla = diff.panes
    assert program.count("removed") == 0
    added = [
        program.new[row.new][1].text for row in program.rows if row.kind == "added"
    ]
    assert any("reduce_sum" in text for text in added)
    assert all(len(text.split(" = ")) == 2 for text in added)
    assert stablehlo.count("added") >= 3
    assert xla.count("added") >= 1
    assert not diff.is_same()


def test_lines_have_costs_before_and_after(diff):
    rows = [r for r in diff.source if r.new and r.new.text.endswith("# <- centred")]
    assert [(r.kind, r.old) for r in rows] == [("added", None)]
    assert rows[0].new.costs[2] > 0
    (row,) = [r for r in diff.source if r.new and "jnp.tanh(x @ w)" in r.new.text]
    assert row.kind == "same"
    assert row.old.costs[2] == row.new.costs[2] > 0
    totals = {total.name: total for total in diff.totals}
    assert totals["flops"].new > totals["flops"].old
    assert totals["peak memory"].old == diff.old.costs.peak_bytes
    assert totals["run"].old is None


def test_the_same_function_is_the_same():
    first = look(model, [X, X], X)
    assert first.diff(look(model, [X, X], X)).is_same()
    assert first.diff(look(lambda ws, x: model(ws, x), [X, X], X)).is_same()
    assert not first.diff(look(model, [X, X], X[:4])).is_same()


def test_other_constants_are_a_change():
    diff = look(lambda x: x * 2, X).diff(look(lambda x: x * 3, X))
    for pane in diff.panes:
        assert pane.count("changed") == 1
        assert pane.count("added") == pane.count("removed") == 0


def test_programs_in_memory_have_no_time_of_compilation():
    def f(x):
        return jnp.sin(x) * 123

    first, second = look(f, X), look(f, X)
    totals = {total.name: total for total in first.diff(second).totals}
    assert totals["compile"].old > 0
    assert totals["compile"].new is None
    assert "- " in str(first.diff(second))


def test_the_lines_that_no_layer_has_are_few():
    shorter, longer = look(model, [X] * 4, X), look(model, [X] * 6, X)
    program, *_ = shorter.diff(longer).panes
    assert program.count("added") >= 2 * 3
    assert program.count("removed") == 0


def test_it_has_a_page_and_text(diff, tmp_path):
    page = diff.to_html()
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("</script>") == 2
    data = json.loads(re.search(r'type="application/json">(.*?)</script>', page)[1])
    assert [pane["title"] for pane in data["panes"]] == [
        "olympuspr",
        "StableHLO",
        "XLA",
    ]
    diff.save(tmp_path / "diff.html")
    assert (tmp_path / "diff.html").read_text() == page
    assert diff._repr_html_().startswith("<iframe")
    text = str(diff)
    assert "model → centred" in text
    assert re.search(r"flops +\S+ k → +\S+ k +\+", text)
    assert "+ test_diff.py" in text
    assert "added" in repr(diff)


def test_anything_else_is_refused():
    with pytest.raises(TypeError, match=r"Lens.diff: requires a lens, got ndarray"):
        look(model, [X], X).diff(X)


def test_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two_of_lens.py").write_text(
        "import olympus.numpy as jnp\n"
        "def f(x):\n    return jnp.sin(x)\n"
        "def g(x):\n    return jnp.cos(x)\n"
        "x = jnp.ones(4)\n"
    )
    words = ["lens", "two_of_lens:f(x)", "--diff", "two_of_lens:g(x)"]
    assert main([*words, "-o", "diff.html"]) == 0
    assert "</html>" in (tmp_path / "diff.html").read_text()
    capsys.readouterr()
    assert main([*words, "--text"]) == 0
    text = capsys.readouterr().out
    assert "= sin a" in text
    assert "= cos a" in text
    assert main(words) == 0
    assert capsys.readouterr().out == "f_g.html\n"


def longest(old, new):
    """The length of a longest common subsequence."""
    row = [0] * (len(new) + 1)
    for a in old:
        before = row
        row = [0]
        for j, b in enumerate(new):
            row.append(before[j] + 1 if a == b else max(before[j + 1], row[j]))
    return row[-1]


@pytest.mark.parametrize("max_edits", [1, 2, 5, 256])
def test_random_sequences_have_common_subsequences(monkeypatch, max_edits):
    monkeypatch.setattr(alignment, "_MAX_EDITS", max_edits)
    random = np.random.default_rng(0)
    for _ in range(300):
        old, new = [list(random.integers(0, 3, random.integers(0, 14))) for _ in "ab"]
        pairs = alignment.common(old, new)
        assert all(old[i] == new[j] for i, j in pairs)
        for one in zip(*pairs, strict=True):
            assert list(one) == sorted(set(one))
        if max_edits == 256:
            assert len(pairs) == longest(old, new)
