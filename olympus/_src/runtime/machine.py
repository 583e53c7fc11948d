"""What a compiled program requires of the machine that it runs on, as data."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import re
import sys
from collections.abc import Mapping

from olympus._src.runtime import versions
from olympus._src.runtime.versions import Device

# What tells one CPU from another in Linux's /proc/cpuinfo. The other lines differ from
# core to core, or from minute to minute.
_MODEL = (
    "vendor_id",
    "cpu family",
    "model",
    "model name",
    "stepping",
    "CPU implementer",
    "CPU architecture",
    "CPU variant",
    "CPU part",
    "CPU revision",
    "cpu",
    "revision",
    "uarch",
)
_FEATURES = ("flags", "Features", "features", "isa")
# And among the values that macOS names; Apple's own CPUs have the first only.
_MACOS_MODEL = "machdep.cpu.brand_string"
_MACOS_FEATURES = ("machdep.cpu.features", "machdep.cpu.leaf7_features")
# Windows numbers features: SSE to AVX-512, NEON and similar ones.
_WINDOWS_FEATURES = 96


def facts(device: Device) -> dict[str, str]:
    """What must be the same where a program that was compiled for the device is run.

    Returns:
      Text by name: platform, platform_version, device_kind, jaxlib and, for the CPU,
      architecture, cpu_model and cpu_features.
    """
    properties = {
        "platform": device.client.platform,
        "platform_version": device.client.platform_version,
        "device_kind": device.device_kind,
        "jaxlib": versions.version.__version__,
    }
    if device.client.platform == "cpu":
        properties["architecture"] = platform.machine()
        properties["cpu_model"], properties["cpu_features"] = _cpu()
    return properties


def differences(wanted: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    """What keeps a program that was compiled for `wanted` from running here.

    Args:
      wanted, here: as `facts` gives them.

    Returns:
      Reasons in words; none where the program runs.
    """
    reasons = []
    for name in sorted({*wanted, *here}):
        a, b = wanted.get(name, ""), here.get(name, "")
        if a == b:
            continue
        if name == "cpu_features":
            reasons.append(_feature_reason(set(a.split()), set(b.split())))
        else:
            reasons.append(
                f"its {name.replace('_', ' ')} is {a or 'unknown'!r}, and this "
                f"machine's is {b or 'unknown'!r}"
            )
    return reasons


def _feature_reason(required: set[str], here: set[str]) -> str:
    lacking, more = sorted(required - here), sorted(here - required)
    parts = []
    if lacking:
        parts.append(f"this CPU lacks {_few(lacking)}")
    if more:
        parts.append(f"it was built for one without {_few(more)}")
    return " and ".join(parts)


def _few(names: list[str]) -> str:
    ending = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return ", ".join(names[:6]) + ending


@functools.cache
def _cpu() -> tuple[str, str]:
    """The model of the CPU, and its features in sorted order.

    Where the system does not report it, the machine's name stands for its CPU.
    """
    if sys.platform == "darwin":
        model, features = _macos_cpu()
    elif sys.platform == "win32":
        model, features = _windows_cpu()
    else:
        model, features = _linux_cpu()
    return model or platform.node(), " ".join(sorted(features))


def _linux_cpu() -> tuple[str, list[str]]:
    """What is said of the first core; all cores of a machine run the same code."""
    block = b""
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as file:
            # A part at a time: machines have hundreds of cores.
            while b"\n\n" not in block and (part := file.read(1 << 14)):
                block += part
    except OSError:
        return "", []
    text = block.split(b"\n\n")[0].decode(errors="replace")
    lines = dict(re.findall(r"^(.+?)\s*:[ \t]*(.*)$", text, re.MULTILINE))
    model = " ".join(lines[name] for name in _MODEL if name in lines)
    features = next((lines[name] for name in _FEATURES if name in lines), "")
    return model, features.split()


def _macos_cpu() -> tuple[str, list[str]]:
    library = ctypes.CDLL(None)

    def value(name: str) -> str:
        size = ctypes.c_size_t(0)
        if library.sysctlbyname(name.encode(), None, ctypes.byref(size), None, 0):
            return ""
        text = ctypes.create_string_buffer(size.value)
        library.sysctlbyname(name.encode(), text, ctypes.byref(size), None, 0)
        return text.value.decode(errors="replace")

    return value(_MACOS_MODEL), " ".join(map(value, _MACOS_FEATURES)).split()


def _windows_cpu() -> tuple[str, list[str]]:
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]
    numbers = range(_WINDOWS_FEATURES)
    present = [str(n) for n in numbers if kernel.IsProcessorFeaturePresent(n)]
    return os.environ.get("PROCESSOR_IDENTIFIER", ""), present
