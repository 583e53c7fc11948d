"""Records of operations on the buffers of sparse arrays.

Each is composed of operations of `lax`, so that types, derivatives, transposes and maps
follow from the composition; a record names the rules that do better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.api import reverse_mode
from olympus._src.core import avals, ir
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Zero, is_linear
from olympus._src.foundation import source_info
from olympus._src.interpreters import ad, batching, partial_eval
from olympus._src.lax import families


class SparsePrimitive(Primitive):
    """The record of an operation that is a composition of others.

    Args:
      name: the printed name.
      fun: the composition: a function of arrays and keyword parameters.
      multiple_results: whether it returns a sequence.
      rules: rules that take the place of those that follow from the composition.
    """

    __slots__ = ("fun",)

    def __init__(
        self,
        name: str,
        fun: Callable[..., Any],
        *,
        multiple_results: bool = False,
        **rules: Any,
    ) -> None:
        self.fun = fun
        defaults = {
            "abstract": self._abstract,
            "decompose": fun,
            "jvp": self._jvp,
            "transpose": self._transpose,
            "batch": self._batch,
        }
        super().__init__(
            name,
            multiple_results=multiple_results,
            file=source_info.defining_file(),
            needs_full_build=True,
            **{**defaults, **rules},
        )

    def _flat(self, params: Any) -> Callable[..., list[Any]]:
        def call(*args: Any) -> list[Any]:
            out = self.fun(*args, **params)
            return list(out) if self.multiple_results else [out]

        return call

    def _abstract(self, *in_avals: Any, **params: Any) -> Any:
        info = ir.DebugInfo(self.name, self.name)
        call = self._flat(params)
        plain = [a.strip_weak_type() for a in in_avals]
        program, _ = partial_eval.trace_to_olympuspr(call, plain, info)
        outs = [a.strip_weak_type() for a in program.out_avals]
        return outs if self.multiple_results else outs[0]

    def _jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        outs, slopes = ad.jvp(self._flat(params), primals, tangents)
        return (outs, slopes) if self.multiple_results else (outs[0], slopes[0])

    def _transpose(self, cts: Any, *args: Any, **params: Any) -> Any:
        unknown = [i for i, x in enumerate(args) if is_linear(x)]
        call = self._flat(params)

        def linear(*xs: Any) -> list[Any]:
            full = list(args)
            for i, x in zip(unknown, xs, strict=True):
                full[i] = x
            return call(*full)

        types = [args[i].aval for i in unknown]
        if all(type(ct) is Zero for ct in cts):
            values = [Zero(t) for t in types]
        else:
            transposed = reverse_mode.linear_transpose(
                linear, *[avals.ShapedArray(t.shape, t.dtype) for t in types]
            )
            values = transposed([families.instantiate(ct) for ct in cts])
        out: list[Any] = [None] * len(args)
        for i, value in zip(unknown, values, strict=True):
            out[i] = value
        return out

    def _batch(self, axis: Any, args: Any, dims: Any, **params: Any) -> Any:
        outs, out_dims = batching.batch(self._flat(params), axis, args, dims)
        outs = [
            families.at_front(axis, x, d) for x, d in zip(outs, out_dims, strict=True)
        ]
        zeros = [0] * len(outs)
        return (outs, zeros) if self.multiple_results else (outs[0], 0)


def linear_in_data(**rules: Any) -> dict[str, Any]:
    """Rules of operations that are linear in their first operand."""
    return {"jvp": families.linear_jvp, **rules}


def batch_in_front(axis: Any, args: Sequence[Any], dims: Any) -> list[Any]:
    """Operands with the mapped axis in front, of size 1 where they have none."""
    return [
        families.insert_axis(x, 0, 1) if d is None else families.move_axis(x, d, 0)
        for x, d in zip(args, dims, strict=True)
    ]


def with_batch(axis: Any, sparse_info: Any) -> Any:
    """What is known of a sparse array with one more batch axis in front."""
    return sparse_info._replace(shape=(axis.size, *sparse_info.shape))
