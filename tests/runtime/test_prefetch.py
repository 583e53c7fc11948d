"""Loading ahead what the last run of a script loaded: order, trouble, processes."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading

import pytest

from olympus._src.runtime import prefetch
from olympus._src.runtime.prefetch import Prefetch, Trail

KEYS = [f"{n:064x}" for n in range(5)]


def finished(loader):
    """Waits for the thread of a `Prefetch` that was started."""
    for thread in threading.enumerate():
        if thread.name == "olympus prefetch":
            thread.join(20)
            assert not thread.is_alive()
    return loader


def test_programs_are_loaded_in_the_order_of_use_and_given_once():
    loaded = []

    def load(key):
        loaded.append(key)
        return key.lstrip("0")

    ahead = Prefetch(KEYS, load)
    ahead.start()
    finished(ahead)
    assert loaded == KEYS
    assert ahead.take(KEYS[3]) == "3"
    assert ahead.take(KEYS[3]) is None
    assert ahead.take("unknown") is None


def test_what_is_asked_for_first_is_left_to_the_main_thread():
    may_go, begun, loaded = threading.Event(), threading.Event(), []

    def load(key):
        loaded.append(key)
        begun.set()
        may_go.wait(20)
        return key

    ahead = Prefetch(KEYS, load)
    ahead.start()
    assert begun.wait(20)
    assert ahead.take(KEYS[2]) is None
    threading.Timer(0.05, may_go.set).start()
    assert ahead.take(KEYS[0]) == KEYS[0]  # waits for it
    finished(ahead)
    assert loaded == [KEYS[0], KEYS[1], KEYS[3], KEYS[4]]


def test_a_program_that_does_not_load_is_none_and_the_next_ones_come():
    def load(key):
        if key == KEYS[1]:
            raise OSError("gone")
        return key

    ahead = Prefetch(KEYS, load)
    ahead.start()
    finished(ahead)
    assert [ahead.take(key) for key in KEYS] == [KEYS[0], None, *KEYS[2:]]


def test_stop_lets_go_of_everything():
    ahead = Prefetch(KEYS, lambda key: key)
    ahead.start()
    finished(ahead)
    ahead.stop()
    assert ahead.take(KEYS[0]) is None


def trail_of(folder, monkeypatch, text):
    monkeypatch.setattr(prefetch, "_script", lambda: "/home/u/train.py")
    path = prefetch._path(str(folder))
    with open(path, "wb") as file:
        file.write(text)
    os.chmod(path, 0o600)
    return path


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\xfe\x00",
        b"/home/u/other.py\n" + KEYS[0].encode(),
        b"/home/u/train.py\n../../etc/passwd",
        b"/home/u/train.py\n" + KEYS[0].encode() + b"\nshort",
    ],
)
def test_a_trail_that_is_none_is_not_followed(tmp_path, monkeypatch, text):
    trail_of(tmp_path, monkeypatch, text)
    found = Trail()
    found.follow(str(tmp_path), lambda key: key)
    assert found._prefetch is prefetch._NOTHING


def test_a_trail_that_others_may_write_is_not_followed(tmp_path, monkeypatch):
    path = trail_of(tmp_path, monkeypatch, b"/home/u/train.py\n" + KEYS[0].encode())
    os.chmod(path, 0o666)
    found = Trail()
    found.follow(str(tmp_path), lambda key: key)
    assert found._prefetch is prefetch._NOTHING


SCRIPT = """
    import os, sys
    import numpy as np
    import olympus
    import olympus.numpy as jnp
    from olympus import monitoring
    from olympus._src.runtime import prefetch

    counts = []
    monitoring.register_event_listener(lambda name, **_: counts.append(name))
    prefetch._LEAST_BYTES = 0

    @olympus.jit
    def f(x):
        for i in range(1, 40):
            x = jnp.sin(x) * (1.0 / i) + x
        return x

    x = np.linspace(0, 1, 16, dtype=np.float32)
    jnp.asarray(x)  # starts the client, and with it the thread
    if "wait" in sys.argv:
        import threading
        [t.join() for t in threading.enumerate() if t.name == "olympus prefetch"]
    if "fork" in sys.argv:
        import warnings
        warnings.simplefilter("ignore")
        if os.fork() == 0:
            os._exit(0 if prefetch.trail.take("anything") is None else 1)
        assert os.wait()[1] == 0
    if "quit" in sys.argv:
        sys.exit(0)
    y = f(x)
    print(float(y.sum()), *(name.rsplit("/", 1)[1] for name in counts))
"""


@pytest.mark.slow
def test_the_second_process_finds_its_program_loaded(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    folder = tmp_path / "cache"
    environment = {
        **os.environ,
        "OLYMPUS_CACHE_DIR": str(folder),
        "OLYMPUS_ENABLE_COMPILATION_CACHE": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, str(script), *arguments],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
            env=environment,
        )
        return done.stdout.split()

    first = run()
    assert "cache_misses" in first
    assert len(list(folder.glob("*.trail"))) == 1
    second = run("wait")
    assert second[0] == first[0]
    assert "programs_loaded_ahead" in second
    assert "cache_hits" in second
    assert "cache_misses" not in second
    assert run("wait", "fork")[0] == first[0]
    environment["OLYMPUS_LOAD_PROGRAMS_AHEAD"] = "0"
    assert "programs_loaded_ahead" not in run("wait")
    del environment["OLYMPUS_LOAD_PROGRAMS_AHEAD"]
    assert run("quit") == []
    (trail,) = folder.glob("*.trail")
    for entry in folder.glob("*.program"):
        entry.write_bytes(entry.read_bytes()[:-1])
    assert run("wait")[0] == first[0]
    trail.write_bytes(b"nonsense")
    assert run("wait")[0] == first[0]
