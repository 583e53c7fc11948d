"""Lines that olympus prints otherwise than JAX does, on purpose."""

from __future__ import annotations

import itertools

from tests.compat import program_table

# By program: JAX's line, that of olympus (None: any), and the reason.
_KEPT = "unknown settings of JAX are kept, since libraries set those of other platforms"

INTENDED: dict[str, list[tuple[str, str | None, str]]] = {
    "autodiff_basics": [
        (
            "allow_int (TypedNdArray((b'',), dtype=void), "
            "Array(3., dtype=float32, weak_type=True))",
            None,
            "the newest JAX has a class for these; older ones print NumPy's array",
        ),
    ],
    "config_settings": [
        ("AttributeError", "no error", _KEPT),
    ],
    "refs_mutable": [
        (
            "    b:Ref{f32[]} = new_ref[kind=None memory_space=None pin=False] a",
            "    b:f32[] = convert_element_type[new_dtype=float32 weak_type=False] a",
            "a ref is of no weak type, and the program says where it was lost",
        ),
        ("    c:f32[] = freeze b", "    c:Ref{f32[]} = new_ref b", "one equation more"),
        ("  in (c,) }", "    d:f32[] = freeze c", "one equation more"),
        ("(no line)", "  in (d,) }", "one equation more"),
    ],
}


def compare(
    name: str, theirs: list[str], ours: list[str]
) -> tuple[list[tuple[int, str, str]], list[str]]:
    """The lines that differ and are not listed, and the listed ones that do not."""
    listed = {(line, own): reason for line, own, reason in INTENDED.get(name, [])}
    unexpected, used = [], set()
    pairs = itertools.zip_longest(theirs, ours, fillvalue="(no line)")
    for number, (a, b) in enumerate(pairs, 1):
        if program_table.agree(a, b):
            continue
        entries = {(a, b), (a, None)} & set(listed)
        used |= entries
        if not entries:
            unexpected.append((number, a, b))
    stale = [line for line, own in listed if (line, own) not in used]
    return unexpected, stale
