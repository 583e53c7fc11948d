"""Where the names of JAX's modules come from: pages of ours, and modules of olympus.

A name is looked for, in this order, in

1. the page of the module, a file of `olympus._src.compat.pages`, which has what is
   JAX's alone;
2. the modules of olympus that `PRIVATE` lists for a private module of JAX, or the
   public module that has its place.
"""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import os
from types import ModuleType
from typing import Any

from olympus._src.compat import names

# Modules of olympus that JAX has no like of.
_OWN_ALONE = frozenset(["olympus.bundle", "olympus.compat"])

# Modules of JAX whose names are those of modules of olympus. `jax._src` is private:
# libraries read from it what they find nowhere else, and nothing more is promised.
PRIVATE: dict[str, tuple[str, ...]] = {
    "jax._src": (),
    "jax._src.ad_checkpoint": ("ad_checkpoint",),
    "jax._src.ad_util": ("interpreters.ad", "custom_derivatives", "lax"),
    "jax._src.api": ("",),
    "jax._src.api_util": ("api_util", "extend.linear_util"),
    "jax._src.array": ("",),
    "jax._src.callback": ("", "experimental"),
    "jax._src.checkify": ("experimental.checkify",),
    "jax._src.compilation_cache": ("experimental.compilation_cache.compilation_cache",),
    "jax._src.compiler": (),
    "jax._src.config": ("",),
    "jax._src.core": ("extend.core", "core", "extend.core.primitives"),
    "jax._src.custom_batching": ("custom_batching",),
    "jax._src.custom_derivatives": ("custom_derivatives", "", "ad_checkpoint"),
    "jax._src.debugging": ("debug",),
    "jax._src.dispatch": ("",),
    "jax._src.distributed": ("distributed",),
    "jax._src.dlpack": ("dlpack",),
    "jax._src.dtypes": ("dtypes", "numpy"),
    "jax._src.earray": ("experimental",),
    "jax._src.effects": ("extend.core",),
    "jax._src.errors": ("errors",),
    "jax._src.export": (),
    "jax._src.export._export": ("export",),
    "jax._src.ffi": ("ffi",),
    "jax._src.flatten_util": ("flatten_util",),
    "jax._src.hijax": ("experimental.hijax",),
    "jax._src.image": (),
    "jax._src.image.scale": ("image",),
    "jax._src.interpreters": (),
    "jax._src.interpreters.ad": ("interpreters.ad",),
    "jax._src.interpreters.batching": ("interpreters.batching",),
    "jax._src.interpreters.mlir": ("interpreters.mlir",),
    "jax._src.interpreters.partial_eval": ("interpreters.partial_eval",),
    "jax._src.interpreters.pxla": ("interpreters.pxla", "sharding"),
    "jax._src.interpreters.xla": ("interpreters.xla",),
    "jax._src.lax": (),
    "jax._src.lax.control_flow": ("lax",),
    "jax._src.lax.convolution": ("lax",),
    "jax._src.lax.lax": ("lax",),
    "jax._src.lax.linalg": ("lax.linalg", "lax"),
    "jax._src.lax.parallel": ("lax",),
    "jax._src.lax.slicing": ("lax",),
    "jax._src.lax.special": ("lax",),
    "jax._src.lax.windowed_reductions": ("lax",),
    "jax._src.lib": (),
    "jax._src.lib.mlir": (),
    "jax._src.lib.mlir.dialects": (),
    "jax._src.linear_util": ("extend.linear_util",),
    "jax._src.mesh": ("sharding", ""),
    "jax._src.monitoring": ("monitoring",),
    "jax._src.named_sharding": ("sharding",),
    "jax._src.nn": (),
    "jax._src.nn.functions": ("nn",),
    "jax._src.nn.initializers": ("nn.initializers",),
    "jax._src.numpy": (),
    "jax._src.numpy.array_methods": (),
    "jax._src.numpy.index_tricks": (),
    "jax._src.numpy.lax_numpy": ("numpy",),
    "jax._src.numpy.linalg": ("numpy.linalg",),
    "jax._src.numpy.ufuncs": ("numpy",),
    "jax._src.numpy.reductions": ("numpy",),
    "jax._src.numpy.util": (),
    "jax._src.numpy.vectorize": (),
    "jax._src.partition_spec": ("sharding",),
    "jax._src.pjit": ("extend.core.primitives", "", "lax", "sharding"),
    "jax._src.pmap": ("",),
    "jax._src.prng": ("extend.random", "dtypes"),
    "jax._src.profiler": ("profiler",),
    "jax._src.random": ("random",),
    "jax._src.random.prng": ("extend.random", "extend.core.primitives", "dtypes"),
    "jax._src.scipy": (),
    "jax._src.scipy.linalg": ("scipy.linalg",),
    "jax._src.scipy.special": ("scipy.special",),
    "jax._src.shard_map": ("",),
    "jax._src.sharding": ("sharding",),
    "jax._src.sharding_impls": ("sharding", ""),
    "jax._src.source_info_util": ("extend.source_info_util",),
    "jax._src.stages": ("stages",),
    "jax._src.state": (),
    "jax._src.state.discharge": (),
    "jax._src.state.primitives": ("extend.core.primitives", "ref"),
    "jax._src.state.types": ("ref", ""),
    "jax._src.test_util": ("test_util",),
    "jax._src.public_test_util": ("test_util",),
    "jax._src.traceback_util": (),
    "jax._src.tree": ("tree",),
    "jax._src.tree_util": ("tree_util",),
    "jax._src.typing": ("typing", ""),
    "jax._src.util": (),
    "jax._src.xla_bridge": ("extend.backend", ""),
}

