"""Which kernels a module of StableHLO calls, and how, as short texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.gpu.calls import SHAPES

REFUSED = "refused"
_LAYOUTS = r"_layouts = \[((?:dense<[^>]*>[^,\]]*,? ?)*)\]"


def targets_of(module: str) -> list[str]:
    """Each kind of call once: target, attributes, layouts, reused operands.

    Markers of the compiler's own, as for shardings, are no kernels.
    """
    lines = [x for x in module.splitlines() if "stablehlo.custom_call" in x]
    return sorted({_describe(line) for line in lines})


def _describe(line: str) -> str:
    target = re.search(r"custom_call\s*@([\w$.]+)", line)
    config = re.search(r"mhlo\.backend_config = \{([^}]*)\}", line) or re.search(
        r" backend_config = \{([^}]*)\}", line
    )
    switches = sorted(s.strip() for s in config[1].split(",") if s) if config else []
    layouts = [
        re.sub(r"dense<(\[?[^>]*\]?)> : tensor<\d+xindex>", r"\1", found[1])
        for which in ("operand", "result")
        if (found := re.search(which + _LAYOUTS, line))
    ]
    reused = re.findall(
        r"output_tuple_indices = \[(\d*)\], operand_index = (\d+)", line
    )
    aliases = ", ".join(f"{result or 0}<-{operand}" for result, operand in reused)
    return " ".join(
        filter(None, [target[1], ", ".join(switches), " -> ".join(layouts), aliases])
    )


def record(
    calls: list[str],
    names: Mapping[str, Any],
    struct: Callable[..., Any],
    lower: Callable[..., str],
    describe: Callable[[str], Any] = targets_of,
) -> Iterator[tuple[str, Any]]:
    """For each call what it lowers to, or that it is refused.

    Args:
      calls: the texts.
      names: modules of the library, by their names in the texts.
      struct: the library's class of shapes and dtypes.
      lower: of a function and shapes, the text of the module.
      describe: says what is recorded of the text.
    """
    dtypes = names["jnp"]
    names = {**names, "NHWC": ("NHWC", "HWIO", "NHWC")}
    for call in calls:
        used = sorted(set(re.findall(r"\b[a-zA-Z]\b", call)) & set(SHAPES))
        arguments = [
            struct(shape, getattr(dtypes, "bool_" if dtype == "bool" else dtype))
            for shape, dtype in (SHAPES[name] for name in used)
        ]
        function = eval(f"lambda {', '.join(used)}: {call}", dict(names))
        try:
            text = lower(function, arguments)
        except (NotImplementedError, RuntimeError) as error:
            yield call, f"{REFUSED}: {type(error).__name__}"
        else:
            yield call, describe(text)
