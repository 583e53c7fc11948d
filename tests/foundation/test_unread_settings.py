"""Settings that nothing honours say so when they are set; others do what they say."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus._src.foundation import public_settings


@pytest.mark.parametrize(
    ("name", "value"), [("pprint_use_color", False), ("allow_f16_reductions", False)]
)
def test_setting_one_that_nothing_reads_warns(name, value):
    state = public_settings.registry[f"olympus_{name}"]
    with pytest.warns(UserWarning, match=f"olympus_{name}: .* nothing depends"):
        state.set(value)
    state.set(state.default)
    with pytest.warns(UserWarning, match="nothing depends"):
        state(value)


def test_other_settings_are_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with olympus.enable_x64():
            pass


def test_large_captured_arrays():
    table = jnp.ones(1000)

    def f(x):
        return x + jnp.sum(table)

    states = public_settings.registry
    with (
        states["olympus_captured_constants_warn_bytes"](3999),
        states["olympus_captured_constants_report_frames"](1),
        pytest.warns(UserWarning, match=r"4000 bytes.*\n.*f32\[1000\], read at"),
    ):
        olympus.jit(lambda x: f(x))(1.0)
    with states["olympus_captured_constants_warn_bytes"](4000):
        olympus.jit(lambda x: f(x))(1.0)


def test_source_files_in_modules():
    # A function of its own: the lines of `jnp.sin` are those of its first trace.
    lowered = olympus.jit(lambda x: jnp.sin(x)).lower(1.0)
    assert "test_unread_settings.py" in lowered.as_text(debug_info=True)
    state = public_settings.registry["olympus_hlo_source_file_canonicalization_regex"]
    with state(".*/tests/"):
        text = olympus.jit(lambda x: jnp.sin(x)).lower(1.0).as_text(debug_info=True)
    assert '"foundation/test_unread_settings.py"' in text


def test_backward_rules_without_checks():
    f = olympus.custom_vjp(lambda x: x * 2)
    f.defvjp(lambda x: (x * 2, None), lambda _, ct: (jnp.ones(3),))
    with pytest.raises(ValueError, match="expected f32"):
        olympus.grad(f)(1.0)
    with public_settings.registry["olympus_disable_bwd_checks"](True):
        np.testing.assert_array_equal(olympus.grad(f)(1.0), np.ones(3))
