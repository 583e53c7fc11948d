"""The contents of a bundle's file: a container of kind 'bundle'."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Sequence
from typing import Any, NamedTuple

from olympus._src.core import avals, dtypes
from olympus._src.export import arrays
from olympus._src.export.arrays import Stored
from olympus._src.export.json_fields import Fields
from olympus._src.foundation import container
from olympus._src.foundation.container import Container, Unreadable

KIND = "bundle"
_VERSIONS = range(1, 2)
_EXPORTED = "exported program"


class Slot(NamedTuple):
    """An argument or a result: one leaf of the pytrees.

    Attributes:
      path: how users write it, as in `params['w']`.
      dtype: the element type.
      shape: sizes of the axes; a symbolic one is text.
      weak_type: whether the dtype is weak in promotion.
    """

    path: str
    dtype: Any
    shape: tuple[int | str, ...]
    weak_type: bool

    def type_text(self) -> str:
        """The type, as in `float32[3]`."""
        sizes = ",".join(map(str, self.shape))
        return f"{dtypes.long_name(self.dtype)}[{sizes}]"

    def is_symbolic(self) -> bool:
        """Whether a size is symbolic."""
        return any(type(n) is str for n in self.shape)

    def aval(self, shape: Sequence[int] = ()) -> avals.ShapedArray:
        """The type of a value of this shape, which is ignored if none is symbolic."""
        sizes: Any = shape if self.is_symbolic() else self.shape
        return avals.ShapedArray(tuple(sizes), self.dtype, self.weak_type)


def slots_of(paths: Sequence[str], types: Sequence[Any]) -> list[Slot]:
    """The slots of leaves of these paths and types."""
    return [
        Slot(path, a.dtype, tuple(_size(n) for n in a.shape), a.weak_type)
        for path, a in zip(paths, types, strict=True)
    ]


def _size(n: Any) -> int | str:
    return n if type(n) is int else str(n)


class Sample(NamedTuple):
    """Arguments for a trial, and the results that are to be expected.

    Attributes:
      arguments, results: arrays as bytes, one for each leaf.
      tolerance: largest difference, as a share of the largest expected value; None for
        what the dtype suggests.
    """

    arguments: list[Stored]
    results: list[Stored]
    tolerance: float | None


class Contents:
    """What a bundle holds.

    Attributes:
      name, doc: of the function.
      argument_names: of its positional arguments.
      arguments, results: a `Slot` for each leaf.
      in_tree, out_tree: the structures, as JSON.
      donated: which leaves a result may overwrite.
      platforms: those of the portable program.
      vjp_order: how many reverse derivatives are in it.
      made_by: versions and machines, for people to read.
      exported: the portable program; None where there is none.
      executables: compiled programs, as `executables.pack` wrote them.
      sample: for a trial; None where there is none.
    """

    __slots__ = (
        "argument_names",
        "arguments",
        "doc",
        "donated",
        "executables",
        "exported",
        "in_tree",
        "made_by",
        "name",
        "out_tree",
        "platforms",
        "results",
        "sample",
        "vjp_order",
    )
    argument_names: list[str]
    arguments: list[Slot]
    doc: str
    donated: list[bool]
    executables: list[bytes]
    exported: bytes | None
    in_tree: Any
    made_by: dict[str, str]
    name: str
    out_tree: Any
    platforms: list[str]
    results: list[Slot]
    sample: Sample | None
    vjp_order: int

    def __init__(self, **values: Any) -> None:
        for name in Contents.__slots__:
            setattr(self, name, values[name])


# -- writing ---------------------------------------------------------------------------


def pack(contents: Contents) -> bytes:
    """The bytes of a bundle; equal contents have equal bytes."""
    c = contents
    fields = {
        "name": c.name,
        "doc": c.doc,
        "argument_names": list(c.argument_names),
        "arguments": list(map(_write_slot, c.arguments)),
        "results": list(map(_write_slot, c.results)),
        "in_tree": c.in_tree,
        "out_tree": c.out_tree,
        "donated": list(c.donated),
        "platforms": list(c.platforms),
        "vjp_order": c.vjp_order,
        "made_by": dict(c.made_by),
        "portable": c.exported is not None,
        "executables": len(c.executables),
        "sample": None,
    }
    sections: dict[str, bytes] = {}
    if c.exported is not None:
        sections[_EXPORTED] = c.exported
    for i, data in enumerate(c.executables):
        sections[f"executable {i}"] = data
    if c.sample is not None:
        fields["sample"] = {
            "arguments": [arrays.write_aval(x.aval) for x in c.sample.arguments],
            "results": [arrays.write_aval(x.aval) for x in c.sample.results],
            "tolerance": c.sample.tolerance,
        }
        for what in ("arguments", "results"):
            for i, x in enumerate(getattr(c.sample, what)):
                sections[f"sample {what} {i}"] = x.data
    return container.pack(Container(KIND, _VERSIONS[-1], fields, sections))


def _write_slot(slot: Slot) -> dict[str, Any]:
    return {
        "path": slot.path,
        "dtype": dtypes.long_name(slot.dtype),
        "shape": list(slot.shape),
        "weak_type": slot.weak_type,
    }


def write_file(path: str, data: bytes) -> None:
    """Writes a file whole or not at all; one that is there is replaced at the end."""
    folder, name = os.path.split(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~umask())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def umask() -> int:
    """The permissions that new files lack; asking is setting, so it is set again."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


