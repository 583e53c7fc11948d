"""Profiles: files, events, memory, servers and errors."""

import glob
import gzip
import json
import os
import threading
import urllib.request

import pytest

import olympus
import olympus.numpy as onp
from olympus import profiler


def events_of(data):
    profile = profiler.ProfileData.from_serialized_xspace(data)
    return {
        event.name: dict(event.stats)
        for plane in profile.planes
        for line in plane.lines
        for event in line.events
    }


@profiler.annotate_function
def product(x):
    return (x @ x).block_until_ready()


def test_a_session_records_what_is_named():
    with profiler.ProfileSession() as session:
        with profiler.StepTraceAnnotation("train", step_num=7):
            product(onp.ones((8, 8)))
        with profiler.TraceAnnotation("named", size=3):
            pass
    events = events_of(session.data)
    assert events["train"] == {"_r": 1, "step_num": 7}
    assert events["named"] == {"size": 3}
    assert "product" in events


def test_files(tmp_path):
    with profiler.trace(tmp_path, create_perfetto_trace=True):
        olympus.jit(lambda x: x + 1)(onp.ones(3)).block_until_ready()
    (folder,) = glob.glob(str(tmp_path / "plugins" / "profile" / "*"))
    names = sorted(name.split(".", 1)[1] for name in os.listdir(folder))
    assert names == ["json.gz", "trace.json.gz", "xplane.pb"]
    with gzip.open(os.path.join(folder, "perfetto_trace.json.gz"), "rt") as f:
        assert json.load(f)["traceEvents"]
    (path,) = glob.glob(os.path.join(folder, "*.xplane.pb"))
    planes = [plane.name for plane in profiler.ProfileData.from_file(path).planes]
    assert "/host:CPU" in planes


def test_options_and_a_chosen_folder(tmp_path):
    options = profiler.ProfileOptions()
    options.python_tracer_level = 0
    session = profiler.ProfileSession(profiler_options=options)
    session.start()
    data = session.stop()
    assert not any(name.startswith("$") for name in events_of(data))
    profiler.export_profile_data(data, tmp_path, session_id="first")
    assert os.listdir(tmp_path / "plugins" / "profile") == ["first"]


def test_the_viewer_reads_a_recording_once(tmp_path, capfd):
    def read():
        address = "http://127.0.0.1:9001/perfetto_trace.json.gz"
        while True:
            try:
                with urllib.request.urlopen(address) as response:
                    headers.append(response.headers["Access-Control-Allow-Origin"])
                return
            except OSError:
                stop.wait(0.05)

    headers, stop = [], threading.Event()
    reader = threading.Thread(target=read)
    reader.start()
    with profiler.trace(tmp_path, create_perfetto_link=True):
        pass
    reader.join(60)
    assert headers == ["*"]
    assert (
        "https://ui.perfetto.dev/#!/?url=http://127.0.0.1:9001"
        in capfd.readouterr().out
    )


def test_memory(tmp_path):
    array = onp.ones(1000).block_until_ready()
    profile = gzip.decompress(profiler.device_memory_profile())
    assert b"buffer" in profile
    profiler.save_device_memory_profile(tmp_path / "memory.prof")
    assert gzip.decompress((tmp_path / "memory.prof").read_bytes())
    assert profiler.device_memory_profile("cpu")
    del array


def test_servers():
    profiler.start_server(9192)
    with pytest.raises(ValueError, match="one server may run"):
        profiler.start_server(9193)
    profiler.stop_server()
    with pytest.raises(ValueError, match="a server must run"):
        profiler.stop_server()


def test_events_without_files():
    with profiler.trace() as session:
        assert session.profile_data is None
        olympus.numpy.arange(3).block_until_ready()
    assert "/host:CPU" in [plane.name for plane in session.profile_data.planes]


def test_one_recording_at_a_time(tmp_path):
    with pytest.raises(RuntimeError, match="no profile started"):
        profiler.stop_trace()
    with profiler.trace(tmp_path):
        with pytest.raises(RuntimeError, match="has already been started"):
            profiler.start_trace(tmp_path)
        with pytest.raises(RuntimeError, match="no profile may be under way"):
            profiler.export_profile_data(b"", tmp_path)
    with pytest.raises(TypeError, match="must be the bytes"):
        profiler.export_profile_data("text", tmp_path)
