"""Reports: of one function, of a program, of many leaves, in several threads."""

from __future__ import annotations

import functools
import gc
import os
import subprocess
import sys
import textwrap
import threading
import weakref

import pytest

import olympus
import olympus.numpy as jnp
from olympus import export
from olympus._src.explanations import records, wording
from tests.explanations import harness
from tests.explanations.causes import ones


def test_the_records_of_a_function():
    @olympus.jit
    def f(x):
        return x * 2

    f(ones(3))
    f(ones(4))
    first, second = olympus.explain_retraces(f)
    assert first.cause == "first call"
    assert second.cause == "the shape of x changed from [3] to [4]"
    assert second.site.startswith(__file__)
    assert second.trace_s > 0
    assert second.compile_s > 0
    (change,) = second.changes
    assert change == ("x", "shape", "[3]", "[4]")
    text = repr(olympus.explain_retraces(f))
    assert "Pad to one shape" in text
    assert second.site in text


def test_the_records_of_a_line_that_makes_functions():
    def make(k):
        return lambda x: x * k

    for k in range(3):
        olympus.jit(make(k))(ones(3))
    causes = [r.cause for r in olympus.explain_retraces(make(7))]
    assert causes[0] == "first call"
    assert "variable k of its closure changed from 1 to 2" in causes[2]


def test_a_method():
    class Model:
        @olympus.jit
        def apply(self):
            return 1

    olympus.tree_util.register_pytree_node(
        Model, lambda m: ((), None), lambda aux, leaves: Model()
    )
    model = Model()
    model.apply()
    assert len(olympus.explain_retraces(model.apply)) == 1


def test_what_is_no_function():
    with pytest.raises(TypeError, match="explain_retraces: expected a function, got 3"):
        olympus.explain_retraces(3)


def test_all_functions_by_seconds():
    f = olympus.jit(lambda x: x + 1)
    f(ones(3)), f(ones(4))
    text = repr(olympus.explain_retraces())
    assert text.startswith("olympus: ")
    assert "1 time again" in text


def test_the_same_line_for_another_function_is_a_first_call():
    def f(x):
        return x * 2

    olympus.jit(f)(ones(3))
    grad = olympus.jit(olympus.grad(lambda x: f(x).sum()))
    grad(ones(3))
    assert olympus.explain_retraces(grad)[-1].cause == "first call"


def test_a_program_that_was_traced_before_is_not_a_miss():
    f = olympus.jit(lambda x: x * 2)
    f.trace(ones(3))
    f(ones(3))
    (record,) = olympus.explain_retraces(f)
    assert record.compile_s > 0


def test_five_lines_for_changes_of_many_kinds():
    f = olympus.jit(lambda p: p["w0"] * 2)
    f({f"w{i}": ones(2) for i in range(400)})
    f({f"w{i}": ones(2 + i % 9) for i in range(400)})
    cause = olympus.explain_retraces(f)[-1].cause
    assert len(cause.splitlines()) == 5
    assert cause.splitlines()[-1].endswith("more changes")


def test_paths_with_numbers_are_merged():
    paths = [f"p[{i}]['b{j}']" for i in range(20) for j in range(3)]
    assert wording.merge_paths(paths) == ["p[{0..19}]['b{0..2}']"]
    assert wording.merge_paths(["a1", "a2", "a7"]) == ["a{1..2,7}"]
    assert wording.merge_paths(["x", "y"]) == ["x", "y"]


def test_objects_are_shown_by_fields():
    class Config:
        def __init__(self):
            self.width = 3

    f = olympus.jit(lambda x, cfg: x, static_argnums=1)
    f(ones(3), Config()), f(ones(3), Config())
    record = olympus.explain_retraces(f)[-1]
    assert "Config(width=3)" in record.cause
    assert "__eq__ and __hash__ for Config" in record.cure
    assert " at 0x" not in repr(record)


def test_the_setting_logs_cause_cure_and_line(caplog):
    f = olympus.jit(lambda x: x + 1)
    f(ones(3))
    with olympus.explain_cache_misses(True), caplog.at_level("INFO", logger="olympus"):
        f(ones(5))
    assert "the shape of x changed from [3] to [5]" in caplog.text
    assert "Called at" in caplog.text
    assert "compile" in caplog.text


def test_eager_misses_are_logged_with_their_line(caplog):
    with olympus.explain_cache_misses(True), caplog.at_level("INFO", logger="olympus"):
        jnp.tanh(ones(21))
        jnp.tanh(ones(22))
    assert caplog.text.count("TRACING CACHE MISS") == 1
    assert "the shape of x changed from [21] to [22]" in caplog.text


