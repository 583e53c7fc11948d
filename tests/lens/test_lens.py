"""The lens: panes of one program, linked by the user's expressions."""

from __future__ import annotations

import functools
import json
import linecache
import re
import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.lens import folding, measurement
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


def test_measured_times_add_up_to_the_run(view):
    times = view.times
    total = sum(times.instructions.values()) + times.outside_us
    assert total == pytest.approx(times.run_us)
    assert 0 <= times.outside_us < times.run_us
    assert "outside of instructions" in str(view)


@pytest.mark.parametrize(
    ("events", "totals", "busy"),
    [
        ([], {}, 0),
        ([("a", 1, 3), ("b", 4, 5), ("a", 5, 6)], {"a": 3, "b": 1}, 4),
        ([("a", 0, 4), ("b", 2, 6)], {"a": 3, "b": 3}, 6),
        ([("a", 0, 4), ("a", 0, 4), ("b", 0, 4)], {"a": 8 / 3, "b": 4 / 3}, 4),
        ([("a", 2, 2), ("b", 2, 4), ("a", 2, 2)], {"a": 0, "b": 2}, 2),
    ],
)
def test_instructions_share_the_moments_in_which_they_run(events, totals, busy):
    shared, total = measurement.share([measurement.Event(*e) for e in events])
    assert shared == pytest.approx(totals)
    assert total == busy


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


def test_layers_of_other_operations_do_not_fold():
    def f(x):
        for g in (jnp.sin, jnp.cos) * 3:
            x = g(x) * 2 + 1
            x = jnp.exp(x) - 3
            x = jnp.tanh(x) / 2
        return x

    view = olympus.lens(f, measure=False)(X)
    lines = [n.text.split(" = ")[1].split()[0] for n in view.olympuspr[1:15]]
    assert lines.count("sin") == lines.count("cos") == 1


def test_traced_arguments_are_looked_at_but_not_run():
    views = []

    @olympus.jit
    def outer(x):
        views.append(olympus.lens(jnp.sin)(x))
        return x

    outer(X)
    assert views[0].times is None
    assert any("sin" in node.text for node in walk(views[0].olympuspr))


def test_values_are_needed_to_measure():
    shape = olympus.ShapeDtypeStruct((3,), jnp.float32)
    with pytest.raises(TypeError, match=r"lens: measure=True .*got a ShapeDtypeStruct"):
        olympus.lens(jnp.sin, measure=True)(shape)


def test_another_profile_is_in_the_way():
    with (
        olympus.profiler.ProfileSession(),
        pytest.raises(RuntimeError, match=r"lens: .* stop it first, or pass measure"),
    ):
        olympus.lens(jnp.sin)(X)


def test_threads_measure_one_after_another():
    errors = []

    def look(i):
        try:
            olympus.lens(lambda x: jnp.sin(x @ x) * i)(X)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=look, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


ODD_SOURCE = """
import olympus.numpy as jnp
def größe(x):
\ts = "</script><b>\u2028 日本語 __DATA__ __SCRIPT__"  # </script>
\tλ = jnp.sin(x); μ = λ * 2; return "é" and μ @ x
"""


def test_letters_that_files_cannot_hold(tmp_path):
    name = str(tmp_path / "odd.py")
    space = {}
    exec(compile(ODD_SOURCE, name, "exec"), space)
    lines = [f"{row}\n" for row in ODD_SOURCE.split("\n")]
    linecache.cache[name] = (1, None, [*lines[:3], "\t# \ud800\n", lines[4]], name)
    view = olympus.lens(space["größe"], measure=False)(X)
    view.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("</script>") == 2
    assert "λ = jnp.sin(x); μ" in page


def test_lines_without_text_are_named():
    space = {"jnp": jnp}
    exec("\n\ndef f(x):\n    return jnp.sort(x, 0)\n", space)
    (excerpt,) = olympus.lens(space["f"], measure=False)(X).python
    assert excerpt.start == 4
    assert excerpt.lines == ["# the text of this line is not known"]


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda: (), ()),
        (lambda: 3, ()),
        (lambda x: None, (X,)),
        (lambda x: (x + 1, x.sum()), (X[:0],)),
        (lambda x: jnp.tanh(x) @ x, (X.astype(jnp.bfloat16),)),
        (lambda x: jnp.fft.fft(x) * 1j, (X.astype(np.complex64),)),
        (olympus.vmap(olympus.grad(lambda x: olympus.jit(jnp.tanh)(x).sum())), (X,)),
        (olympus.random.split, (olympus.random.key(0),)),
        (functools.partial(lambda a, b: a * b, b=X), (X,)),
        (type("K" * 300, (), {"__call__": lambda self, x: x}), ()),
    ],
)
def test_odd_functions(f, args, tmp_path, monkeypatch):
    f = f() if isinstance(f, type) else f
    view = olympus.lens(f)(*(args or [X] * (type(f).__name__[0] == "K")))
    assert "</html>" in view.to_html()
    assert view.diff(view).is_same()
    assert str(view.tree())
    monkeypatch.setattr("webbrowser.open", lambda url: True)
    assert view.show("browser").endswith(".html")


def größe(x):
    return jnp.sin(x @ x)


@pytest.mark.parametrize("f", [lambda x: jnp.sin(x @ x), größe])
def test_functions_of_any_name_are_measured(f):
    view = olympus.lens(f)(X)
    assert sum(view.times.instructions.values()) > 0
    assert sum(row[0] for row in view.line_costs().values()) > 0
