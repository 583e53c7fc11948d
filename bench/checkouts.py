"""Two checkouts of the library: this one, and one of a git reference."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
_NATIVE = Path("olympus/_src/native")


@contextlib.contextmanager
def with_reference(reference: str) -> Iterator[tuple[Path, Path]]:
    """A copy of this checkout, and a temporary worktree of a git reference.

    Both have their parts in C built, by one compiler, and the benchmark of this one.
    """
    with tempfile.TemporaryDirectory(prefix="olympus-bench-") as folder:
        after, before = Path(folder) / "after", Path(folder) / "before"
        shutil.copytree(HERE / "olympus", after / "olympus", ignore=_ARTIFACTS)
        _git("worktree", "add", "--detach", "--quiet", str(before), reference)
        try:
            for tree in (after, before):
                shutil.rmtree(tree / "bench", ignore_errors=True)
                shutil.copytree(HERE / "bench", tree / "bench", ignore=_ARTIFACTS)
                build(tree)
            yield after, before
        finally:
            _git("worktree", "remove", "--force", str(before))


_ARTIFACTS = shutil.ignore_patterns("__pycache__", "*.so")


def _git(*words: str) -> None:
    subprocess.run(["git", "-C", str(HERE), *words], check=True)


def build(tree: Path) -> None:
    """Builds the parts in C of a checkout that it has, where there is a compiler."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    command = ["gcc", "-O3", "-shared", "-fPIC", f"-I{sysconfig.get_path('include')}"]
    for source in sorted((tree / _NATIVE).glob("*.c")):
        target = source.with_name(source.stem + suffix)
        try:
            subprocess.run(
                [*command, str(source), "-lm", "-o", str(target)],
                check=True,
                capture_output=True,
                text=True,
            )
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", "") or str(error)
            sys.stderr.write(f"{tree}: without {source.stem} in C: {said[-500:]}\n")
