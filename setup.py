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
            f"olympus: built without its part in C ({error}); everything works, and "
            "each call costs about a microsecond more",
            file=sys.stderr,
        )


CALLS = Extension(
    "olympus._src.native.calls", ["olympus/_src/native/calls.c"], optional=True
)
setup(ext_modules=[CALLS], cmdclass={"build_ext": OptionalExtension})
