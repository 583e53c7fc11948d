"""Settings about how programs are built, and about what is written of them."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus._src.foundation import compiler_settings as settings
from olympus._src.runtime import build_options, compiling

# What jax 0.10.2 and 0.11 give XLA for the settings of these names: executables'
# options, recorded beside the settings.
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
    assert seen == [expected]
    f(0.5)
    assert seen == [expected, {}]


def test_users_options_win():
    with settings.disable_most_optimizations(True):
        found = build_options.complete(
            (("xla_backend_optimization_level", 2),), "cpu", False
        )
    assert dict(found)["xla_backend_optimization_level"] == 2


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
