"""`Compiled.explain()`: operations, bytes and memory by the user's lines."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax

N = 64
X = np.linspace(-1, 1, N * N, dtype=np.float32).reshape(N, N)


def line_of(mark):
    with open(__file__) as file:
        return next(i for i, row in enumerate(file, 1) if row.rstrip().endswith(mark))


def explain(f, *args, **options):
    return olympus.jit(f, **options).lower(*args).compile().explain()


def by_line(costs):
    return {line.place.line: line.cost for line in costs.lines if line.place}


def test_operations_of_products_are_exact():
    def f(w, x):
        y = x @ w  # <- square
        return jnp.sin(y)  # <- sine

    costs = by_line(explain(f, X, X + 1))
    assert costs[line_of("# <- square")].flops == 2 * N**3
    assert costs[line_of("# <- sine")].flops == N**2
    assert costs[line_of("# <- square")].size_bytes == 3 * 4 * N**2


def test_a_gradient_counts_for_the_lines_of_the_function():
    def loss(w, x):
        return jnp.tanh(x @ w).sum()  # <- loss

    costs = explain(olympus.grad(loss), X, X)
    cost = by_line(costs)[line_of("# <- loss")]
    assert cost.flops >= 4 * N**3
    assert {"forward", "backward"} <= set(cost.directions)
    assert "[backward, forward]" in str(costs)


def test_totals_agree_with_xlas():
    def f(w, x):
        for _ in range(3):
            x = jnp.tanh(x @ w) + 1
        return x.sum()

    compiled = olympus.jit(olympus.grad(f)).lower(X, X).compile()
    costs, xla = compiled.explain(), compiled.cost_analysis()
    assert costs.flops == pytest.approx(xla["flops"], rel=0.05)
    assert costs.size_bytes == pytest.approx(xla["bytes accessed"], rel=0.05)
    assert costs.intensity == pytest.approx(costs.flops / costs.size_bytes)


def test_the_steps_of_a_loop_are_counted():
    def f(x):
        def body(carry, _):
            return carry @ carry, None  # <- step

        return lax.scan(body, x, length=7)[0]

    costs = explain(f, X)
    assert by_line(costs)[line_of("# <- step")].flops == 7 * 2 * N**3
    assert not costs.is_partial


def test_a_loop_of_unknown_length_is_said_so():
    costs = explain(lambda x: lax.while_loop(lambda c: c.sum() < 9, jnp.exp, x), X)
    assert costs.is_partial
    assert "loops of unknown length counted as one step" in str(costs)


def test_the_peak_names_what_is_alive():
    def f(x):
        a = jnp.sort(x, 0)  # <- first
        b = jnp.sort(x, 1)  # <- second
        return a @ b

    costs = explain(f, X)
    lines = {value.place.line for value in costs.held if value.kind == "temporary"}
    assert {line_of("# <- first"), line_of("# <- second")} <= lines
    assert [v.code for v in costs.held if v.kind == "argument"] == ["x"]
    assert costs.peak_bytes >= 4 * 4 * N**2


@pytest.mark.parametrize("n", [1, 4])
def test_the_peak_is_near_xlas(n):
    def f(w, x):
        kept = []
        for _ in range(n):
            x = jnp.sort(x @ w, 0)
            kept.append(x)
        return sum(jnp.sort(k, 1) for k in kept).sum()

    compiled = olympus.jit(f).lower(X, X).compile()
    memory = compiled.memory_analysis()
    whole = memory.argument_size_in_bytes + memory.output_size_in_bytes
    whole += memory.temp_size_in_bytes
    assert 0.5 * whole <= compiled.explain().peak_bytes <= 1.5 * whole


def test_arguments_are_named_by_their_paths():
    def f(params, x):
        return x @ params["w"] + params["b"]

    params = {"w": X, "b": X[0], "unused": X}
    held = explain(f, params, X).held
    names = {value.code for value in held if value.kind == "argument"}
    assert names == {"params['w']", "params['b']", "x"}


def test_what_is_computed_again_is_listed():
    def f(x):
        y = jnp.tanh(x) * x  # <- again
        return y.T + 1, jnp.cumsum(y, 0), y[::2] * 3

    costs = explain(f, X)
    assert line_of("# <- again") in {line.place.line for line in costs.repeated}
    assert "computed more than once" in str(costs)


def test_equal_lines_of_layers_are_not_repeated_work():
    def f(x):
        for _ in range(4):
            x = jnp.sort(jnp.tanh(x @ x), 0)
        return x

    assert not explain(f, X).repeated


@pytest.mark.parametrize(
    "f",
    [lambda x: x, lambda x: x[:0], lambda x: 3.0, lambda x: {"a": x.T, "b": ()}],
    ids=["identity", "empty", "constant", "transpose"],
)
def test_small_programs_have_a_text(f):
    costs = explain(f, X)
    assert "peak memory" in str(costs)
    assert repr(costs).startswith("<jit_")


def test_many_values_are_cut():
    def f(xs):
        return [jnp.sort(x * i, 0) for i, x in enumerate(xs)]

    text = str(explain(f, [X[: i + 1] for i in range(40)]))
    assert "more rows" in text
    assert max(map(len, text.splitlines())) < 160
