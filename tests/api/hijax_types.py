"""Types and operations of a user's own for tests: int8 with scales, and boxes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import olympus
import olympus.numpy as onp
from olympus.experimental import hijax
from olympus.experimental.hijax import HiPrim, HiType, ShapedArray, instantiate_zeros

# -- quantized arrays, whose tangents are arrays ---------------------------------------


@dataclass(frozen=True)
class QArray:
    values: Any
    scales: Any


@dataclass(frozen=True)
class QArrayType(HiType):
    shape: tuple[int, int]

    def lo_ty(self) -> list[Any]:
        return [ShapedArray(self.shape, "int8"), ShapedArray(self.shape[:1], "float32")]

    def lower_val(self, q: Any) -> list[Any]:
        return [q.values, q.scales]

    def raise_val(self, values: Any, scales: Any) -> QArray:
        return QArray(values, scales)

    def to_tangent_aval(self) -> Any:
        return ShapedArray(self.shape, "float32")


hijax.register_hitype(QArray, lambda q: QArrayType(q.values.shape))


class Quantize(HiPrim):
    def __init__(self, x: Any) -> None:
        self.in_avals, self.out_aval, self.params = (x,), QArrayType(x.shape), {}
        super().__init__()

    def expand(self, x: Any) -> QArray:
        scales = onp.max(onp.abs(x), axis=1) / 127
        return QArray(onp.round(x / scales[:, None]).astype("int8"), scales)

    def vjp_fwd(self, nzs_in: Any, x: Any) -> Any:
        return self(x), None

    def vjp_bwd_retval(self, res: Any, ct: Any) -> Any:
        return (ct,)


class Dequantize(HiPrim):
    def __init__(self, q: Any) -> None:
        self.in_avals, self.params = (q,), {}
        self.out_aval = ShapedArray(q.shape, "float32")
        super().__init__()

    def expand(self, q: Any) -> Any:
        return q.values.astype("float32") * q.scales[:, None]

    def vjp_fwd(self, nzs_in: Any, q: Any) -> Any:
        return self(q), None

    def vjp_bwd_retval(self, res: Any, ct: Any) -> Any:
        return (ct,)


def quantize(x: Any) -> Any:
    return Quantize(olympus.typeof(x))(x)


def dequantize(q: Any) -> Any:
    return Dequantize(olympus.typeof(q))(q)


# -- boxes, whose tangents are boxes ---------------------------------------------------


@dataclass(frozen=True)
class Leading(hijax.MappingSpec):
    pass


@dataclass(frozen=True)
class Box:
    items: tuple[Any, ...]


@dataclass(frozen=True)
class BoxType(HiType):
    types: tuple[Any, ...]

    def lo_ty(self) -> list[Any]:
        return list(self.types)

    def lower_val(self, box: Any) -> list[Any]:
        return list(box.items)

    def raise_val(self, *items: Any) -> Box:
        return Box(items)

    def to_tangent_aval(self) -> Any:
        return BoxType(tuple([t.to_tangent_aval() for t in self.types]))

    def vspace_zero(self) -> Box:
        return Box(tuple([instantiate_zeros(hijax.Zero(t)) for t in self.types]))

    def vspace_add(self, x: Any, y: Any) -> Any:
        return pack(*[a + b for a, b in zip(unpack(x), unpack(y), strict=True)])

    def dec_rank(self, size: Any, spec: Any) -> Any:
        return BoxType(tuple([t.dec_rank(size, 0) for t in self.types]))

    def inc_rank(self, size: Any, spec: Any) -> Any:
        return BoxType(tuple([t.inc_rank(size, 0) for t in self.types]))

    def leading_axis_spec(self) -> Leading:
        return Leading()


hijax.register_hitype(Box, lambda b: BoxType(tuple(map(olympus.typeof, b.items))))


class Pack(HiPrim):
    def __init__(self, *types: Any) -> None:
        self.in_avals, self.out_aval, self.params = types, BoxType(types), {}
        super().__init__()

    def expand(self, *items: Any) -> Box:
        return Box(items)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        return pack(*primals), pack(*map(instantiate_zeros, tangents))

    lin, linearized = hijax.linearize_from_jvp

    def vjp_fwd(self, nzs_in: Any, *items: Any) -> Any:
        return self(*items), None

    def vjp_bwd_retval(self, res: Any, ct: Any) -> Any:
        return unpack(ct)

    def transpose(self, ct: Any, *accums: Any) -> None:
        for accum, part in zip(accums, unpack(ct), strict=True):
            accum.accum(part)

    def batch(self, axis_data: Any, args: Any, dims: Any) -> Any:
        return pack(*hijax.bdims_at_front(axis_data, args, dims)), Leading()


class Unpack(HiPrim):
    def __init__(self, box: Any) -> None:
        self.in_avals, self.out_aval, self.params = (box,), box.types, {}
        super().__init__()

    def expand(self, box: Any) -> Any:
        return box.items

    def jvp(self, primals: Any, tangents: Any) -> Any:
        return unpack(*primals), unpack(*map(instantiate_zeros, tangents))

    lin, linearized = hijax.linearize_from_jvp

    def vjp_fwd(self, nzs_in: Any, box: Any) -> Any:
        return self(box), None

    def vjp_bwd_retval(self, res: Any, cts: Any) -> Any:
        return (pack(*map(instantiate_zeros, cts)),)

    def transpose(self, cts: Any, accum: Any) -> None:
        accum.accum(pack(*map(instantiate_zeros, cts)))

    def batch(self, axis_data: Any, args: Any, dims: Any) -> Any:
        return unpack(*args), tuple([0 for _ in self.out_aval])


def pack(*items: Any) -> Any:
    return Pack(*map(olympus.typeof, items))(*items)


def unpack(box: Any) -> Any:
    return Unpack(olympus.typeof(box))(box)
