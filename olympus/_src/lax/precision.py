"""How exactly operations compute: precisions and algorithms of contractions, and
accuracies of elementwise functions.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src.core import dtypes
from olympus._src.foundation import config
from olympus._src.lowering import types

# -- contractions ----------------------------------------------------------------------


class Precision(enum.Enum):
    """How exactly contractions of floats are computed, where hardware has a choice."""

    DEFAULT, HIGH, HIGHEST = range(3)

    @classmethod
    def _missing_(cls, value: object) -> Precision | None:
        """The member that a name of `PrecisionLike` means; DEFAULT for None."""
        if value is None:
            return cls.DEFAULT
        return _NAMES.get(value) if isinstance(value, str) else None

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __str__(self) -> str:
        return self.name


class DotAlgorithm(NamedTuple):
    """The algorithm of a contraction, in full.

    It is passed as `precision`. The dtype of the result stays the contraction's own.

    Attributes:
      lhs_precision_type, rhs_precision_type: dtypes the operands are rounded to.
      accumulation_type: dtype in which products are added up.
      lhs_component_count, rhs_component_count: in how many parts each operand is
        split, where a wider type is emulated.
      num_primitive_operations: how many contractions of parts are added.
      allow_imprecise_accumulation: whether some sums may be narrower.

    Source: `algorithm` of `stablehlo.dot_general`.

    Example:
      >>> import numpy as np
      >>> from olympus import lax
      >>> whole = lax.DotAlgorithm(np.float32, np.float32, np.float32)
      >>> lax.dot(np.ones(3, 'float32'), np.ones(3, 'float32'), precision=whole)
      Array(3., dtype=float32)
    """

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


class DotAlgorithmPreset(enum.Enum):
    """Algorithms of contractions that some hardware supports.

    A member or its name is passed as `precision`. Names say what the operands are
    rounded to and what is summed in: `BF16_BF16_F32`. `X3`, `X6` and `X9` emulate a
    wider type by that many contractions of parts; `ANY_F8` is whichever 8-bit float the
    operands have; `FAST_ACCUM` allows narrower sums.

    Source: `algorithm` of `stablehlo.dot_general`.
    """

    DEFAULT = 1
    ANY_F8_ANY_F8_F32, ANY_F8_ANY_F8_F32_FAST_ACCUM = 2, 3
    ANY_F8_ANY_F8_ANY, ANY_F8_ANY_F8_ANY_FAST_ACCUM = 4, 5
    F16_F16_F16, F16_F16_F32 = 6, 7
    BF16_BF16_BF16, BF16_BF16_F32 = 8, 9
    BF16_BF16_F32_X3, BF16_BF16_F32_X6, BF16_BF16_F32_X9 = 10, 11, 12
    TF32_TF32_F32, TF32_TF32_F32_X3 = 13, 14
    F32_F32_F32, F64_F64_F64 = 15, 16

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __str__(self) -> str:
        return self.name

    @property
    def accumulation_type(self) -> np.dtype[Any] | None:
        """The dtype in which products are added up; None where that is unspecified."""
        return _NAMED_TYPES.get("_".join(_words(self)[2:3]))


def _words(preset: DotAlgorithmPreset) -> list[str]:
    """The three types of a preset's name, then what follows them."""
    return preset.name.replace("ANY_F8", "F8").split("_")


_NAMED_TYPES = {
    "F16": dtypes.as_dtype("float16"),
    "BF16": dtypes.as_dtype("bfloat16"),
    "F32": dtypes.as_dtype("float32"),
    "F64": dtypes.as_dtype("float64"),
}
# What CPU has.
_ON_CPU = frozenset(
    (
        DotAlgorithmPreset.DEFAULT,
        DotAlgorithmPreset.F16_F16_F16,
        DotAlgorithmPreset.BF16_BF16_F32,
        DotAlgorithmPreset.BF16_BF16_F32_X3,
        DotAlgorithmPreset.BF16_BF16_F32_X6,
        DotAlgorithmPreset.F32_F32_F32,
        DotAlgorithmPreset.F64_F64_F64,
    )
)

_NAMES = {
    None: None,
    "default": Precision.DEFAULT,
    "fastest": Precision.DEFAULT,
    "bfloat16": Precision.DEFAULT,
    "high": Precision.HIGH,
    "bfloat16_3x": Precision.HIGH,
    "tensorfloat32": Precision.HIGH,
    "highest": Precision.HIGHEST,
    "float32": Precision.HIGHEST,
}

PrecisionLike = (
    str
    | Precision
    | tuple[str, str]
    | tuple[Precision, Precision]
    | DotAlgorithm
    | DotAlgorithmPreset
    | None
)
DotDimensionNumbers = tuple[
    tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]
]


