"""Dtypes and weak types of results, and kinds of errors, against recorded ones.

Programs are traced and not compiled, so a case takes a quarter of a millisecond. A run
takes a part of the calls, which the seed in the report's header chooses;
`OLYMPUS_SWEEP=all` takes all.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
import olympus.random
from olympus import lax, nn
from olympus.scipy import special
from tests.result_types.calls import calls
from tests.result_types.known_differences import KNOWN_DIFFERENCES, is_known_difference
from tests.result_types.running import ACCIDENT, KINDS, Library, run_calls, spreads
from tests.sampling import EVERYTHING, part

DATA = pathlib.Path(__file__).parents[1] / "data"
RECORDED = json.loads((DATA / "result_types.json").read_text(encoding="utf-8"))
SHARE, QUICK = 8, 24  # one in so many calls; so many of them with the quick tests
PARTS = 4

ROWS = [
    (text, wide, row)
    for wide in (False, True)
    for row, texts in RECORDED[f"x64 {'on' if wide else 'off'}"].items()
    for text in texts
]
# Calls that do not yet agree, with and without 64-bit values.
OPEN = {
    tuple(line.split("\t"))
    for line in (DATA / "result_types_open.tsv").read_text().splitlines()
    if not line.startswith("#")
}

_chosen = part(ROWS, SHARE)


def library() -> Library:
    names = {
        "np": np,
        "jnp": jnp,
        "lax": lax,
        "nn": nn,
        "special": special,
        "key": olympus.random.key(0),
    }
    return Library(names, olympus.eval_shape, olympus.ShapeDtypeStruct)


def agree(want: str, got: str) -> bool:
    """Whether results are the same; whether a boolean is weak makes no difference."""
    if want == ACCIDENT:
        return got[0] == "!"
    return want.replace("b*", "b") == got.replace("b*", "b")


def differences(text: str, wide: bool, row: str, played: Library) -> list[str]:
    """What comes out of a call otherwise than recorded, in words."""
    found = []
    with olympus.enable_x64(wide):
        for kinds, want in zip(spreads(text, wide), row.split(), strict=True):
            got, why = run_calls(text, kinds, played)
            if not agree(want, got) and not is_known_difference(text, kinds, want, got):
                found.append(f"{text} of {' '.join(kinds)}: {want}, got {got} {why}")
    return found


def is_open(text: str, wide: bool) -> bool:
    return (text, "x64" if wide else "x32") in OPEN


def sweep(rows: Any) -> None:
    played = library()
    found = [
        line
        for text, wide, row in rows
        if not is_open(text, wide)
        for line in differences(text, wide, row, played)
    ]
    assert not found, "\n".join(found[:40])


def test_some_result_types_are_those_recorded() -> None:
    sweep(_chosen[:QUICK])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_result_types_are_those_recorded(part: int) -> None:
    sweep(_chosen[QUICK + part :: PARTS])


@pytest.mark.skipif(not EVERYTHING, reason="looks at every call")
def test_calls_that_are_open_still_differ() -> None:
    played = library()
    agreeing = [
        (text, wide)
        for text, wide, row in ROWS
        if is_open(text, wide) and not differences(text, wide, row, played)
    ]
    assert agreeing == []


def test_the_calls_of_the_table_are_those_recorded() -> None:
    """`python -m tests.data.record_result_types` records the missing ones."""
    for wide in ("off", "on"):
        texts = [text for row in RECORDED[f"x64 {wide}"].values() for text in row]
        assert sorted(texts) == sorted(calls())


def test_the_kinds_of_arguments_are_those_of_the_recording() -> None:
    kept = {str(wide): {str(k): v for k, v in KINDS[wide].items()} for wide in KINDS}
    assert RECORDED["kinds"] == kept


def test_each_departure_has_a_reason() -> None:
    assert all(d.why for d in KNOWN_DIFFERENCES)