@pytest.mark.slow
def test_memory_is_bounded():
    def make(k):
        return lambda x: x * k

    for k in range(3 * records._MAX_MISSES):
        olympus.jit(make(float(k)))(ones(3))
    assert len(olympus.explain_retraces(make(0))) == records._MAX_MISSES


def test_records_keep_nothing_alive():
    class Big:
        rate = 3

    big, table = Big(), ones(5)
    references = [weakref.ref(big), weakref.ref(table)]

    def run(big, table):
        f = olympus.jit(lambda x: x * big.rate + table[0])
        f(ones(3))

    run(big, table)
    del big, table
    olympus.clear_caches()
    gc.collect()
    assert [r() for r in references] == [None, None]


def test_explaining_after_the_objects_are_gone():
    f = olympus.jit(lambda x, cfg: x, static_argnums=1)
    for n in (1, 2):
        cfg = type("Config", (), {"__init__": lambda self, n: setattr(self, "n", n)})
        f(ones(3), cfg(n))
    f.clear_cache()
    gc.collect()
    record = olympus.explain_retraces(f)[-1]
    assert "Config" in record.cause


class Contrary:
    """Refuses whatever it is asked but its class."""

    def __getattribute__(self, name):
        if name == "__class__":
            return Contrary
        raise RuntimeError(name)

    def __hash__(self):
        return 1

    def __eq__(self, other):
        return self is other


class NoArray:
    """Has the attributes of an array, which raise."""

    rate = 2

    @property
    def shape(self):
        raise RuntimeError("shape")

    @property
    def dtype(self):
        raise RuntimeError("dtype")


def test_objects_that_refuse_to_be_looked_at():
    f = olympus.jit(lambda x, c: x, static_argnums=1)
    f(ones(3), Contrary()), f(ones(3), Contrary())
    assert "Contrary" in olympus.explain_retraces(f)[-1].cause

    def make(table):
        return olympus.jit(lambda x: x * table.rate)

    make(NoArray())(ones(3)), make(NoArray())(ones(3))
    text = repr(olympus.explain_retraces(make(NoArray())))
    assert "another NoArray" in text


def test_a_traced_value_that_a_function_captures():
    captured = {}
    inner = olympus.jit(lambda x: x * captured["y"])

    def outer(y):
        captured["y"] = y
        return inner(y)

    for _ in range(2):
        olympus.vmap(outer)(ones(3))
    record = olympus.explain_retraces(inner)[-1]
    assert record.trace_s > 0
    assert "held traced values of a function that has ended" in record.cause
    assert record.cure_kind == "argument"


def test_recursive_containers():
    loop = [1]
    loop.append(loop)

    def make():
        return olympus.jit(lambda x: x * loop[0])

    make()(ones(3)), make()(ones(3))
    assert "new function object" in olympus.explain_retraces(make())[-1].cause


def test_many_threads():
    def f(x, n):
        return x * n

    jitted = olympus.jit(f, static_argnames="n")
    errors = []

    def run(start):
        try:
            for i in range(8):
                jitted(ones(3), n=float(start + i))
                repr(olympus.explain_retraces(jitted))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(10 * i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    found = olympus.explain_retraces(jitted)
    assert len(found) == 48
    assert sum(r.cause == "first call" for r in found) == 1


PROGRAM = """
import olympus, numpy as np
f = olympus.jit(lambda x: x * 2)
for n in (3, 4, 5):
    f(np.ones(n, "float32"))
"""


@pytest.mark.slow
def test_the_summary_at_the_end_of_a_program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM))

    def run(**variables):
        import os

        return subprocess.run(
            [sys.executable, str(path)],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=True,
        ).stderr

    assert "olympus" not in run()
    text = run(OLYMPUS_REPORT="1")
    assert "2 times again" in text
    assert "the shape of x changed from [4] to [5]" in text
    assert "cure: x has had 3 shapes" in text
    assert f"called at {path}:5" in text


class Text(str):
    __slots__ = ()

    def __repr__(self):
        raise RuntimeError("no")


class Number(int):
    def __repr__(self):
        raise RuntimeError("no")


def test_values_of_subclasses_of_plain_ones_are_told_by_value():
    f = olympus.jit(lambda x, m: x * 2, static_argnames="m")
    for m in (Text("a"), Text("b"), Number(3), Number(4)):
        f(ones(3), m)
    _, second, _, fourth = olympus.explain_retraces(f)
    assert second.changes == (("m", "static value", "'a'", "'b'"),)
    assert fourth.changes == (("m", "static value", "3", "4"),)


