"""Functions of arrays of symbolic shapes, traced: they have the types JAX gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
import olympus.scipy as jsp
from olympus import core, export, lax

_TABLE = Path(__file__).parents[1] / "data" / "symbolic_calls.tsv"


def rows():
    return [row.split("\t") for row in _TABLE.read_text().splitlines()]


def inputs():
    a, b = export.symbolic_shape("a, b")
    shapes = {
        "x": (b, 3),
        "y": (b, 3),
        "v": (b,),
        "m": (b, 4, 4),
        "z": (a, b),
        "w": (3, 5),
        "s": (2 * b, 4),
        "t": (b, 8, 8, 2),
        "q": (2, b, b, 2),
        "h": (b, 6, 2, 4),
        "g": (2, b, 2, 4),
    }
    specs = {k: olympus.ShapeDtypeStruct(v, np.float32) for k, v in shapes.items()}
    specs["i"] = olympus.ShapeDtypeStruct((b,), np.int32)
    specs["key"] = olympus.eval_shape(lambda: olympus.random.key(0))
    names = {"a": a, "b": b, "olympus": olympus, "jnp": jnp, "jsp": jsp, "lax": lax}
    return specs, {**names, "np": np, "max_dim": core.max_dim}


def _described(expression, specs, names):
    """Types of the arrays that an expression gives, and the text of all else."""
    others = []

    def function(values):
        leaves = olympus.tree.leaves(eval(expression, {**names, **values}))
        others.extend(str(x) for x in leaves if not hasattr(x, "shape"))
        return [x for x in leaves if hasattr(x, "shape")]

    found = olympus.eval_shape(function, specs)
    types = [f"{x.dtype}{tuple(x.shape)}{'*' if x.weak_type else ''}" for x in found]
    return "; ".join(types), "; ".join(others)


def _check(recorded):
    specs, names = inputs()
    for expression, types, others in recorded:
        got = _described(expression, specs, names)
        assert got == (types, others), expression


@pytest.mark.slow
def test_all_functions_have_the_shapes_that_jax_gives():
    recorded = rows()
    assert len(recorded) > 650
    _check(recorded)


def test_programs_of_symbolic_shapes_print():
    (b,) = export.symbolic_shape("b")
    x = olympus.ShapeDtypeStruct((b, 3), np.float32)
    program = olympus.make_olympuspr(lambda x: x * x.shape[0] + x[1:].sum())(x)
    lines = [line.strip() for line in str(program).splitlines()]
    assert lines[0] == "{ lambda ; a:f32[b,3]. let"
    assert lines[1] == "b:i32[] = dim_as_value[dim=b]"
    assert any(line.startswith("e:f32[b - 1,3] = slice[") for line in lines)


def test_a_size_is_a_number_of_weak_type_in_the_program():
    (b,) = export.symbolic_shape("b")
    x = olympus.ShapeDtypeStruct((b,), np.float16)

    def sizes(x):
        n = x.shape[0]
        return x * n, n / 2, n * 1.5, jnp.asarray(n), jnp.sqrt(n), 2 * n

    found = olympus.eval_shape(lambda x: sizes(x)[:5], x)
    assert [str(f.dtype) for f in found] == [
        "float16",
        "float32",
        "float32",
        "int32",
        "float32",
    ]
    assert [f.weak_type for f in found] == [False, True, True, True, True]
    with olympus.enable_x64():
        assert olympus.eval_shape(lambda x: x.shape[0] // 2 * 1.0, x).dtype == "float64"


def test_outside_of_a_trace_a_size_has_no_value():
    (b,) = export.symbolic_shape("b")
    with pytest.raises(NotImplementedError, match="symbolic size 'b'"):
        jnp.sqrt(b)


def test_ambiguous_shapes_are_refused():
    (b,) = export.symbolic_shape("b")
    x = olympus.ShapeDtypeStruct((b, 3), np.float32)
    for function in (
        jnp.squeeze,  # whether b is 1
        lambda x: jnp.array_split(x, 2),  # which piece is longer
        lambda x: x.reshape(-1, 2),  # whether 3*b is even
        lambda x: lax.top_k(x.T, 2),  # whether b is at least 2
        lambda x: range(x.shape[0]),
        list,
    ):
        with pytest.raises(olympus.errors.InconclusiveDimensionOperation):
            olympus.eval_shape(function, x)
    for function, kind in (
        (lambda x: x + jnp.ones((2, 3)), TypeError),
        (lambda x: x.reshape(5), TypeError),
        (lambda x: jnp.concatenate([x, x.T]), TypeError),
    ):
        with pytest.raises(kind, match="b"):
            olympus.eval_shape(function, x)


def test_constraints_decide():
    (b,) = export.symbolic_shape("b", constraints=["b >= 4", "mod(b, 2) == 0"])
    x = olympus.ShapeDtypeStruct((b, 3), np.float32)

    def function(x):
        return jnp.squeeze(x), x.reshape(-1, 6), lax.top_k(x.T, 4)[0], x[3]

    shapes = [f.shape for f in olympus.eval_shape(function, x)]
    assert str(shapes) == "[(b, 3), (floordiv(b, 2), 6), (3, 4), (3,)]"


def test_derivatives_and_maps_of_symbolic_shapes_are_well_typed():
    (b,) = export.symbolic_shape("b")
    x = olympus.ShapeDtypeStruct((b, 3), np.float32)
    w = olympus.ShapeDtypeStruct((3, 3), np.float32)

    def loss(w, x):
        def step(c, row):
            return jnp.tanh(c @ w + row), c.sum()

        last, sums = lax.scan(step, jnp.zeros(3), x)
        return last.sum() + sums.mean() + jnp.mean(olympus.nn.softmax(x @ w) ** 2)

    with olympus.enable_checks():
        program = olympus.make_olympuspr(olympus.grad(loss, (0, 1)))(w, x)
        mapped = olympus.make_olympuspr(olympus.vmap(loss, (None, 0)))(
            w, olympus.ShapeDtypeStruct((b, 2 * b, 3), np.float32)
        )
    assert [v.aval.short() for v in program.olympuspr.outvars] == [
        "f32[3,3]",
        "f32[b,3]",
    ]
    assert mapped.olympuspr.outvars[0].aval.short() == "f32[b]"
