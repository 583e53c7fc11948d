"""What stands for operations that are lowered as others."""

import numpy as np

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.core import ir
from olympus._src.core.primitive import Primitive
from olympus._src.interpreters import partial_eval
from olympus._src.lax import elementwise

double_p = Primitive(
    "double", abstract=lambda x: x, decompose=lambda x: elementwise.add(x, x)
)
# What stands for it needs something to stand for it again.
quadruple_p = Primitive(
    "quadruple",
    abstract=lambda x: x,
    decompose=lambda x: double_p.bind(double_p.bind(x)),
)
# Its result is no operation, but an array that it closes over.
_TABLE = np.arange(3, dtype="float32")
table_p = Primitive("table", abstract=lambda x: x, decompose=lambda x: _TABLE)


def _program(fun, *args):
    return olympus.make_olympuspr(fun)(*args).olympuspr


def _names(program):
    names = [eqn.primitive.name for eqn in program.eqns]
    return names + [n for p in ir.inner_programs(program) for n in _names(p)]


def test_a_program_of_which_nothing_is_replaced_stays_as_it_is():
    def f(x):
        return lax.fori_loop(0, 3, lambda i, y: jnp.sin(y) * i, x)

    program = _program(f, 1.0)
    assert partial_eval.expand(program, "cpu") is program


def test_equations_beside_what_is_replaced_are_the_same_objects():
    program = _program(lambda x: jnp.cos(quadruple_p.bind(jnp.sin(x))), 1.0)
    expanded = partial_eval.expand(program, "cpu")
    assert _names(expanded) == ["sin", "add", "add", "cos"]
    assert expanded.eqns[0] is program.eqns[0]
    assert expanded.eqns[-1] is not program.eqns[-1]
    assert expanded is partial_eval.expand(program, "cpu")
    (value,) = ir.eval_olympuspr(expanded, (), 0.5)
    np.testing.assert_allclose(value, np.cos(4 * np.sin(0.5)), rtol=1e-6)


def test_replacements_within_loops_and_of_results():
    def f(x):
        y = lax.fori_loop(0, 2, lambda _, y: quadruple_p.bind(y), x)
        return quadruple_p.bind(2.0), x, y, double_p.bind(y)

    expanded = partial_eval.expand(_program(f, 1.0), "cpu")
    assert not {"double", "quadruple"} & set(_names(expanded))
    np.testing.assert_allclose(olympus.jit(f)(1.5), [8, 1.5, 24, 48])


def test_arrays_that_replacements_close_over():
    def f(x):
        return jnp.sum(table_p.bind(x) + double_p.bind(table_p.bind(x)))

    np.testing.assert_allclose(olympus.jit(f)(jnp.ones(3, "float32")), 9.0)
