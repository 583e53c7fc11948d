"""Runs both versions and compares: see the package."""

from __future__ import annotations

import argparse
import difflib
import json
import pathlib
import subprocess
import sys
import tempfile

from tests.replay.comparing import Renamings

_HERE = pathlib.Path(__file__).parents[2]
# The library comes from the one tree, this list of programs from the other.
_RECORD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import olympus
assert olympus.__file__.startswith(sys.argv[1]), olympus.__file__
sys.path[0] = sys.argv[2]
from tests.replay.programs import describe, programs
texts = {}
for program in programs():
    if program.name.startswith(sys.argv[4]):
        name = f"{program.name} ({len(texts)})"
        texts[name] = describe(program)
open(sys.argv[3], "w").write(json.dumps(texts))
"""


def _record(tree: pathlib.Path, folder: pathlib.Path, only: str) -> dict[str, str]:
    file = folder / "texts.json"
    program = [sys.executable, "-P", "-c", _RECORD, tree, _HERE, file, only]
    subprocess.run(program, check=True, cwd=folder)
    return json.loads(file.read_text())


def _checked_out(commit: str, folder: pathlib.Path) -> pathlib.Path:
    tree = folder / "before"
    archive = folder / "before.tar"
    git = ["git", "-C", str(_HERE), "archive", "-o", str(archive), commit, "olympus"]
    subprocess.run(git, check=True)
    tree.mkdir()
    subprocess.run(["tar", "-xf", str(archive), "-C", str(tree)], check=True)
    return tree


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.replay")
    parser.add_argument("--against", default="HEAD", help="commit to compare with")
    parser.add_argument("--only", default="", help="beginning of the programs' names")
    parser.add_argument("--show", type=int, default=3, help="differences shown")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        before = _record(_checked_out(asked.against, folder), folder, asked.only)
        after = _record(_HERE, folder, asked.only)
    renamings = Renamings()
    differing = [
        name
        for name in before | after
        if not renamings.explain(before.get(name, ""), after.get(name, ""))
    ]
    for name in differing[: asked.show]:
        lines = (texts.get(name, "").splitlines() for texts in (before, after))
        print("\n".join([name, *difflib.unified_diff(*lines, lineterm="", n=1)][:60]))
    for old, new in sorted(renamings.pairs.items()):
        print(f"renamed: {old} -> {new}")
    refused = sum("\n" not in text for text in after.values())
    print(
        f"{len(after)} programs ({refused} of them errors), {len(differing)} differ, "
        f"{len(renamings.pairs)} names changed"
    )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
