"""Settings of every test: one seed, printed; marks that skip by themselves."""

from __future__ import annotations

import collections
import gc
import importlib.util
import os
import zlib
from pathlib import Path

import hypothesis
import numpy as np
import pytest

from tests import sampling

# Programs are compiled as if for the first time, here and in the processes that tests
# start, unless OLYMPUS_TEST_CACHE names a folder to keep them in. Tests of the cache on
# disk turn it on for folders of their own.
CACHE = os.environ.get("OLYMPUS_TEST_CACHE", "")
os.environ["OLYMPUS_ENABLE_COMPILATION_CACHE"] = "1" if CACHE else "0"
os.environ["OLYMPUS_CACHE_DIR"] = CACHE

hypothesis.settings.register_profile(
    "olympus", deadline=None, max_examples=40, print_blob=True, derandomize=True
)
hypothesis.settings.register_profile(
    "explore", parent=hypothesis.settings.get_profile("olympus"), derandomize=False
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "olympus"))

# Here a list of cases is one of modules or pages, each of which has to be right.
_WHOLE = ("tests/structure/", "tests/docs/")


def pytest_report_header(config):
    part = "all cases" if sampling.EVERYTHING else f"part {sampling.SEED}"
    return f"olympus: {part} (OLYMPUS_TEST_SEED), numpy {np.__version__}"


def pytest_collection_modifyitems(config, items):
    if "::" not in "".join(config.args):
        _sample(config, items)
    if importlib.util.find_spec("jax") is None:
        _skip(items, "beside_jax", "jax is not installed in this environment")
    if os.environ.get("OLYMPUS_TEST_DEVICE") == "gpu":
        _skip_on_gpus(items)
    if os.environ.get("OLYMPUS_NUM_CPU_DEVICES") != "8":
        _skip(items, "eight_devices", "OLYMPUS_NUM_CPU_DEVICES is not 8")


def _skip(items, mark, reason):
    for item in items:
        if mark in item.keywords:
            item.add_marker(pytest.mark.skip(reason=reason))


def _skip_on_gpus(items):
    """Skips what holds on the CPU alone, with the reason: a case, a test, or a file."""
    listed = Path(__file__).parent / "gpu" / "left_out.tsv"
    lines = listed.read_text().splitlines()
    reasons = dict(line.split("\t") for line in lines if not line.startswith("#"))
    for item in items:
        test = item.nodeid.partition("[")[0]
        file = test.partition("::")[0]
        named = (name for name in (item.nodeid, test, file) if name in reasons)
        if reason := reasons.get(next(named, "")):
            item.add_marker(pytest.mark.skip(reason=f"not on a GPU: {reason}"))


def _sample(config, items):
    """Leaves a share of the tests, by the seed."""
    cases = collections.Counter(map(_test_of, items))
    left_out: list = []
    kept: list = []
    for item in items:
        (kept if _is_in_run(item, cases[_test_of(item)]) else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


def _test_of(item):
    return item.nodeid.partition("[")[0]


def _is_in_run(item, cases):
    """Whether a run takes a test, which is one of so many cases."""
    if not sampling.is_in_part(item.nodeid, sampling.SHARE):
        return False
    if item.get_closest_marker("slow") is not None:
        n = sampling.SLOW_SHARE
        if (sampled := item.get_closest_marker("sampled")) is not None:
            n = sampled.args[0] * sampling.SAMPLED_TIMES
        return sampling.is_in_part(item.nodeid, n)
    if cases <= sampling.MANY or item.nodeid.startswith(_WHOLE):
        return True
    return sampling.is_in_part(item.nodeid, sampling.CASES_SHARE)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Collects tests without searches for garbage, which took a fifth of that time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish(session):
    """Leaves what collection made out of the searches for garbage: half of the heap."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def few_objects():
    """Leaves what there is out of the searches for garbage that a test has made."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def rng(request):
    """A NumPy generator whose seed is the test's name."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture
def x64():
    """The test runs in double precision."""
    import olympus  # after the environment is set

    with olympus.enable_x64(True):
        yield


def pytest_terminal_summary(terminalreporter):
    """Says how many drawn cases ran, where a test records it (`record_property`)."""
    counts = {"cases run": 0, "cases failed": 0}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                # Each test reports when it is set up, called and torn down.
                if name in counts and getattr(report, "when", "") == "call":
                    counts[name] += value
    if counts["cases run"]:
        listed = ", ".join(f"{value} {name}" for name, value in counts.items())
        terminalreporter.write_line(f"differential sweep: {listed} ({sampling.SEED})")
