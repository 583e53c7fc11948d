"""The lens: panes of one program, linked by the user's expressions."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.lens import folding
from olympus._src.lens.nodes import Node

X = np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8)


def dense(w, x):
    with olympus.named_scope("dense"):
        return jnp.tanh(x @ w)  # <- dense


def loss(ws, x):
    for w in ws:
        x = dense(w, x)
    return (x**2).sum()  # <- sum


WS = [X, X + 1, X - 1, X * 2]


def line_of(mark):
    with open(__file__) as file:
        return next(i for i, row in enumerate(file, 1) if row.rstrip().endswith(mark))


@pytest.fixture(scope="module")
def view():
    return olympus.lens(olympus.grad(loss))(WS, X)


def data_of(view):
    page = view.to_html()
    text = re.search(r'<script id="data"[^>]*>(.*?)</script>', page, re.DOTALL)
    return json.loads(text[1])


def walk(nodes):
    for node in nodes:
        yield node
        yield from walk(node.children)


def line(view, node):
    return view.places.spans[node.place][1] if node.place >= 0 else None


@pytest.mark.parametrize("pane", ["olympuspr", "stablehlo", "hlo"])
def test_each_pane_has_the_lines_of_the_function(view, pane):
    nodes = list(walk(getattr(view, pane)))
    lines = {line(view, node) for node in nodes}
    assert {line_of("# <- dense"), line_of("# <- sum")} <= lines
    directions = {n.direction for n in nodes if line(view, n) == line_of("# <- dense")}
    assert directions == {1, 2}


def test_python_shows_whole_functions(view):
    (excerpt,) = [e for e in view.python if "def dense(w, x):" in e.lines]
    assert view.places.files[excerpt.file] == __file__
    assert any(row.startswith("def loss(") for row in excerpt.lines)
    row = excerpt.lines[line_of("# <- dense") - excerpt.start]
    assert row.endswith("# <- dense")


def test_expressions_have_their_columns(view):
    with open(__file__) as file:
        rows = file.read().splitlines()
    texts = set()
    for file_number, first, last, start, end in view.places.spans:
        if view.places.files[file_number] == __file__ and first == last and start:
            texts.add(rows[first - 1][start - 1 : end - 1])
    assert {"x @ w", "jnp.tanh(x @ w)", "x**2"} <= texts


def test_measured_time_belongs_to_lines(view):
    total = sum(view.times.instructions.values())
    by_line = sum(row[0] for row in view.line_costs().values())
    assert by_line >= 0.95 * total > 0


def test_costs_are_those_of_the_compiled_function(view):
    costs = view.compiled.explain()
    assert view.costs.flops == costs.flops
    assert sum(row[2] for row in view.line_costs().values()) == pytest.approx(
        costs.flops
    )
    assert view.memory.peak_bytes == costs.peak_bytes


def test_the_page_holds_everything_and_needs_no_network(view):
    page = view.to_html()
    assert not re.search(
        r"(?:src|href)=|https?://(?!www\.w3\.org)|@import|fetch\(", page
    )
    data = data_of(view)
    assert [pane["title"] for pane in data["panes"]] == [
        "olympuspr",
        "StableHLO",
        "XLA",
    ]
    assert data["files"][data["spans"][0][0]] == __file__
    assert data["memory"]["bytes"][data["memory"]["peak"]] == view.costs.peak_bytes


def test_text_that_could_end_the_script_does_not():
    def f(x):
        with olympus.named_scope("</script><b>"):
            return jnp.sort(x, 0)  # </script> <!--

    page = olympus.lens(f, measure=False)(X).to_html()
    assert page.count("</script>") == 2
    assert "<b>" not in page


def test_it_is_saved_and_shown_in_notebooks(view, tmp_path):
    path = tmp_path / "page.html"
    view.save(path)
    assert path.read_text().startswith("<!DOCTYPE html>")
    assert view._repr_html_().startswith("<iframe")
    assert "tanh(x @ w)" in str(view)
    assert repr(view).startswith("<Lens of loss")


def test_repeated_layers_fold():
    nodes = [Node(f"{'%'}{i} = op{i % 7} %{i - 1}") for i in range(70)]
    folded = folding.fold([Node("head"), *nodes, Node("tail")])
    assert [n.text for n in folded][:1] == ["head"]
    (rest,) = [n for n in folded if n.children]
    assert rest.text == "the 7 lines above, 9 more times"
    assert len(rest.children) == 63
    assert folded[-1].text == "tail"


def test_layers_of_a_program_fold():
    def f(ws, x):
        for w in ws:
            x = jnp.sin(x @ w) * jnp.cos(x) + jnp.exp(x) - jnp.tanh(x)
        return x

    view = olympus.lens(f, measure=False)([X] * 12, X)
    for nodes in (view.olympuspr, view.stablehlo):
        assert any("11 more times" in n.text or "10 more" in n.text for n in nodes)


def test_loops_and_branches():
    def f(x):
        def body(carry, row):
            return jnp.tanh(carry + row), carry.sum()  # <- body

        carry, sums = lax.scan(body, jnp.zeros(8), x)
        top = lax.while_loop(lambda c: c.sum() < 9, lambda c: c + 1, carry)
        return lax.cond(sums.sum() > 0, lambda: top.sum(), lambda: jnp.sort(top)[0])

    view = olympus.lens(f)(X)
    for nodes in (view.olympuspr, view.stablehlo, view.hlo):
        assert line_of("# <- body") in {line(view, node) for node in walk(nodes)}
    opened = [n for n in walk(view.hlo) if " while(" in n.text]
    assert opened
    assert all(n.is_open and n.children for n in opened)


def test_programs_with_effects_are_not_run_unasked():
    said = []

    def f(x):
        olympus.debug.callback(lambda value: said.append(1), x)
        return x + 1

    assert olympus.lens(f)(X).times is None
    assert said == []
    assert olympus.lens(f, measure=True)(X).times.run_us > 0
    olympus.effects_barrier()
    assert said


def test_descriptions_of_arrays_are_enough():
    view = olympus.lens(dense)(*[olympus.ShapeDtypeStruct((8, 8), jnp.float32)] * 2)
    assert view.times is None
    assert "time" not in str(view).splitlines()[-1]


def test_donated_arguments_live_on():
    x = jnp.ones((8, 8))
    view = olympus.lens(lambda x: x + 1, donate_argnums=0)(x)
    assert view.times is not None
    assert not x.is_deleted()


def test_jitted_functions_static_arguments_and_keywords():
    @olympus.jit
    def f(x, *, scale):
        return x * scale

    assert olympus.lens(f)(X, scale=2.0).costs.flops == 64
    view = olympus.lens(lambda x, n: x * n, static_argnums=1)(X, 3)
    assert view.times is not None
    with pytest.raises(TypeError, match=r"lens: static_argnums .*jitted already"):
        olympus.lens(f, static_argnums=1)
    with pytest.raises(TypeError, match=r"lens: requires a function, got ndarray"):
        olympus.lens(X)


@pytest.mark.parametrize(
    "f", [lambda x: x, lambda x: 1.0, lambda x: (), lambda x: x[:0], jnp.sin, len]
)
def test_any_function_has_a_page(f):
    assert "</html>" in olympus.lens(f)(X).to_html()


def test_a_function_without_source():
    space = {"jnp": jnp}
    exec("def f(x):\n    return jnp.sort(x, 0)\n", space)
    view = olympus.lens(space["f"])(X)
    assert "</html>" in view.to_html()


def test_bytes_of_the_page_are_bounded():
    def f(ws, x):
        for w in ws:
            x = dense(w, x)
        return x.sum()

    page = olympus.lens(olympus.grad(f), measure=False)([X] * 40, X).to_html()
    assert len(page) < 1_000_000
