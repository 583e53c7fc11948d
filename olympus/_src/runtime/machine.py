"""What a compiled program needs of the machine that it runs on, as data."""

from __future__ import annotations

import functools
import platform
import re
from collections.abc import Mapping

from olympus._src.runtime import versions
from olympus._src.runtime.versions import Device

# What tells one CPU from another in Linux's /proc/cpuinfo, on x86 and on ARM.
_MODEL = ("vendor_id", "cpu family", "model", "CPU implementer", "CPU part")
_FEATURES = ("flags", "Features")


def facts(device: Device) -> dict[str, str]:
    """What must be the same where a program that was compiled for the device is run.

    Returns:
      Text by name: platform, platform_version, device_kind, jaxlib and, for the CPU,
      architecture, cpu_model and cpu_features.
    """
    found = {
        "platform": device.client.platform,
        "platform_version": device.client.platform_version,
        "device_kind": device.device_kind,
        "jaxlib": versions.version.__version__,
    }
    if device.client.platform == "cpu":
        found["architecture"] = platform.machine()
        found["cpu_model"], found["cpu_features"] = _cpu()
    return found


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


def _feature_reason(wanted: set[str], here: set[str]) -> str:
    lacking, more = sorted(wanted - here), sorted(here - wanted)
    parts = []
    if lacking:
        parts.append(f"this CPU lacks {_few(lacking)}")
    if more:
        parts.append(f"it was built for one without {_few(more)}")
    return " and ".join(parts)


def _few(names: list[str]) -> str:
    rest = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return ", ".join(names[:6]) + rest


@functools.cache
def _cpu() -> tuple[str, str]:
    """The model of the CPU, and its features in sorted order."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            text = file.read().split("\n\n", 1)[0]
    except OSError:
        return platform.processor() or platform.node(), ""
    lines = dict(re.findall(r"^(.+?)\s*:[ \t]*(.*)$", text, re.MULTILINE))
    model = " ".join(lines[name] for name in _MODEL if name in lines)
    features = next((lines[name] for name in _FEATURES if name in lines), "")
    return model, " ".join(sorted(features.split()))
