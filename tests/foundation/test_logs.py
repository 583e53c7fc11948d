"""Messages go to the logger named olympus; two settings show them on stderr."""

import logging
import subprocess
import sys

import pytest

from olympus._src.foundation import config, logs


@pytest.fixture(autouse=True)
def _silence():
    yield
    config.update("olympus_logging_level", "NOTSET")
    config.update("olympus_debug_log_modules", "")


def test_messages_have_levels(caplog):
    with caplog.at_level(logging.DEBUG, logger="olympus"):
        logs.debug("one")
        logs.info("two")
        logs.warning("three")
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [
        ("DEBUG", "one"),
        ("INFO", "two"),
        ("WARNING", "three"),
    ]


def test_a_level_shows_messages_on_stderr(capsys):
    logs.info("before")
    config.update("olympus_logging_level", "INFO")
    logs.info("shown")
    logs.debug("too fine")
    config.update("olympus_logging_level", "NOTSET")
    logs.info("after")
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == 1
    assert shown[0].startswith("INFO:")
    assert shown[0].endswith(":olympus: shown")


def test_modules_named_show_their_debug_messages(capsys):
    config.update("olympus_debug_log_modules", "olympus.one, olympus.two")
    logging.getLogger("olympus.two").debug("seen")
    config.update("olympus_debug_log_modules", "olympus.one")
    logging.getLogger("olympus.two").debug("unseen")
    assert capsys.readouterr().err.count("seen") == 1


def test_logging_is_imported_with_the_first_message():
    code = (
        "from olympus._src.foundation import logs;"
        "assert logs._logging.module is None; logs.info('x');"
        "assert logs._logging.module is not None"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
