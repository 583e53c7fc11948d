"""Platforms that come as PJRT plug-ins: found on disk, loaded by jaxlib.

A plug-in is a shared library that implements PJRT's C interface. The packages that ship
them also hold a Python module which registers them with jax by importing it; olympus
finds the library beside that module and loads it itself.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable
from typing import Any

from olympus._src.foundation import config
from olympus._src.runtime import cuda_libraries, loading, scipy_lapack, versions
from olympus._src.runtime.versions import Client


class Plugin:
    """A shared library that makes a platform.

    Attributes:
      platform: its name, as in 'cuda'.
      library: path of the shared library.
      kernels: Python package with the platform's kernels; None where it has none.
    """

    __slots__ = ("kernels", "library", "platform")

    def __init__(self, platform: str, library: str, kernels: str | None = None) -> None:
        self.platform = platform
        self.library = library
        self.kernels = kernels

    def __repr__(self) -> str:
        return f"Plugin({self.platform!r}, {self.library!r})"


# Newest first: where two generations are installed the newer one runs.
# Each row: platform, package, library in it, package of kernels.
_KNOWN = (
    ("cuda", "jax_plugins.xla_cuda13", "xla_cuda_plugin.so", "jax_cuda13_plugin"),
    ("cuda", "jax_plugins.xla_cuda12", "xla_cuda_plugin.so", "jax_cuda12_plugin"),
    ("rocm", "jax_plugins.xla_rocm7", "xla_rocm_plugin.so", "jax_rocm7_plugin"),
    ("rocm", "jax_plugins.xla_rocm60", "xla_rocm_plugin.so", "jax_rocm60_plugin"),
    ("tpu", "libtpu", "libtpu.so", None),
)
# 'name:path,name:path', the form that other PJRT programs read too.
_ENVIRONMENT = "PJRT_NAMES_AND_LIBRARY_PATHS"

_plugins: dict[str, Plugin] | None = None


def installed_plugins() -> dict[str, Plugin]:
    """The plug-ins of this environment, by platform."""
    global _plugins
    if _plugins is None:
        _plugins = _search()
    return _plugins


def forget() -> None:
    """Clears the list, to search again after an installation or in a test."""
    global _plugins
    _plugins = None


def _search() -> dict[str, Plugin]:
    by_platform: dict[str, Plugin] = {}
    for plugin in _named_by_environment():
        by_platform[plugin.platform] = plugin
    for platform, package, library, kernels in _KNOWN:
        path = _file_in(package, library)
        if path is not None:
            by_platform.setdefault(platform, Plugin(platform, path, kernels))
    return by_platform


def _named_by_environment() -> list[Plugin]:
    text = os.environ.get(_ENVIRONMENT, "")
    plugins = []
    for entry in filter(None, text.split(",")):
        name, separator, path = entry.partition(":")
        if not separator or not name or not path:
            raise ValueError(
                f"{_ENVIRONMENT}: must be written 'name:path,name:path', got {text!r}"
            )
        plugins.append(Plugin(name, path))
    return plugins


def _file_in(package: str, name: str) -> str | None:
    """The path of a file of a package, without importing what is inside."""
    top, _, subpackages = package.partition(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    folders = (spec.submodule_search_locations or []) if spec else []
    for folder in folders:
        path = os.path.join(folder, *subpackages.split("."), name)
        if os.path.exists(path):
            return path
    return None


# Platforms whose kernels are registered, for which XLA has no undoing.
_with_kernels: set[str] = set()

# -- starting --------------------------------------------------------------------------


def start(
    plugin: Plugin, store: Any = None, node_id: int = 0, num_nodes: int = 1
) -> Client:
    """Loads a plug-in, registers its kernels and starts its client.

    Args:
      plugin: the plug-in.
      store: a client of the coordination service, in one of several processes.
      node_id: the number of this process.
      num_nodes: how many there are.

    Raises:
      RuntimeError: the plug-in is of another version than jaxlib, or cannot work with
        the libraries of CUDA that are here.
    """
    if plugin.platform == "cuda":
        cuda_libraries.load_installed()
        cuda_libraries.check(plugin.kernels, config.cuda_visible_devices.value)
    options = options_of(plugin)
    if store is not None:
        options |= {"node_id": node_id, "num_nodes": num_nodes}
    with loading.quietly():
        load(plugin)
        return versions.start_plugin_client(plugin.platform, options, store)


def load(plugin: Plugin) -> Any:
    """Loads a plug-in and registers its kernels, once; returns its C interface.

    Raises:
      RuntimeError: the plug-in is of another version than jaxlib.
    """
    check_version(plugin)
    c_api = versions.load_plugin(plugin.platform, plugin.library)
    if plugin.kernels is not None and plugin.platform not in _with_kernels:
        register_kernels(plugin, c_api)
        _with_kernels.add(plugin.platform)
    return c_api


def check_version(plugin: Plugin) -> None:
    """Refuses a plug-in for NVIDIA's GPUs of another version than jaxlib.

    They share classes of C++, so that others may start and then fail anywhere. ROCm's
    plug-ins have versions of their own.

    Raises:
      RuntimeError: it is of another version.
    """
    if plugin.platform != "cuda":
        return
    for name, version in _distributions(plugin):
        if versions.numbers(version) != versions.JAXLIB_VERSION:
            wanted = ".".join(map(str, versions.JAXLIB_VERSION))
            packages = " ".join(f"{n}=={wanted}" for n in _names(plugin))
            raise RuntimeError(
                f"{plugin.platform}: the plug-in must have the version of jaxlib, "
                f"{wanted}, got {name} {version}; `pip install {packages}` installs it"
            )


def version_of(platform: str) -> str:
    """The packages of a platform's plug-in with their versions; '' where unknown."""
    plugin = installed_plugins().get(platform)
    if plugin is None:
        return ""
    return " ".join([f"{name}=={version}" for name, version in _distributions(plugin)])


