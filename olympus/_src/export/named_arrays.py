"""Arguments and results by name: the contents of a program's file of NumPy arrays."""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib import format as npy

from olympus._src.core import dtypes
from olympus._src.interpreters import concrete_arrays

# -- files -----------------------------------------------------------------------------


def read_npz(path: str) -> dict[str, np.ndarray]:
    """The arrays of a file that `numpy.savez` wrote, by name; nothing is unpickled.

    Raises:
      ValueError: it is not such a file, or holds Python objects.
      OSError: it cannot be read.
    """
    try:
        with open(path, "rb") as stream:
            file = np.load(stream, allow_pickle=False)
            if isinstance(file, np.ndarray):
                raise ValueError("one array without a name")
            size_bytes = sum(item.file_size for item in file.zip.infolist())
            if size_bytes > _memory_bytes():
                raise ValueError(f"arrays of {size_bytes} bytes, more than the memory")
            return {name: file[name] for name in file.files}
    except _NOT_READ as error:
        raise ValueError(
            f"{path}: must be a file of arrays by name, as numpy.savez writes it "
            "(objects of Python are not read), got another: "
            f"{str(error) or type(error).__name__}"
        ) from None


def _memory_bytes() -> int:
    if not hasattr(os, "sysconf"):
        return 1 << 40
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


# What NumPy and zipfile raise for files that are damaged, or larger than the memory.
_NOT_READ = (
    ValueError,
    TypeError,
    KeyError,
    EOFError,
    OverflowError,
    MemoryError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    zipfile.BadZipFile,
    zlib.error,
)


def write_npz(path: str, values: Mapping[str, np.ndarray]) -> None:
    """Writes arrays by name, as `numpy.savez` does; any name will do."""
    with zipfile.ZipFile(path, "w") as file:
        for name, value in values.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                npy.write_array(entry, np.asanyarray(value), allow_pickle=False)


# -- arguments -------------------------------------------------------------------------


def match(names: Sequence[str], arrays: Mapping[str, Any]) -> list[Any]:
    """The values of the arguments, in order.

    Args:
      names: paths of the arguments, as in `x` and `params['w']`.
      arrays: values by path. `params/w` and `params.w` mean `params['w']`, and `arr_0`,
        `arr_1`, ... all arguments in order, as numpy.savez calls what has no name.

    Raises:
      ValueError: an argument has no value or two, or a value has no argument.
    """
    in_order = [f"arr_{i}" for i in range(len(names))]
    if names and sorted(arrays) == sorted(in_order) and set(names).isdisjoint(arrays):
        return [arrays[name] for name in in_order]
    by_path: dict[str, Any] = {}
    extra = []
    spelling = _spellings(names)
    for name, value in arrays.items():
        path = name if name in names else spelling.get(_plain(name))
        if path is None:
            extra.append(name)
        elif path in by_path:
            raise ValueError(f"argument {path!r} is given twice; leave one out")
        else:
            by_path[path] = value
    missing = [name for name in names if name not in by_path]
    if extra or missing:
        parts = [f"no value for {_format_names(missing)}"] if missing else []
        parts += [f"{_format_names(extra)}, which it does not take"] if extra else []
        raise ValueError(
            f"the program takes the arguments {_format_names(names)}, got "
            f"{'; '.join(parts)}"
        )
    return [by_path[name] for name in names]


def _spellings(names: Sequence[str]) -> dict[str, str]:
    """From the plain spelling to the path, where no two paths share it."""
    paths_by_spelling: dict[str, list[str]] = {}
    for name in names:
        paths_by_spelling.setdefault(_plain(name), []).append(name)
    return {
        plain: paths[0] for plain, paths in paths_by_spelling.items() if len(paths) == 1
    }


_KEY = re.compile(r"\[(?:'([^']*)'|\"([^\"]*)\"|([^\]'\"]*))\]|\.")


def _plain(path: str) -> str:
    """A path with slashes between its steps."""
    return _KEY.sub(lambda m: "/" + (m[1] or m[2] or m[3] or ""), path)


def _format_names(names: Sequence[str]) -> str:
    text = ", ".join(map(repr, names[:12]))
    return f"{text} and {len(names) - 12} more" if len(names) > 12 else text or "none"


