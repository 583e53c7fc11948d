"""Programs that call Python."""

import textwrap
import threading

import fresh
import ml_dtypes
import numpy as np
import pytest
from programs import aval_of, call, double, load, loop, put

from olympus._src.core.avals import ShapedArray
from olympus._src.runtime import callback, executable

F3 = ShapedArray((3,), np.dtype(np.float32))


def calling(n=3, element="f32", has_side_effect=False):
    """Module of one callback of one vector."""
    kind = f"tensor<{n}x{element}>"
    attributes = callback.attributes(0, has_side_effect=has_side_effect)
    return f"""
    module @calling {{
      func.func public @main(%x: {kind}) -> {kind} {{
        %y = stablehlo.custom_call @{callback.target("cpu")}(%x) {{ {attributes} }}
          : ({kind}) -> {kind}
        return %y : {kind}
      }}
    }}"""


def load_calling(fun, n=3, dtype=np.float32, element="f32"):
    wrapped = callback.HostCall(fun, [((n,), dtype)])
    aval = ShapedArray((n,), np.dtype(dtype))
    return load(calling(n, element), aval, callbacks=[wrapped])


def ones(n=3):
    return put(np.ones(n, np.float32))


def test_a_callback_computes():
    seen = []

    def fun(x):
        seen.append(x)
        return x * 2 + 1

    program = load_calling(fun)
    assert call(program, ones())[0].tolist() == [3, 3, 3]
    assert type(seen[0]) is np.ndarray
    assert not seen[0].flags.writeable


def test_operands_may_be_kept():
    kept = []

    def fun(x):
        kept.append(x)
        return x

    program = load_calling(fun, 1000)
    for i in range(20):
        call(program, put(np.full(1000, i, np.float32)))
    assert [x[0] for x in kept] == list(range(20))
    assert all((x == x[0]).all() for x in kept)


def test_small_dtypes():
    program = load_calling(lambda x: x + x, 3, ml_dtypes.bfloat16, "bf16")
    (y,) = call(program, put(np.ones(3, ml_dtypes.bfloat16)))
    assert np.asarray(y).astype(np.float32).tolist() == [2, 2, 2]


def test_results_that_python_makes():
    assert call(load_calling(lambda x: [[1, 2, 3]]), ones())[0].tolist() == [1, 2, 3]
    strided = np.arange(6, dtype=np.float32)[::2]
    assert call(load_calling(lambda x: strided), ones())[0].tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (np.ones(4, np.float32), r"must have shape \(3,\), got \(4,\)"),
        (np.ones(3, np.float64), "must have dtype float32, got float64"),
        ((np.ones(3, np.float32),) * 2, "must return 1 arrays, got 2"),
        (None, r"must have shape \(3,\), got \(\)"),
    ],
    ids=["shape", "dtype", "number", "none"],
)
def test_wrong_results_are_refused(result, message):
    with pytest.raises(RuntimeError, match="callback") as caught:
        call(load_calling(lambda x: result), ones())
    assert isinstance(caught.value.__cause__, TypeError)
    with pytest.raises(TypeError, match=message):
        raise caught.value.__cause__


def test_the_users_exception_is_the_cause():
    class Boom(Exception):
        pass

    boom = Boom("in the callback")

    def fun(x):
        raise boom

    with pytest.raises(RuntimeError, match="Boom: in the callback") as caught:
        call(load_calling(fun), ones())
    assert caught.value.__cause__ is boom


def test_a_failed_callback_harms_no_later_call():
    answers = iter([ValueError("first"), None])

    def fun(x):
        error = next(answers)
        if error:
            raise error
        return x

    program = load_calling(fun)
    with pytest.raises(RuntimeError, match="first"):
        call(program, ones())
    assert call(program, ones())[0].tolist() == [1, 1, 1]


def test_side_effects_run_without_results():
    seen = []
    attributes = callback.attributes(0, has_side_effect=True)
    text = f"""
    module @effect {{
      func.func public @main(%x: tensor<3xf32>) {{
        stablehlo.custom_call @{callback.target("cpu")}(%x) {{ {attributes} }}
          : (tensor<3xf32>) -> ()
        return
      }}
    }}"""
    program = load(
        text, callbacks=[callback.HostCall(lambda x: seen.append(x.sum()), [])]
    )
    assert call(program, ones()) == []
    executable.wait_for_side_effects()
    assert seen == [3]


def test_tokens_pass_through():
    seen = []
    wrapped = callback.HostCall(lambda x: seen.append(x.tolist()), [], tokens=1)
    token = np.zeros(0, np.bool_)
    (out,) = wrapped(token, np.ones(2))
    assert out is token
    assert seen == [[1, 1]]