def library_version(key: str) -> int | None:
    """The version of a library of CUDA, as in 'cudnn'; None where there is none."""
    plugin = installed_plugins().get("cuda")
    return None if plugin is None else cuda_libraries.version(plugin.kernels, key)


def _names(plugin: Plugin) -> tuple[str, ...]:
    """The packages that a plug-in consists of: kernels, and the library."""
    if plugin.kernels is None:
        return ()
    name = plugin.kernels.replace("_", "-")
    return name, name.removesuffix("-plugin") + "-pjrt"


def _distributions(plugin: Plugin) -> list[tuple[str, str]]:
    """The installed packages of a plug-in, with their versions."""
    from importlib import metadata  # late: import of olympus does without it

    packages = []
    for name in _names(plugin):
        try:
            packages.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            continue
    return packages


def options_of(plugin: Plugin) -> dict[str, Any]:
    """What a plug-in's client is started with."""
    options: dict[str, Any] = {}
    if plugin.platform in ("cuda", "rocm"):
        options.update(_gpu_options(plugin.platform))
    options.update(_user_options())
    return options


def _gpu_options(platform: str) -> dict[str, Any]:
    """How the GPU's memory is managed, by the variables that XLA's users set."""
    env = os.environ.get
    options: dict[str, Any] = {"platform_name": platform}
    options["allocator"] = _allocator(env("XLA_PYTHON_CLIENT_ALLOCATOR", "default"))
    fractions = env("XLA_CLIENT_MEM_FRACTION"), env("XLA_PYTHON_CLIENT_MEM_FRACTION")
    if all(fractions):
        raise ValueError(
            "XLA_CLIENT_MEM_FRACTION: it and XLA_PYTHON_CLIENT_MEM_FRACTION must not "
            f"both be set, got {fractions}; remove the second, which is its old name"
        )
    if any(fractions):
        options["memory_fraction"] = float(fractions[0] or fractions[1] or 0)
    preallocate = env("XLA_PYTHON_CLIENT_PREALLOCATE")
    if preallocate:
        options["preallocate"] = preallocate.lower() not in ("false", "0")
    collective_mb = env("XLA_PYTHON_CLIENT_COLLECTIVE_MEM_SIZE_MB")
    if collective_mb:
        options["collective_memory_size"] = int(collective_mb) << 20
    for name in ("abort_collectives_on_failure", "use_tfrt_gpu_client"):
        switch = env(f"XLA_PYTHON_CLIENT_{name.upper()}")
        if switch:
            options[name] = bool(int(switch))
    setting = config.cuda_visible_devices if platform == "cuda" else None
    if setting is None:
        setting = config.rocm_visible_devices
    if setting.value != "all":
        options["visible_devices"] = [int(n) for n in setting.value.split(",")]
    return options