def canonical_precision(precision: Any) -> Any:
    """One precision for each operand, or an algorithm: the setting's if none is given.

    None leaves it to the platform.
    """
    if precision is None:
        precision = config.default_matmul_precision.value
    algorithm = _algorithm(precision)
    if algorithm is not None:
        return algorithm
    if isinstance(precision, (tuple, list)):
        if len(precision) != 2:
            raise ValueError(
                "precision: a pair must give one precision for each operand, got "
                f"{precision!r}"
            )
        return tuple([_one_precision(p) or Precision.DEFAULT for p in precision])
    one = _one_precision(precision)
    return None if one is None else (one, one)


def _algorithm(precision: Any) -> Any:
    """The algorithm that is meant, or None where it is none."""
    if isinstance(precision, (DotAlgorithm, DotAlgorithmPreset)):
        return precision
    if isinstance(precision, str) and precision.lower() not in _NAMES:
        return DotAlgorithmPreset.__members__.get(precision)
    return None


def _one_precision(precision: Any) -> Precision | None:
    if isinstance(precision, Precision):
        return precision
    key = precision.lower() if isinstance(precision, str) else precision
    try:
        return _NAMES[key]
    except (KeyError, TypeError):
        known = ", ".join(repr(k) for k in _NAMES if k)
        raise ValueError(
            "precision: expected a Precision, a pair of them, a DotAlgorithm, a "
            f"DotAlgorithmPreset or its name, or one of {known}; got {precision!r}"
        ) from None


def first_precision(precision: Any) -> Any:
    """The precision of a contraction of the first operand with exact numbers."""
    if isinstance(precision, tuple) and not isinstance(precision, DotAlgorithm):
        return precision[0], Precision.DEFAULT
    return precision


def precision_text(precision: Any, platform: str, x: Any, y: Any) -> str:
    """The precision as attributes of `stablehlo.dot_general`.

    Args:
      precision: in canonical form.
      platform: what is lowered for.
      x, y: types of the operands.
    """
    if precision is None:
        return ""
    if not isinstance(precision, (DotAlgorithm, DotAlgorithmPreset)):
        return f", precision = [{precision[0]}, {precision[1]}]"
    if platform == "cpu" and not _runs_on_cpu(precision):
        raise ValueError(
            "lax.dot_general: precision must be an algorithm the platform supports, "
            f"got {precision} on cpu; there use one of "
            f"{', '.join(sorted(p.name for p in _ON_CPU))}, or a Precision"
        )
    plain = ", precision = [DEFAULT, DEFAULT]"
    if precision is DotAlgorithmPreset.DEFAULT:
        return plain
    if isinstance(precision, DotAlgorithmPreset):
        precision = _preset_in_full(precision, x, y)
    return f"{plain}, algorithm = {_algorithm_text(precision)}"


def algorithm_dtypes(
    precision: Any, platform: str, x: Any, y: Any, out: Any
) -> tuple[Any, Any, Any]:
    """The dtypes of operands and result that a named algorithm is applied to.

    Compilers of accelerators take no others; the CPU's converts by itself.

    Args:
      precision: in canonical form.
      platform: what is lowered for.
      x, y, out: the contraction's dtypes.
    """
    is_preset = isinstance(precision, DotAlgorithmPreset)
    if platform == "cpu" or not is_preset or precision is DotAlgorithmPreset.DEFAULT:
        return x, y, out
    operand, _, total, *flags = _words(precision)
    if operand == "F8":
        if not all(
            dtypes.itemsize_bits(d) == 8 and d.kind not in "iu?b" for d in (x, y)
        ):
            raise ValueError(
                f"lax.dot_general: precision {precision} must have operands of 8-bit "
                f"floats, got {x} and {y}; convert them with astype"
            )
        wide = total == "F32" and out == _NAMED_TYPES["F64"]
        return x, y, _NAMED_TYPES["F32"] if wide else out
    split = any(word.startswith("X") for word in flags)
    plain = operand in ("F16", "BF16") and not split
    # Operands of bfloat16 algorithms may stay float32: the compiler rounds them.
    choices = [operand] if plain else [total]
    if plain and operand == "BF16":
        choices.append("F32")
    sums = [total, operand] if plain else [total]
    x, y = (_one_of(choices, dtype) for dtype in (x, y))
    return x, y, _one_of(sums, out)


def _one_of(names: Sequence[str], dtype: Any) -> Any:
    """The dtype if it is one of those named, else the first of these."""
    choices = [_NAMED_TYPES[name] for name in names]
    return dtype if dtype in choices else choices[0]


def convolution_text(precision: Any) -> str:
    """The precision as an attribute of `stablehlo.convolution`, which has no more."""
    if precision is None or isinstance(precision, (DotAlgorithm, DotAlgorithmPreset)):
        return ""
    first, second = (
        f"#stablehlo<precision {p if isinstance(p, Precision) else Precision.DEFAULT}>"
        for p in precision
    )
    return f", precision_config = [{first}, {second}]"


def _runs_on_cpu(algorithm: Any) -> bool:
    if isinstance(algorithm, DotAlgorithmPreset):
        return algorithm in _ON_CPU
    text = _algorithm_text(algorithm)
    return any(
        text == _algorithm_text(_preset_in_full(preset, None, None))
        for preset in _ON_CPU
        if preset is not DotAlgorithmPreset.DEFAULT
    )


