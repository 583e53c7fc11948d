"""Compiles modules for an NVIDIA H200 that is not here, and says what it would run.

It needs the plug-in's packages and CUDA's compiler (`tools/test gpu-compile` installs
them), and no GPU. Nothing is tuned: that takes a GPU.
"""

from __future__ import annotations

import pathlib
import re
from typing import Any

from olympus._src.runtime import absent_devices, plugins

# XLA's `GpuTargetConfig` of that GPU, as XLA writes it where there is one.
H200 = pathlib.Path(__file__).parents[1] / "data" / "h200.txtpb"
OPTIONS = {"xla_gpu_autotune_level": 0}
FAILED = "failed"


class Gpu:
    """The described device."""

    def __init__(self) -> None:
        shape = "1x1x1"  # one device of one host of one slice
        self.devices = absent_devices.describe(
            plugins.installed_plugins()["cuda"],
            shape,
            {"target_config": H200.read_text(), "topology": shape},
        )

    def text(self, module: str, **options: Any) -> str:
        """The optimized program of a module, in XLA's words."""
        options = {**OPTIONS, **options}
        devices, pairs = self.devices[:1], tuple(options.items())
        program = absent_devices.compile_for(module, devices, pairs)
        return str(program.hlo_modules()[0].to_string())

    def summary(self, module: str) -> dict[str, Any] | str:
        """What the program of a module runs, or that XLA refuses the module.

        Returns:
          The targets of its calls of kernels, in order, each as often as it is there;
          how many fused programs it has, and how many loops.
        """
        try:
            text = self.text(module)
        except RuntimeError as error:
            return f"{FAILED}: {str(error).splitlines()[0][:100]}"
        return {
            "targets": sorted(re.findall(r'custom_call_target="([^"]+)"', text)),
            "fusions": len(re.findall(r" fusion\(", text)),
            "loops": len(re.findall(r" while\(", text)),
        }
