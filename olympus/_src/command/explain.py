"""`python -m olympus explain CODE`: what the documentation says of an error."""

from __future__ import annotations

import argparse
import difflib
import re
import textwrap
from importlib import resources
from typing import NamedTuple

from olympus._src.command.command import Command, Failure

# Whole pages, which lead from a symptom to its cause.
TOPICS = ("compiled_again", "out_of_memory", "why_nan", "why_slow")


class Section(NamedTuple):
    """A part of the page on errors.

    Attributes:
      code: the stable code.
      title: the class, or what the error is about.
      text: in Markdown, with the title.
    """

    code: str
    title: str
    text: str


def page(name: str) -> str:
    """The text of a page that is installed with the package."""
    file = resources.files("olympus._src").joinpath("pages", f"{name}.md")
    return file.read_text(encoding="utf-8")


_CLASS = re.compile(
    r"^```\{py:exception\} olympus\.errors\.(\w+)\nCode: (OLY\d+)\n```$", re.MULTILINE
)
_FREQUENT = re.compile(r"^\*\*(.+?)\.\*\* Code: (OLY\d+)\.", re.MULTILINE)
_HEADING = re.compile(r"^## .*$", re.MULTILINE)


def sections() -> dict[str, Section]:
    """The sections of the page on errors, by code."""
    text = page("errors")
    starts = sorted(
        [*_CLASS.finditer(text), *_FREQUENT.finditer(text)], key=lambda m: m.start()
    )
    stops = [m.start() for m in [*starts, *_HEADING.finditer(text)]] + [len(text)]
    by_code = {}
    for match in starts:
        end = min(stop for stop in stops if stop > match.start())
        title, code = match.group(1).replace("`", ""), match.group(2)
        by_code[code] = Section(code, title, text[match.end() : end].strip())
    return by_code


def readable(markdown: str) -> str:
    """Markdown as one reads it in a terminal: code is indented, links are names."""
    text = re.sub(r"\A---\n.*?\n---\n", "", markdown, flags=re.DOTALL)
    text = re.sub(r"^```\{image\}.*?^```\n", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(
        r"^```(?:\{code-cell\})?[^\n]*\n(?::tags:[^\n]*\n)?\n*(.*?)^```$",
        lambda m: textwrap.indent(m.group(1).rstrip(), "    "),
        text,
        flags=re.DOTALL | re.MULTILINE,
    )
    text = re.sub(r"!?\[([^]]*)\]\(([\w./#-]+)\)", _link, text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _link(match: re.Match[str]) -> str:
    name, target = match.groups()
    target = target.removesuffix(".md")
    hint = f"`python -m olympus explain {target}`" if target in TOPICS else ""
    return hint or name or f"the page {target}"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "code",
        nargs="?",
        help="a code as in OLY102, a class of olympus.errors, or one of "
        f"{', '.join(TOPICS)}; all are listed without it",
    )


def _run(arguments: argparse.Namespace) -> int:
    print(explain(arguments.code))
    return 0


def explain(name: str | None) -> str:
    """What the documentation says of a code, a class or a topic; None lists all.

    Raises:
      Failure: it says nothing of it.
    """
    known = sections()
    if name is None:
        rows = [f"{s.code}  {s.title}" for s in known.values()]
        return "\n".join([*rows, "", *TOPICS])
    if name in TOPICS:
        return readable(page(name))
    by_title = {s.title.lower(): s for s in known.values()}
    short = name.rpartition(".")[2].lower()
    section = known.get(name.upper()) or by_title.get(short)
    if section is None:
        names = [*known, *[s.title for s in known.values()], *TOPICS]
        near = difflib.get_close_matches(name, names, 3, 0.5)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise Failure(
            f"{name} is no code of an error, class of olympus.errors or topic{hint}; "
            "`python -m olympus explain` lists all"
        )
    title = f"{section.code}: {section.title}"
    return f"{title}\n{'=' * len(title)}\n\n{readable(section.text)}"


COMMAND = Command(
    "explain",
    "Print what the documentation says of an error's code",
    _add_arguments,
    _run,
)
