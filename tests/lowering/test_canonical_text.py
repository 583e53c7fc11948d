"""Lowered programs print byte for byte as MLIR prints them, without its parser."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import export, lax, nn, random
from olympus._src.core import dtypes
from olympus._src.core.avals import ShapedArray
from olympus._src.lowering import module as lowering
from olympus._src.lowering import types
from olympus._src.lowering.canonical import modules
from olympus._src.runtime import mlir
from olympus.experimental.xla_metadata import set_xla_metadata
from olympus.sharding import NamedSharding, PartitionSpec
from tests import fresh, sampling
from tests.replay.programs import programs
from tests.sharding.meshes import divide

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
V = np.float32([0.5, -1.0, 2.0, 0.25])
SHARE = 25  # of the replayed programs


def lowered_text(function, *arguments, **options):
    """What is compiled of a function."""
    return olympus.jit(function, **options).lower(*arguments)._lowered.text


def check(text):
    """The text as printed here, which must be what MLIR prints."""
    printed = modules.canonical_text(text)
    assert printed is not None
    assert printed == mlir.canonical_text(text)
    return printed


# -- programs --------------------------------------------------------------------------


def of_replay():
    """Texts of a part of the replayed programs."""
    for program in programs():
        if not sampling.is_in_part(program.name, SHARE):
            continue
        with warnings.catch_warnings(), olympus.enable_x64(program.x64):
            warnings.simplefilter("ignore")
            try:
                yield lowered_text(program.function, *program.arguments)
            except (TypeError, ValueError, NotImplementedError):
                continue  # those that are to be refused


@pytest.mark.slow
def test_replayed_programs():
    texts = list(of_replay())
    printed = [modules.canonical_text(text) for text in texts]
    assert len(texts) > 50
    for text, own in zip(texts, printed, strict=True):
        if own is not None:
            assert own == mlir.canonical_text(text)
    assert sum(own is None for own in printed) <= len(texts) // 50


def twice(x):
    return olympus.jit(jnp.sin)(x) + olympus.jit(jnp.sin)(x + 1)


def made_again(x):
    """Values that are computed again on the way back."""
    layer = olympus.checkpoint(lambda x: jnp.tanh(jnp.sin(x) @ x.T) @ x)
    return olympus.grad(lambda x: layer(layer(x)).sum())(x)


def nested_loops(x):
    def inner(c, row):
        return lax.while_loop(lambda s: s.sum() < 3, lambda s: s + row, c), c.sum()

    return lax.fori_loop(0, 3, lambda _, s: lax.scan(inner, s, x)[0] * 2, x[0])


def branches(i, x):
    first = lax.switch(i, [jnp.sin, jnp.cos, lambda y: nested_loops(y) + y], x)
    return lax.cond(i > 1, lambda y: jnp.sort(y, 0), lambda y: jnp.cumsum(y, 1), first)


def convolved(x, w):
    return lax.conv_general_dilated(
        x, w, (2, 1), [(1, 0), (2, 2)], lhs_dilation=(1, 2), rhs_dilation=(2, 1)
    )


def constants(x):
    table = np.linspace(0, 3, 6, dtype=np.float32).reshape(2, 3)
    return (
        x * 0.1 + 1e-30,
        jnp.where(x > np.inf, jnp.nan, x),
        jnp.asarray(table) + jnp.asarray(np.float16([1.1, 2.2, 65504])),
        jnp.asarray(np.array([True, False, True])),
        jnp.asarray(np.arange(200, dtype=np.int32)),
        jnp.asarray(np.float32(1) + 2j),
        jnp.zeros((0, 3)),
        jnp.asarray(1 / 3, "bfloat16"),
    )


def drawn(seed):
    first, second = random.split(random.key(seed))
    return random.normal(first, (3, 2)), random.permutation(second, 5)


HAND = {
    "a result that is an argument": (lambda x: x, (V,)),
    "no results": (lambda x: None, (V,)),
    "functions called twice": (twice, (X,)),
    "loops in loops": (nested_loops, (X,)),
    "gradients of checkpoints": (made_again, (X,)),
    "branches": (branches, (1, X)),
    "a gradient through a loop": (
        olympus.grad(
            lambda x: lax.scan(lambda c, y: (jnp.tanh(c) * y, None), x[0], x)[0].sum()
        ),
        (X,),
    ),
    "reductions": (
        lambda x: (x.max(0), x.argmin(1), jnp.any(x > 0), nn.logsumexp(x)),
        (X,),
    ),
    "sorts": (lambda x: (jnp.sort(x, 0), jnp.argsort(x), jnp.median(x)), (X,)),
    "scatters": (
        lambda x, i: (x.at[i].add(2.0), x.at[:, i].set(x[i, 0], unique_indices=True)),
        (X, np.int32([2, 0])),
    ),
    "gathers": (
        lambda x, i: (x[i], jnp.take_along_axis(x, i[:, None], 1)),
        (X, [1, 2, 0]),
    ),
    "windows": (
        olympus.grad(
            lambda x: lax.reduce_window(
                x, -np.inf, lax.max, (2, 2), (1, 2), "SAME"
            ).sum()
        ),
        (X,),
    ),
    "convolutions": (
        olympus.grad(lambda x, w: convolved(x, w).sum(), (0, 1)),
        (np.ones((2, 3, 8, 8), "float32"), np.ones((4, 3, 3, 3), "float32")),
    ),
    "transforms": (lambda x: (jnp.fft.fft(x), jnp.fft.irfft2(x)), (X,)),
    "factors": (lambda x: jnp.linalg.svd(x @ x.T), (X,)),
    "systems": (lambda x: jnp.linalg.solve(x @ x.T + jnp.eye(3), x), (X,)),
    "constants": (constants, (V,)),
    "random numbers": (drawn, (np.uint32(3),)),
    "complex numbers": (lambda x: jnp.abs(jnp.exp(x * 1j)) + jnp.angle(x + 2j), (V,)),
    "slices": (lambda x, i: lax.dynamic_update_slice(x, x[:1, ::2], (i, i)), (X, 1)),
    "callbacks": (
        lambda x: olympus.pure_callback(
            np.sin, olympus.ShapeDtypeStruct((4,), "f4"), x
        ),
        (V,),
    ),
    "results with names of their own": (
        lambda x: (lax.top_k(x, 2), lax.top_k(-x, 1)[1], jnp.float32(2) * x),
        (V,),
    ),
    "effects": (lambda x: olympus.debug.print("x {x}", x=x, ordered=True), (V,)),
}


@pytest.mark.parametrize("name", HAND)
def test_programs_by_hand(name):
    function, arguments = HAND[name]
    arguments = [np.asarray(x) for x in arguments]
    check(lowered_text(function, *arguments))


def test_donated_arguments():
    printed = check(lowered_text(lambda x: x + 1, V, donate_argnums=0))
    assert "tf.aliasing_output = 0 : i32" in printed


def test_attributes_of_operations():
    def marked(x):
        with set_xla_metadata(a='q"\\ä', b="2"):
            y = lax.reduce_sum(jnp.sin(x) ** 2, (0,))
            return lax.while_loop(lambda s: s.sum() < 3, lambda s: s + y, y)

    printed = check(lowered_text(marked, X))
    assert r'{a = "q\22\\\C3\A4", b = "2"}' in printed


LISTS = [
    [1, 2.5, "x"],
    [1.0, -math.inf, "a, b = {"],
    [np.int64(-(2**63)), np.float64(1e300), np.float64(5e-324), np.float64(math.nan)],
    [np.int32(1), np.float32(0.1), np.uint64(2**64 - 1), np.int8(-1), np.bool_(True)],
    {"b": [2**62, {"c": [True, 1]}], "a": []},
]


@pytest.mark.parametrize("attribute", LISTS)
def test_attributes_of_foreign_calls(attribute):
    def call(x):
        shape = olympus.ShapeDtypeStruct((4,), "f4")
        return olympus.ffi.ffi_call("target", shape)(x, a=attribute)

    check(lowered_text(call, V))


NAMES = ["%0", "%arg0", '"', "\\", "{", "}, {", " : ", "->", "ä", "\n", "\x7f", "//"]
NAMES += ['loc("x")', "func.return", "call @f", " applies "]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_users(name):
    """In metadata, paths of results, scopes, functions, axes and targets."""

    def own(x):
        with set_xla_metadata(**{name: name, "b": "2"}):
            return jnp.sum(x) + lax.conv(
                x[None, None], x[None, None, :, :2], (1, 1), "SAME"
            )

    own.__name__ = name
    mesh = olympus.sharding.Mesh(np.asarray(olympus.devices()[:1]), (name,))

    def whole(x):
        shape = olympus.ShapeDtypeStruct((3, 4), "f4")
        y = olympus.ffi.ffi_call(name, shape)(x)
        placed = lax.with_sharding_constraint(
            y, NamedSharding(mesh, PartitionSpec(name))
        )
        with olympus.named_scope(name):
            return {name: olympus.jit(own)(placed), "b": [x]}

    whole.__name__ = name
    for function in (whole, own, lambda x: {name: x + 1}):
        text = lowered_text(function, X)
        printed = modules.canonical_text(text)
        assert printed is None or printed == mlir.canonical_text(text)


def test_symbolic_sizes(monkeypatch):
    texts = []
    write = lowering.Module.text

    def noted(module):
        texts.append(write(module))
        return texts[-1]

    monkeypatch.setattr(lowering.Module, "text", noted)
    shape = export.symbolic_shape("a, 4")
    f = olympus.jit(lambda x: jnp.cumsum(x, 0) + jnp.concatenate([x, x])[: x.shape[0]])
    exported = export.export(f)(olympus.ShapeDtypeStruct(shape, np.float32))
    assert any("stablehlo.dynamic_" in text for text in texts)
    called = export.deserialize(exported.serialize()).call
    texts.append(lowered_text(lambda x: called(x) + 1, X))  # MLIR printed the callee
    assert "func.func private @call_exported" in texts[-1]
    for text in texts:
        check(text)


@pytest.mark.eight_devices
def test_divided_programs():
    x = divide(np.ones((8, 4), np.float32), "x", "y")
    mesh, spec = x.sharding.mesh, x.sharding.spec

    def divided(x):
        return lax.with_sharding_constraint(jnp.sin(x) @ x.T, x_t)

    def of_part(x):
        return lax.psum(jnp.sin(x) + lax.axis_index("x"), "y"), lax.all_gather(x, "x")

    x_t = NamedSharding(mesh, PartitionSpec("x", None))
    assert "sdy.sharding_constraint" in check(lowered_text(divided, x))
    outs = (PartitionSpec("x"), PartitionSpec(None, None, "y"))
    mapped = olympus.shard_map(
        of_part, mesh=mesh, in_specs=spec, out_specs=outs, check_vma=False
    )
    printed = check(lowered_text(lambda x: mapped(x)[0] + 1, x))
    assert "sdy.manual_computation" in printed


def test_places_are_printed_by_mlir():
    lowered = olympus.jit(nested_loops).lower(X)
    expected = mlir.canonical_text(lowered._lowered.with_locations(), debug_info=True)
    assert lowered.as_text(debug_info=True) == expected


# -- forms -----------------------------------------------------------------------------

DTYPES = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
INTEGERS = ["bool", "int8", "uint8", "int32", "uint32", "int64", "uint64"]
SHAPES = [(), (1,), (2, 3), (10, 10), (101,), (3, 1, 2), (0, 2)]


HEAD = """\
module @m attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main(ARGUMENTS) -> () {
"""


def module_of(lines, arguments=""):
    head = HEAD.replace("ARGUMENTS", arguments)
    return head + "\n".join([*lines, "func.return", "}", "}", ""])


def numbers(dtype):
    """Numbers of all sizes, with those that have special forms."""
    rng = sampling.generator(f"printed {dtype}")
    if dtype == "bool":
        return rng.integers(0, 2, 200).astype(bool)
    if dtype == "bfloat16":
        return numbers("float16").astype(dtypes.bfloat16)
    real = np.dtype(
        dtype.replace("complex64", "float32").replace("complex128", "float64")
    )
    if dtype in INTEGERS:
        return rng.integers(0, 256, (200, real.itemsize), np.uint8).view(real)[:, 0]
    raw = rng.integers(0, 256, (200, real.itemsize), np.uint8).view(real)[:, 0]
    some = [0, -0.0, 1, 0.1, 1e5, 1e6, 123456, 1234567, 16777217, np.pi, 1e-5, 2**-11]
    ends = [np.inf, -np.inf, np.nan, 999999.5, 65504, 1e-7]
    values = np.concatenate([np.asarray(some + ends).astype(real), raw])
    if dtype.startswith("complex"):
        return (values[: len(values) // 2 * 2]).view(dtype)
    return values


@pytest.mark.parametrize("dtype", DTYPES + INTEGERS)
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_constants(dtype):
    values = numbers(dtype)
    kind = values.dtype
    texts = [types.dense(v, ShapedArray((), kind)) for v in values]
    for shape in SHAPES:
        array = np.resize(values, shape)
        texts.append(types.dense(array, ShapedArray(shape, kind)))
    lines = [f"%k{i} = stablehlo.constant {text}" for i, text in enumerate(texts)]
    check(module_of(lines))


UNKNOWN = [
    "%0:2 = stablehlo.new %arg0 : tensor<3xf32>, tensor<3xf32>",
    "%0 = stablehlo.add %arg0, %arg0 {a = #stablehlo.bounds<3>} : tensor<3xf32>",
    '%0 = "stablehlo.custom_call"(%arg0) {call_target_name = "f", a = "%0"} : '
    "(tensor<3xf32>) -> tensor<3xf32>",
    "%0 = stablehlo.constant dense<1.0> : tensor<3xf8E4M3FN>",
    '%0 = "stablehlo.new"(%arg0) : (tensor<3xf32>) -> tensor<3xf32>',
    "%0 = stablehlo.new %arg0 : tensor<3xf32>",
]


# MLIR prints them in another way, which is not known here.
ODD_ATTRIBUTES = [
    "a = unit",
    "a = 1 : i1",
    "a = 255 : i8",
    "a = 07 : i32",
    "a = 4294967295 : i32",
    "a = array<i1: 1>",
    "a = array<i8: 255>",
    "a = array<i64: 1,2>",
    "a = 0x3F800000 : f32",
    "a = 0x1 : f32",
    "a = dense<255> : tensor<i8>",
    "a = dense<[1,2]> : tensor<2xi64>",
    'a = "ä"',
    r'a = "\41"',
    'a = "x\ty"',
    '"ä" = 1 : i32',
]
_CALL = '%0 = "stablehlo.custom_call"(%arg0) {call_target_name = "f", ATTRIBUTE}'
UNKNOWN += [
    *[
        f"{_CALL.replace('ATTRIBUTE', a)} : (tensor<3xf32>) -> tensor<3xf32>"
        for a in ODD_ATTRIBUTES
    ],
    *[
        f"%0 = stablehlo.{name} %arg0 : (tensor<3xf32>) -> tensor<3xf32>"
        for name in ("abs", "convert", "imag", "real")
    ],
    *[
        f"%0 = stablehlo.add %arg0, %arg0{end}"
        for end in (" : tensor<3xf32> ", " : tensor< 3xf32>", "  : tensor<3xf32>")
    ],
    '%0 = stablehlo.add %arg0, %arg0 : tensor<3xf32> loc("x")',
    "%0 = stablehlo.add %arg0, %arg0 : tensor<3xf32> // sum",
    "%0 = stablehlo.dot_general %arg0, %arg0, batching_dims = [] x [], "
    "contracting_dims = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>",
    *[
        f"%k0 = stablehlo.constant dense<{value}"
        for value in (
            "15> : tensor<i4>",
            "255> : tensor<i8>",
            "-0> : tensor<i8>",
            "1> : tensor<i1>",
            "0x3F800000> : tensor<f32>",
            '"0x0000C07F0000C07F"> : tensor<2xf32>',
            '"0x0000C07F"> : tensor<2xf32>',
            '"0x0101"> : tensor<2xi1>',
            '"0x03"> : tensor<2xi1>',
            '"0x0000803f01020304"> : tensor<2xf32>',
        )
    ],
]


@pytest.mark.parametrize("line", UNKNOWN)
def test_unknown_forms_are_left_to_mlir(line):
    assert modules.canonical_text(module_of([line], "%arg0: tensor<3xf32>")) is None


@pytest.mark.parametrize("line", [line for line in UNKNOWN if "add" in line])
@pytest.mark.parametrize("before", ["%r = ", "%rr = "])  # at even and odd places
def test_unknown_forms_are_found_in_long_texts(line, before):
    usual = "stablehlo.negate %arg0 : tensor<3xf32>"
    lines = [before + usual] + [f"%{i} = {usual}" for i in range(200)]
    arguments = "%arg0: tensor<3xf32>"
    known = modules.canonical_text(module_of(lines, arguments))
    assert known.count("negate") == 201
    lines.insert(100, line.replace("%0 ", "%200 "))
    assert modules.canonical_text(module_of(lines, arguments)) is None


MESH = 'sdy.mesh @mesh = <["AXIS"=1]>\n'
OUTSIDE = [
    MESH.replace("AXIS", "ä") + module_of([]),
    module_of([]).replace("@m ", "@mä "),
    module_of([]).replace("@main", "@mäin"),
    module_of([], "%arg0: tensor<3xf32> {m.z = {b = {d = 1 : i32}}, m.a = 1 : i32}"),
    module_of([*["%0:2 = stablehlo.new({"] * 2000]),
]


@pytest.mark.parametrize("number", range(len(OUTSIDE)))
def test_unknown_forms_around_operations(number):
    head, _, first = OUTSIDE[number].partition("module")
    text = f"module{first}".replace("{\nfunc", f"{{\n{head}func", 1)
    assert modules.canonical_text(text) is None


def test_a_program_of_an_unknown_form_is_printed():
    lowered = olympus.jit(lambda x: x + jnp.asarray(0.1, "float8_e4m3fn")).lower(
        np.zeros(3, "float8_e4m3fn")
    )
    text = lowered._lowered.text
    assert modules.canonical_text(text) is None
    assert lowered.as_text() == mlir.canonical_text(text)


def test_printing_loads_no_parser():
    code = """
    import sys, numpy, olympus
    text = olympus.jit(lambda x: x * 2 + 1).lower(numpy.ones(3)).as_text()
    assert "%cst = stablehlo.constant dense<2.000000e+00>" in text
    print([name for name in sys.modules if name.startswith("jaxlib.mlir")])
    """
    assert fresh.run(code)[0].strip() == "[]"
