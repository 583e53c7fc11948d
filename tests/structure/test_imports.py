"""What a file of olympus may import, and what importing olympus brings in."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from structure import source

# Costly to import, and paid by every program that imports olympus. (inspect is not
# among them: numpy imports it.)
HEAVY = {"asyncio", "dataclasses", "scipy", "unittest", "multiprocessing"}


def _where(path, node):
    return f"{path.relative_to(source.PACKAGE)}:{node.lineno}"


def test_only_the_runtime_names_jaxlib_and_nobody_names_jax():
    wrong = []
    for path in sorted(source.PACKAGE.rglob("*.py")):
        in_runtime = source.SOURCE / "runtime" in path.parents
        for node, _, _ in source.imports(path):
            for name in source.imported_modules(node):
                top = name.split(".")[0]
                if top == "jax" or (top == "jaxlib" and not in_runtime):
                    wrong.append(f"{_where(path, node)} imports {name}")
    assert not wrong


def test_packages_import_only_packages():
    wrong = [
        f"{_where(path, node)} imports {name}"
        for path in source.source_files()
        for node, _, _ in source.imports(path)
        for name in source.imported_modules(node)
        if name.split(".")[0] == "olympus" and not name.startswith("olympus._src")
    ]
    assert not wrong


def test_private_names_stay_in_their_file():
    wrong = [
        f"{_where(path, node)} imports {alias.name}"
        for path in source.source_files()
        for node, _, _ in source.imports(path)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("olympus._src.")
        for alias in node.names
        if alias.name.startswith("_")
    ]
    assert not wrong


def test_no_import_waits_inside_a_function():
    wrong = [
        f"{_where(path, node)} imports {source.imported_modules(node)}"
        for path in source.source_files()
        if source.SOURCE / "runtime" not in path.parents
        for node, in_function, _ in source.imports(path)
        if in_function
    ]
    assert not wrong


def test_packages_do_not_import_heavy_modules_at_import():
    wrong = [
        f"{_where(path, node)} imports {name}"
        for path in source.source_files()
        for node, in_function, for_types in source.imports(path)
        if not in_function and not for_types
        for name in source.imported_modules(node)
        if name.split(".")[0] in HEAVY
    ]
    assert not wrong


def _modules_after(statement):
    script = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=source.PACKAGE.parent,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def _every_public_module():
    names = (source.module_name(path) for path in source.public_modules())
    return "\n".join(f"import {name}" for name in names)


@pytest.mark.slow
def test_importing_every_public_module_leaves_scipy_and_the_mlir_bindings_alone():
    loaded = _modules_after(_every_public_module())
    assert "scipy" not in loaded
    assert "jaxlib.mlir" not in loaded


@pytest.mark.beside_jax
def test_importing_every_public_module_does_not_import_jax():
    assert "jax" not in _modules_after(_every_public_module())


def test_import_leaves_what_few_programs_use():
    loaded = _modules_after("import olympus, olympus.numpy")
    late = (
        "lax.linalg",
        "numpy.polynomial_fitting",
        "api.remat",
        "api.custom_vjp",
        "scipy",
    )
    assert not {f"olympus._src.{file}" for file in late} & loaded
    assert "scipy" not in loaded
