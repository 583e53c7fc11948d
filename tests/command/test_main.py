"""The command line: sub-commands are found, and failures become messages."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from olympus._src.command import main as main_
from olympus._src.command.command import Command, Failure
from olympus._src.command.main import COMMANDS, main


def _command(run):
    return Command("probe", "Do what a test says", lambda parser: None, run)


@pytest.fixture
def probe(monkeypatch):
    def install(run):
        monkeypatch.setattr(main_, "COMMANDS", (_command(run),))

    return install


def test_help_lists_every_command_with_its_line(capsys):
    with pytest.raises(SystemExit) as done:
        main(["--help"])
    assert done.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    for command in COMMANDS:
        assert f" {command.name} {command.help}" in text


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c.name)
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as done:
        main([command.name, "--help"])
    assert done.value.code == 0
    assert command.help.split()[0] in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["no-such-command"]])
def test_wrong_use_is_said_on_stderr(words, capsys):
    with pytest.raises(SystemExit) as done:
        main(words)
    assert done.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


def test_the_status_is_the_commands_own(probe):
    probe(lambda arguments: 1)
    assert main(["probe"]) == 1


def test_a_failure_is_one_line_on_stderr(probe, capsys):
    def run(arguments):
        raise Failure("the file must exist, got none; name another")

    probe(run)
    assert main(["probe"]) == 2
    said = capsys.readouterr()
    assert said.err == ("olympus probe: the file must exist, got none; name another\n")
    assert said.out == ""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device")
def test_a_full_disk_is_one_line_on_stderr():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "olympus", "environment"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.stderr.splitlines() == [
        "olympus environment: [Errno 28] No space left on device"
    ]


def test_an_interrupt_ends_it_as_the_shell_expects(probe):
    def run(arguments):
        raise KeyboardInterrupt

    probe(run)
    assert main(["probe"]) == 130


def test_python_m_olympus_runs_it():
    done = subprocess.run(
        [sys.executable, "-m", "olympus", "environment"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "jaxlib: " in done.stdout
    assert "devices (" in done.stdout


def test_a_reader_that_goes_away_is_no_error():
    code = "import sys; sys.argv[1:] = ['environment']\n"
    code += "import os; r, w = os.pipe(); os.close(r); os.dup2(w, 1)\n"
    code += "from olympus._src.command.main import main\nsys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert done.stderr == ""
