"""Functions of other languages in programs."""

import ctypes
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import ffi
from olympus.experimental.layout import Layout
from olympus.extend import core
from olympus.interpreters import mlir

MATRIX = onp.array([[4.0, 2.0], [2.0, 5.0]])
KINDS = (
    olympus.ShapeDtypeStruct((2, 2), "float32"),
    olympus.ShapeDtypeStruct((), "int32"),
)
LOWER = np.uint8(ord("L"))


def factor(x, **options):
    return ffi.ffi_call("lapack_spotrf_ffi", KINDS, **options)(x, uplo=LOWER)[0]


@pytest.mark.parametrize("transform", [lambda f: f, olympus.jit])
def test_a_kernel_of_jaxlib(transform):
    # The kernel's matrices are column by column.
    order = {"input_layouts": [(1, 0)], "output_layouts": [(1, 0), ()]}
    got = transform(lambda x: factor(x, **order))(MATRIX)
    np.testing.assert_allclose(np.tril(got), np.linalg.cholesky(MATRIX), rtol=1e-6)


@pytest.mark.parametrize("method", ["sequential", "sequential_unrolled"])
def test_mapped_one_by_one(method):
    stack = onp.stack([MATRIX, 2 * MATRIX, 3 * MATRIX])
    mapped = olympus.vmap(lambda x: factor(x, vmap_method=method))(stack)
    expected = [factor(x) for x in stack]
    np.testing.assert_allclose(mapped, expected, rtol=1e-6)


FLOATS = ctypes.POINTER(ctypes.c_float)


@ctypes.CFUNCTYPE(None, FLOATS, ctypes.POINTER(FLOATS))
def add_rows(out, operands):
    """Three rows of two numbers: the sum of both operands."""
    for i in range(6):
        out[i] = operands[0][i] + operands[1][i]


ffi.register_ffi_target("test_add_rows", ffi.pycapsule(add_rows), api_version=0)


def test_a_plain_function_by_its_pointer():
    rows = olympus.ShapeDtypeStruct((3, 2), "float32")
    call = ffi.ffi_call("test_add_rows", rows, custom_call_api_version=1)
    x = np.arange(6.0, dtype="float32").reshape(3, 2)
    np.testing.assert_array_equal(olympus.jit(call)(x, x + 1), 2 * x + 1)


def test_mapped_in_one_call():
    row = olympus.ShapeDtypeStruct((2,), "float32")
    call = ffi.ffi_call(
        "test_add_rows", row, custom_call_api_version=1, vmap_method="broadcast_all"
    )
    x = np.arange(6.0, dtype="float32").reshape(3, 2)
    mapped = olympus.vmap(call, in_axes=(0, None))(x, x[1])
    np.testing.assert_array_equal(mapped, x + x[1])
    transposed = olympus.vmap(call, in_axes=(1, 0), out_axes=1)(x.T, x)
    np.testing.assert_array_equal(transposed, 2 * x.T)


@ctypes.CFUNCTYPE(None, FLOATS, ctypes.POINTER(FLOATS))
def add_to_rows(out, operands):
    """Three rows of two numbers, to each of which the same row is added."""
    for i in range(6):
        out[i] = operands[0][i] + operands[1][i % 2]


ffi.register_ffi_target("test_add_to_rows", ffi.pycapsule(add_to_rows), api_version=0)


def test_operands_that_are_not_mapped_stay_as_they_are():
    call = ffi.ffi_call(
        "test_add_to_rows",
        olympus.ShapeDtypeStruct((2,), "float32"),
        custom_call_api_version=1,
        vmap_method="legacy_vectorized",
    )
    x = np.arange(6.0, dtype="float32").reshape(3, 2)
    mapped = olympus.vmap(call, in_axes=(0, None))(x, x[1])
    np.testing.assert_array_equal(mapped, x + x[1])


def test_derivatives_by_a_rule():
    @olympus.custom_vjp
    def add(x, y):
        kind = olympus.ShapeDtypeStruct((3, 2), "float32")
        return ffi.ffi_call("test_add_rows", kind, custom_call_api_version=1)(x, y)

    add.defvjp(lambda x, y: (add(x, y), None), lambda _, ct: (ct, ct))
    x = onp.ones((3, 2))
    for ct in olympus.grad(lambda x, y: (add(x, y) ** 2).sum(), (0, 1))(x, 2 * x):
        np.testing.assert_array_equal(ct, 6 * x)


