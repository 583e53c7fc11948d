"""Records `example_programs.json`, from the installed JAX.

    XLA_FLAGS=--xla_force_host_platform_device_count=8 \
        python -m tests.data.record_example_programs

The programs of `demo/examples` are run with `jax` in place of `olympus`, and nothing
else changed. It was run with JAX 0.10.2 on CPU. No test runs it.
"""

from __future__ import annotations

import json
import pathlib
import sys
import types

ROOT = pathlib.Path(__file__).parents[2]
PATH = pathlib.Path(__file__).with_name("example_programs.json")


def load(name: str) -> types.ModuleType:
    """A program over JAX, in the place of the one over olympus."""
    text = (ROOT / "demo" / "examples" / f"{name}.py").read_text()
    module = types.ModuleType(f"demo.examples.{name}")
    sys.modules[module.__name__] = module
    exec(compile(text.replace("olympus", "jax"), f"{name}.py", "exec"), vars(module))
    return module


def main() -> None:
    names = sorted(p.stem for p in (ROOT / "demo" / "examples").glob("*.py"))
    programs = {name: load(name) for name in ["from_scratch", *names] if name[0] != "_"}
    table = {
        name: [float(f"{x:.7g}") for x in module.train()]
        for name, module in programs.items()
        if hasattr(module, "train")
    }
    PATH.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