_ALLOCATORS = ("default", "platform", "bfc", "cuda_async", "vmm", "address")


def _allocator(name: str) -> str:
    if name.lower() not in _ALLOCATORS:
        raise ValueError(
            "XLA_PYTHON_CLIENT_ALLOCATOR: must be one of "
            f"{', '.join(map(repr, _ALLOCATORS))}, got {name!r}"
        )
    return name.lower()


def _user_options() -> dict[str, Any]:
    text = config.pjrt_client_create_options.value or ""
    options: dict[str, Any] = {}
    for entry in filter(None, text.split(";")):
        name, _, value = entry.partition(":")
        options[name] = _literal(value)
    return options


def _literal(text: str) -> Any:
    """A number or truth value where the text is one."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


# -- kernels ---------------------------------------------------------------------------

_KERNEL_MODULES = (
    "_solver",
    "_linalg",
    "_prng",
    "_rnn",
    "_sparse",
    "_triton",
    "_hybrid",
)
# Modules whose kernels all use XLA's typed interface; elsewhere the name tells.
_TYPED_MODULES = frozenset(["_linalg", "_hybrid"])


def register_kernels(plugin: Plugin, c_api: Any) -> int:
    """Registers the kernels of a platform's companion package; returns how many."""
    package = f"{plugin.kernels}.{plugin.platform}_plugin_extension"
    try:
        extension: Any = importlib.import_module(package)
    except ImportError:
        # Without the package the platform runs, short of linear algebra and callbacks.
        return 0
    for name, kind in extension.ffi_types().items():
        extension.register_custom_type(c_api, name, kind)
    handlers = [(name, f, 1) for name, f in extension.ffi_handlers().items()]
    for module_name in _KERNEL_MODULES:
        handlers += _kernels_of(f"{plugin.kernels}.{module_name}", module_name)
    registry = _Registry(extension, c_api, plugin.platform.upper())
    for name, function, typed in handlers:
        registry.add_target(name, function, typed)
    _registries[plugin.platform] = registry
    for register in _waiting.pop(plugin.platform, []):
        register(registry)
    return len(handlers)


class _Registry:
    """Where a loaded plug-in finds functions by name."""

    __slots__ = ("_c_api", "_extension", "_name")

    def __init__(self, extension: Any, c_api: Any, name: str) -> None:
        self._extension = extension
        self._c_api = c_api
        self._name = name

    def add_target(self, name: str, function: Any, api_version: int) -> None:
        self._extension.register_custom_call_target(
            self._c_api, name, function, self._name, api_version
        )

    def add_type(self, name: str, registration: Any) -> None:
        self._extension.register_custom_type(self._c_api, name, registration)


_with_lapack: set[str] = set()


def give_lapack() -> None:
    """Gives SciPy's LAPACK to the kernels that work on the host too, once each.

    Finding it takes 0.3 s, so it waits for the first program that calls one of them.
    """
    for plugin in installed_plugins().values():
        if plugin.platform in _with_kernels - _with_lapack:
            module: Any = importlib.import_module(f"{plugin.kernels}._hybrid")
            with scipy_lapack.importable():
                module.initialize()
            _with_lapack.add(plugin.platform)


_registries: dict[str, _Registry] = {}
# What users have registered for platforms that are not loaded yet.
_waiting: dict[str, list[Callable[[_Registry], None]]] = {}


def register_target(platform: str, name: str, function: Any, api_version: int) -> None:
    """Says which function programs of a plug-in call by a name, once it is loaded."""
    _register(platform, lambda r: r.add_target(name, function, api_version))


def register_type(platform: str, name: str, registration: Any) -> None:
    """Says what a type of states of such functions is, once it is loaded."""
    _register(platform, lambda r: r.add_type(name, registration))


def _register(platform: str, action: Callable[[_Registry], None]) -> None:
    registry = _registries.get(platform)
    if registry is None:
        _waiting.setdefault(platform, []).append(action)
    else:
        action(registry)


def _kernels_of(path: str, name: str) -> list[tuple[str, Any, int]]:
    """The kernels of one module: name, function, whether it is typed."""
    try:
        module: Any = importlib.import_module(path)
    except ImportError:
        return []
    typed = name in _TYPED_MODULES
    listed = module.registrations().items()
    return [(target, f, int(typed or target.endswith("_ffi"))) for target, f in listed]
