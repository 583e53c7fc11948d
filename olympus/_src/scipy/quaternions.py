"""Quaternions [..., 4] with the scalar last: conversions and products.

A unit quaternion `(v sin(t/2), cos(t/2))` stands for the turn by an angle t about a
unit vector v; it and its negative are one rotation. Formulas whose quotients vanish for
small angles have a series there, so that derivatives are right at the identity too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.numpy import (
    arg_extremes,
    arithmetic,
    elementary,
    join_split,
    logic,
    promotion,
    reductions,
    selection,
)

aval_of, program, where = promotion.aval_of, promotion.program, selection.where

# Squares up to which the series are used; the first terms left out are near 1e-24.
_SMALL = 1e-6


def _parts(x: Any) -> list[Any]:
    return [x[..., i] for i in range(aval_of(x).shape[-1])]


def _vector(*parts: Any) -> Any:
    return join_split.stack(parts, axis=-1)


def _join_parts(vector: Any, scalar: Any) -> Any:
    return join_split.concatenate([vector, scalar[..., None]], axis=-1)


def _square(x: Any) -> Any:
    return reductions.sum(x * x, axis=-1)


def unit(q: Any) -> Any:
    """The quaternion scaled to length 1; zero becomes NaN."""
    return q / elementary.sqrt(_square(q))[..., None]


@program(1, name="Rotation.from_quat")
def from_quaternion(q: Any) -> Any:
    (q,) = promotion.promote_inexact(q)
    return unit(q)


def _positive(q: Any) -> Any:
    """Of the two quaternions of a rotation that with no negative scalar."""
    return where(q[..., 3:] < 0, -q, q)


@program(1, name="Rotation.as_quat")
def canonical(q: Any) -> Any:
    """Of the two quaternions of a rotation that whose last part but zeros is positive.

    That is, the scalar is positive; or zero, and then the first of the others that is
    not zero is.
    """
    x, y, z, w = _parts(q)
    sign = x * 0
    for part in (w, x, y, z):
        sign = where(sign == 0, arithmetic.sign(part), sign)
    return where(sign[..., None] < 0, -q, q)


# -- matrices --------------------------------------------------------------------------


@program(1, name="Rotation.as_matrix")
def to_matrix(q: Any) -> Any:
    x, y, z, w = _parts(q)
    rows = [
        [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w],
    ]
    return join_split.stack([_vector(*row) for row in rows], axis=-2)


@program(1, name="Rotation.from_matrix")
def from_matrix(m: Any) -> Any:
    """The quaternion of a matrix, from whichever of its parts is largest.

    Markley, "Unit quaternion from rotation matrix", 2008.
    """
    (m,) = promotion.promote_inexact(m)
    diagonal = [m[..., i, i] for i in range(3)]
    trace = diagonal[0] + diagonal[1] + diagonal[2]
    # Four multiples of the quaternion; that is best whose own part leads.
    choices = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        parts: list[Any] = [None] * 4
        parts[i] = 1 - trace + 2 * diagonal[i]
        parts[j] = m[..., j, i] + m[..., i, j]
        parts[k] = m[..., k, i] + m[..., i, k]
        parts[3] = m[..., k, j] - m[..., j, k]
        choices.append(_vector(*parts))
    turn = [m[..., (i + 2) % 3, (i + 1) % 3] for i in range(3)]
    back = [m[..., (i + 1) % 3, (i + 2) % 3] for i in range(3)]
    choices.append(
        _vector(*[a - b for a, b in zip(turn, back, strict=True)], 1 + trace)
    )
    largest = arg_extremes.argmax(_vector(*diagonal, trace), axis=-1)[..., None]
    out = choices[3]
    for i in range(3):
        out = where(largest == i, choices[i], out)
    return unit(out)


# -- vectors ---------------------------------------------------------------------------


@program(1, name="Rotation.from_rotvec")
def from_rotation_vector(v: Any, *, degrees: bool) -> Any:
    (v,) = promotion.promote_inexact(v)
    if degrees:
        v = elementary.deg2rad(v)
    square = _square(v)
    small = square <= _SMALL
    angle = elementary.sqrt(where(small, 1, square))
    scale = where(
        small, 0.5 - square / 48 + square**2 / 3840, elementary.sin(angle / 2) / angle
    )
    scalar = where(small, 1 - square / 8 + square**2 / 384, elementary.cos(angle / 2))
    return _join_parts(v * scale[..., None], scalar)


@program(1, name="Rotation.as_rotvec")
def to_rotation_vector(q: Any, *, degrees: bool) -> Any:
    q = _positive(q)
    v, w = q[..., :3], q[..., 3]
    square = _square(v)
    small = (square <= _SMALL) & (w > 0)
    sine = elementary.sqrt(where(small, 1, square))
    cosine = where(small, w, 1)
    ratio = square / (cosine * cosine)
    series = 2 / cosine * (1 - ratio / 3 + ratio**2 / 5 - ratio**3 / 7)
    scale = where(small, series, 2 * elementary.arctan2(sine, w) / sine)
    out = v * scale[..., None]
    return elementary.rad2deg(out) if degrees else out


@program(1, name="Rotation.magnitude")
def angle_of(q: Any) -> Any:
    square = _square(q[..., :3])
    none = square == 0
    sine = where(none, 0, elementary.sqrt(where(none, 1, square)))
    return 2 * elementary.arctan2(sine, arithmetic.absolute(q[..., 3]))


@program(1, name="Rotation.from_mrp")
def from_rodrigues(p: Any) -> Any:
    (p,) = promotion.promote_inexact(p)
    square = _square(p)
    return _join_parts(2 * p, 1 - square) / (1 + square)[..., None]


@program(1, name="Rotation.as_mrp")
def to_rodrigues(q: Any) -> Any:
    q = _positive(q)
    return q[..., :3] / (1 + q[..., 3:])


# -- Euler angles ----------------------------------------------------------------------


@program(1, name="Rotation.from_euler")
def from_euler(angles: Any, *, axes: str, intrinsic: bool, degrees: bool) -> Any:
    """The product of turns about coordinate axes, angles [..., n]."""
    (angles,) = promotion.promote_inexact(angles)
    if degrees:
        angles = elementary.deg2rad(angles)
    out = None
    for axis, angle in zip(axes, _parts(angles), strict=True):
        parts = [angle * 0, angle * 0, angle * 0, elementary.cos(angle / 2)]
        parts["xyz".index(axis)] = elementary.sin(angle / 2)
        turn = _vector(*parts)
        if out is None:
            out = turn
        else:
            out = product(out, turn) if intrinsic else product(turn, out)
    return out


@program(1, name="Rotation.as_euler")
def to_euler(q: Any, *, axes: str, intrinsic: bool, degrees: bool) -> Any:
    """Angles of three turns about coordinate axes.

    Bernardes and Viollet, "Quaternion to Euler angles conversion", 2022.
    """
    i, j, k = ("xyz".index(a) for a in (axes[::-1] if intrinsic else axes))
    proper = i == k
    k = 3 - i - j if proper else k
    sign = (i - j) * (j - k) * (k - i) // 2
    parts = _parts(q)
    w, x, y, z = parts[3], parts[i], parts[j], parts[k] * sign
    a, b, c, d = (w, x, y, z) if proper else (w - y, x + z, w + y, z - x)
    middle = 2 * elementary.arctan2(arithmetic.hypot(c, d), arithmetic.hypot(a, b))
    half_sum, half_difference = elementary.arctan2(b, a), elementary.arctan2(d, c)
    # Where the outer axes fall together, the first turn takes the angle of both.
    dtype = aval_of(q).dtype
    close = max(1e-7, 4 * float(dtypes.finfo(dtype).eps))
    at_zero = arithmetic.absolute(middle) <= close
    at_pi = arithmetic.absolute(middle - math.pi) <= close
    inner, outer = half_sum - half_difference, half_sum + half_difference
    first, third = (outer, inner) if intrinsic else (inner, outer)
    locked = 2 * half_difference * (1 if intrinsic else -1)
    first = where(at_zero, 2 * half_sum, where(at_pi, locked, first))
    third = where(logic.logical_or(at_zero, at_pi), 0, third)
    if not proper:
        middle = middle - math.pi / 2
        first, third = (first * sign, third) if intrinsic else (first, third * sign)
    out = _vector(_wrap_angle(first), middle, _wrap_angle(third))
    return elementary.rad2deg(out) if degrees else out


def _wrap_angle(angle: Any) -> Any:
    """An angle between -2 pi and 2 pi in the range from -pi to pi."""
    turn = 2 * math.pi
    over = where(angle > math.pi, angle - turn, angle)
    return where(angle < -math.pi, angle + turn, over)


# -- products --------------------------------------------------------------------------


def product(p: Any, q: Any) -> Any:
    """The quaternion of the turn by `q` and then by `p`."""
    a, b, c, d = _parts(p)
    x, y, z, w = _parts(q)
    return _vector(
        d * x + a * w + b * z - c * y,
        d * y - a * z + b * w + c * x,
        d * z + a * y - b * x + c * w,
        d * w - a * x - b * y - c * z,
    )


@program(2, name="Rotation.__mul__")
def compose_rotations(p: Any, q: Any) -> Any:
    p, q = promotion.promote_inexact(p, q)
    return unit(product(p, q))


@program(1, name="Rotation.inv")
def inverse(q: Any) -> Any:
    signs = np.array([-1, -1, -1, 1], aval_of(q).dtype)
    return q * signs[(None,) * (aval_of(q).ndim - 1)]


@program(2, name="Rotation.apply")
def rotate_vectors(matrix: Any, v: Any) -> Any:
    """Vectors [..., 3] turned by matrices [..., 3, 3]."""
    matrix, v = promotion.promote_inexact(matrix, v)
    return reductions.sum(matrix * v[..., None, :], axis=-1)
