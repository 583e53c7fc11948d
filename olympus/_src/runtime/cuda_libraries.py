"""CUDA's libraries: loaded from their packages, and asked for their versions.

The plug-in for NVIDIA's GPUs finds them by the system's search. Where they are packages
of Python, loading them first makes sure that it takes those, and all of one place.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from typing import Any, NamedTuple

from olympus._src.foundation import config, logs


class Library(NamedTuple):
    """What is required of one of CUDA's libraries.

    Attributes:
      name: for readers.
      key: how the names of the plug-in's functions begin that tell its versions.
      least: the least version; 0 where that is the one that the plug-in was built with,
        without the last two digits.
    """

    name: str
    key: str
    least: int


_LIBRARIES = (
    Library("the CUDA runtime", "cuda_runtime", 12010),
    Library("cuDNN", "cudnn", 0),
    Library("cuFFT", "cufft", 0),
    Library("CUPTI", "cupti", 18),
    Library("cuBLAS", "cublas", 120100),
    Library("cuSPARSE", "cusparse", 12100),
)

# Where packages of Python have the libraries, below the package `nvidia`: for CUDA 13
# and for CUDA 12. Those that others are linked with come first.
_FILES = (
    ("cu13", "libcudart.so.13"),
    ("cuda_runtime", "libcudart.so.12"),
    ("cu13", "libnvrtc.so.13"),
    ("cuda_nvrtc", "libnvrtc.so.12"),
    ("cu13", "libcublas.so.13"),
    ("cu13", "libcublasLt.so.13"),
    ("cublas", "libcublas.so.12"),
    ("cublas", "libcublasLt.so.12"),
    ("nccl", "libnccl.so.2"),
    ("cu13", "libcupti.so.13"),
    ("cuda_cupti", "libcupti.so.12"),
    ("cu13", "libcusparse.so.12"),
    ("cusparse", "libcusparse.so.12"),
    ("cu13", "libcusolver.so.12"),
    ("cusolver", "libcusolver.so.11"),
    ("cu13", "libcufft.so.12"),
    ("cufft", "libcufft.so.11"),
    ("nvshmem", "libnvshmem_host.so.3"),
    ("cudnn", "libcudnn.so.9"),
)


def load_installed() -> list[str]:
    """Loads the libraries that packages of Python have; returns which.

    The plug-in finds by its own search what is not among them.
    """
    try:
        import_ = importlib.import_module("nvidia")
    except ImportError:
        return []
    loaded = []
    for folder in import_.__path__:
        for package, name in _FILES:
            path = os.path.join(folder, package, "lib", name)
            if os.path.exists(path):
                try:
                    ctypes.CDLL(path)
                except OSError:  # a library that it is linked with is not there
                    continue
                loaded.append(name)
    return loaded


def version(kernels: str | None, key: str) -> int | None:
    """The version of one of the libraries, as its own number; None where there is none.

    Args:
      kernels: the package of the plug-in's kernels.
      key: of the library, as in 'cudnn'.
    """
    module = _teller(kernels)
    return None if module is None else _ask(module, f"{key}_get_version")


def _teller(kernels: str | None) -> Any:
    """The plug-in's module that tells versions; None where it has none."""
    if kernels is None:
        return None
    try:
        return importlib.import_module(f"{kernels}._versions")
    except ImportError:
        return None


def _ask(module: Any, name: str) -> int | None:
    try:
        return int(getattr(module, name)())
    except (AttributeError, RuntimeError):  # what it asks is not there
        return None


def check(kernels: str | None, visible: str = "all") -> None:
    """Refuses libraries that the plug-in cannot work with, and warns of bad ones.

    Nothing is checked where there is no GPU: that is said when the plug-in starts.

    Args:
      kernels: the package of the plug-in's kernels.
      visible: the setting that says which GPUs are used.

    Raises:
      RuntimeError: a library is not there, or too old.
    """
    module = _teller(kernels)
    if module is None or config.skip_cuda_constraints_check.value:
        return
    n_devices = _ask(module, "cuda_device_count")
    if not n_devices:
        return
    versions = {library.key: _installed(module, library) for library in _LIBRARIES}
    used = n_devices if visible == "all" else len(visible.split(","))
    problems = [
        text
        for library in _LIBRARIES
        if (text := _problem(module, library, versions[library.key]))
    ]
    problems += _bad_cudnn(module, versions["cudnn"], versions["cublas"], used)
    if problems:
        extra = "cuda12" if "12" in str(kernels) else "cuda13"
        raise RuntimeError(
            "cuda: the plug-in cannot work with the libraries of CUDA that are here: "
            f"{'; '.join(problems)}. `pip install --upgrade olympus[{extra}]` installs "
            "those that fit. The setting skip_cuda_constraints_check goes on with them"
        )
    _warn_of_cublas(module, versions["cublas"], n_devices)


def _installed(module: Any, library: Library) -> int | None:
    return _ask(module, f"{library.key}_get_version")


def _problem(module: Any, library: Library, found: int | None) -> str:
    """What is wrong with a library, or ''."""
    if found is None:
        return f"{library.name} is not found"
    built = _ask(module, f"{library.key}_build_version") or 0
    least = library.least or built // 100 * 100
    if found >= least:
        return ""
    return f"{library.name} must have version {least} or later, got {found}"


# Source: cuDNN's release notes of 9.10.0 and 9.10.1.
def _bad_cudnn(
    module: Any, cudnn: int | None, cublas: int | None, n_devices: int
) -> list[str]:
    """Versions of cuDNN that are known to give wrong results."""
    if cudnn is None:
        return []
    if cudnn == 91000 and _ask(module, "cudnn_build_version") != 91000:
        return ["cuDNN 9.10.0 takes other numbers for types of blocks with scales"]
    if cudnn < 91001 and n_devices > 1 and cublas is not None and cublas >= 120900:
        return [
            f"cuDNN before 9.10.1 ({cudnn} is here) gives wrong products on several "
            f"GPUs with cuBLAS 12.9 and later ({cublas} is here)"
        ]
    return []


def _warn_of_cublas(module: Any, cublas: int | None, n_devices: int) -> None:
    """GPUs of compute capability 10.x and 11.x need cuBLAS 13.2, or one before 12.8."""
    if cublas is None or not 120800 <= cublas < 130200:
        return
    try:
        abilities = [module.cuda_compute_capability(i) for i in range(n_devices)]
    except (AttributeError, RuntimeError):
        return
    if any(100 <= ability < 120 for ability in abilities):
        logs.warning(
            f"cuBLAS before 13.2 ({cublas} is here) may spoil results on this GPU, "
            "where kernels run at the same time; `pip install --upgrade nvidia-cublas`"
        )
