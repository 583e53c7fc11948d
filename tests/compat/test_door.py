"""The door by which `import jax` gives olympus: how it opens and what it says."""

import os
import subprocess
import sys
import textwrap
import zipfile

import pytest

from tests import fresh

DOOR = [sys.executable, "-m", "olympus.compat.jax"]


def run_door(*words, cwd=None, status=0, **environment):
    """Standard output and error of `python -m olympus.compat.jax WORDS`."""
    done = subprocess.run(
        [*DOOR, *words],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=fresh.TIMEOUT_S,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


def write(folder, name, text):
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return str(path)


# -- installation ----------------------------------------------------------------------


def test_without_installation_jax_is_what_it_was():
    out, _ = fresh.run(
        """
        import importlib.util, sys, types
        import olympus, olympus.numpy as onp
        import olympus.compat.jax as door
        before = importlib.util.find_spec("jax")
        assert "jax" not in sys.modules and not door.is_installed()
        shown = str(olympus.make_olympuspr(onp.sin)(1.0)), repr(onp.ones(2))
        program = repr(type(olympus.make_olympuspr(onp.sin)(1.0)))
        door.install()
        import jax, jax.numpy
        assert jax.__name__ == "jax"
        assert "jaxpr" in repr(type(jax.make_jaxpr(jax.numpy.sin)(1.0))).lower()
        assert jax.make_jaxpr.__name__ == "make_jaxpr" and jax.Array.__module__ == "jax"
        door.install()
        assert sum(type(f).__module__.startswith("olympus") for f in sys.meta_path) == 1
        door.uninstall()
        door.uninstall()
        assert not [n for n in sys.modules if n == "jax" or n.startswith("jax.")]
        after = importlib.util.find_spec("jax")
        assert (before is None) == (after is None)
        assert (str(olympus.make_olympuspr(onp.sin)(1.0)), repr(onp.ones(2))) == shown
        assert repr(type(olympus.make_olympuspr(onp.sin)(1.0))) == program
        assert olympus.Array.__module__ == "olympus"
        assert olympus.make_olympuspr.__name__ == "make_olympuspr"
        try:
            olympus.jit(lambda x: bool(x))(1.0)
        except olympus.errors.TracerBoolConversionError as error:
            assert "olympus" in type(error).__module__
            assert "jax" not in str(error).lower()
        door.install()
        import jax
        print(jax.numpy.arange(3).sum(), hasattr(jax, "jit"))
        """
    )
    assert out == "3 True\n"


def test_it_refuses_where_another_jax_is_imported(tmp_path):
    write(tmp_path, "jax.py", "name = 'foreign'")
    out, _ = fresh.run(
        """
        import jax, olympus.compat.jax as door
        assert jax.name == "foreign"
        try:
            door.install()
        except RuntimeError as error:
            print(error)
        assert not door.is_installed() and jax.name == "foreign"
        """,
        PYTHONPATH=f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
    )
    assert out.startswith("olympus.compat.jax.install: nothing of jax may be imported")
    assert "jax.py" in out
    assert "install before the first import" in out


def test_threads_import_at_once():
    out, _ = fresh.run(
        """
        import importlib, threading
        import olympus.compat.jax as door
        door.install()
        names = ["jax", "jax.numpy", "jax.lax", "jax.scipy.special", "jax.nn",
                 "jax._src.core", "jax.experimental.sparse", "jax.tree_util"]
        seen, barrier = [], threading.Barrier(16)
        def load(name):
            barrier.wait()
            module = importlib.import_module(name)
            seen.append((name, id(module), len(dir(module)) > 5))
        threads = [threading.Thread(target=load, args=(n,)) for n in names * 2]
        [t.start() for t in threads]
        [t.join() for t in threads]
        assert len(seen) == 16 and len(set(seen)) == 8, seen
        assert all(there for *_, there in seen)
        import jax
        values = []
        def read():
            values.append(float(jax.jit(jax.numpy.sum)(jax.numpy.arange(3.0))))
        threads = [threading.Thread(target=read) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        print(values)
        """
    )
    assert out == "[3.0, 3.0, 3.0, 3.0]\n"


def test_looking_for_a_module_imports_nothing():
    """Python holds the lock of all imports meanwhile: threads could wait forever."""
    fresh.run(
        """
        import sys
        import olympus.compat.jax as door
        from olympus._src.compat import installation
        door.install()
        names = ["jax", "jax.numpy", "jax.lax", "jax.scipy.special", "jax.scipy.stats",
                 "jax.nn", "jax._src.core", "jax.experimental.sparse", "jax._src.util"]
        before = set(sys.modules)
        specs = [installation._finder.find_spec(name) for name in names]
        assert set(sys.modules) == before, set(sys.modules) - before
        for name, spec in zip(names, specs):
            module = __import__(name, fromlist=["x"])
            assert module.__file__ == spec.origin, name
            below = spec.submodule_search_locations
            assert getattr(module, "__path__", None) == below, name
        """
    )


# -- modules ---------------------------------------------------------------------------


def test_generators_are_where_jax_has_them():
    out, _ = run_door(
        "-c",
        textwrap.dedent(
            """
            import jax
            import jax._src.random.prng as module
            from jax._src.random import prng
            from jax._src.random.threefry2x32 import threefry_prng_impl
            assert module is prng
            key = prng.random_seed(3, impl=threefry_prng_impl)
            print(jax.random.key_data(key), prng.random_bits_p.name)
            """
        ),
    )
    assert out == "[0 3] random_bits\n"


def test_libraries_read_the_trace_that_is_current_and_classes_by_their_names():
    out, _ = run_door(
        "-c",
        textwrap.dedent(
            """
            import jax
            from jax._src import core
            outer = core.trace_ctx.trace
            seen = []
            jax.jit(lambda x: seen.append(core.trace_ctx.trace) or x)(1.0)
            assert core.trace_ctx.trace is outer and seen[0] is not outer
            print(type(seen[0]).__name__)
            (eqn,) = jax.make_jaxpr(jax.numpy.sin)(1.0).eqns
            print(type(eqn.ctx).__name__)
            kept = []
            try:
                with jax.checking_leaks():
                    jax.jit(lambda x: kept.append(x) or x)(1.0)
            except Exception as error:
                print(type(error).__module__, type(error).__name__, str(error)[:6])
            """
        ),
    )
    assert out.splitlines() == [
        "DynamicJaxprTrace",
        "JaxprEqnContext",
        "builtins Exception Leaked",
    ]


def test_values_are_of_the_modules_by_which_libraries_tell_them():
    out, _ = run_door(
        "-c",
        textwrap.dedent(
            """
            import copy, pickle, jax, jax.numpy as jnp
            x, seen = jnp.ones(2), []

            def f(y):
                seen.append(y)
                return (y * 2).sum()

            f(x), jax.jit(f)(x), jax.grad(f)(x), jax.vmap(f)(x), jax.new_ref(x)
            jax.random.split(jax.random.key(0)), jax.make_jaxpr(f)(x)
            seen += [jax.new_ref(x), jax.random.key(0), jax.jit(f)]
            print(*[type(value).__module__ for value in seen])
            assert pickle.loads(pickle.dumps(x)).tolist() == copy.copy(x).tolist()
            """
        ),
    )
    arrays = "jaxlib._jax"
    tracers = "jax._src.interpreters."
    assert out.split() == [
        arrays,
        *[tracers + name for name in ("partial_eval", "ad", "batching")],
        tracers + "partial_eval",
        "jax._src.core.refs",
        arrays,
        arrays,
    ]


def test_jaxlib_has_the_classes_of_arrays_and_jitted_functions():
    # qutip-jax, e3nn-jax and gpjax ask jaxlib for the class of jitted functions.
    out, _ = run_door(
        "-c",
        textwrap.dedent(
            """
            from jaxlib import _jax
            own = _jax.PjitFunction, _jax.ArrayImpl
            import jax, jax.numpy as jnp, olympus.compat.jax
            f = jax.jit(lambda x: x + 1)
            print(isinstance(f, _jax.PjitFunction), isinstance(jnp, _jax.PjitFunction))
            print(type(f(1)) is _jax.ArrayImpl)
            olympus.compat.jax.uninstall()
            print(_jax.PjitFunction in own, _jax.PjitFunction is type(f))
            """
        ),
    )
    assert out.split() == ["True", "False", "True", "False", "False"]


def test_functions_that_name_modules_are_traced_once_for_what_these_hold():
    out, _ = run_door(
        "-c",
        textwrap.dedent(
            """
            import jax, jax.numpy as jnp
            from olympus._src.foundation import config

            def body(c, x):
                return jnp.cosh(c) + jax.nn.softplus(x), jnp.linalg.norm(x)

            def layer(x):
                return jax.nn.gelu(x) + jax.scipy.special.erf(x)

            xs = jnp.arange(3.0)
            run = lambda: jax.lax.scan(body, 1.0, xs)[0]
            grad = lambda: jax.grad(lambda x: jax.checkpoint(layer)(x))(1.0)
            first, slope = run(), grad()
            with config.no_tracing(True):
                again = run()
            assert again == first
            traces = []
            real = jax.nn.gelu
            jax.nn.gelu = lambda x: traces.append(x) or real(x)
            assert grad() == slope and traces
            jax.nn.gelu = lambda x: 0 * x
            assert grad() != slope
            jax.nn.gelu = real
            assert grad() == slope
            jnp.cosh = jnp.sinh
            assert run() != first
            jax.added = 3.0

            def with_added(c, x):
                return c + jax.added, x

            assert jax.lax.scan(with_added, 0.0, xs)[0] == 9
            jax.added = 1.0
            assert jax.lax.scan(with_added, 0.0, xs)[0] == 3
            print("yes")
            """
        ),
    )
    assert out == "yes\n"


def test_modules_say_what_modules_say():
    out, _ = run_door(
        "-c",
        textwrap.dedent(
            """
            import importlib.metadata, importlib.util, inspect, os, pickle, sys, types
            import jax, jax.numpy as jnp
            from jax import lax
            names = "jax jax.numpy jax.lax jax.experimental.pjit jax._src.core"
            for name in names.split():
                module = importlib.import_module(name)
                assert inspect.ismodule(module) and sys.modules[name] is module
                assert pickle.loads(pickle.dumps(module)) is module
                assert module.__name__ == module.__spec__.name == name
                assert os.path.exists(module.__file__)
                assert module.__spec__.origin == module.__file__
                assert module.__loader__ is module.__spec__.loader
                below = module.__spec__.submodule_search_locations
                assert hasattr(module, "__path__") == (below is not None)
                assert module.__package__ in (name, name.rpartition(".")[0])
                assert importlib.util.find_spec(name) is module.__spec__
                assert repr(module).startswith(f"<module '{name}'")
            assert jnp is jax.numpy and lax is jax.lax and list(jax.__path__)
            assert jnp.ones(1).__array_namespace__() is jnp
            assert importlib.util.find_spec("jax.nothing") is None
            assert importlib.util.find_spec("jax._src.nothing") is None
            assert importlib.util.find_spec("jaxopt_absent") is None
            assert importlib.metadata.version("jax") == jax.__version__
            assert importlib.metadata.distribution("jax").metadata["Name"] == "jax"
            assert {"jit", "vmap", "Array"} <= set(dir(jax)) and "sin" in dir(jnp)
            assert inspect.ismodule(jax) and inspect.getdoc(jax) and jax.jit.__doc__
            assert importlib.reload(jnp) is jnp and jnp.sin(0.0) == 0
            from jax.numpy import *
            assert einsum is jnp.einsum
            numbers = tuple(map(int, jax.__version__.split(".")))
            assert numbers == jax.__version_info__ >= (0, 11, 1)
            print("said")
            """
        ),
    )
    assert out == "said\n"


def test_what_is_missing_is_named_with_the_page():
    out, _ = run_door(
        "-c",
        textwrap.dedent(
            """
            import importlib, jax
            def tell(run):
                try:
                    run()
                except Exception as error:
                    print(f"{type(error).__name__} {error.name}: {error}")
            tell(lambda: jax.nothing_here)
            tell(lambda: jax.numpy.nothing_here)
            tell(lambda: importlib.import_module("jax.nothing"))
            tell(lambda: importlib.import_module("jax.nothing.below"))
            tell(lambda: exec("from jax.lax import nothing_here"))
            tell(lambda: jax.jit(lambda x: jax.lax.nothing_here(x))(1.0))
            assert getattr(jax, "nothing_here", 3) == 3
            assert not hasattr(jax.numpy, "zzz")
            """
        ),
    )
    lines = out.splitlines()
    kinds = [line.split(":")[0] for line in lines]
    assert kinds == [
        "AttributeError nothing_here",
        "AttributeError nothing_here",
        "ModuleNotFoundError jax.nothing",
        "ModuleNotFoundError jax.nothing",
        "ImportError jax.lax",
        "AttributeError nothing_here",
    ]
    for line in [*lines[:4], lines[5]]:
        assert "olympus runs this program in place of JAX" in line
        assert "docs/jax_programs.md" in line
        assert "python -m olympus.compat.jax --report" in line
    assert "has no jax.numpy.nothing_here" in lines[1]
    assert "has no jax.lax.nothing_here" in lines[5]


def test_settings_have_jaxs_names():
    out, _ = run_door(
        "-c",
        textwrap.dedent(
            """
            import jax, olympus
            config, dtype = jax.config, jax.numpy.ones(1).dtype
            print(config.jax_enable_x64, olympus.config.olympus_enable_x64, dtype)
            precision = config.read("jax_default_matmul_precision")
            print(precision, config.jax_numpy_rank_promotion)
            jax.config.update("jax_enable_x64", False)
            print(jax.config.jax_enable_x64, jax.numpy.ones(1).dtype)
            jax.config.jax_debug_nans = True
            print(jax.config.jax_debug_nans, jax.config.values["jax_debug_nans"])
            jax.config.update("jax_of_other", 7)
            print(config.jax_of_other, config.values["jax_of_other"])
            for run in (
                lambda: config.jax_unset,
                lambda: config.read("jax_unset"),
                lambda: config.update("unset", 1),
                lambda: config.update("jax_enable_x46", True),
                lambda: config.update("jax_debug_nan", True),
            ):
                try:
                    run()
                except AttributeError as error:
                    _, _, near = str(error).partition("did you mean ")
                    print("refused", "unset" in str(error), *near.split("?")[:-1])
            """
        ),
        JAX_ENABLE_X64="1",
        JAX_DEFAULT_MATMUL_PRECISION="highest",
        JAX_NUMPY_RANK_PROMOTION="warn",
        OLYMPUS_NUMPY_RANK_PROMOTION="raise",
    )
    assert out.splitlines() == [
        "True True float64",
        "highest raise",
        "False float32",
        "True True",
        "7 7",
        *["refused True"] * 3,
        "refused False jax_enable_x64",
        "refused False jax_debug_nans",
    ]


# -- the command -----------------------------------------------------------------------

SCRIPT = """
import pickle, sys, threading
import jax
class Kept:
    def __init__(self, x):
        self.x = x
def double(x):
    return x * 2
kept = pickle.loads(pickle.dumps(Kept(jax.numpy.ones(2))))
print(__name__, sys.argv[1:], __file__ == sys.argv[0])
print(kept.x.sum(), type(kept) is Kept)
print(pickle.loads(pickle.dumps(double))(4), sys.modules["__main__"].double is double)
import beside
print(beside.value)
if len(sys.argv) > 3:
    sys.exit(int(sys.argv[3]))
"""


def test_scripts_run_as_python_runs_them(tmp_path):
    write(tmp_path, "beside.py", "value = 'from beside'")
    script = write(tmp_path, "script.py", SCRIPT)
    out, err = run_door(script, "-x", "--report")
    assert out.splitlines() == [
        "__main__ ['-x', '--report'] True",
        "2.0 True",
        "8 True",
        "from beside",
    ]
    assert err == ""
    run_door(script, "a", "b", "3", status=3)


@pytest.mark.slow
def test_modules_and_code_run_as_python_runs_them(tmp_path):
    (tmp_path / "pack").mkdir()
    write(tmp_path / "pack", "__init__.py", "")
    write(tmp_path / "pack", "near.py", "import jax\nvalue = jax.numpy.arange(3).sum()")
    module = """
    import sys
    from pack.near import value
    from . import near
    print(__name__, __package__, __spec__.name, sys.argv[1:], value)
    """
    write(tmp_path / "pack", "__main__.py", module)
    write(tmp_path / "pack", "other.py", module)
    out, _ = run_door("-m", "pack", "-m", "1", cwd=tmp_path)
    assert out == "__main__ pack pack.__main__ ['-m', '1'] 3\n"
    out, _ = run_door("-m", "pack.other", cwd=tmp_path)
    assert out == "__main__ pack pack.other [] 3\n"
    out, _ = run_door("-c", "import jax, sys; print(sys.argv, jax.numpy.ones(1))", "x")
    assert out == "['-c', 'x'] [1.]\n"


STARTED = {
    "a missing file": ["missing.py"],
    "a syntax error": ["wrong.py"],
    "a folder": ["app", "-q"],
    "an archive": ["app.zip", "-q"],
    "a folder of no program": ["pack"],
    "standard input": ["-", "-q"],
    "a name beside its option": ["-mpack.inner", "-q"],
    "a text beside its option": ["-cimport sys; print(sys.argv)", "-q"],
    "a missing module": ["-m", "missing"],
    "a missing package": ["-m", "missing.inner"],
    "a missing part": ["-m", "pack.missing"],
    "a package of no program": ["-m", "pack"],
}


@pytest.mark.slow
@pytest.mark.parametrize("words", STARTED.values(), ids=STARTED)
def test_programs_start_and_fail_to_start_as_in_python(tmp_path, words):
    say = "import sys; print(__name__, __package__, sys.argv, sys.path[0])"
    for folder in ("pack", "app"):
        (tmp_path / folder).mkdir()
    write(tmp_path, "wrong.py", "import jax\ndef f(:\n    pass\n")
    write(tmp_path / "pack", "__init__.py", "")
    write(tmp_path / "pack", "inner.py", say)
    write(tmp_path / "app", "__main__.py", say)
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.writestr("__main__.py", say)
    python, door = (
        subprocess.run(
            [*command, *words],
            input="import sys; print(sys.argv)",
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=fresh.TIMEOUT_S,
            check=False,
        )
        for command in ([sys.executable], DOOR)
    )
    assert (door.returncode, door.stdout) == (python.returncode, python.stdout)
    assert door.stderr == python.stderr


@pytest.mark.skipif(sys.version_info < (3, 13), reason="Python reads only files")
def test_tracebacks_show_the_text_of_the_command_line():
    _, err = run_door("-c", "import jax\njax.jit(lambda x: bool(x))(1)", status=1)
    assert "    jax.jit(lambda x: bool(x))(1)" in err


def test_warnings_name_settings_as_errors_do():
    _, err = run_door("-c", "import jax.numpy as jnp; jnp.ones(2).astype('float64')")
    assert "UserWarning: astype: dtype float64 is not available" in err
    assert "jax_enable_x64" in err
    assert "JAX_ENABLE_X64" in err
    assert "olympus_" not in err


def test_errors_leave_scripts_with_their_own_traceback(tmp_path):
    script = write(
        tmp_path,
        "fails.py",
        """
        import jax
        def inner(x):
            return bool(x)
        jax.jit(inner)(1.0)
        """,
    )
    _, err = run_door(script, status=1)
    assert 'fails.py", line 4, in inner' in err
    assert 'fails.py", line 5, in <module>' in err
    assert err.rstrip().splitlines()[0].startswith("Traceback")
    assert "runpy" not in err
    assert "command.py" not in err
    assert "jax.errors.TracerBoolConversionError: " in err
    assert "olympus.errors" not in err


@pytest.mark.slow
def test_the_command_ends_as_python_ends():
    _, err = run_door("-c", "raise SystemExit('said at the end')", status=1)
    assert err == "said at the end\n"
    _, err = run_door(status=2)
    assert "a script is required" in err


@pytest.mark.slow
def test_the_command_ends_as_python_ends_for_objects_in_cycles(tmp_path):
    path = tmp_path / "written"
    out, _ = run_door(
        "-c",
        f"""
import gc
import jax

assert gc.get_freeze_count() > 10000  # what olympus imported, none of the program's

class Writer:
    def __init__(self):
        self.itself = self
        self.file = open({str(path)!r}, "w")

    def __del__(self):
        print("deleted")

writer = Writer()
writer.file.write("all of it")
Writer().file.write("nothing of it")
""".strip(),
    )
    assert out == "deleted\ndeleted\n"
    assert path.read_text() == "all of it"


def test_reports_list_what_was_read_and_what_lacks():
    code = """
import jax
jax.numpy.sin(1.0)
jax._src.core
getattr(jax.lax, "nothing_here", None)
try:
    import jax.nothing
except ImportError:
    pass
"""
    out, err = run_door("--report", "-c", code)
    assert out == ""
    missing = err.split("missing: ")[1].split("\n\n")[0]
    assert missing.splitlines() == ["2", "  jax.lax.nothing_here", "  jax.nothing"]
    assert "  jax.numpy.sin\n" in err
    assert "private" in err
    _, err = run_door("--report", "-c", "import jax; jax.numpy.no_such", status=1)
    assert "jax.numpy.no_such" in err
    assert "names of JAX were read" in err


def test_the_plug_in_opens_the_door_before_tests_are_imported(tmp_path):
    write(tmp_path, "conftest.py", "import jax\nassert jax.__doc__")
    write(
        tmp_path,
        "test_own.py",
        """
        import jax, jax.numpy as jnp
        def test_sum():
            assert jax.jit(jnp.sum)(jnp.ones(3)) == 3 and "olympus" in jax.__file__
        """,
    )
    words = ["-p", "olympus.compat.jax_pytest", "-p", "no:cacheprovider", "-q", "."]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=fresh.TIMEOUT_S,
        check=False,
    )
    assert "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_started_processes_open_the_door_themselves(tmp_path, method):
    script = write(
        tmp_path,
        "starts.py",
        f"""
        import multiprocessing
        import olympus.compat.jax
        olympus.compat.jax.install()
        import jax
        def work(n):
            return float(jax.numpy.arange(n).sum())
        if __name__ == "__main__":
            with multiprocessing.get_context({method!r}).Pool(1) as pool:
                print(pool.map(work, [3, 4]))
        """,
    )
    out, _ = run_door(script)
    assert out == "[3.0, 6.0]\n"


