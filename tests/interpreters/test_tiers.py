"""Quick builds, and the full ones that take their place."""

import logging
import threading

import fresh
import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus._src.foundation import compiler_settings
from olympus._src.interpreters import tiers
from olympus._src.runtime import compile_cache, executable

X = np.linspace(0.1, 1.0, 7, dtype=np.float32)


def chain(x):
    for i in range(15):
        x = jnp.sin(x) * (1.0 + 0.01 * i) + jnp.exp(-x) / (1.5 + x)
    return x


class Compiler:
    """Stands before the compiler: counts builds, and may hold or refuse full ones."""

    def __init__(self, compile):
        self._compile = compile
        self.quick = self.full = 0
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.error = None

    def __call__(self, text, *, options=(), **others):
        if dict(options).get("xla_backend_optimization_level") == 0:
            self.quick += 1
        else:
            self.full += 1
            assert self.may_go_on.wait(60)
            if self.error is not None:
                raise self.error
        return self._compile(text, options=options, **others)


@pytest.fixture
def compiler(monkeypatch):
    found = Compiler(executable.compile)
    monkeypatch.setattr(executable, "compile", found)
    upgrades = []
    start = tiers.Upgrade.start

    def noting(self, adopt):
        upgrades.append(self)
        start(self, adopt)

    def wait():
        assert upgrades
        assert all(u.done.wait(60) for u in upgrades)

    monkeypatch.setattr(tiers.Upgrade, "start", noting)
    found.upgrades, found.wait = upgrades, wait
    olympus.clear_caches()
    yield found
    found.may_go_on.set()


def in_tier(tier, f=chain, **options):
    return olympus.jit(f, compiler_options={"tier": tier}, **options)


def test_a_call_does_not_wait_for_the_full_build(compiler):
    compiler.may_go_on.clear()
    f = in_tier("auto")
    first = f(X)
    again = f(X)
    assert compiler.quick == 1
    (entry,) = f._current_state().entries.values()
    quick = entry.compiled
    compiler.may_go_on.set()
    compiler.wait()
    assert (compiler.quick, compiler.full) == (1, 1)
    assert entry.compiled is not quick
    # Optimised or not, the results agree up to rounding; the documentation says so.
    for found in (again, f(X), olympus.jit(lambda x: chain(x))(X)):
        np.testing.assert_allclose(found, first, rtol=1e-5)
    assert f.cache_info().size == 1


def test_the_full_build_is_the_one_without_tiers(compiler):
    f = in_tier("auto")
    f(X)
    compiler.wait()
    assert np.array_equal(f(X), olympus.jit(lambda x: chain(x))(X))


@pytest.mark.slow
@pytest.mark.parametrize("tier", tiers.TIERS)
def test_the_setting_is_for_functions_that_do_not_say(compiler, tier):
    with compiler_settings.compiler_tier(tier):
        olympus.jit(lambda x: chain(x) + 1)(X)
        in_tier("full", lambda x: chain(x) + 2)(X)
    if tier == "auto":
        compiler.wait()
    assert compiler.quick == (tier != "full")
    assert compiler.full == (1 if tier == "quick" else 2)


def test_an_error_of_the_full_build_is_told_and_the_quick_one_stays(compiler, caplog):
    compiler.error = RuntimeError("no memory for that")
    f = in_tier("auto")
    with caplog.at_level(logging.WARNING, "olympus"):
        first = f(X)
        compiler.wait()
    assert np.array_equal(f(X), first)
    found = [r.getMessage() for r in caplog.records if "no memory" in r.getMessage()]
    assert found == [
        "jit_chain keeps its quick build, since the full one failed: no memory for that"
    ]


def test_nothing_is_built_for_a_program_that_was_forgotten(compiler):
    compiler.may_go_on.clear()
    f, g = in_tier("auto"), in_tier("auto", lambda x: chain(x) * 2)
    f(X)
    g(X)  # waits for f's full build
    g.clear_cache()
    del g
    compiler.may_go_on.set()
    compiler.wait()
    assert (compiler.quick, compiler.full) == (2, 1)


def test_programs_for_which_a_quick_build_is_nothing(compiler):
    def small(x):
        return x + 1

    def printing(x):
        olympus.debug.callback(lambda v: None, x)
        return chain(x)

    for f in (small, printing):
        in_tier("auto", f)(X)
        in_tier("quick", f)(X)
    olympus.effects_barrier()
    assert compiler.quick == 0
    assert not compiler.upgrades


def test_stages_compile_fully_unless_asked(compiler):
    lowered = in_tier("auto").lower(X)
    lowered.compile()
    assert (compiler.quick, compiler.full) == (0, 1)
    olympus.clear_caches()
    compiled = lowered.compile({"tier": "auto"})
    first = compiled(X)
    compiler.wait()
    assert (compiler.quick, compiler.full) == (1, 2)
    np.testing.assert_allclose(compiled(X), first, rtol=1e-5)


def test_a_tier_that_does_not_exist():
    with pytest.raises(ValueError, match=r"compiler_options\['tier'\] must be one of"):
        in_tier("fast")


def test_checks_of_numbers_outlive_the_block_they_were_asked_in(compiler):
    f = in_tier("auto", lambda x: jnp.log(chain(x)))
    with olympus.debug_nans(True):
        f(X)
        compiler.wait()
        with pytest.raises(FloatingPointError, match="nan"):
            f(np.full(7, np.nan, np.float32))


def test_donated_arguments(compiler):
    f = in_tier("auto", donate_argnums=0)
    expected = f(jnp.array(X))
    compiler.wait()
    x = jnp.array(X)
    np.testing.assert_allclose(f(x), expected, rtol=1e-5)
    assert x.is_deleted()


def test_a_full_build_on_disk_makes_the_quick_one_needless(compiler, tmp_path):
    with (
        compiler_settings.enable_compilation_cache(True),
        compiler_settings.compilation_cache_dir(str(tmp_path)),
        compiler_settings.persistent_cache_min_compile_time_secs(0.0),
    ):
        in_tier("full")(X)
        olympus.clear_caches()
        compile_cache.reset()
        in_tier("auto")(X)
    assert compiler.quick == 0
    assert not compiler.upgrades


def test_listeners_are_told(compiler):
    seen = []
    listener = lambda event, **labels: seen.append((event, labels))  # noqa: E731
    olympus.monitoring.register_event_listener(listener)
    try:
        in_tier("auto")(X)
        compiler.wait()
    finally:
        olympus.monitoring.unregister_event_listener(listener)
    found = [labels for event, labels in seen if event.endswith("full_build_adopted")]
    assert found == [{"fun_name": "jit_chain"}]


@pytest.mark.slow
def test_a_process_ends_while_a_full_build_is_under_way():
    code = """
import os
import olympus, olympus.numpy as jnp
def f(x):
    for i in range(300):
        x = jnp.sin(x) * 1.01 + jnp.exp(-x) / (1.5 + i + x)
    return x
g = olympus.jit(f, compiler_options={'tier': 'auto'})
print(float(g(0.5)) > 0)
pid = os.fork()
if pid == 0:
    from olympus._src.interpreters import tiers
    os._exit(len(tiers._builder) + tiers._builder._running)
print(os.waitpid(pid, 0)[1])
"""
    out, _ = fresh.run(code)
    assert out.split() == ["True", "0"]