_PAGES = "olympus._src.compat.pages"

_OLYMPUS = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
_SUFFIXES = importlib.machinery.SOURCE_SUFFIXES + importlib.machinery.BYTECODE_SUFFIXES
_INIT = "__init__"


@functools.cache
def _file_of(name: str) -> str | None:
    """The file of a module of olympus; None: there is no such module.

    Nothing is imported: Python holds the lock of all imports while a finder looks for a
    module, and an import in another thread may wait for that lock.
    """
    base = os.path.join(_OLYMPUS, *name.split(".")[1:])
    for start in (os.path.join(base, _INIT), base):
        for suffix in _SUFFIXES:
            if os.path.isfile(start + suffix):
                return start + suffix
    return None


def file(module: str) -> str | None:
    """The file of olympus that stands for a module of JAX; None where none does."""
    for name in (_page_name(module), *own_modules(module)):
        path = _file_of(name)
        if path is not None:
            return path
    return None


def _page_name(module: str) -> str:
    return _PAGES + module[len(names.ROOT) :]


@functools.cache
def _has_page(module: str) -> bool:
    """Whether we wrote something for a module of JAX by hand."""
    return _file_of(_page_name(module)) is not None


def page(module: str) -> ModuleType | None:
    """What we wrote for a module of JAX by hand, if there is anything."""
    return importlib.import_module(_page_name(module)) if _has_page(module) else None


@functools.cache
def exists(module: str) -> bool:
    """Whether there is a module of JAX's of this name."""
    if module in PRIVATE or _has_page(module):
        return True
    parent, _, _ = module.rpartition(".")
    if parent and not exists(parent):
        return False
    if module.startswith("jax._src"):
        return False
    return _own_public_module(module) is not None


def _own_public_module(module: str) -> str | None:
    name = names.own_module(module)
    if "_src" in name or any(name == own for own in _OWN_ALONE):
        return None
    return None if _file_of(name) is None else name


@functools.cache
def own_modules(module: str) -> tuple[str, ...]:
    """The modules of olympus that have the names of one of JAX."""
    if module in PRIVATE:
        listed = PRIVATE[module]
        return tuple([f"olympus.{name}" if name else "olympus" for name in listed])
    own = _own_public_module(module)
    return () if own is None else (own,)


@functools.cache
def is_package(module: str) -> bool:
    """Whether there are modules below it."""
    below = module + "."
    if any(name.startswith(below) for name in PRIVATE):
        return True
    own = _own_public_module(module)
    homes = [] if own is None else [own]
    if _has_page(module):
        homes.append(_page_name(module))
    files = [os.path.basename(_file_of(home) or "") for home in homes]
    return any(name.startswith(f"{_INIT}.") for name in files)


class Missing(AttributeError):
    """A name of JAX that is not there."""


def find(module: str, name: str) -> Any:
    """The value of a name of one of JAX's modules.

    Raises:
      Missing: it has no such name.
    """
    own_page = page(module)
    if own_page is not None:
        if name in vars(own_page):
            return vars(own_page)[name]
        late = vars(own_page).get("__getattr__")
        if late is not None:
            try:
                return late(name)
            except AttributeError:
                pass
    spellings = dict.fromkeys([names.to_olympus(name), name])
    for own in own_modules(module):
        loaded = importlib.import_module(own)
        for spelling in spellings:
            if hasattr(loaded, spelling):
                return getattr(loaded, spelling)
    raise Missing(name)


def approximation(module: str, name: str) -> str | None:
    """What a name does less than JAX's; None: what it does is the same."""
    own_page = page(module)
    if own_page is None:
        return None
    note: str | None = getattr(own_page, "APPROXIMATED", {}).get(name)
    return note


def deprecation(module: str, name: str) -> str | None:
    """What to write instead of a name that JAX deprecates; None: it does not."""
    own_page = page(module)
    if own_page is None:
        return None
    advice: str | None = getattr(own_page, "DEPRECATED", {}).get(name)
    return advice


def list_names(module: str) -> list[str]:
    """All names of one of JAX's modules."""
    listed: set[str] = set()
    own_page = page(module)
    if own_page is not None:
        listed.update(getattr(own_page, "__all__", ()))
    for own in own_modules(module):
        loaded = importlib.import_module(own)
        public = getattr(loaded, "__all__", None) or dir(loaded)
        listed.update(names.to_jax(n) for n in public if not n.startswith("_"))
    return sorted(listed)


def lists(module: str, name: str) -> bool:
    """Whether a name is in the `__all__` of what stands for one of JAX's modules."""
    loaded = map(importlib.import_module, own_modules(module))
    return any(name in getattr(own, "__all__", ()) for own in loaded)