def test_programs_by_the_keyword_of_jax():
    out, _ = fresh.run(
        """
        import olympus.compat.jax as door
        door.install()
        import jax
        program = jax.make_jaxpr(lambda: jax.numpy.ones(2) * 3)()
        (out,) = jax.core.eval_jaxpr(jaxpr=program.jaxpr, consts=program.consts)
        print(out, jax.core.eval_jaxpr.__name__)
        """
    )
    assert out.split() == ["[3.", "3.]", "eval_jaxpr"]


# -- what JAX wrote --------------------------------------------------------------------

# pickle.dumps([jnp.arange(3.0), jnp.asarray(1.0), jnp.ones(2, "bfloat16")], protocol=4)
# of JAX 0.12.0.1.
PICKLED = (
    "gASVWAEAAAAAAABdlCiMDmpheC5fc3JjLmFycmF5lIwSX3JlY29uc3RydWN0X2FycmF5lJOUKIwWbnVt"
    "cHkuX2NvcmUubXVsdGlhcnJheZSMDF9yZWNvbnN0cnVjdJSTlIwFbnVtcHmUjAduZGFycmF5lJOUSwCF"
    "lEMBYpSHlChLAUsDhZRoB4wFZHR5cGWUk5SMAmY0lImIh5RSlChLA4wBPJROTk5K/////0r/////SwB0"
    "lGKJQwwAAAAAAACAPwAAAECUdJR9lIwJd2Vha190eXBllIlzdJRSlGgDKGgGaAlLAIWUaAuHlChLASlo"
    "EolDBAAAgD+UdJR9lGgYiHN0lFKUaAMoaAZoCUsAhZRoC4eUKEsBSwKFlGgPjAltbF9kdHlwZXOUjAhi"
    "ZmxvYXQxNpSTlImIh5RSlChLA2gTTk5OSwJLAktAdJRiiUMEgD+AP5R0lH2UaBiJc3SUUpRlLg=="
)


