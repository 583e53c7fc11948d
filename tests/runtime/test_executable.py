"""Compiling and running programs."""

import threading

import ml_dtypes
import numpy as np
import pytest
from programs import aval_of, call, double, load, loop, put

from olympus._src.core.avals import ShapedArray
from olympus._src.runtime import client, executable, placement
from olympus._src.runtime.array import ArrayImpl

F3 = ShapedArray((3,), np.dtype(np.float32))
WEAK = ShapedArray((), np.dtype(np.float32), True)


def f32(*values):
    return put(np.array(values, np.float32))


def test_one_result():
    (y,) = call(load(double((3,)), F3), f32(1, 2, 3))
    assert type(y) is ArrayImpl
    assert y.tolist() == [2, 4, 6]
    assert y.aval is F3
    assert not y.committed


def test_one_result_without_a_list():
    program = load(double((3,)), F3)
    y = program.execute_one([f32(1, 2, 3)._buffer])
    assert y.tolist() == [2, 4, 6]


def test_the_aval_says_more_than_the_program():
    (y,) = call(load(double(()), WEAK), put(np.float32(2)))
    assert y.weak_type
    assert repr(y) == "Array(4., dtype=float32, weak_type=True)"


def test_several_results():
    text = """
    module @both {
      func.func public @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>) {
        %y = stablehlo.negate %x : tensor<3xf32>
        %c = stablehlo.constant dense<4.0> : tensor<f32>
        return %y, %c : tensor<3xf32>, tensor<f32>
      }
    }"""
    y, c = call(load(text, F3, WEAK), f32(1, 2, 3))
    assert y.tolist() == [-1, -2, -3]
    assert (c.item(), c.weak_type, c.shape) == (4, True, ())


def test_no_results():
    text = """
    module @nothing {
      func.func public @main(%x: tensor<3xf32>) { return }
    }"""
    assert call(load(text), f32(1, 2, 3)) == []
    executable.wait_for_side_effects()


def test_no_arguments():
    text = """
    module @constant {
      func.func public @main() -> tensor<f32> {
        %c = stablehlo.constant dense<4.0> : tensor<f32>
        return %c : tensor<f32>
      }
    }"""
    assert call(load(text, WEAK))[0].item() == 4


@pytest.mark.parametrize(
    ("name", "element"),
    [("bfloat16", "bf16"), ("int4", "i4"), ("float8_e4m3fn", "f8E4M3FN")],
)
def test_results_of_small_dtypes(name, element):
    x = np.array([1, 2, 3], getattr(ml_dtypes, name))
    (y,) = call(load(double((3,), element), aval_of(x)), put(x))
    assert np.asarray(y).dtype == x.dtype
    assert np.asarray(y).astype(np.float32).tolist() == [2, 4, 6]


def test_results_are_asynchronous_and_awaited():
    n = 1 << 20
    body = f"%y = stablehlo.sine %x : tensor<{n}xf32>"
    x = put(np.full(n, 0.5, np.float32))
    (y,) = call(load(loop(n, body, steps=50), aval_of(x)), x)
    assert y.block_until_ready() is y
    assert y.is_ready()
    assert 0 < y.item(0) < 0.5


def test_bytecode_compiles_too():
    from olympus._src.runtime import mlir

    program = load(mlir.bytecode(double((3,))), F3)
    assert call(program, f32(1, 2, 3))[0].tolist() == [2, 4, 6]


# -- donation --------------------------------------------------------------------------


def test_a_donated_buffer_is_reused_and_gone():
    x = put(np.ones(50_000, np.float32))  # kernels without the runtime copy less
    pointer = x.unsafe_buffer_pointer()
    program = load(double((50_000,), donate=True), x.aval, donated=[0])
    (y,) = call(program, x)
    assert y.unsafe_buffer_pointer() == pointer
    assert x.is_deleted()
    with pytest.raises(RuntimeError, match="has been deleted"):
        np.asarray(x)


def test_a_donated_array_that_was_read_is_gone_too():
    x = put(np.ones(1000, np.float32))
    view = np.asarray(x)
    program = load(double((1000,), donate=True), x.aval, donated=[0])
    y = program.execute([x._buffer])[0]
    assert x.is_deleted()
    assert y.item(0) == 2
    assert view[0] == 1  # the user's view keeps its memory


def test_running_on_a_deleted_array():
    x = f32(1, 2, 3)
    program = load(double((3,)), F3)
    x.delete()
    with pytest.raises(RuntimeError, match=r"has been deleted with shape=float32\[3\]"):
        call(program, x)