# -- reading ---------------------------------------------------------------------------


def unpack(data: bytes) -> Contents:
    """What `pack` made bytes of; nothing of it is run or loaded.

    Raises:
      Unreadable: the bytes are damaged, or something else.
    """
    parts = container.unpack(data, KIND, _VERSIONS)
    fields = Fields(parts.fields, KIND)
    sections = parts.sections
    arguments = fields.each("arguments", _read_slot)
    section_names = [_EXPORTED] if fields.flag("portable") else []
    section_names += [
        f"executable {i}" for i in range(fields.integer("executables", 0, 4096))
    ]
    n_executables = len(section_names) - fields.flag("portable")
    sample = None
    if fields.has("sample"):
        sample, more = _read_sample(fields.inner("sample"), sections)
        section_names += more
    if list(sections) != section_names:
        raise Unreadable(
            f"{KIND}: its sections must be {section_names}, got {list(sections)}"
        )
    return Contents(
        name=fields.text("name"),
        doc=fields.text("doc"),
        argument_names=fields.texts("argument_names"),
        arguments=arguments,
        results=fields.each("results", _read_slot),
        in_tree=fields.items("in_tree"),
        out_tree=fields.items("out_tree"),
        donated=fields.flags("donated", len(arguments)),
        platforms=fields.texts("platforms"),
        vjp_order=fields.integer("vjp_order"),
        made_by=fields.texts_by_name("made_by"),
        exported=sections.get(_EXPORTED),
        executables=[sections[f"executable {i}"] for i in range(n_executables)],
        sample=sample,
    )


def _read_slot(value: Any, where: str) -> Slot:
    fields = Fields(value, where)
    shape = fields.items("shape")
    if any(type(n) is not str and (type(n) is not int or n < 0) for n in shape):
        raise fields.wrong("shape", "a list of sizes", shape)
    dtype = arrays.read_dtype(fields)
    return Slot(fields.text("path"), dtype, tuple(shape), fields.flag("weak_type"))


def _read_sample(fields: Fields, sections: Any) -> tuple[Sample, list[str]]:
    stored_by_kind: dict[str, list[Stored]] = {}
    names = []
    for what in ("arguments", "results"):
        stored_by_kind[what] = []
        for i, aval in enumerate(fields.each(what, arrays.read_aval)):
            name = f"sample {what} {i}"
            if name not in sections:
                raise Unreadable(f"{KIND}: it must have a section {name!r}, got none")
            names.append(name)
            stored_by_kind[what].append(arrays.read_stored(sections[name], aval, name))
    tolerance = fields.values.get("tolerance")
    if tolerance is not None and type(tolerance) is not float:
        raise fields.wrong("tolerance", "a number", tolerance)
    return Sample(
        stored_by_kind["arguments"], stored_by_kind["results"], tolerance
    ), names


def digest(data: bytes) -> str:
    """The digest that names a file's bytes."""
    return hashlib.sha256(data).hexdigest()
