"""Builds the part in C, if there is a compiler; pyproject.toml has all else."""

from __future__ import annotations

import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class OptionalExtension(build_ext):
    """Says in one line what is lost where the extension cannot be built."""

    def run(self) -> None:
        """Builds all extensions."""
        try:
            super().run()
        except Exception as error:  # whatever a missing compiler raises
            self._say(error)

    def build_extension(self, ext: Extension) -> None:
        """Builds one extension."""
        try:
            super().build_extension(ext)
        except Exception as error:
            self._say(error)

    def _say(self, error: Exception) -> None:
        print(
            f"olympus: built without a part in C ({error}); everything works, but "
            "calls, products of sparse matrices, cumulative sums or small matrices are "
            "slower",
            file=sys.stderr,
        )


HEADERS = [
    "arguments",
    "buffer_protocol",
    "direct",
    "host_kernels",
    "host_memory",
    "host_values",
    "results",
]
PARTS = {
    "calls": [f"{name}.h" for name in HEADERS],
    "products": ["prefixes.h", "small_matrices.h"],
}
EXTENSIONS = [
    Extension(
        f"olympus._src.native.{name}",
        [f"olympus/_src/native/{name}.c"],
        depends=[f"olympus/_src/native/{header}" for header in headers],
        libraries=["m"] if name == "products" else [],
        optional=True,
    )
    for name, headers in PARTS.items()
]
setup(ext_modules=EXTENSIONS, cmdclass={"build_ext": OptionalExtension})