def text_of(call, *args, **attributes):
    lowered = olympus.jit(lambda *args: call(*args, **attributes)).lower(*args)
    (line,) = [line for line in lowered.as_text().splitlines() if "custom_call" in line]
    return line


ATTRIBUTES = {
    "an integer": (1, "1 : i64"),
    "a large integer": (2**40, "1099511627776 : i64"),
    "a float": (2.0, "2.000000e+00 : f64"),
    "infinity": (float("inf"), "0x7FF0000000000000 : f64"),
    "a truth value": (True, "true"),
    "text": ('s"q', '"s\\22q"'),
    "bytes": (b"ab", '"ab"'),
    "a NumPy number": (np.int32(3), "3 : i32"),
    "a narrow number": (np.uint8(1), "1 : ui8"),
    "a NumPy float": (np.float32(1), "1.000000e+00 : f32"),
    "an array": (np.arange(3), "dense<[0, 1, 2]> : tensor<3xi64>"),
    "a matrix": (np.ones((2, 2)), "dense<1.000000e+00> : tensor<2x2xf64>"),
    "no elements": (np.zeros(0, "int32"), "dense<> : tensor<0xi32>"),
    "numbers": ((1, 2), "dense<[1, 2]> : tensor<2xi64>"),
    "words": (("a", "b"), '["a", "b"]'),
    "a mapping": (
        {"x": 1, "y": {"z": 2.0}},
        "{x = 1 : i64, y = {z = 2.000000e+00 : f64}}",
    ),
    "a dtype": (np.dtype("float32"), "f32"),
    "nothing": ((), "[]"),
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(name):
    value, text = ATTRIBUTES[name]
    call = ffi.ffi_call("nowhere", KINDS[0])
    assert f"backend_config = {{a = {text}}}" in text_of(call, MATRIX, a=value)


def test_what_is_written():
    call = ffi.ffi_call(
        "nowhere",
        KINDS[0],
        has_side_effect=True,
        input_layouts=[(1, 0)],
        output_layouts=(1, 0),
        input_output_aliases={0: 0},
    )
    line = text_of(call, MATRIX)
    assert "has_side_effect = true" in line
    assert "operand_layouts = [dense<[0, 1]> : tensor<2xindex>]" in line
    assert "output_tuple_indices = [], operand_index = 0" in line
    old = ffi.ffi_call(
        "nowhere", KINDS[0], custom_call_api_version=2, legacy_backend_config="abc"
    )
    assert 'backend_config = "abc"' in text_of(old, MATRIX)


def test_calls_with_effects_stay():
    @olympus.jit
    def f(x):
        ffi.ffi_call("nowhere", (), has_side_effect=True)(x)
        return x

    assert "@nowhere" in f.lower(1.0).as_text()


def test_a_primitive_that_is_such_a_call():
    factor_p = core.Primitive("factor")
    factor_p.def_abstract_eval(lambda x, **_: x)
    rule = ffi.ffi_lowering(
        "test_add_rows", has_side_effect=False, backend_config="", api_version=1
    )
    mlir.register_lowering(factor_p, rule)
    assert "@test_add_rows" in olympus.jit(factor_p.bind).lower(MATRIX).as_text()


def _primitive(name, rule, multiple_results=False):
    p = core.Primitive(name)
    p.multiple_results = multiple_results
    p.def_abstract_eval(lambda x, **_: [x, x] if multiple_results else x)
    mlir.register_lowering(p, rule)
    return p


def _call_of(p, **params):
    """The line of the call in a primitive's program."""
    text = olympus.jit(lambda x: p.bind(x, **params)).lower(MATRIX).as_text()
    (line,) = [line for line in text.splitlines() if "custom_call" in line]
    return line


BY_COLUMNS, BY_ROWS = "[dense<[0, 1]>", "[dense<[1, 0]>"


def test_layouts_of_rules_begin_with_the_smallest_strides():
    def line(operand, result, **options):
        rule = ffi.ffi_lowering(
            "f", operand_layouts=[operand], result_layouts=[result], **options
        )
        return _call_of(_primitive("laid_out", rule))

    plain = line((0, 1), (1, 0))
    assert f"operand_layouts = {BY_COLUMNS}" in plain
    assert f"result_layouts = {BY_ROWS}" in plain
    named = line(Layout((0, 1)), None)
    assert f"operand_layouts = {BY_ROWS}" in named
    assert f"result_layouts = {BY_ROWS}" in named
    assert "layouts" not in line((0, 1), (1, 0), skip_ffi_layout_processing=True)


def test_rules_that_build_operations_call_functions_of_other_languages():
    def rule(ctx, x, *, eps):
        doubled = mlir.hlo.AddOp(x, x).result
        call = ffi.ffi_lowering("f", has_side_effect=True, backend_config={"more": 3})
        return call(ctx, doubled, eps=eps, attribute=mlir.i32_attr(7))

    line = _call_of(_primitive("built", rule), eps=np.float32(2.0))
    assert "stablehlo.custom_call @f(%0)" in line
    assert "attribute = 7 : i32" in line
    assert "eps = 2.000000e+00 : f32" in line
    assert "more = 3 : i64" in line
    assert "has_side_effect = true" in line

    def build(ctx, x):
        operation = ffi.build_ffi_lowering_function("g")(ctx, x)
        return operation.results

    two = _call_of(_primitive("built_two", build, multiple_results=True))
    assert "stablehlo.custom_call @g(%arg0)" in two
    assert two.endswith("-> (tensor<2x2xf32>, tensor<2x2xf32>)")


def test_a_call_in_a_rule_that_builds_operations_runs():
    factor_p = core.Primitive("factor_of_a_sum")
    factor_p.multiple_results = True
    info = olympus.core.ShapedArray((), np.dtype("int32"))
    factor_p.def_abstract_eval(lambda x: (x, info))

    @mlir.register_lowering(factor_p)
    def lower(ctx, x):
        doubled = mlir.hlo.AddOp(x, x).result
        by_columns = {"operand_layouts": [(0, 1)], "result_layouts": [(0, 1), ()]}
        factor = ffi.ffi_lowering("lapack_spotrf_ffi", **by_columns)
        return factor(ctx, doubled, uplo=LOWER)

    got, info = olympus.jit(factor_p.bind)(MATRIX)
    assert info == 0
    np.testing.assert_allclose(np.tril(got), np.linalg.cholesky(2 * MATRIX), rtol=1e-6)


ERRORS = {
    "a computed attribute": (
        lambda: ffi.ffi_call("f", KINDS[0])(MATRIX, a=onp.ones(2)),
        TypeError,
        "ffi_call of 'f', a: an attribute must be",
    ),
    "no array": (
        lambda: ffi.ffi_call("f", KINDS[0])("a"),
        TypeError,
        "argument 0 of 'f' must be an array",
    ),
    "no type": (
        lambda: ffi.ffi_call("f", 3),
        TypeError,
        "ffi_call of 'f': result_shape_dtypes",
    ),
    "64 bits": (
        lambda: ffi.ffi_call("f", olympus.ShapeDtypeStruct((3,), "float64")),
        ValueError,
        "must have dtypes of 32 bits or less",
    ),
    "no name": (lambda: ffi.ffi_call(3, KINDS[0]), TypeError, "target_name must be"),
    "no such method": (
        lambda: ffi.ffi_call("f", KINDS[0], vmap_method="x"),
        ValueError,
        "vmap_method must be one of sequential",
    ),
    "no method": (
        lambda: olympus.vmap(ffi.ffi_call("f", KINDS[0]))(MATRIX[None]),
        NotImplementedError,
        "ffi_call: under vmap the argument vmap_method",
    ),
    "a derivative": (
        lambda: olympus.grad(lambda x: factor(x).sum())(MATRIX),
        ValueError,
        "'lapack_spotrf_ffi' has no derivative.*custom_vjp",
    ),
    "another order": (
        lambda: ffi.ffi_call("f", KINDS[0], input_layouts=[(0,)])(MATRIX),
        ValueError,
        "input_layouts of 'f' must be orders of all axes",
    ),
    "too many orders": (
        lambda: ffi.ffi_call("f", KINDS[0], input_layouts=[None, None])(MATRIX),
        ValueError,
        "one entry for each array",
    ),
    "an alias of nothing": (
        lambda: ffi.ffi_call("f", KINDS[0], input_output_aliases={1: 0})(MATRIX),
        ValueError,
        "must be numbers of arguments and results",
    ),
    "an alias of another type": (
        lambda: ffi.ffi_call("f", KINDS[1], input_output_aliases={0: 0})(MATRIX),
        ValueError,
        "must pair equal types",
    ),
    "an alias that is not mapped": (
        lambda: olympus.vmap(
            ffi.ffi_call(
                "f",
                KINDS[0],
                vmap_method="expand_dims",
                input_output_aliases={1: 0},
            ),
            in_axes=(0, None),
        )(onp.stack([MATRIX, MATRIX]), MATRIX),
        ValueError,
        "ffi_call of 'f' under vmap: input_output_aliases must pair equal types",
    ),
    "a configuration's text beside attributes": (
        lambda: ffi.ffi_call("f", KINDS[0], legacy_backend_config="a"),
        ValueError,
        "legacy_backend_config needs a custom_call_api_version before 4, got 4",
    ),
    "attributes of old functions": (
        lambda: ffi.ffi_call("f", KINDS[0], custom_call_api_version=1)(MATRIX, a=1),
        ValueError,
        "need custom_call_api_version=4",
    ),
    "an interface that XLA does not have": (
        lambda: ffi.ffi_call("f", KINDS[0], custom_call_api_version=9),
        ValueError,
        "must be from 0 to 4, got 9",
    ),
    "no function": (
        lambda: ffi.ffi_call("f", KINDS[0])(MATRIX),
        olympus.errors.OlympusRuntimeError,
        "No FFI handler registered for f",
    ),
    "no capsule": (
        lambda: ffi.register_ffi_target("f", lambda: 0),
        TypeError,
        "must be a capsule, got function",
    ),
    "no such option": (
        lambda: ffi.register_ffi_target("f", ffi.pycapsule(add_rows), color=3),
        TypeError,
        "there is no option 'color'",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, kind, text = ERRORS[name]
    with pytest.raises(kind, match=text):
        call()


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    source = pathlib.Path(__file__).parent / "rms_norm.cc"
    path = tmp_path_factory.mktemp("ffi") / "rms_norm.so"
    options = ["-std=c++17", "-O1", "-shared", "-fPIC", "-w", "-I", ffi.include_dir()]
    subprocess.run([compiler, *options, str(source), "-o", str(path)], check=True)
    library = ctypes.cdll.LoadLibrary(str(path))
    ffi.register_ffi_target("test_rms", ffi.pycapsule(library.RmsNormHandler))
    ffi.register_ffi_target("test_check", ffi.pycapsule(library.CheckAttributesHandler))
    return library


@pytest.mark.slow
def test_a_function_in_cpp(library):
    def call(x, eps):
        kinds = (
            olympus.ShapeDtypeStruct(x.shape, x.dtype),
            olympus.ShapeDtypeStruct(x.shape[:-1], x.dtype),
        )
        return ffi.ffi_call("test_rms", kinds, vmap_method="broadcast_all")(
            x, eps=np.float32(eps)
        )

    @olympus.custom_vjp
    def norm(x):
        return call(x, 1e-5)[0]

    def forward(x):
        y, scale = call(x, 1e-5)
        return y, (y, scale)

    def backward(residuals, ct):
        y, scale = residuals
        mean = (ct * y).mean(-1, keepdims=True)
        return (scale[..., None] * (ct - y * mean),)

    norm.defvjp(forward, backward)

    def reference(x):
        return x / onp.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)

    x = olympus.random.normal(olympus.random.key(0), (4, 3, 5))
    for shaped in (norm, olympus.jit(norm), olympus.vmap(norm)):
        np.testing.assert_allclose(shaped(x), reference(x), rtol=1e-5)
    got, expected = (
        olympus.jit(olympus.grad(lambda x, f=f: onp.sin(f(x)).sum()))(x)
        for f in (norm, reference)
    )
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    assert norm(onp.zeros((2, 0))).shape == (2, 0)
    kinds = (olympus.ShapeDtypeStruct((), "float32"),) * 2
    with pytest.raises(olympus.errors.OlympusRuntimeError, match="must have an axis"):
        ffi.ffi_call("test_rms", kinds)(1.0, eps=np.float32(0))


@pytest.mark.slow
def test_attributes_arrive(library):
    call = ffi.ffi_call("test_check", olympus.ShapeDtypeStruct((), "int32"))
    attributes = {
        "sizes": (3, 5),
        "weights": np.array([0, 1, 2.5], "float32"),
        "name": 'a "name"',
        "flag": True,
        "big": 2**40,
        "wide": 0.1,
        "letter": LOWER,
        "options": {"depth": 7},
    }
    assert int(olympus.jit(lambda: call(**attributes))()) == 1
