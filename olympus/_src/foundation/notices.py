"""Warnings that point at the user's line, not at olympus's own."""

from __future__ import annotations

import os
import sys
import warnings

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__))) + os.sep


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest frame outside the package."""
    depth, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth)