# -- options and errors ----------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"xla_backend_optimization_level": 0},
        {"xla_cpu_enable_fast_math": True},
        {"xla_embed_ir_in_constants": True, "xla_backend_optimization_level": 1},
        {"optimization_level": 1},
        {"xla_backend_optimization_level": np.int64(1)},
    ],
    ids=lambda o: "+".join(o),
)
def test_known_options(options):
    if "xla_embed_ir_in_constants" in options:
        options = {k: v for k, v in options.items() if "embed" not in k}
    loaded = executable.compile(double((3,)), options=tuple(options.items()))
    program = executable.Executable(loaded, [F3])
    assert call(program, f32(1, 2, 3))[0].tolist() == [2, 4, 6]


@pytest.mark.parametrize(
    ("name", "value"),
    [("xla_no_such_option", 1), ("xla_backend_optimization_level", "high")],
)
def test_wrong_options(name, value):
    with pytest.raises(
        ValueError, match=f"compiler_options: '{name}' must be an option"
    ):
        executable.compile(double((3,)), options=[(name, value)])


def test_an_option_of_a_strange_type():
    with pytest.raises(ValueError, match="must be a string, a bool or a number, got"):
        executable.compile(double((3,)), options=[("xla_cpu_enable_fast_math", [1])])


def test_a_module_that_is_none():
    with pytest.raises(RuntimeError, match=r"unknown|main function|parse"):
        executable.compile("module @m { nonsense }")


# -- what a program tells --------------------------------------------------------------


def test_analyses():
    program = load(double((3,)), F3)
    assert program.cost_analysis()["flops"] == 3
    assert program.memory_analysis().output_size_in_bytes == 12
    assert "HloModule" in program.hlo_text()
    assert program.devices == [client.default_device()]
    assert program.sharding == f32(1).sharding


def test_serialized_programs_run():
    data = load(double((3,)), F3).serialize()
    program = executable.Executable(executable.deserialize(data), [F3])
    assert call(program, f32(1, 2, 3))[0].tolist() == [2, 4, 6]


def test_a_program_that_was_loaded_serializes_again():
    # jaxlib writes a loaded program without its code; that then computes nothing.
    text = loop(3, "%y = stablehlo.sine %x : tensor<3xf32>", steps=1)
    data = load(text, F3).serialize()
    once = executable.Executable(executable.deserialize(data), [F3])
    twice = executable.Executable(executable.deserialize(once.serialize()), [F3])
    np.testing.assert_allclose(call(twice, f32(1, 2, 3))[0], np.sin([1, 2, 3]), 1e-6)


def test_damaged_bytes():
    data = load(double((3,)), F3).serialize()
    for wrong in (b"", b"nonsense", data[: len(data) // 2]):
        with pytest.raises(RuntimeError):
            executable.deserialize(wrong)


def test_committed_results_follow():
    device = client.devices("cpu")[0]
    program = load(double((3,)), F3, device=device, committed=True)
    (y,) = call(program, f32(1, 2, 3))
    assert y.committed_device == device


# -- threads and memory ----------------------------------------------------------------


def test_one_program_in_many_threads():
    program = load(double((3,)), F3)
    wrong = []

    def work(k):
        x = f32(k, k, k)
        results = [call(program, x)[0].tolist() for _ in range(300)]
        wrong.extend(r for r in results if r != [2 * k] * 3)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_compiling_in_many_threads():
    found = []

    def work(k):
        program = load(double((k,)), ShapedArray((k,), np.dtype(np.float32)))
        found.append(call(program, put(np.ones(k, np.float32)))[0].tolist() == [2] * k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 9)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [True] * 8


def test_results_are_freed():
    program = load(double((1 << 16,)), ShapedArray((1 << 16,), np.dtype(np.float32)))
    x = put(np.ones(1 << 16, np.float32))
    before = len(client.client().live_arrays())
    for _ in range(100):
        placement.get(call(program, x)[0])
    assert len(client.client().live_arrays()) <= before + 2


def test_lapack_is_registered_by_the_program_that_calls_it():
    text = """
    module @cholesky {
      func.func public @main(%x: tensor<2x2xf64>) -> tensor<2x2xf64> {
        %0:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%x) {
          mhlo.backend_config = {uplo = 76 : ui8},
          operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
          result_layouts = [dense<[0, 1]> : tensor<2xindex>,
                            dense<> : tensor<0xindex>],
          output_operand_aliases = [#stablehlo.output_operand_alias<
            output_tuple_indices = [0], operand_index = 0,
            operand_tuple_indices = []>]
        } : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)
        return %0#0 : tensor<2x2xf64>
      }
    }"""
    x = np.array([[4.0, 2.0], [2.0, 3.0]])
    (y,) = call(load(text, aval_of(x)), put(x))
    np.testing.assert_allclose(np.tril(np.asarray(y)), np.linalg.cholesky(x))
