"""Equality of printed programs but for the names of functions."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+|\s+|.", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w{2,}")


class Renamings:
    """Names that stand for each other in two versions, the same ones everywhere."""

    def __init__(self) -> None:
        self.pairs: dict[str, str] = {}

    def explain(self, before: str, after: str) -> bool:
        """Whether the texts differ by consistent renamings alone; keeps those then."""
        if before == after:
            return True
        old, new = _TOKEN.findall(before), _TOKEN.findall(after)
        if len(old) != len(new):
            return False
        pairs = dict(self.pairs)
        for x, y in zip(old, new, strict=True):
            names = _is_name(x) and _is_name(y)
            if x != y and not (names and pairs.setdefault(x, y) == y):
                return False
        self.pairs = pairs
        return True


def _is_name(token: str) -> bool:
    return _NAME.fullmatch(token) is not None
