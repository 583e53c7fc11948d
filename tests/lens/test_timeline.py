"""The timeline of a session: what was made, in which order, and why again."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus._src.command.main import main
from olympus._src.explanations import records
from olympus._src.foundation import events
from tests import disk_caches

X = np.ones((8, 8), np.float32)


def stages(making):
    return [span.stage for span in making.spans]


def test_calls_are_recorded_in_order_with_their_stages_and_causes():
    @olympus.jit
    def step(x):
        return jnp.tanh(x) * 3

    with olympus.timeline("train") as session:
        step(X)
        step(X)
        step(X[:4])
    first, second = session.makings
    assert stages(first) == stages(second) == ["trace", "lower", "compile"]
    assert first.name == second.name == "step"
    assert (first.is_again, second.is_again) == (False, True)
    assert (first.cause, first.cure) == ("", "")
    assert "changed from [8, 8] to [4, 8]" in second.cause
    assert "\n" not in second.cause
    assert second.cure
    assert 0 <= first.start_s < first.end_s <= second.start_s < session.seconds
    assert first.site.startswith(__file__)
    assert first.place.startswith(__file__)


def test_traces_within_traces_are_nested():
    inner = olympus.jit(lambda x: x + 1)

    @olympus.jit
    def outer(x):
        return inner(x) * 2

    with olympus.timeline() as session:
        outer(X)
    outside, inside = session.makings
    assert (outside.name, outside.depth) == ("outer", 0)
    assert (inside.name, inside.depth, stages(inside)) == ("<lambda>", 1, ["trace"])


def test_threads_and_stages_by_themselves():
    def work():
        olympus.jit(lambda x: x - 7).lower(X).compile()

    with olympus.timeline() as session:
        thread = threading.Thread(target=work, name="worker")
        thread.start()
        thread.join()
    (making,) = session.makings
    assert stages(making) == ["trace", "lower", "compile"]
    assert {span.thread for span in making.spans} == {"worker"}


def test_programs_of_the_disk_cache_are_loaded(tmp_path):
    def f(x):
        return jnp.cos(x) * 41

    with olympus.timeline() as session, disk_caches.in_folder(tmp_path):
        olympus.jit(f)(X)
        olympus.clear_caches()
        olympus.jit(f)(X)
    first, second = [stages(m) for m in session.makings if m.name == "f"]
    assert first == ["trace", "lower", "compile"]
    assert second == ["trace", "lower", "load"]
    assert "loaded from the cache on disk" in session.makings[1].disk


def test_nothing_listens_outside_of_a_session():
    before = events._durations.listeners, records._listeners
    session = olympus.timeline()
    with session:
        assert len(events._durations.listeners) == len(before[0]) + 1
    assert (events._durations.listeners, records._listeners) == before
    olympus.jit(lambda x: x * 9)(X)
    assert session.makings == ()
    assert "nothing" not in repr(session)


def test_start_and_stop():
    session = olympus.timeline()
    session.start()
    with pytest.raises(RuntimeError, match=r"Timeline.start: .* call stop\(\) first"):
        session.start()
    olympus.jit(lambda x: x * 11)(X)
    assert len(session.makings) == 1
    session.stop()
    session.stop()
    with session:
        pass
    assert session.makings == ()


def test_a_session_ends_with_an_error():
    before = events._durations.listeners
    with pytest.raises(ZeroDivisionError), olympus.timeline():
        olympus.jit(lambda x: 1 // 0)(X)
    assert events._durations.listeners == before


def test_it_has_a_page_and_text(tmp_path):
    f = olympus.jit(lambda x: x * 13)
    with olympus.timeline("</script>") as session:
        f(X)
        f(X[:2])
    page = session.to_html()
    assert page.count("</script>") == 2
    session.save(tmp_path / "page.html")
    assert session._repr_html_().startswith("<iframe")
    text = str(session)
    assert "2 made, 1 of them again" in text
    assert "cure: " in text
    assert "test_timeline.py" in text


def test_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(
        "import sys\n"
        "import olympus\n"
        "assert __name__ == '__main__'\n"
        "olympus.jit(lambda x: x * 17)(float(sys.argv[1]))\n"
        "sys.exit(3)\n"
    )
    assert main(["timeline", "train.py", "2.5"]) == 3
    assert capsys.readouterr().out == "train.timeline.html\n"
    assert "</html>" in (tmp_path / "train.timeline.html").read_text()
    assert main(["timeline", "--text", "train.py", "2"]) == 3
    assert "<lambda>" in capsys.readouterr().out
    assert main(["timeline", "absent.py"]) == 2
    assert "no file 'absent.py'" in capsys.readouterr().err
