"""The programs of the text on ahead-of-time compilation, with what they must print."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

pytestmark = pytest.mark.documents


def f(x, y):
    return 2 * x + y


def _lines(*lines):
    return "\n".join(lines)


@pytest.fixture
def i32_scalar():
    return olympus.ShapeDtypeStruct((), jnp.dtype("int32"))


def test_the_stages_one_by_one():
    x, y = 3, 4
    traced = olympus.jit(f).trace(x, y)
    assert (
        str(traced.olympuspr)
        == """\
{ lambda ; a:i32[] b:i32[]. let
    c:i32[] = mul 2:i32[] a
    d:i32[] = add c b
  in (d,) }"""
    )
    lowered = traced.lower()
    expected = _lines(
        "module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {",  # noqa: E501
        '  func.func public @main(%arg0: tensor<i32>, %arg1: tensor<i32>) -> (tensor<i32> {olympus.result_info = "result"}) {',  # noqa: E501
        "    %c = stablehlo.constant dense<2> : tensor<i32>",
        "    %0 = stablehlo.multiply %c, %arg0 : tensor<i32>",
        "    %1 = stablehlo.add %0, %arg1 : tensor<i32>",
        "    return %1 : tensor<i32>",
        "  }",
        "}",
    )
    assert lowered.as_text().rstrip() == expected
    compiled = lowered.compile()
    assert compiled.cost_analysis()["flops"] == 2.0
    assert repr(compiled(x, y)) == "Array(10, dtype=int32, weak_type=True)"


def test_tracing_for_described_arguments(i32_scalar):
    compiled = olympus.jit(f).trace(i32_scalar, i32_scalar).lower().compile()
    assert repr(compiled(3, 4)) == "Array(10, dtype=int32)"


def test_a_compiled_function_refuses_other_types(i32_scalar):
    compiled = olympus.jit(f).trace(i32_scalar, i32_scalar).lower().compile()
    x_1d = y_1d = jnp.arange(3)
    with pytest.raises(TypeError) as caught:
        compiled(x_1d, y_1d)
    assert str(caught.value) == (
        "Argument types differ from the types for which this computation was compiled. "
        "The mismatches are:\n"
        "Argument 'x' compiled with int32[] and called with int32[3]\n"
        "Argument 'y' compiled with int32[] and called with int32[3]"
    )
    x_f = y_f = jnp.float32(72.0)
    with pytest.raises(TypeError) as caught:
        compiled(x_f, y_f)
    assert str(caught.value).endswith(
        "Argument 'x' compiled with int32[] and called with float32[]\n"
        "Argument 'y' compiled with int32[] and called with float32[]"
    )


def test_static_arguments_are_built_in(i32_scalar):
    lowered_with_x = olympus.jit(f, static_argnums=0).trace(7, 8).lower()
    expected = _lines(
        "module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {",  # noqa: E501
        '  func.func public @main(%arg0: tensor<i32>) -> (tensor<i32> {olympus.result_info = "result"}) {',  # noqa: E501
        "    %c = stablehlo.constant dense<14> : tensor<i32>",
        "    %0 = stablehlo.add %c, %arg0 : tensor<i32>",
        "    return %0 : tensor<i32>",
        "  }",
        "}",
    )
    assert lowered_with_x.as_text().rstrip() == expected
    assert repr(lowered_with_x.compile()(5)) == (
        "Array(19, dtype=int32, weak_type=True)"
    )
    jitted = olympus.jit(f, static_argnums=0)
    with pytest.raises(TypeError) as caught:
        jitted.trace(i32_scalar, i32_scalar)
    assert str(caught.value) == (
        "unsupported operand type(s) for *: 'int' and 'ShapeDtypeStruct'"
    )
    out = jitted.trace(10, i32_scalar).lower().compile()(5)
    assert repr(out) == "Array(25, dtype=int32)"


def g(x):
    assert x.shape == (3, 2)
    return x @ jnp.ones(2)


def make_z(*shape):
    return jnp.arange(np.prod(shape)).reshape(shape)


def test_compiled_functions_are_not_transformed():
    z, zs = make_z(3, 2), make_z(4, 3, 2)
    g_jit = olympus.jit(g)
    g_aot = olympus.jit(g).trace(z).lower().compile()
    assert (
        repr(olympus.vmap(g_jit)(zs))
        == """\
Array([[ 1.,  5.,  9.],
       [13., 17., 21.],
       [25., 29., 33.],
       [37., 41., 45.]], dtype=float32)"""
    )
    refusal = (
        "Cannot apply OLYMPUS transformations to a function lowered and compiled for a "
        "particular signature. Detected argument of Tracer type "
    )
    with pytest.raises(TypeError) as caught:
        olympus.vmap(g_aot)(zs)
    assert str(caught.value) == (
        refusal + "<class 'olympus._src.interpreters.batching.BatchTracer'>"
    )
    with pytest.raises(TypeError) as caught:
        olympus.jit(g_aot)(z)
    assert str(caught.value).startswith(refusal)
    with pytest.raises(TypeError) as caught:
        olympus.grad(lambda x: g_aot(x).sum())(z.astype("float32"))
    assert str(caught.value).startswith(refusal)


def test_debug_information_on_request():
    lowered = olympus.jit(f).lower(3, 4)
    assert "test_ahead_of_time.py" in lowered.as_text(debug_info=True)
    assert "test_ahead_of_time.py" not in lowered.as_text()
