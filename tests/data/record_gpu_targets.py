"""Records what calls lower to for CUDA into `gpu_targets.json`, from the installed JAX.

    python -m tests.data.record_gpu_targets
    python -m tests.data.record_gpu_targets texts FILE
    python -m tests.data.record_gpu_targets compiled FILE FILE
    python -m tests.data.record_gpu_targets library
    python -m tests.data.record_gpu_targets library_texts FILE

The first was run with JAX 0.10.2, which needs no GPU for it. The second writes the
texts, and was run with JAX 0.12.0.1 without its plug-in. The third compiles them, and
those of the last, for an H200, as `tests.gpu.absent` does, into `gpu_compiled.json`; it
was run with the packages of `tools/test gpu-compile`, and needs no JAX. The last two
are of the calls that XLA gives to cuDNN or expands, into `gpu_library_calls.json` or as
texts; they were run with JAX 0.12.0.1, which was told that there is cuDNN 9.18. No test
runs them.
"""

from __future__ import annotations

import json
import pathlib
import sys
import types
from collections.abc import Callable
from typing import Any

from tests.gpu import library_calls
from tests.gpu.calls import CALLS
from tests.gpu.targets import REFUSED, record, targets_of

PATH = pathlib.Path(__file__).with_name("gpu_targets.json")
LIBRARY = pathlib.Path(__file__).with_name("gpu_library_calls.json")
COMPILED = pathlib.Path(__file__).with_name("gpu_compiled.json")


def lowered(describe: Callable[[str], Any]) -> dict[str, Any]:
    """What `describe` says of each call's module for CUDA, or that it is refused."""
    import jax  # noqa: TID251
    from jax import image, lax, nn, random, scipy  # noqa: TID251
    from jax import numpy as jnp  # noqa: TID251
    from jax.lax import linalg  # noqa: TID251

    names = {
        "jnp": jnp,
        "lax": lax,
        "la": linalg,
        "nn": nn,
        "sp": scipy,
        "image": image,
        "random": random,
        "grad": jax.grad,
        "vmap": jax.vmap,
    }

    def lower(function: Any, arguments: Any) -> str:
        traced = jax.jit(function).trace(*arguments)
        return traced.lower(lowering_platforms=("cuda",)).as_text()

    with jax.enable_x64(True):
        return dict(record(CALLS, names, jax.ShapeDtypeStruct, lower, describe))


def lowered_for_libraries(describe: Callable[[str], Any]) -> Any:
    """What `describe` says of the modules of the calls of `tests.gpu.library_calls`."""
    import jax  # noqa: TID251
    from jax._src.cudnn import fused_attention_stablehlo  # noqa: TID251

    cudnn = types.SimpleNamespace(cudnn_get_version=lambda: 91800)
    fused_attention_stablehlo.cuda_versions = cudnn

    def lower(function: Any, arguments: Any) -> str:
        traced = jax.jit(function).trace(*arguments)
        return traced.lower(lowering_platforms=("cuda",)).as_text()

    return library_calls.record(jax, lower, describe)


def compiled(texts: dict[str, str]) -> dict[str, Any]:
    """What the programs of texts run on an H200."""
    from tests.gpu.absent import Gpu

    gpu = Gpu()
    modules = {c: t for c, t in texts.items() if not t.startswith(REFUSED)}
    return {call: gpu.summary(text) for call, text in modules.items()}


def main() -> None:
    what, *files = sys.argv[1:] or ["targets"]
    if what == "targets":
        rows, path = lowered(targets_of), PATH
    elif what == "texts":
        rows, path = lowered(str), pathlib.Path(files[0])
    elif what == "library":
        rows, path = lowered_for_libraries(library_calls.library_calls), LIBRARY
    elif what == "library_texts":
        rows, path = lowered_for_libraries(str), pathlib.Path(files[0])
    else:
        texts: dict[str, str] = {}
        for file in files:
            texts |= json.loads(pathlib.Path(file).read_text())
        rows, path = compiled(texts), COMPILED
    path.write_text(json.dumps(rows, indent=0) + "\n")


if __name__ == "__main__":
    main()
