"""Settings about how programs are built, and about what is written of them."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.foundation import compiler_settings as settings
from olympus._src.interpreters import compilation
from olympus._src.runtime import build_options, compiling

# What jax 0.10.2 and 0.11 give XLA for the settings of these names: executables'
# options, recorded beside the settings.
LEVEL = "xla_backend_optimization_level"
RECORDED = [
    (
        settings.disable_most_optimizations,
        True,
        {
            "xla_backend_optimization_level": 0,
            "xla_llvm_disable_expensive_passes": True,
        },
    ),
    (settings.optimization_level, "O0", {"optimization_level": 9}),
    (settings.optimization_level, "O1", {"optimization_level": 19}),
    (
        settings.optimization_level,
        settings.CompilerEffortLevel.O3,
        {"optimization_level": 39},
    ),
    (settings.memory_fitting_level, "O0", {"memory_fitting_level": 9}),
    (
        settings.compiler_enable_remat_pass,
        False,
        {"xla_disable_hlo_passes": "rematerialization"},
    ),
    (settings.use_shardy_partitioner, False, {"use_shardy_partitioner": False}),
]


@pytest.mark.parametrize(("setting", "value", "expected"), RECORDED)
def test_a_setting_reaches_the_compiler(monkeypatch, setting, value, expected):
    olympus.clear_caches()
    seen = []
    load = compiling.load

    def noting(code, devices, built, options, *rest):
        seen.append(dict(options))
        return load(code, devices, built, options, *rest)

    monkeypatch.setattr(compiling, "load", noting)

    def f(x):
        return jnp.sin(x) * 2.25

    f = olympus.jit(f)
    with setting(value):
        np.testing.assert_allclose(f(0.5), np.sin(0.5) * 2.25, rtol=1e-5)
    chosen = seen[0]
    if not expected.keys() & {LEVEL, "optimization_level"}:
        assert chosen.pop(LEVEL) == 2  # that of small programs
    assert chosen == expected
    f(0.5)
    assert seen[1:] == [{LEVEL: 2}]


def test_users_options_win():
    with settings.disable_most_optimizations(True):
        found = build_options.complete(
            ((LEVEL, 1),), "cpu", has_barriers=False, is_small=True
        )
    assert dict(found)[LEVEL] == 1


def level_of(f, *args):
    """LLVM's level for a jitted function; None is the compiler's own, the highest."""
    lowered = olympus.jit(f).lower(*args)._lowered
    return dict(compilation.build_options_of(lowered, ())).get(LEVEL)


def loop(f, x):
    return lax.fori_loop(0, 3, lambda i, c: f(c), x)


def test_small_programs_are_optimized_less():
    sin, table = jnp.sin, jnp.ones((2, 16384))
    assert level_of(sin, jnp.ones(16384)) == 2
    assert level_of(lambda: sin(1.0) + 1) == 2
    assert level_of(lambda x: sin(x[:0]), jnp.ones((0, 3))) == 2
    assert level_of(sin, jnp.ones(16385)) is None
    assert level_of(jnp.sum, table) is None
    assert level_of(lambda x: jnp.ones(16385) * x, 1.0) is None
    # In functions that are called.
    assert level_of(olympus.jit(lambda x: olympus.jit(sin)(x)), jnp.ones(20000)) is None


def test_branches_of_small_programs():
    table = jnp.ones((2, 16384))

    def branch(x, other):
        return lax.cond(x[0] > 0, jnp.sin, other, x)

    small = jnp.ones(16384)
    assert level_of(lambda x: branch(x, jnp.cos), small) == 2
    assert level_of(lambda x: branch(x, lambda x: x + jnp.sum(table)), small) is None
    row = jnp.ones(1024)
    assert level_of(lambda x: branch(x, lambda x: loop(jnp.sin, x)), row) == 2
    assert level_of(lambda x: branch(x, lambda x: loop(jnp.sin, x)), small) is None


def test_loops_of_small_programs():
    sin, row, longer = jnp.sin, jnp.ones(1024), jnp.ones(1025)
    assert level_of(lambda x: loop(sin, x), row) == 2
    assert level_of(lambda x: loop(sin, x), longer) is None

    def nest(c):
        return c + loop(sin, longer).sum()

    assert level_of(lambda x: loop(nest, x), row) is None

    def scan(xs):
        return lax.scan(lambda c, x: (c + sin(x), c), jnp.zeros(1024), xs)

    # What a loop reads row by row may be long.
    assert level_of(scan, jnp.ones((100, 1024))) == 2
    assert level_of(lambda xs: scan(xs * 2), jnp.ones((100, 1024))) is None
    assert level_of(lambda xs: scan(xs)[1].sum(), jnp.ones((100, 1024))) is None


def test_elements_of_windows_count_for_each_window():
    def sums(size):
        window = (size,)
        return lambda x: lax.reduce_window(x, 0.0, lax.add, window, (1,), "SAME")

    x = jnp.ones(1000)
    assert level_of(sums(16), x) == 2
    assert level_of(sums(17), x) is None


def test_large_programs_and_other_platforms_keep_the_highest_level():
    for platform, is_small in [("cpu", False), ("cuda", True), ("tpu", True)]:
        built = build_options.complete(
            (), platform, has_barriers=False, is_small=is_small
        )
        assert built == ()


def test_programs_are_written_to_a_folder(tmp_path):
    folder = tmp_path / "deep" / "down"

    def seldom(x):
        return x * 7.125

    with settings.dump_ir_to(str(folder)):
        olympus.jit(seldom)(1.0)
        with settings.dump_ir_modes("stablehlo, olympuspr"):
            olympus.jit(lambda x: x / 7.125)(1.0)
    names = sorted(p.name for p in folder.iterdir())
    kinds = [n.split("_", 2)[2] for n in names]
    assert kinds == [
        "jit_seldom_compile.mlir",
        "jit__lambda__compile.mlir",
        "jit__lambda__compile.olympuspr.txt",
    ]
    assert "7.125" in (folder / names[0]).read_text()
    assert (folder / names[2]).read_text().startswith("{ lambda ;")


def test_forms_that_are_not_known(tmp_path):
    with (
        settings.dump_ir_to(str(tmp_path)),
        settings.dump_ir_modes("pictures"),
        pytest.raises(ValueError, match="must be names out of stablehlo, olympuspr"),
    ):
        olympus.jit(lambda x: x * 9.875)(1.0)
