"""Why the cache on disk has no entry for a program: what differs from those it has."""

from __future__ import annotations

import os
import time
from typing import Any

from olympus._src.foundation import compiler_settings as compiler
from olympus._src.runtime import private_folder
from olympus._src.runtime.disk_cache import Damaged, DiskCache, decode_entry

_LONGEST_S = 0.3
_MAX_NAMED = 3


def explain(cache: DiskCache, key: str, name: str, parts: dict[str, str]) -> str:
    """Why a program is not on disk, in words.

    Args:
      cache: where it was looked for.
      key: the program's.
      name: of its module.
      parts: what the key is made of.
    """
    start = f"not in the cache on disk ({cache.folder})"
    if os.path.isfile(cache.path(key)):
        return f"{start}: its entry is damaged"
    alike = _entries_of(cache, name)
    if not alike:
        shortest = compiler.persistent_cache_min_compile_time_secs.value
        more = (
            f" (what compiles in less than {shortest:g} s is not)" if shortest else ""
        )
        return f"{start}: no program named {name} was kept{more}, or it was removed"
    differing = min((_differences(known, parts) for known in alike), key=len)
    if not differing:
        return f"{start}: its entry was damaged or removed"
    shown = differing[:_MAX_NAMED]
    left = len(differing) - len(shown)
    text = "; ".join(shown) + (f"; and {left} more" if left else "")
    return f"{start}: the most similar program named {name} differs in {text}"


def _entries_of(cache: DiskCache, name: str) -> list[dict[str, Any]]:
    """What the entries of a name were made of, those used last first."""
    entries = []
    end = time.monotonic() + _LONGEST_S
    for file in reversed(cache.files()):
        if time.monotonic() > end:
            break
        try:
            fields = decode_entry(private_folder.read(file.path), file.key).fields
        except (Damaged, OSError):
            continue
        parts = fields.get("parts")
        if fields.get("name") == name and isinstance(parts, dict):
            entries.append(parts)
    return entries


def _differences(old: dict[str, Any], new: dict[str, str]) -> list[str]:
    changed = []
    for name in sorted({*old, *new}):
        before, after = old.get(name, ""), new.get(name, "")
        if before == after:
            continue
        if name in _DIGESTS:
            changed.append(_DIGESTS[name])
            continue
        if name == "compiler options":
            before, after = _without_shared(before, after)
        changed.append(f"{name}: {before or 'none'}, now {after or 'none'}")
    if len(changed) > 1 and any(old.get(n, "") != new.get(n, "") for n in _OPTIONS):
        changed = [text for text in changed if text != _DIGESTS["options"]]
    return changed


def _without_shared(before: str, after: str) -> tuple[str, str]:
    """Two lists of options, each without what stands in both."""
    old, new = before.split(", "), after.split(", ")
    left = [option for option in old if option not in new]
    right = [option for option in new if option not in old]
    return ", ".join(left), ", ".join(right)


_OPTIONS = ("compiler options", "XLA_FLAGS")  # which say what the digest is of
_DIGESTS = {
    "module": "what it computes (its module's text)",
    "options": "the compiler's options",
}
