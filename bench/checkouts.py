"""Two checkouts of the library: this one, and one of a git reference."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent


@contextlib.contextmanager
def of(reference: str) -> Iterator[Path]:
    """A temporary worktree of a git reference, with its part in C built."""
    with tempfile.TemporaryDirectory(prefix="olympus-bench-") as folder:
        tree = Path(folder) / "before"
        _git("worktree", "add", "--detach", "--quiet", str(tree), reference)
        try:
            build(tree)
            # Both sides run the cases of this checkout.
            shutil.rmtree(tree / "bench", ignore_errors=True)
            shutil.copytree(HERE / "bench", tree / "bench")
            yield tree
        finally:
            _git("worktree", "remove", "--force", str(tree))


def _git(*words: str) -> None:
    subprocess.run(["git", "-C", str(HERE), *words], check=True)


def build(tree: Path) -> None:
    """Builds the part in C of a checkout in place, where there is a compiler."""
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    done = subprocess.run(
        command, cwd=tree, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.stderr.write(f"{tree}: without the part in C:\n{done.stderr[-500:]}\n")
