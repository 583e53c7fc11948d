"""The key of a compiled program in the cache on disk.

A key is a digest of all that XLA's compiler sees: the module, its options, its own
build, and the machine it builds for. All of it is the same in two processes for the
same program: the module is text without addresses, counters or source positions.
"""

from __future__ import annotations

import hashlib
import os

from olympus._src.runtime import client, machine, plugins, versions
from olympus._src.runtime.compiling import Options
from olympus._src.runtime.versions import CompileOptions, Device

# Grows where entries of an older olympus must not be named: with the meaning of any
# part of the key.
_FORMAT = "olympus 1"

# Variables that change what the compilers of accelerators build; those of XLA itself
# are in its options.
_VARIABLES = ("LIBTPU_INIT_ARGS", "NVIDIA_TF32_OVERRIDE", "TF_XLA_FLAGS")


def key(code: bytes, built: CompileOptions, device: Device) -> str:
    """The key of a program: 64 hexadecimal digits.

    Args:
      code: the module.
      built: the options it is compiled with.
      device: the first device it runs on.
    """
    return digest(
        _FORMAT.encode(),
        _facts(device).encode(),
        repr([os.environ.get(name) for name in _VARIABLES]).encode(),
        built.SerializeAsString(),
        code,
    )


def parts(
    code: bytes, built: CompileOptions, device: Device, options: Options
) -> dict[str, str]:
    """What a key is made of, to say which of it differs from that of another.

    Args:
      code, built, device: as for `key`.
      options: those of the program by name, which `built` has among others.
    """
    named = {f"{name} of the machine": str(v) for name, v in _facts_of(device).items()}
    named |= {name: os.environ.get(name, "") for name in _VARIABLES}
    named["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "")
    named["compiler options"] = ", ".join(f"{k}={v}" for k, v in sorted(options))
    named["options"] = digest(built.SerializeAsString())[:16]
    named["module"] = digest(code)[:16]
    named["format"] = _FORMAT
    return named


def digest(*parts: bytes) -> str:
    """A digest of parts that depends on where one ends and the next begins."""
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(len(part).to_bytes(8, "little"))
        hasher.update(part)
    return hasher.hexdigest()


def _facts(device: Device) -> str:
    return repr(sorted(_facts_of(device).items()))


def _facts_of(device: Device) -> dict[str, str]:
    """A description of the machine, of a device's kind and of the compiler for it."""
    facts = machine.facts(device)
    facts["compute_capability"] = str(getattr(device, "compute_capability", ""))
    facts["build"] = versions.build()
    facts["parallelism"] = client.host_parallelism()
    if device.platform != "cpu":
        facts["plugin"] = plugins.version_of(client.platform_of(device))
        facts["topology"] = versions.topology_fingerprint(device)
    return facts
