"""Rotations in space as values, with SciPy's names, and their interpolation."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src import tree
from olympus._src.core import avals, dtypes, trace
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, KeyArray
from olympus._src.numpy import (
    creation,
    decompositions,
    indexing,
    join_split,
    manipulation,
    promotion,
    searching,
)
from olympus._src.random import continuous
from olympus._src.scipy import checks, quaternions

aval_of = avals.aval_of


@tree.returned_by("olympus.scipy.spatial.transform.Rotation")
class Rotation(NamedTuple):
    """A rotation of space, or several along leading axes.

    Differs from SciPy: quaternions of length zero become NaN and no error; there are no
    `align_vectors`, `approx_equal`, `create_group`, `reduce` and Davenport angles.

    It is a pytree of one array, so it passes through `jit`, `vmap` and `grad`. Make it
    by `from_quat`, `from_matrix`, `from_rotvec`, `from_mrp` or `from_euler`.

    Args:
      quat: unit quaternions [..., 4], the scalar last.

    Source: SciPy, `scipy.spatial.transform.Rotation`.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus.scipy.spatial.transform import Rotation
      >>> quarter = Rotation.from_euler("z", 90, degrees=True)
      >>> print(onp.round(quarter.apply(onp.array([1.0, 0.0, 0.0])), 3))
      [0. 1. 0.]
    """

    quat: Any  # an array; typed as one, indexing would have to give it

    @classmethod
    def concatenate(cls, rotations: Sequence[Rotation]) -> Rotation:
        """Several rotations along one axis.

        Args:
          rotations: single rotations, or vectors of them.
        """
        quats = [manipulation.atleast_2d(r.quat) for r in rotations]
        return cls(join_split.concatenate(quats, axis=0))

    @classmethod
    def from_euler(cls, seq: str, angles: ArrayLike, degrees: bool = False) -> Rotation:
        """Rotations about coordinate axes, one after another.

        Args:
          seq: one to three axes: of "xyz" for axes that stay fixed (extrinsic), of
            "XYZ" for axes that rotate with the body (intrinsic).
          angles: for each axis an angle [..., n]; a number for one axis.
          degrees: angles are in degrees, not in radians.

        Raises:
          ValueError: `seq` is invalid, or there are more or fewer angles.
        """
        checks.check_arrays("Rotation.from_euler", angles)
        axes, intrinsic = _axes_of(seq)
        dtype = dtypes.to_inexact_dtype(aval_of(angles).dtype)
        angles = manipulation.atleast_1d(creation.asarray(angles, dtype))
        _check_last("Rotation.from_euler", "angles", angles, len(axes))
        return cls(
            quaternions.from_euler(
                angles, axes=axes, intrinsic=intrinsic, degrees=bool(degrees)
            )
        )

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Rotation:
        """Rotations by their matrices.

        Args:
          matrix: orthogonal matrices of determinant 1 [..., 3, 3]; of others the
            quaternion that the formula gives is scaled to length 1.

        Raises:
          ValueError: the last two axes are not of size 3.
        """
        matrix = creation.asarray(matrix)
        if aval_of(matrix).shape[-2:] != (3, 3):
            raise ValueError(
                "scipy.Rotation.from_matrix: matrix must be [..., 3, 3], got "
                f"{aval_of(matrix).short()}"
            )
        return cls(quaternions.from_matrix(matrix))

    @classmethod
    def from_mrp(cls, mrp: ArrayLike) -> Rotation:
        """Rotations by modified Rodrigues parameters: the axis times tan(angle / 4).

        Args:
          mrp: vectors [..., 3].

        Raises:
          ValueError: the last axis is not of size 3.
        """
        mrp = creation.asarray(mrp)
        _check_last("Rotation.from_mrp", "mrp", mrp, 3)
        return cls(quaternions.from_rodrigues(mrp))

    @classmethod
    def from_quat(cls, quat: ArrayLike) -> Rotation:
        """Rotations by quaternions, which are scaled to length 1.

        Args:
          quat: quaternions [..., 4], the scalar last; of length zero they give NaN.

        Raises:
          ValueError: the last axis is not of size 4.
        """
        quat = creation.asarray(quat)
        _check_last("Rotation.from_quat", "quat", quat, 4)
        return cls(quaternions.from_quaternion(quat))

    @classmethod
    def from_rotvec(cls, rotvec: ArrayLike, degrees: bool = False) -> Rotation:
        """Rotations by vectors along the axis, as long as the angle.

        Args:
          rotvec: vectors [..., 3].
          degrees: lengths are in degrees, not in radians.

        Raises:
          ValueError: the last axis is not of size 3.
        """
        rotvec = creation.asarray(rotvec)
        _check_last("Rotation.from_rotvec", "rotvec", rotvec, 3)
        return cls(quaternions.from_rotation_vector(rotvec, degrees=bool(degrees)))

    @classmethod
    def identity(cls, num: int | None = None, dtype: DTypeLike = float) -> Rotation:
        """Identity rotations.

        Args:
          num: how many; None for a single one.
          dtype: a float dtype.
        """
        dtype = dtypes.check_user_dtype(dtype, "Rotation.identity")
        quat = np.array([0, 0, 0, 1], dtype)
        if num is not None:
            quat = np.tile(quat, (operator.index(num), 1))
        return cls(creation.asarray(quat))

    @classmethod
    def random(cls, random_key: KeyArray, num: int | None = None) -> Rotation:
        """Random rotations, all equally likely.

        Args:
          random_key: a random key.
          num: how many; None for a single one.
        """
        lead = () if num is None else (operator.index(num),)
        return cls(
            quaternions.from_quaternion(continuous.normal(random_key, (*lead, 4)))
        )

    def __getitem__(self, index: Any) -> Rotation:
        if self.single:
            raise TypeError("Single rotation is not subscriptable.")
        return Rotation(indexing.getitem(creation.asarray(self.quat), index))

    def __len__(self) -> int:
        if self.single:
            raise TypeError("Single rotation has no len().")
        return aval_of(self.quat).shape[0]

    def __mul__(self, other: Any) -> Rotation:
        """The rotation by `other` and then by this one."""
        if not isinstance(other, Rotation):
            return NotImplemented
        _check_lead("Rotation.__mul__", self.quat, other.quat)
        return Rotation(quaternions.compose_rotations(self.quat, other.quat))

    def apply(self, vectors: ArrayLike, inverse: bool = False) -> Array:
        """Rotates vectors.

        Args:
          vectors: [..., 3]; leading axes are broadcast with those of the rotations.
          inverse: apply the inverse rotation instead.

        Returns:
          Vectors [..., 3].

        Raises:
          ValueError: the shapes do not fit.
        """
        vectors = creation.asarray(vectors)
        _check_last("Rotation.apply", "vectors", vectors, 3)
        _check_lead("Rotation.apply", self.quat, vectors)
        matrix = self.as_matrix()
        if inverse:
            matrix = manipulation.matrix_transpose(matrix)
        return quaternions.rotate_vectors(matrix, vectors)

    def as_euler(self, seq: str, degrees: bool = False) -> Array:
        """The angles of three turns about coordinate axes.

        Args:
          seq: three axes, of which neighbours differ: of "xyz" for fixed axes
            (extrinsic), of "XYZ" for axes that rotate (intrinsic).
          degrees: return degrees, not radians.

        Returns:
          Angles [..., 3]: the outer ones from -pi to pi; the middle one from -pi/2 to
          pi/2, or from 0 to pi where the outer axes are the same. Where the middle
          rotation makes the outer axes coincide (gimbal lock), the third angle is zero.

        Raises:
          ValueError: `seq` has another value.
        """
        axes, intrinsic = _axes_of(seq)
        if len(axes) != 3:
            raise ValueError(f"Expected 3 axes, got {seq}.")
        if axes[0] == axes[1] or axes[1] == axes[2]:
            raise ValueError(f"Expected consecutive axes to be different, got {seq}")
        return quaternions.to_euler(
            self.quat, axes=axes, intrinsic=intrinsic, degrees=bool(degrees)
        )

    def as_matrix(self) -> Array:
        """The rotation matrices [..., 3, 3]."""
        return quaternions.to_matrix(self.quat)

    def as_mrp(self) -> Array:
        """The modified Rodrigues parameters [..., 3], of angles up to pi."""
        return quaternions.to_rodrigues(self.quat)

    def as_rotvec(self, degrees: bool = False) -> Array:
        """Vectors [..., 3] along the axis, as long as the angle, which is at most pi.

        Args:
          degrees: return degrees, not radians.
        """
        return quaternions.to_rotation_vector(self.quat, degrees=bool(degrees))

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Array:
        """The quaternions [..., 4].

        Args:
          canonical: choose the sign so that the scalar is positive or, where it is
            zero, the first nonzero component is.
          scalar_first: put the scalar first, not last.
        """
        quat = quaternions.canonical(self.quat) if canonical else self.quat
        return manipulation.roll(quat, 1, axis=-1) if scalar_first else quat

    def inv(self) -> Rotation:
        """The inverse rotation."""
        return Rotation(quaternions.inverse(self.quat))

    def magnitude(self) -> Array:
        """The angles [...] of the rotations, from 0 to pi."""
        return quaternions.angle_of(self.quat)

    def mean(self, weights: ArrayLike | None = None) -> Rotation:
        """The rotation nearest to several, by the chord between their matrices.

        Args:
          weights: how much each counts [n]; default equal.

        Returns:
          A single rotation.

        Raises:
          TypeError: this is a single rotation.
          ValueError: there is not one weight for each rotation.

        Source: Markley and others, "Averaging quaternions", 2007.
        """
        n = len(self)
        weights = np.ones(n, np.float32) if weights is None else weights
        weights = creation.asarray(weights)
        if aval_of(weights).shape != (n,) or aval_of(self.quat).ndim != 2:
            raise ValueError(
                "scipy.Rotation.mean: weights must be one for each rotation, got "
                f"{aval_of(weights).short()} for {aval_of(self.quat).short()}"
            )
        return Rotation(_mean(self.quat, weights))

    @property
    def single(self) -> bool:
        """Whether this is one rotation, without an axis of several."""
        return aval_of(self.quat).ndim == 1


@promotion.program(2, name="Rotation.mean")
def _mean(quat: Any, weights: Any) -> Any:
    weights = weights.astype(aval_of(quat).dtype)
    spread = (weights[:, None] * quat).T @ quat
    return decompositions.eigh(spread).eigenvectors[:, -1]


def _axes_of(seq: str) -> tuple[str, bool]:
    """The axes in small letters, and whether they turn too."""
    if not 1 <= len(seq) <= 3:
        raise ValueError(
            "Expected axis specification to be a non-empty string of upto 3 "
            f"characters, got {seq}"
        )
    if set(seq) - set("xyz") and set(seq) - set("XYZ"):
        raise ValueError(
            "Expected axes from `seq` to be from ['x', 'y', 'z'] or ['X', 'Y', 'Z'], "
            f"got {seq}"
        )
    return seq.lower(), seq.isupper()


def _check_last(name: str, what: str, x: Any, size: int) -> None:
    if aval_of(x).shape[-1:] != (size,):
        raise ValueError(
            f"scipy.{name}: the last axis of {what} must have size {size}, got "
            f"{aval_of(x).short()}"
        )


def _check_lead(name: str, x: Any, y: Any) -> None:
    shapes = [aval_of(x).shape[:-1], aval_of(y).shape[:-1]]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(
            f"scipy.{name}: leading axes must be equal or absent, got "
            f"{aval_of(x).short()} and {aval_of(y).short()}"
        ) from None


# -- between rotations -----------------------------------------------------------------


RotationVectors = Array  # [..., 3]: axes, as long as the angles in radians


@tree.returned_by("olympus.scipy.spatial.transform.Slerp")
class Slerp(NamedTuple):
    """Interpolates rotations: between two of them at a constant rate about one axis.

    Differs from SciPy: it is made by `Slerp.init`; times beyond the first and last
    are extrapolated and are not errors.

    Make it by `Slerp.init(times, rotations)`; called with times it gives rotations.

    Args:
      times: increasing times [n].
      timedelta: the differences between times [n - 1].
      rotations: the rotations at the start of each interval [n - 1].
      rotvecs: the rotations from these to the next ones [n - 1, 3].

    Source: SciPy, `scipy.spatial.transform.Slerp`; Shoemake, "Animating rotation with
    quaternion curves", 1985.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus.scipy.spatial.transform import Rotation, Slerp
      >>> ends = Rotation.from_euler("z", onp.array([[0.0], [90.0]]), degrees=True)
      >>> motion = Slerp.init(onp.array([0.0, 1.0]), ends)
      >>> print(onp.round(motion(0.5).magnitude() * 180 / onp.pi, 2))
      45.0
    """

    times: Array
    timedelta: Array
    rotations: Rotation
    rotvecs: RotationVectors

    @classmethod
    def init(cls, times: ArrayLike, rotations: Rotation) -> Slerp:
        """The interpolation that has given rotations at given times.

        Args:
          times: increasing times [n].
          rotations: as many rotations, at least two.

        Raises:
          TypeError: `rotations` is not a Rotation.
          ValueError: there are fewer than two, more or fewer than times, or times
            that are known are not increasing.
        """
        if not isinstance(rotations, Rotation):
            raise TypeError("`rotations` must be a `Rotation` instance.")
        if rotations.single or len(rotations) < 2:
            raise ValueError("`rotations` must be a sequence of at least 2 rotations.")
        (times,) = promotion.promote_inexact(creation.asarray(times))
        if aval_of(times).ndim != 1:
            raise ValueError(
                "Expected times to be specified in a 1 dimensional array, got "
                f"{aval_of(times).ndim} dimensions."
            )
        if aval_of(times).shape[0] != len(rotations):
            raise ValueError(
                "Expected number of rotations to be equal to number of timestamps "
                f"given, got {len(rotations)} rotations and "
                f"{aval_of(times).shape[0]} timestamps."
            )
        if (
            not isinstance(times, trace.Tracer)
            and (np.diff(np.asarray(times)) <= 0).any()
        ):
            raise ValueError(f"scipy.Slerp.init: times must be increasing, got {times}")
        quat = creation.asarray(rotations.quat)
        start, stop = Rotation(quat[:-1]), Rotation(quat[1:])
        return cls(
            times, times[1:] - times[:-1], start, (start.inv() * stop).as_rotvec()
        )

    def __call__(self, times: ArrayLike) -> Rotation:
        """The rotations at times.

        Args:
          times: a number or a vector; before the first time and after the last one, the
            nearest interval is extrapolated.

        Raises:
          ValueError: `times` has several axes.
        """
        times = creation.asarray(times)
        if aval_of(times).ndim > 1:
            raise ValueError("`times` must be at most 1-dimensional.")
        out = _interpolate_rotations(
            times, self.times, self.timedelta, *self.rotations, self.rotvecs
        )
        return Rotation(out)


@promotion.program(5, name="Slerp.__call__")
def _interpolate_rotations(
    at: Any, times: Any, steps: Any, quat: Any, rotvecs: Any
) -> Any:
    last = aval_of(steps).shape[0] - 1
    part = (searching.searchsorted(times, at) - 1).clip(0, last)
    share = (at - times[part]) / steps[part]
    turn = quaternions.from_rotation_vector(
        share[..., None] * rotvecs[part], degrees=False
    )
    return quaternions.compose_rotations(quat[part], turn)
