"""The figures of `docs/jax_libraries.md`, by library, in `figures.json`."""

import json
import subprocess

from tests.ecosystem import libraries, processes

PATH = processes.RECORDED / "figures.json"


def read():
    """All figures."""
    return json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}


def update(name, **values):
    """Keeps figures of a library."""
    table = read()
    table.setdefault(name, {}).update(values)
    lines = [f" {json.dumps(k)}: {json.dumps(table[k])}" for k in sorted(table)]
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def version(python, name):
    """The version of a library in an environment."""
    package = libraries.LIBRARIES[name].distribution
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    return subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
