"""Files that are loaded when something in them is first used."""

from __future__ import annotations

import ast
import importlib
import sys
import textwrap
import threading

import pytest

from structure import source
from tests import fresh


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package `late_package` with files; its name is importable."""

    def write(**files):
        folder = tmp_path / "late_package"
        folder.mkdir(exist_ok=True)
        for name, text in files.items():
            (folder / f"{name}.py").write_text(textwrap.dedent(text))
        importlib.invalidate_caches()

    monkeypatch.syspath_prepend(str(tmp_path))
    write(
        __init__="""
            from olympus._src.foundation.late_files import load_late
            loads = []
            load_late(__name__, "late other broken")
        """,
        late="""
            import late_package
            late_package.loads.append(__name__)
            number = 3
            def read():
                return number
        """,
        other="from late_package import late\ndef get():\n    return late.number\n",
        broken="raise ImportError('no such thing')",
        user="from late_package import late\ndef get():\n    return late.number\n",
    )
    yield write
    for name in [n for n in sys.modules if n.partition(".")[0] == "late_package"]:
        del sys.modules[name]


def _import(name):
    return importlib.import_module(name)


def test_a_file_is_loaded_at_its_first_use_and_takes_the_place_of_what_stood_for_it(
    package,
):
    user = _import("late_package.user")
    assert _import("late_package").loads == []
    assert "late_package.late" not in sys.modules
    assert user.get() == 3
    assert user.late is sys.modules["late_package.late"] is _import("late_package").late
    user.late.number = 4
    assert user.get() == 4
    assert _import("late_package").loads == ["late_package.late"]


def test_late_files_use_each_other(package):
    assert _import("late_package").other.get() == 3


def test_what_is_set_or_deleted_is_so_in_the_file(package):
    late = _import("late_package").late
    late.number = 5
    assert sys.modules["late_package.late"].read() == 5
    del late.number
    assert not hasattr(sys.modules["late_package.late"], "number")
    assert "read" in dir(late)
    assert not hasattr(late, "absent")


def test_an_import_by_name_loads_the_file(package):
    late = _import("late_package.late")
    assert late.read() == 3
    assert _import("late_package").late is late


def test_a_name_that_is_no_file_is_no_attribute(package):
    assert not hasattr(_import("late_package"), "absent")
    with pytest.raises(ImportError, match="absent"):
        exec("from late_package import absent", {})


def test_a_file_that_cannot_be_loaded_says_so_at_each_use(package):
    broken = _import("late_package").broken
    for _ in range(2):
        with pytest.raises(ImportError, match="no such thing"):
            broken.number  # noqa: B018
    package(broken="number = 1")
    assert broken.number == 1


def test_threads_load_a_file_once(package):
    package(slow="import time\ntime.sleep(0.1)\nfrom late_package import late\n")
    package(
        __init__="""
            from olympus._src.foundation.late_files import load_late
            loads = []
            load_late(__name__, "late slow")
        """
    )
    slow, read = _import("late_package").slow, []
    start = threading.Barrier(8)

    def use():
        start.wait()
        read.append(slow.late.number)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read == [3] * 8
    assert _import("late_package").loads == ["late_package.late"]


# -- the files of olympus --------------------------------------------------------------


def _late_files():
    for init in sorted(source.SOURCE.rglob("__init__.py")):
        for node in ast.walk(source.tree(init)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "load_late":
                for file in ast.literal_eval(node.args[1]).split():
                    yield f"{source.module_name(init)}.{file}"


def test_late_files_exist_and_stay_out_of_an_import():
    late = sorted(_late_files())
    assert len(late) > 50
    for name in late:
        assert importlib.util.find_spec(name) is not None, name
    out, _ = fresh.run(f"""
        import sys
        import olympus, olympus.numpy
        print(*[name for name in {late!r} if name in sys.modules])
        """)
    assert out.split() == []


def test_late_files_load_in_a_trace_and_record_nothing():
    late = sorted(_late_files())
    out, _ = fresh.run(f"""
        import importlib, sys, warnings
        warnings.simplefilter("error")
        import olympus, olympus.numpy as onp

        def load_all(x):
            for name in {late!r}:
                importlib.import_module(name)
            return x

        with olympus.enable_x64(), olympus.debug_nans(), olympus.disable_jit():
            program = olympus.make_olympuspr(load_all)(onp.ones(3))
        assert not program.eqns, program
        before = set(sys.modules)
        x = onp.arange(6.0).reshape(2, 3)
        print(olympus.vmap(olympus.grad(lambda x: (x[::-1] * x).sum()))(x).sum())
        """)
    assert out == "30.0\n"


def test_programs_are_the_same_whenever_files_load():
    make = """
        import olympus, olympus.numpy as onp
        from olympus import lax

        def f(x):
            y = lax.fori_loop(0, 3, lambda i, c: c.at[i].add(onp.sort(c)[0]), x)
            return lax.cond(y.sum() > 0, onp.cumsum, onp.sin, y)[onp.argmax(x)]

        print(olympus.jit(olympus.grad(f)).lower(onp.arange(4.0)).as_text())
    """
    late = "import importlib\n" + "".join(f"import {n}\n" for n in _late_files())
    first, _ = fresh.run(textwrap.dedent(make))
    second, _ = fresh.run(late + textwrap.dedent(make))
    assert first == second
    assert "stablehlo" in first


def test_threads_run_their_first_programs_at_the_same_time():
    out, _ = fresh.run("""
        import threading
        import olympus, olympus.numpy as onp
        from olympus import lax

        x = onp.arange(6.0)
        programs = [
            lambda: olympus.grad(lambda x: (x * x).sum())(x)[1],
            lambda: lax.scan(lambda c, y: (c + y, c), 0.0, x)[0],
            lambda: lax.cond(True, onp.sin, onp.cos, 0.0),
            lambda: onp.sort(x)[::-1][0],
            lambda: olympus.vmap(lambda a: a + 1)(x)[-1],
            lambda: x.at[1].add(4.0)[1],
            lambda: onp.linalg.norm(x[:2]),
            lambda: olympus.jvp(onp.cumsum, (x,), (x,))[1][2],
        ]
        programs += programs
        start = threading.Barrier(len(programs))
        results = [None] * len(programs)

        def run(i):
            start.wait()
            results[i] = float(programs[i]())

        numbers = range(len(programs))
        threads = [threading.Thread(target=run, args=(i,)) for i in numbers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(results[:8], results[:8] == results[8:])
        """)
    assert out == "[2.0, 15.0, 0.0, 5.0, 6.0, 5.0, 1.0, 3.0] True\n"
