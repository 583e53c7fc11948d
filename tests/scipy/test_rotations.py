"""Rotations against SciPy's, in double precision."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy.spatial import transform as scipy_transform

import olympus
import olympus.numpy as jnp
from olympus.scipy.spatial.transform import Rotation, Slerp
from tests.comparing import assert_close

pytestmark = [pytest.mark.sampled(2), pytest.mark.usefixtures("x64")]

SciPy = scipy_transform.Rotation
RNG = np.random.default_rng(11)
QUATS = np.concatenate(
    [RNG.normal(size=(6, 4)), np.eye(4), -np.eye(4), [[1e-5, 2e-5, 0, 1]]]
)
# Turns by pi about the axes come from the identity matrix above; both signs are theirs.
VECTORS = RNG.normal(size=(len(QUATS), 3))
EULER = ["xyz", "ZYX", "xzy", "YXZ", "zxz", "XYX", "yzy"]


close = functools.partial(assert_close, rtol=1e-10, atol=1e-12)


def same_turn(found, wanted):
    """Two rotations are one, whatever the signs of their quaternions."""
    close(found.as_matrix(), wanted.as_matrix())


@pytest.fixture
def ours():
    return Rotation.from_quat(QUATS)


@pytest.fixture
def theirs():
    return SciPy.from_quat(QUATS)


def test_descriptions(ours, theirs):
    close(ours.as_quat(), theirs.as_quat())
    close(ours.as_quat(canonical=True), theirs.as_quat(canonical=True))
    close(ours.as_quat(scalar_first=True), theirs.as_quat(scalar_first=True))
    close(ours.as_matrix(), theirs.as_matrix())
    # Turns by pi about the negative axes, the last but one, keep their sign here.
    known = np.delete(np.arange(len(QUATS)), [10, 11, 12])
    close(ours.as_rotvec()[known], theirs.as_rotvec()[known])
    degrees = ours.as_rotvec(degrees=True)[known]
    close(degrees, theirs.as_rotvec(degrees=True)[known])
    close(ours.as_mrp(), theirs.as_mrp())
    close(ours.magnitude(), theirs.magnitude())
    close(ours[2].as_matrix(), theirs[2].as_matrix())


@pytest.mark.slow
@pytest.mark.parametrize("seq", EULER)
def test_euler_angles(ours, theirs, seq):
    close(ours.as_euler(seq), theirs.as_euler(seq, suppress_warnings=True))
    angles = RNG.uniform(-180, 180, (4, 3))
    close(
        Rotation.from_euler(seq, angles, degrees=True).as_matrix(),
        SciPy.from_euler(seq, angles, degrees=True).as_matrix(),
    )
    close(
        Rotation.from_euler(seq[:2], angles[:, :2]).as_matrix(),
        SciPy.from_euler(seq[:2], angles[:, :2]).as_matrix(),
    )


@pytest.mark.parametrize("seq", ["xyz", "XYZ", "zxz", "ZXZ"])
def test_euler_angles_where_axes_fall_together(seq):
    bends = [0, np.pi] if seq[0] == seq[2] else [np.pi / 2, -np.pi / 2]
    angles = np.array([[0.3, bend, 0.4] for bend in bends])
    found = Rotation.from_euler(seq, angles).as_euler(seq)
    assert (np.asarray(found)[:, 2] == 0).all()
    close(found, SciPy.from_euler(seq, angles).as_euler(seq, suppress_warnings=True))


def test_back_from_descriptions(ours, theirs):
    same_turn(Rotation.from_matrix(ours.as_matrix()), theirs)
    same_turn(Rotation.from_rotvec(ours.as_rotvec()), theirs)
    same_turn(Rotation.from_mrp(ours.as_mrp()), theirs)
    vectors = VECTORS * 3
    same_turn(Rotation.from_rotvec(vectors), SciPy.from_rotvec(vectors))
    same_turn(
        Rotation.from_rotvec(vectors, degrees=True),
        SciPy.from_rotvec(vectors, degrees=True),
    )
    same_turn(Rotation.from_mrp(vectors), SciPy.from_mrp(vectors))
    same_turn(Rotation.from_euler("y", 1), SciPy.from_euler("y", 1))


def test_products(ours, theirs):
    close(ours.apply(VECTORS), theirs.apply(VECTORS))
    close(ours.apply(VECTORS[0], inverse=True), theirs.apply(VECTORS[0], inverse=True))
    close(ours[0].apply(VECTORS), theirs[0].apply(VECTORS))
    same_turn(ours.inv(), theirs.inv())
    same_turn(ours * ours[::-1], theirs * theirs[::-1])
    same_turn(ours[1] * ours, theirs[1] * theirs)
    joined = Rotation.concatenate([ours[0], ours])
    same_turn(joined, SciPy.concatenate([theirs[0], theirs]))
    assert len(joined) == len(ours) + 1


@pytest.mark.slow
def test_mean(ours, theirs):
    weights = RNG.uniform(size=len(QUATS))
    same_turn(ours[:6].mean(), theirs[:6].mean())
    same_turn(ours.mean(weights), theirs.mean(weights))


@pytest.mark.slow
def test_identity_and_random():
    assert Rotation.identity().single
    close(Rotation.identity(3).as_matrix(), np.stack([np.eye(3)] * 3))
    drawn = Rotation.random(olympus.random.key(0), 2000)
    close((drawn.quat**2).sum(-1), np.ones(2000))
    # Matrices of all rotations have the mean 0, each element with the variance 1/3.
    assert abs(np.asarray(drawn.as_matrix()).mean(0)).max() < 6 * np.sqrt(1 / 3 / 2000)
    assert Rotation.random(olympus.random.key(1)).single


@pytest.mark.slow
def test_motion_between_rotations(ours, theirs):
    times = np.array([0.0, 1.0, 1.5, 4.0])
    at = np.array([0.0, 0.3, 1.0, 1.2, 3.9, 4.0])
    motion = Slerp.init(times, ours[:4])
    same_turn(motion(at), scipy_transform.Slerp(times, theirs[:4])(at))
    assert motion(0.5).single
    # Beyond the ends the motion goes on.
    step = ours[2].inv() * ours[3]
    same_turn(motion(6.5), ours[3] * step)
    traced = olympus.jit(lambda motion, at: motion(at))(motion, at)
    same_turn(traced, motion(at))


@pytest.mark.slow
def test_transformations(ours):
    matrices = olympus.vmap(lambda r: r.inv().as_matrix())(ours)
    close(matrices, np.swapaxes(ours.as_matrix(), 1, 2))
    assert olympus.tree.structure(ours).num_leaves == 1
    spun = olympus.jit(lambda r: r * r)(ours)
    assert isinstance(spun, Rotation)
    same_turn(spun, ours * ours)


@pytest.mark.slow
@pytest.mark.parametrize("start", [np.zeros(3), np.array([1e-4, 0, 2e-4]), VECTORS[0]])
def test_derivatives_of_vectors(start):
    """There and back is the identity, to the second order, also at no turn at all."""

    def there_and_back(v):
        return Rotation.from_rotvec(v).as_rotvec()

    close(olympus.jacobian(there_and_back)(start), np.eye(3))
    second = olympus.jacfwd(olympus.jacrev(there_and_back))(start)
    np.testing.assert_allclose(second, np.zeros((3, 3, 3)), atol=1e-8)


@pytest.mark.slow
def test_derivatives_of_matrices():
    def turned(v):
        return Rotation.from_rotvec(v).apply(jnp.array([1.0, 2.0, 3.0]))

    # Near no turn, v moves x by the cross product of v and x.
    slope = olympus.jacobian(turned)(np.zeros(3))
    close(slope, [[0, 3, -2], [-3, 0, 1], [2, -1, 0]])
    olympus.test_util.check_grads(turned, (VECTORS[1],), 2)
    olympus.test_util.check_grads(
        lambda v: Rotation.from_euler("xyz", v).as_euler("ZXZ"), (VECTORS[2],), 1
    )
    olympus.test_util.check_grads(
        lambda m: Rotation.from_matrix(m).quat, (np.eye(3) + 0.1 * VECTORS[:3],), 1
    )


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda r: Rotation.from_quat(np.ones(3)), ValueError, "must have size 4"),
        (lambda r: Rotation.from_matrix(np.ones((2, 3))), ValueError, "3, 3"),
        (lambda r: Rotation.from_rotvec(np.ones(4)), ValueError, "size 3"),
        (lambda r: Rotation.from_mrp(np.ones(2)), ValueError, "size 3"),
        (lambda r: Rotation.from_euler("xyzx", 1.0), ValueError, "upto 3 characters"),
        (lambda r: Rotation.from_euler("xY", np.ones(2)), ValueError, "axes from"),
        (lambda r: Rotation.from_euler("xy", np.ones(3)), ValueError, "size 2"),
        (lambda r: Rotation.from_euler("x", [1.0]), TypeError, "asarray"),
        (lambda r: r.as_euler("xy"), ValueError, "Expected 3 axes"),
        (lambda r: r.as_euler("xxy"), ValueError, "consecutive axes"),
        (lambda r: r.apply(np.ones((2, 3))), ValueError, "leading axes"),
        (lambda r: r * r[:2], ValueError, "leading axes"),
        (lambda r: r * 2, TypeError, "unsupported operand"),
        (lambda r: r[0][0], TypeError, "not subscriptable"),
        (lambda r: len(r[0]), TypeError, "no len"),
        (lambda r: r[0].mean(), TypeError, "no len"),
        (lambda r: r.mean(np.ones(2)), ValueError, "one for each rotation"),
        (lambda r: Slerp.init(np.arange(3.0), r), ValueError, "equal to number"),
        (lambda r: Slerp.init(np.zeros(2), r[:2]), ValueError, "must be increasing"),
        (lambda r: Slerp.init(np.ones(1), r[0]), ValueError, "at least 2"),
        (lambda r: Slerp.init(np.ones((2, 1)), r[:2]), ValueError, "1 dimensional"),
        (lambda r: Slerp.init(np.arange(3.0), r.quat), TypeError, "`Rotation`"),
        (
            lambda r: Slerp.init(np.arange(2.0), r[:2])(np.ones((1, 1))),
            ValueError,
            "at most 1-dimensional",
        ),
    ],
)
def test_refused(ours, call, kind, message):
    with pytest.raises(kind, match=message):
        call(ours)
