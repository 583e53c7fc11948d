"""What all pages share: one file, without a network, and how it is shown."""

from __future__ import annotations

import base64
import json
import os
import re
import tempfile
from importlib import resources
from typing import Any


def html(kind: str, name: str, data: dict[str, Any], script: str) -> str:
    """A page.

    Args:
      kind: what it shows, in a word.
      name: of what it shows.
      data: what its script reads.
      script: the name of the file that draws it, behind what all pages share.
    """
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    parts = {
        "KIND": kind,
        "TITLE": _escape(name),
        "STYLE": _read("page.css"),
        "SCRIPT": _read("base.js") + _read(script),
        # Within a script, these letters would end it.
        "DATA": text.replace("<", "\\u003c"),
    }
    page = re.sub(r"__([A-Z]+)__", lambda m: parts[m[1]], _read("page.html"))
    # Python's text may hold halves of letters, which no file can.
    return page.encode("utf-8", "replace").decode()


def _read(name: str) -> str:
    return resources.files("olympus._src.lens").joinpath(name).read_text("utf-8")


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def frame(page: str) -> str:
    """A page within another, as notebooks show it."""
    data = base64.b64encode(page.encode()).decode()
    return (
        '<iframe style="width:100%;height:720px;border:1px solid #8884" '
        f'src="data:text/html;base64,{data}"></iframe>'
    )


def temporary_path(name: str) -> str:
    """A path for a page."""
    folder = tempfile.mkdtemp(prefix="olympus-lens-")
    return os.path.join(folder, file_name(name))


_MAX_NAME = 80


def file_name(name: str) -> str:
    """The name of a file for the page of a function."""
    return re.sub(r"\W+", "_", name, flags=re.ASCII)[:_MAX_NAME] + ".html"
