"""Settings as flags of absl."""

import os
import subprocess
import sys

import pytest

import olympus


@pytest.mark.parametrize("method", ["config_with_absl", "parse_flags_with_absl"])
def test_without_absl_the_error_says_so(monkeypatch, method):
    monkeypatch.setitem(sys.modules, "absl.flags", None)
    with pytest.raises(ImportError, match=f"config.{method}: .*install absl-py"):
        getattr(olympus.config, method)()


SCRIPT = """
import sys
import olympus
if sys.argv[1] == "parse":
    olympus.config.parse_flags_with_absl()
    print(olympus.config.olympus_enable_x64, olympus.config.olympus_platforms)
else:
    from absl import app
    olympus.config.config_with_absl()
    sys.argv.remove("run")
    app.run(lambda argv: print(
        olympus.config.olympus_enable_x64, olympus.config.olympus_platforms
    ))
"""


@pytest.mark.parametrize("word", ["olympus", "jax"])
@pytest.mark.parametrize("way", ["parse", "run"])
def test_flags_set_settings(way, word):
    pytest.importorskip("absl")
    flags = [f"--{word}_enable_x64", f"--{word}_platforms=cpu"]
    door = ["-m", "olympus.compat.jax"] if word == "jax" else []
    script = SCRIPT.replace("olympus", word)
    command = [sys.executable, *door, "-c", script, way, *flags]
    out = subprocess.run(
        command, capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert out.stdout == "True cpu\n"
