"""Staging, partial evaluation, and passes over programs."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as Val

import olympus as _olympus  # noqa: F401
from olympus._src.api.extension import (
    custom_partial_eval_rules as custom_partial_eval_rules,
)
from olympus._src.api.extension import dce_rules as dce_rules
from olympus._src.foundation.lazy_names import Late as _Late
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.interpreters.partial_eval import (
    DynamicOlympusprTracer as DynamicOlympusprTracer,
)
from olympus._src.interpreters.partial_eval import dce_olympuspr as dce_olympuspr

if _TYPE_CHECKING:
    from olympus._src.calls.call import (
        dce_olympuspr_call_rule as dce_olympuspr_call_rule,
    )
    from olympus._src.calls.call import (
        dce_olympuspr_closed_call_rule as dce_olympuspr_closed_call_rule,
    )
    from olympus._src.interpreters.hi_lowering import (
        lower_olympuspr2 as lower_olympuspr2,
    )
    from olympus._src.interpreters.partial_values import (
        OlympusprTracer as OlympusprTracer,
    )
    from olympus._src.interpreters.partial_values import PartialVal as PartialVal
    from olympus._src.interpreters.partial_values import (
        abstract_eval_fun as abstract_eval_fun,
    )
    from olympus._src.interpreters.partial_values import (
        close_olympuspr as close_olympuspr,
    )
    from olympus._src.interpreters.partial_values import (
        convert_constvars_olympuspr as convert_constvars_olympuspr,
    )
    from olympus._src.interpreters.partial_values import (
        dce_olympuspr_consts as dce_olympuspr_consts,
    )
    from olympus._src.interpreters.partial_values import (
        move_binders_to_back as move_binders_to_back,
    )
    from olympus._src.interpreters.partial_values import (
        new_eqn_recipe as new_eqn_recipe,
    )
    from olympus._src.interpreters.partial_values import (
        partial_eval_olympuspr_nounits as partial_eval_olympuspr_nounits,
    )
    from olympus._src.interpreters.partial_values import (
        prune_closed_olympuspr_outputs as prune_closed_olympuspr_outputs,
    )
    from olympus._src.interpreters.partial_values import (
        trace_to_olympuspr_dynamic as trace_to_olympuspr_dynamic,
    )
    from olympus._src.interpreters.partial_values import (
        trace_to_olympuspr_nounits as trace_to_olympuspr_nounits,
    )

_LATE = {
    "calls.call": ("dce_olympuspr_call_rule dce_olympuspr_closed_call_rule"),
    "interpreters.hi_lowering": "lower_olympuspr2",
    "interpreters.partial_values": (
        "OlympusprTracer PartialVal abstract_eval_fun close_olympuspr "
        "convert_constvars_olympuspr dce_olympuspr_consts "
        "move_binders_to_back new_eqn_recipe "
        "partial_eval_olympuspr_nounits "
        "prune_closed_olympuspr_outputs trace_to_olympuspr_dynamic "
        "trace_to_olympuspr_nounits"
    ),
}

_late = _Late(__name__, (), _LATE)

__all__ = [
    "DynamicOlympusprTracer",
    "OlympusprTracer",
    "PartialVal",
    "Val",
    "abstract_eval_fun",
    "close_olympuspr",
    "convert_constvars_olympuspr",
    "custom_partial_eval_rules",
    "dce_olympuspr",
    "dce_olympuspr_call_rule",
    "dce_olympuspr_closed_call_rule",
    "dce_olympuspr_consts",
    "dce_rules",
    "lower_olympuspr2",
    "move_binders_to_back",
    "new_eqn_recipe",
    "partial_eval_olympuspr_nounits",
    "prune_closed_olympuspr_outputs",
    "trace_to_olympuspr_dynamic",
    "trace_to_olympuspr_nounits",
]

_claim(__name__)
