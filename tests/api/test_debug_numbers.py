"""Settings that find NaNs, and that forbid tracing or running."""

import pytest

import olympus
from olympus import lax


def test_nan_in_a_compiled_program_names_operation_and_line():
    f = olympus.jit(lambda x: lax.add(lax.log(x), lax.sin(x)))
    with olympus.debug_nans(True):
        assert float(f(1.0)) > 0
        with pytest.raises(
            FloatingPointError, match=r"\(nan\).*in log at .*numbers.py"
        ):
            f(-1.0)
    assert str(f(-1.0)) == "nan"


def test_nan_in_one_operation():
    with olympus.debug_nans(True), pytest.raises(FloatingPointError, match="div"):
        lax.div(0.0, 0.0)


def test_infinity():
    f = olympus.jit(lambda x: lax.div(1.0, x))
    with olympus.debug_infs(True), pytest.raises(FloatingPointError, match="inf"):
        f(0.0)
    with olympus.debug_nans(True):
        assert str(f(0.0)) == "inf"


def test_no_tracing_and_no_execution():
    f = olympus.jit(lambda x: lax.add(x, 1.0))
    with olympus.no_tracing(True), pytest.raises(RuntimeError, match="no_tracing"):
        f(1.0)
    with olympus.no_execution(True):
        assert f.trace(1.0).lower().as_text()
        with pytest.raises(RuntimeError, match="no_execution"):
            f(1.0)
    f(1.0)
    with olympus.no_tracing(True):
        assert float(f(2.0)) == 3.0


def test_environment_information():
    text = olympus.print_environment_info(return_string=True)
    assert "jaxlib" in text
    assert "devices" in text
