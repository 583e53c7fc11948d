"""A setting is read somewhere, or its help says that nothing depends on it yet."""

from __future__ import annotations

import ast
import re

import pytest

from olympus._src.foundation import config, public_settings
from structure import source

DEFINITIONS = source.SOURCE / "foundation" / "config.py"
UNREAD = "nothing depends on it yet."
MENTION = re.compile(r"\b(config|compiler)\.")


def _references(path):
    """Names of settings that a file mentions, as in `config.enable_x64`."""
    if path != DEFINITIONS and not MENTION.search(path.read_text(encoding="utf-8")):
        return  # most files: no need of their trees
    for node in ast.walk(source.tree(path)):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            continue
        if path == DEFINITIONS and node.attr == "value":
            yield node.value.id
        elif node.value.id in ("config", "compiler"):
            yield node.attr


@pytest.fixture(scope="module")
def read():
    """Names of the settings that any file mentions."""
    return {name for path in source.source_files() for name in _references(path)}


@pytest.mark.parametrize("name", sorted(public_settings.registry))
def test_help_says_whether_the_setting_is_read(name, read):
    bare = name.removeprefix(public_settings.PREFIX)
    says_unread = public_settings.registry[name].help.endswith(UNREAD)
    assert says_unread == (bare not in read), (
        f"{name}: change `honoured` in its definition"
    )


def test_every_setting_is_a_name_of_one_file():
    for name, state in public_settings.registry.items():
        bare = name.removeprefix(public_settings.PREFIX)
        homes = [home for home in (config, config.compiler) if hasattr(home, bare)]
        assert [getattr(home, bare) for home in homes] == [state]