def test_classes_that_raise_do_not_break_the_program():
    class Meta(type):
        @property
        def __name__(cls):
            raise RuntimeError("no name")

    with olympus.explain_cache_misses(True):
        for _ in range(2):

            class Own(metaclass=Meta):
                pass

            f = olympus.jit(lambda x, own=Own(): x * 2)  # noqa: B008
            f(ones(3))
    cause = olympus.explain_retraces(f)[-1].cause
    assert cause == "not known: comparing the calls raised RuntimeError: no name"


def test_static_values_are_not_kept_alive_by_notes():
    class Big:
        pass

    def use(big):
        f = olympus.jit(lambda x, big: x * 2, static_argnames="big")
        f(ones(3), big=big)
        f(ones(4), big)

    big = Big()
    reference = weakref.ref(big)
    use(big)
    del big
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize(
    ("last", "status"), [("os.kill(os.getpid(), 2)", -2), ("sys.exit(3)", 3)]
)
def test_a_report_leaves_the_exit_status_as_it_is(tmp_path, last, status):
    path = tmp_path / "program.py"
    path.write_text(
        "import os, signal, sys, olympus\n"
        # A shell has programs in the background ignore it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "f = olympus.jit(lambda x: x * 2)\n"
        "for n in (1, 2):\n"
        "    f(olympus.numpy.ones(n))\n"
        f"{last}\n"
    )
    env = {**os.environ, "OLYMPUS_REPORT": "1"}
    command = [sys.executable, str(path)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == status
    assert "1 time again" in done.stderr


def test_a_report_without_stderr_is_not_printed_elsewhere(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import sys, olympus\n"
        "f = olympus.jit(lambda x: x * 2)\n"
        "f(1), f(1.5)\n"
        "sys.stderr = None\n"
    )
    env = {**os.environ, "OLYMPUS_REPORT": "1"}
    command = [sys.executable, str(path)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("", "")


def test_mapped_over_devices_it_is_the_users_function():
    n = olympus.device_count()

    def misses():
        f = olympus.pmap(lambda x: x * 2)
        for k in (3, 4):
            f(ones(n, k))
        olympus.pmap(lambda y: y * 3)(ones(n, 4))

    first, second, other = harness.misses_of(misses)
    assert first.cause == "first call"
    assert f"{__file__}:" in first.function
    assert second.changes == (("x", "shape", f"[{n}, 3]", f"[{n}, 4]"),)
    assert other.cause == "first call"


def test_compiled_ahead_of_time_the_cost_is_known():
    f = olympus.jit(lambda x: x * 2.125)
    for k in (3, 4):
        f.lower(ones(k)).compile()
    first, second = olympus.explain_retraces(f)
    assert first.cause == "first call"
    assert second.changes == (("x", "shape", "[3]", "[4]"),)
    assert all(r.lower_s and r.compile_s for r in (first, second))


def test_exported_programs_that_are_read_again():
    exported = export.export(olympus.jit(lambda x: x * 2))(ones(3))
    data = exported.serialize()

    def misses():
        for _ in range(2):
            export.deserialize(data).call(ones(3))

    record = harness.misses_of(misses)[-1]
    assert [c[:2] for c in record.changes] == [("exported", "parameter")]
    assert record.cure_kind == "hoist"


def test_exported_programs_at_a_new_size():
    (n,) = export.symbolic_shape("n")
    struct = olympus.ShapeDtypeStruct((n,), "float32")
    exported = export.export(olympus.jit(lambda x: x * 2))(struct)
    f = olympus.jit(exported.call)
    f(ones(3))
    f(ones(4))
    assert olympus.explain_retraces(f)[-1].changes == (
        ("args[0]", "shape", "[3]", "[4]"),
    )


def test_a_decorated_method_has_the_names_of_its_arguments():
    def logged(fun):
        @functools.wraps(fun)
        def wrapper(*args, **kwargs):
            return fun(*args, **kwargs)

        return wrapper

    class Model:
        @logged
        def apply(self, x, y):
            return x * y

    f = olympus.jit(Model().apply)
    f(ones(3), ones(3))
    f(ones(3), ones(1))
    assert olympus.explain_retraces(f)[-1].changes == (("y", "shape", "[3]", "[1]"),)


def test_long_paths_are_shown_without_their_middle():
    def deep(x):
        for _ in range(100):
            x = [x]
        return x

    f = olympus.jit(lambda tree: 1.0)
    f(deep(ones(3)))
    f(deep(ones(4)))
    assert len(olympus.explain_retraces(f)[-1].cause) < 300
