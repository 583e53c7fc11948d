"""`python -m olympus launch`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from distributed import processes
from docs import checker
from olympus._src.command.main import main


@pytest.fixture
def script(tmp_path):
    def write(code):
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(code))
        return str(path)

    return write


def test_lines_have_numbers_and_variables_are_set(script, capfd):
    path = script(
        """
        import os, sys
        names = "PROCESS_ID NUM_PROCESSES NUM_CPU_DEVICES".split()
        print(*[os.environ["OLYMPUS_" + n] for n in names], *sys.argv[1:])
        print(os.environ["OLYMPUS_COORDINATOR_ADDRESS"].split(":")[0], file=sys.stderr)
        """
    )
    words = ["launch", "-n", "2", "--devices-per-process", "3", path, "a", "-n", "7"]
    assert main(words) == 0
    out, error = capfd.readouterr()
    assert sorted(out.splitlines()) == ["[0] 0 2 3 a -n 7", "[1] 1 2 3 a -n 7"]
    assert sorted(error.splitlines()) == ["[0] 127.0.0.1", "[1] 127.0.0.1"]


@pytest.mark.parametrize(
    ("failure", "status", "how"),
    [
        ("sys.exit(3)", 3, "ended with status 3"),
        ("os.kill(os.getpid(), 9)", 137, "was ended by SIGKILL"),
    ],
)
def test_one_that_fails_ends_all(script, capfd, failure, status, how):
    path = script(
        f"""
        import os, sys, time
        if os.environ["OLYMPUS_PROCESS_ID"] == "1":
            {failure}
        time.sleep(600)
        """
    )
    assert main(["launch", "-n", "3", path]) == status
    _, error = capfd.readouterr()
    assert error == (f"olympus launch: process 1 {how}; ending the 2 that still run\n")


def test_a_module(script, capfd, monkeypatch):
    folder = os.path.dirname(script("import sys; print(__name__, *sys.argv[1:])"))
    monkeypatch.setenv("PYTHONPATH", folder)
    assert main(["launch", "-n", "1", "-m", "script", "-m", "a"]) == 0
    assert capfd.readouterr().out == "[0] __main__ -m a\n"


@pytest.mark.parametrize("words", [["-n", "0", "x.py"], ["x.py"], ["-n", "2"]])
def test_wrong_use(words):
    with pytest.raises(SystemExit, match="2"):
        main(["launch", *words])


def test_a_script_that_is_absent(capfd):
    assert main(["launch", "-n", "2", "absent.py"]) == 2
    assert "absent.py: no such file" in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_an_interrupt_ends_all(script, tmp_path, number, status):
    path = script(
        f"""
        import os, time
        own = os.path.join({str(tmp_path)!r}, os.environ["OLYMPUS_PROCESS_ID"])
        open(own, "w").write(str(os.getpid()))
        time.sleep(600)
        """
    )
    command = [sys.executable, "-m", "olympus", "launch", "-n", "2", path]
    files = [tmp_path / "0", tmp_path / "1"]
    launcher = subprocess.Popen(command)
    try:
        end = time.monotonic() + processes.TIMEOUT_S
        while not all(file.exists() and file.read_text() for file in files):
            assert time.monotonic() < end
            time.sleep(0.05)
        launcher.send_signal(number)
        assert launcher.wait(processes.TIMEOUT_S) == status
    finally:
        launcher.kill()
        launcher.wait()
    for file in files:
        with pytest.raises(ProcessLookupError):
            os.kill(int(file.read_text()), 0)


@pytest.mark.slow
def test_the_script_of_the_documentation(script, capfd):
    page = (checker.ROOT / "docs" / "several_processes.md").read_text("utf-8")
    code = page.split("```{code-block} python\n")[1].split("```")[0]
    words = ["--devices-per-process", "2", script(code)]
    assert main(["launch", "-n", "2", *words]) == 0
    lines = capfd.readouterr().out.splitlines()
    shown = ["[0] 0 [56. 64.]", "[1] 1 [56. 64.]"]
    assert set(shown) <= set(lines)
    assert "\n".join(shown) in page
