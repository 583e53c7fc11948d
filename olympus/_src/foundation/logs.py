"""What olympus logs: the logger named "olympus", made at its first message; in programs
for JAX that named "jax".

Two settings reach the standard library's logging for those who do not configure it
themselves: `logging_level` shows the logger's messages on stderr from that level up,
and `debug_log_modules` shows the debug messages of the modules it names.
"""

from __future__ import annotations

import importlib
from typing import Any

from olympus._src.foundation import config, vocabulary


class _Logging:
    """The standard library's module, and the loggers that got a handler from us."""

    __slots__ = ("handlers", "module")

    def __init__(self) -> None:
        self.module: Any = None
        self.handlers: dict[str, Any] = {}

    def load(self) -> Any:
        if self.module is None:
            # 4 ms of import that a program without messages need not pay.
            self.module = importlib.import_module("logging")
            _show(vocabulary.name(), config.logging_level.value)
            _show_modules(config.debug_log_modules.value)
        return self.module


_logging = _Logging()


def debug(message: str) -> None:
    """Logs what helps only when olympus itself is debugged."""
    _logging.load().getLogger(vocabulary.name()).debug(message)


def info(message: str) -> None:
    """Logs what a user may want to know."""
    _logging.load().getLogger(vocabulary.name()).info(message)


def warning(message: str) -> None:
    """Logs what a user requested by a setting, or should see."""
    _logging.load().getLogger(vocabulary.name()).warning(message)


def _show(name: str, level: str) -> None:
    """Shows a logger's messages on stderr from `level` up; NOTSET undoes it."""
    logging = _logging.load()
    logger = logging.getLogger(name)
    handler = _logging.handlers.pop(name, None)
    if handler is not None:
        logger.removeHandler(handler)
    elif level == "NOTSET":
        return  # the logger is the user's to configure
    logger.setLevel(level)
    if level == "NOTSET":
        return
    handler = _logging.handlers[name] = logging.StreamHandler()
    handler.setFormatter(
        logging.Formatter("%(levelname)s:%(asctime)s:%(name)s: %(message)s")
    )
    logger.addHandler(handler)


def _show_modules(names: str) -> None:
    loggers = {name.strip() for name in names.split(",") if name.strip()}
    for name in set(_logging.handlers) - loggers - {vocabulary.name()}:
        _show(name, "NOTSET")
    for name in loggers:
        _show(name, "DEBUG")


def _follow_level(level: str) -> None:
    if _logging.module is not None or level != "NOTSET":
        _show(vocabulary.name(), level)


def _follow_modules(names: str) -> None:
    if _logging.module is not None or names:
        _show_modules(names)


config.logging_level.watch(_follow_level)
config.debug_log_modules.watch(_follow_modules)