def test_two_callbacks_by_index():
    kind = "tensor<3xf32>"
    target = callback.target("cpu")
    text = f"""
    module @two {{
      func.func public @main(%x: {kind}) -> {kind} {{
        %y = stablehlo.custom_call @{target}(%x) {{ {callback.attributes(1)} }}
          : ({kind}) -> {kind}
        %z = stablehlo.custom_call @{target}(%y) {{ {callback.attributes(0)} }}
          : ({kind}) -> {kind}
        return %z : {kind}
      }}
    }}"""
    result = [((3,), np.float32)]
    callbacks = [
        callback.HostCall(lambda x: x * 10, result),
        callback.HostCall(lambda x: x + 1, result),
    ]
    assert call(load(text, F3, callbacks=callbacks), ones())[0].tolist() == [20] * 3


def test_donation_to_a_program_with_callbacks():
    wrapped = callback.HostCall(lambda x: x + 1, [((3,), np.float32)])
    program = load(calling(), F3, callbacks=[wrapped], donated=[0])
    x = ones()
    assert call(program, x)[0].tolist() == [2, 2, 2]
    assert x.is_deleted()
    with pytest.raises(RuntimeError, match="has been deleted"):
        call(program, x)


def test_other_platforms():
    assert callback.target("cuda") == "xla_ffi_python_gpu_callback"
    with pytest.raises(NotImplementedError, match="platform must be one of cpu"):
        callback.target("abacus")


# -- callbacks that compute ------------------------------------------------------------


def looping(inner, n):
    """A program whose callback runs the program `inner` in each turn of a loop."""
    attributes = callback.attributes(0)
    body = (
        f"%y = stablehlo.custom_call @{callback.target('cpu')}(%x) {{ {attributes} }}"
        f" : (tensor<{n}xf32>) -> tensor<{n}xf32>"
    )

    def fun(x):
        return np.asarray(call(inner, put(x))[0])

    wrapped = callback.HostCall(fun, [((n,), np.float32)])
    aval = ShapedArray((n,), np.dtype(np.float32))
    return load(loop(n, body), aval, callbacks=[wrapped])


@pytest.mark.slow
def test_ten_thousand_calls_of_callbacks_that_compute():
    program = looping(load(double((3,)), F3), 3)
    x = ones()
    for _ in range(10_000 // 3):
        outs = call(program, x)
    assert outs[0].tolist() == [8, 8, 8]


def run_watched(code):
    """The output of a program about `inner`, which doubles `n` numbers such as `x`.

    It runs in a process of its own: a dead-lock cannot be interrupted, only timed out.
    """
    start = """
import faulthandler, sys, threading
sys.path[:0] = ["tests", "."]
faulthandler.dump_traceback_later(60, exit=True)
import numpy as np
import programs
from runtime.test_callback import load_calling, looping

n = 200_000
x = programs.put(np.ones(n, np.float32))
inner = programs.load(programs.double((n,)), x.aval)
"""
    return fresh.run(start + textwrap.dedent(code))[0]


@pytest.mark.slow
def test_threads_of_nested_callbacks_do_not_stand_still():
    out = run_watched("""
        program = looping(looping(inner, n), n)
        results = []

        def work():
            for _ in range(2):
                results.append(programs.call(program, x)[0].item(0))

        threads = [threading.Thread(target=work) for _ in range(6)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        print(results == [2.0 ** 9] * 12)
    """)
    assert out.strip() == "True"


@pytest.mark.slow
def test_programs_that_wait_for_a_callback_leave_room_for_it():
    out = run_watched("""
        program = looping(inner, n)
        out = programs.call(program, x)[0]
        for _ in range(100):  # more than a client runs at a time
            out = programs.call(inner, programs.call(program, x)[0])[0]
        print(out.item(0))
    """)
    assert out.strip() == "16.0"


def test_levels_of_threads_are_their_own():
    depths = []

    def fun(x):
        thread = threading.Thread(
            target=lambda: depths.append(call(load(double((3,)), F3), ones()))
        )
        thread.start()
        thread.join()
        return x

    call(load_calling(fun), ones())
    assert depths[0][0].tolist() == [2, 2, 2]


def test_weak_types_of_results():
    wrapped = callback.HostCall(lambda x: x, [((3,), np.float32)])
    aval = aval_of(np.ones(3, np.float32), weak_type=True)
    program = load(calling(), aval, callbacks=[wrapped])
    assert call(program, ones())[0].weak_type


@pytest.mark.slow
def test_a_callback_waits_for_a_thread_that_calls_python():
    out = run_watched("""
        loops = looping(inner, n)

        def in_a_thread(value):
            results = []
            arguments = programs.put(value)
            def work():
                results.append(programs.call(loops, arguments)[0])
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            return np.asarray(results[0])

        outer = load_calling(in_a_thread, n)
        for _ in range(20):
            pending = programs.call(inner, programs.call(inner, x)[0])[0]
            out = programs.call(inner, programs.call(outer, pending)[0])[0]
        print(out.item(0))
    """)
    assert out.strip() == "64.0"