def as_argument(value: Any, aval: Any, name: str) -> Any:
    """An array of the program's type from a NumPy array.

    Numbers of 64 bits become those of 32 where the program takes such, as in a call.
    Types that NumPy lacks, as bfloat16, are taken from wider ones that hold the same
    value, or from the bare bytes that NumPy writes for them; keys from their words.

    Raises:
      ValueError: another shape.
      TypeError: another dtype, or a value that the dtype does not hold.
    """
    value = np.asarray(value)
    value = value.astype(value.dtype.newbyteorder("="), copy=False)
    storage = aval.storage
    if not _shapes_agree(value.shape, storage.shape):
        raise ValueError(
            f"argument {name!r} must be of type {aval.str_long()}, got shape "
            f"{list(value.shape)}"
            + ("; keys are given by their words" if aval is not storage else "")
        )
    dtype = storage.dtype
    if value.dtype.kind == "V" and _is_raw(value.dtype, dtype):
        value = value.view(dtype)
    elif value.dtype != dtype:
        value = _convert_dtype(value, aval, name)
    concrete = aval.update(shape=value.shape[: aval.ndim])
    return concrete_arrays.with_aval(
        concrete_arrays.put(value, concrete.storage), concrete
    )


def _is_raw(actual: Any, expected: Any) -> bool:
    """Whether a dtype is how NumPy's files show one that NumPy does not have."""
    return (
        _is_own(expected)
        and actual.names is None
        and actual.itemsize == expected.itemsize
    )


def _shapes_agree(actual: tuple[int, ...], expected: tuple[Any, ...]) -> bool:
    """Whether a shape is that of the program; a symbolic size may be any."""
    if len(actual) != len(expected):
        return False
    return all(
        type(w) is not int or g == w for g, w in zip(actual, expected, strict=True)
    )


def _is_own(dtype: Any) -> bool:
    """Whether NumPy itself has no such dtype."""
    return dtype.isbuiltin != 1


def _convert_dtype(value: np.ndarray, aval: Any, name: str) -> np.ndarray:
    dtype = aval.storage.dtype
    kinds = dtypes.kind(dtype), dtypes.kind(value.dtype)
    narrower = kinds[0] == kinds[1] and value.dtype.itemsize >= dtype.itemsize
    if aval.storage is not aval or not narrower or kinds[0] == "b":
        return _refuse(value, aval, name)
    with np.errstate(all="ignore"):
        result = value.astype(dtype)
    if kinds[0] in "iu" or _is_own(dtype):
        same = np.array_equal(
            result.astype(value.dtype), value, equal_nan=kinds[0] == "f"
        )
        if not same:
            raise TypeError(
                f"argument {name!r} must be of type {aval.str_long()}, got values of "
                f"{value.dtype} that it does not hold; round them before"
            )
    return result


def _refuse(value: np.ndarray, aval: Any, name: str) -> Any:
    raise TypeError(
        f"argument {name!r} must be of type {aval.str_long()}, got dtype {value.dtype}"
        f"; convert it by .astype({aval.storage.dtype.name!r})"
    )


# -- results ---------------------------------------------------------------------------


def to_numpy(x: Any) -> np.ndarray:
    """An array of a dtype that NumPy reads from a file, with the same values.

    Small floating dtypes become float32, small integers int8 or uint8, and keys their
    words.
    """
    if not isinstance(x, np.ndarray):
        x = np.asarray(concrete_arrays.with_aval(x, x.aval.storage))
    if x.dtype == dtypes.float0:
        return np.zeros(x.shape, np.bool_)
    if not _is_own(x.dtype):
        return x
    wider = {"f": np.float32, "i": np.int8, "u": np.uint8}
    return x.astype(wider[dtypes.kind(x.dtype)])


# -- made up ---------------------------------------------------------------------------


def sample_array(aval: Any, rng: np.random.Generator) -> np.ndarray:
    """Random values of a type for a trial: small numbers."""
    storage = aval.storage
    kind = dtypes.kind(storage.dtype)
    if storage is not aval:
        return rng.integers(0, 1 << 32, storage.shape, dtype=np.uint32)
    if kind == "b":
        return rng.integers(0, 2, storage.shape).astype(np.bool_)
    if kind in "iu":
        return rng.integers(0, 2, storage.shape).astype(storage.dtype)
    sample = rng.standard_normal(storage.shape)
    if kind == "c":
        sample = sample + 1j * rng.standard_normal(storage.shape)
    return sample.astype(storage.dtype)
