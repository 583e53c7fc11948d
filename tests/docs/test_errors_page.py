"""The page on errors has a place for every class, under the name messages link to."""

from __future__ import annotations

import inspect
import re

from docs import checker
from olympus._src.foundation import errors

PAGE = (checker.ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
PLACES = re.findall(r"^```\{py:exception\} olympus\.errors\.(\w+)$", PAGE, re.MULTILINE)


def test_every_class_has_one_place():
    classes = {
        name
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and not name.startswith("_")
    }
    # The runtime's own class is not made by this room.
    assert sorted(PLACES) == sorted({*classes, "OlympusRuntimeError"})
