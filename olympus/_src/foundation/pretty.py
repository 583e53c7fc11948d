"""Pretty-printing: documents whose groups are printed on one line where they fit.

A document is a string, a sequence of documents, or a `Break`, `Nest` or `Group`. A
group is *flat*, all its breaks printed as their text, if it fits the rest of the line
by itself; otherwise its own breaks become new lines, indented by the `Nest`s around
them. Whether a group fits does not depend on what follows it.

After: Philip Wadler, "A prettier printer" (2003); Christian Lindig, "Strictly Pretty"
(2000), whose explicit stack keeps deep documents clear of the recursion limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Union

Doc = Union[str, "Break", "Nest", "Group", Sequence["Doc"]]


class Break:
    """A place where a line may end; `text` is what is there if it does not."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Nest:
    """Indents the new lines inside `doc` by `indent` more."""

    __slots__ = ("doc", "indent")

    def __init__(self, indent: int, doc: Doc) -> None:
        self.indent = indent
        self.doc = doc


class Group:
    """Prints `doc` on one line if it fits."""

    __slots__ = ("doc",)

    def __init__(self, doc: Doc) -> None:
        self.doc = doc


_SPACE = Break(" ")


def text(string: str) -> Doc:
    """A string; it holds no line ends."""
    return string


def brk(string: str = " ") -> Doc:
    """A new line, or `string` where the group around it is flat."""
    return _SPACE if string == " " else Break(string)


def nest(indent: int, doc: Doc) -> Doc:
    """`doc` with its new lines indented by `indent` more columns."""
    return Nest(indent, doc)


def group(doc: Doc) -> Doc:
    """`doc` on one line if it fits there."""
    return Group(doc)


def concat(docs: Iterable[Doc]) -> Doc:
    """The documents concatenated."""
    return docs if isinstance(docs, (list, tuple)) else list(docs)


def join(separator: Doc, docs: Iterable[Doc]) -> Doc:
    """The documents with `separator` between them."""
    joined: list[Doc] = []
    for doc in docs:
        if joined:
            joined.append(separator)
        joined.append(doc)
    return joined


def render(doc: Doc, width: int = 80) -> str:
    """The document as text.

    Args:
      doc: the document; what is outside of every group is not flat.
      width: columns to keep to, where breaks allow it.
    """
    return "".join(pieces(doc, width))


def pieces(doc: Doc, width: int = 80) -> list[str]:
    """What `render` joins: the document's strings, and line ends with what indents."""
    out: list[str] = []
    column = 0
    # What is still to print, last first: (indent, flat, document).
    pending: list[tuple[int, bool, Doc]] = [(0, False, doc)]
    while pending:
        indent, flat, doc = pending.pop()
        if isinstance(doc, str):
            out.append(doc)
            column += len(doc)
        elif isinstance(doc, (list, tuple)):
            pending.extend([(indent, flat, d) for d in reversed(doc)])
        elif isinstance(doc, Break):
            if flat:
                out.append(doc.text)
                column += len(doc.text)
            else:
                out.append("\n" + " " * indent)
                column = indent
        elif isinstance(doc, Nest):
            pending.append((indent + doc.indent, flat, doc.doc))
        elif isinstance(doc, Group):
            pending.append((indent, flat or _fits(doc.doc, width - column), doc.doc))
        else:
            raise TypeError(
                f"pretty.render: a document must be made by this module's functions, "
                f"got {type(doc).__name__}; wrap it in pretty.text(str(...))"
            )
    return out


def _fits(doc: Doc, room: int) -> bool:
    """Whether the document, flat, takes no more than `room` columns."""
    # Iterators, so that no more of a long sequence is visited than a line holds.
    pending: list[Iterator[Doc]] = [iter((doc,))]
    while pending:
        for part in pending[-1]:
            if isinstance(part, str):
                room -= len(part)
            elif isinstance(part, Break):
                room -= len(part.text)
            elif isinstance(part, (Nest, Group)):
                pending.append(iter((part.doc,)))
                break
            else:
                pending.append(iter(part))
                break
            if room < 0:
                return False
        else:
            pending.pop()
    return True
