"""The part in C is there where it can be built, and nothing else needs it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import olympus
from olympus._src import native

ROOT = Path(__file__).resolve().parents[2]
NATIVE = ROOT / "olympus" / "_src" / "native"
SOURCES = {name: NATIVE / f"{name}.c" for name in ("calls", "products")}


def test_it_is_built_where_there_is_a_compiler():
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if shutil.which("gcc") is None or not header.exists():
        pytest.skip("needs gcc and Python's headers")
    if os.environ.get("OLYMPUS_NATIVE") == "0":
        pytest.skip("was switched off")
    assert native.calls is not None
    assert native.load_products() is not None


@pytest.mark.parametrize("name", SOURCES)
def test_both_sides_are_of_one_version(name):
    (written,) = re.findall(r"^#define VERSION (\d+)", SOURCES[name].read_text(), re.M)
    assert int(written) == native._VERSIONS[name]


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("calls.c", 1150),
        ("arguments.h", 300),
        ("buffer_protocol.h", 200),
        ("direct.h", 300),
        ("host_kernels.h", 400),
        ("host_memory.h", 450),
        ("host_values.h", 270),
        ("results.h", 200),
        ("prefixes.h", 200),
        ("small_matrices.h", 250),
        ("products.c", 500),
    ],
)
def test_the_parts_stay_small(name, limit):
    assert len((NATIVE / name).read_text().splitlines()) < limit


def test_the_environment_says_whether_it_is_there():
    text = olympus.print_environment_info(return_string=True)
    assert ("calls in C: yes" in text) == (native.calls is not None)


@pytest.mark.slow
def test_everything_works_without_it():
    files = ("tests/native/test_calls.py", "tests/api/test_jit.py")
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        env=os.environ | {"OLYMPUS_NATIVE": "0"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "passed" in done.stdout


@pytest.mark.slow
def test_it_installs_without_a_compiler(tmp_path):
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "olympus", source / "olympus", ignore=ignored)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    # The environment may have no pip of its own.
    pip = [Path(sys.base_prefix) / "bin/python3", "-m", "pip", "--python", sys.prefix]
    done = subprocess.run(
        [*pip, "wheel", "-v", "--no-deps", "-w", tmp_path, "."],
        env=os.environ | {"CC": "no-such-compiler"},
        cwd=source,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "built without a part in C" in done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if name.endswith(".so")]
    assert "olympus/_src/native/__init__.py" in names
