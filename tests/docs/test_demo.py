"""The demo trains a classifier that works and writes a page that stands alone."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from docs import checker

pytest.importorskip("sklearn")


@pytest.mark.slow
def test_the_demo(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "demo", "--epochs", "12", "--out", str(tmp_path)],
        cwd=checker.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "{ lambda ;" in done.stdout
    assert "stablehlo.dot_general" in done.stdout
    found = re.search(r"^held-out accuracy ([0-9.]+)% ", done.stdout, re.MULTILINE)
    assert float(found[1]) > 93.0

    page = (tmp_path / "stages.html").read_text(encoding="utf-8")
    assert not re.search(r"(src|href)=|url\(|@import", page)
    for stage in ("Python", "olympuspr", "StableHLO", "optimised HLO"):
        assert f"<h3>{stage}</h3>" in page
    assert page.count("<polyline") == 3
