"""The programs of the documents, under JAX's names and through the door."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCUMENTS = ("test_ahead_of_time", "test_course", "test_jit_compilation")
WORDS = (
    ("olympuspr", "jaxpr"),
    ("Olympuspr", "Jaxpr"),
    ("olympus", "jax"),
    ("Olympus", "JAX"),
    ("OLYMPUS", "JAX"),
)

pytestmark = pytest.mark.documents


def test_programs_of_the_documents(tmp_path):
    for name in DOCUMENTS:
        text = (ROOT / "tests" / "documents" / f"{name}.py").read_text()
        for ours, theirs in WORDS:
            text = text.replace(ours, theirs)
        assert re.search(r"^import jax\b|^from jax\b", text, re.MULTILINE)
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = documents: their code\n")
    words = ["-m", "pytest", "-q", "-p", "olympus.compat.jax_pytest", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "passed" in done.stdout