def _preset_in_full(preset: DotAlgorithmPreset, x: Any, y: Any) -> DotAlgorithm:
    lhs, rhs, total, *flags = _words(preset)
    x_type = x.dtype if lhs == "F8" else _preset_type(lhs)
    y_type = y.dtype if rhs == "F8" else _preset_type(rhs)
    sum_type = _NAMED_TYPES["F32"] if total == "ANY" else _preset_type(total)
    times = [int(word[1:]) for word in flags if word.startswith("X")]
    return DotAlgorithm(
        x_type,
        y_type,
        sum_type,
        num_primitive_operations=times[0] if times else 1,
        allow_imprecise_accumulation="FAST" in flags,
    )


def _preset_type(word: str) -> Any:
    return word.lower() if word == "TF32" else _NAMED_TYPES[word]


def _algorithm_text(algorithm: DotAlgorithm) -> str:
    lhs, rhs, total = (_type_text(t) for t in algorithm[:3])
    imprecise = "true" if algorithm.allow_imprecise_accumulation else "false"
    return (
        f"<lhs_precision_type = {lhs}, rhs_precision_type = {rhs}, "
        f"accumulation_type = {total}, "
        f"lhs_component_count = {algorithm.lhs_component_count}, "
        f"rhs_component_count = {algorithm.rhs_component_count}, "
        f"num_primitive_operations = {algorithm.num_primitive_operations}, "
        f"allow_imprecise_accumulation = {imprecise}>"
    )


def _type_text(dtype: Any) -> str:
    if isinstance(dtype, str) and dtype == "tf32":
        return dtype
    return types.element_type(dtypes.as_dtype(dtype))


# -- elementwise functions -------------------------------------------------------------


class AccuracyMode(enum.Enum):
    """Which implementation of an elementwise function the compiler uses.

    Source: `result_accuracy` of StableHLO.
    """

    HIGHEST = 1
    DEFAULT = 2


class Tolerance:
    """The error that an elementwise function may have.

    Args:
      atol: absolutely.
      rtol: relative to the result.
      ulps: in units of the result's last place.

    Raises:
      ValueError: a number is negative, or none is given.

    Source: `result_accuracy` of StableHLO.

    Example:
      >>> from olympus import lax
      >>> lax.exp(0.0, accuracy=lax.Tolerance(rtol=1e-4))
      Array(1., dtype=float32, weak_type=True)
    """

    __slots__ = ("atol", "rtol", "ulps")

    def __init__(self, atol: float = 0.0, rtol: float = 0.0, ulps: int = 0) -> None:
        if atol < 0 or rtol < 0 or ulps < 0:
            raise ValueError(
                "lax.Tolerance: atol, rtol and ulps must not be negative, got "
                f"atol={atol}, rtol={rtol}, ulps={ulps}"
            )
        if not (atol or rtol or ulps):
            raise ValueError(
                "lax.Tolerance: one of atol, rtol and ulps must be given, got none; "
                "write Tolerance(rtol=1e-5)"
            )
        self.atol, self.rtol, self.ulps = atol, rtol, ulps

    def __eq__(self, other: object) -> bool:
        if type(other) is not Tolerance:
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[float, float, int]:
        return self.atol, self.rtol, self.ulps

    def __repr__(self) -> str:
        return f"Tolerance(atol={self.atol}, rtol={self.rtol}, ulps={self.ulps})"


def bind_accurately(p: Any, x: Any, accuracy: Any) -> Any:
    """Applies an elementwise operation with an accuracy, which may be None."""
    if accuracy is None:
        return p.bind(x)
    if not isinstance(accuracy, (AccuracyMode, Tolerance)):
        raise NotImplementedError(
            f"lax.{p.name}: accuracy must be None, an AccuracyMode or a Tolerance, "
            f"got {accuracy!r}; write lax.Tolerance(rtol=1e-5)"
        )
    return p.bind(x, accuracy=accuracy)


def accuracy_text(accuracy: Any) -> str:
    """The accuracy as an attribute of an elementwise operation."""
    if accuracy is None or accuracy is AccuracyMode.DEFAULT:
        return ""
    if isinstance(accuracy, AccuracyMode):
        fields, mode = [], accuracy.name
    else:
        fields, mode = _tolerances(accuracy), "TOLERANCE"
    fields.append(f"mode = #stablehlo.result_accuracy_mode<{mode}>")
    body = ", ".join(fields)
    return f" {{result_accuracy = #stablehlo.result_accuracy<{body}>}}"


def _tolerances(accuracy: Tolerance) -> list[str]:
    fields = []
    for name in ("atol", "rtol"):
        value = getattr(accuracy, name)
        if value:
            fields.append(f"{name} = {types.scalar(np.float64(value))}")
    if accuracy.ulps:
        fields.append(f"ulps = {accuracy.ulps}")
    return fields