def test_pickles_of_arrays_that_jax_wrote_are_read():
    code = f"""
        import base64, pickle
        import jax
        arrays = pickle.loads(base64.b64decode({PICKLED!r}))
        print(arrays, all(isinstance(x, jax.Array) for x in arrays))
        print(pickle.loads(pickle.dumps(arrays)))
    """
    out, _ = run_door("-c", textwrap.dedent(code))
    text = (
        "[Array([0., 1., 2.], dtype=float32), "
        "Array(1., dtype=float32, weak_type=True), Array([1, 1], dtype=bfloat16)]"
    )
    assert out.splitlines() == [f"{text} True", text]


def test_what_the_standard_of_arrays_asks_a_namespace():
    """Libraries of any array look for these names; without, they import another."""
    out, _ = fresh.run(
        """
        import olympus.compat.jax as door
        door.install()
        import jax.numpy as jnp
        print(jnp.__array_api_version__, hasattr(jnp, "__array_namespace_info__"))
        print(jnp.ones(1).__array_namespace__(api_version="2025.12") is jnp)
        print("__array_api_version__" in dir(jnp), hasattr(jnp, "__path_info__"))
        """
    )
    assert out == "2025.12 True\nTrue\nTrue False\n"


def test_errors_on_numbers_made_while_tracing_say_that_they_are_traced():
    out, _ = fresh.run(
        """
        import olympus.compat.jax as door
        door.install()
        import jax, jax.numpy as jnp
        kept = []
        @jax.jit
        def f(x):
            kept.append(jnp.asarray(2.5))
            return x if jnp.asarray(True) else -x
        add = jax.jit(lambda x: x + kept[0])
        for use in (lambda: f(1.0), lambda: kept[0] + 1, lambda: add(1.0)):
            try:
                use()
            except Exception as error:
                print(type(error).__name__, str(error).replace(chr(10), " "))
        """
    )
    lines = out.splitlines()
    assert lines[0].startswith("TracerBoolConversionError")
    assert "an array made of the number True while tracing" in lines[0]
    for line in lines[1:]:
        assert line.startswith("UnexpectedTracerError")
        assert "an array of the number 2.5 that the function f" in line
    assert len(lines) == 3
