"""`tools/check_docs` as a module."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "check_docs"


def load():
    loader = importlib.machinery.SourceFileLoader("check_docs", str(SCRIPT))
    spec = importlib.util.spec_from_loader("check_docs", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
