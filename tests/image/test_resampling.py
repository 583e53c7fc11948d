"""Resampling of images against a loop over samples, recorded values, and laws."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import image
from olympus.test_util import check_grads

LINE = np.array([1.0, 5, 2, 7, 3])
ROOM = np.random.default_rng(0).normal(size=(4, 6, 2))
METHODS = [
    "nearest",
    "linear",
    "cubic",
    "cubic-pytorch",
    "lanczos3",
    "lanczos5",
    "area",
]

# jax 0.10.2, x64: image.resize(LINE, (n,), method, antialias).
RECORDED = [
    ("area", 3, True, [2.6, 3.6, 4.6]),
    ("area", 8, False, [1.0, 2.6, 5.0, 2.6, 3.0, 7.0, 4.6, 3.0]),
    ("cubic-pytorch", 2, True, [3.014258352841029, 4.543945520323473]),
    ("cubic-pytorch", 3, False, [2.4259259259259265, 2.0, 4.537037037037032]),
    ("cubic", 3, True, [2.6, 3.972093023255814, 4.7230769230769205]),
    ("cubic", 2, False, [4.320610687022901, 6.458015267175572]),
    ("linear", 2, True, [3.1363636363636362, 4.5]),
    ("linear", 8, True, [1.0, 2.75, 4.8125, 2.9375, 3.5625, 6.6875, 4.75, 3.0]),
    ("nearest", 8, True, [1.0, 1.0, 5.0, 2.0, 2.0, 7.0, 3.0, 3.0]),
    ("lanczos3", 3, True, [2.469951207438191, 4.210778856392917, 4.684999546632848]),
    ("lanczos3", 2, False, [4.411670165908555, 6.549420037165946]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "n", "antialias", "want"), RECORDED)
def test_resize_as_recorded(method, n, antialias, want):
    got = image.resize(LINE.astype(np.float32), (n,), method, antialias)
    np.testing.assert_allclose(got, want, rtol=2e-6)


@pytest.mark.slow
def test_scale_and_translate_as_recorded():
    # jax 0.10.2: scale_and_translate(arange(4), (6,), (0,), [1.5], [0.3], method).
    recorded = {
        "linear": [0.0, 0.29999995, 0.9666667, 1.6333334, 2.3, 2.9666667],
        "cubic": [-0.11069968, 0.21099226, 0.9656112, 1.6333337, 2.3519144, 2.9825127],
    }
    scale, shift = np.float32([1.5]), np.float32([0.3])
    for method, want in recorded.items():
        for line in (np.arange(4, dtype=np.float32), np.arange(4)):
            got = image.scale_and_translate(line, (6,), (0,), scale, shift, method)
            assert got.dtype == np.float32
            np.testing.assert_allclose(got, want, atol=2e-6)


@pytest.mark.slow
def test_axes_are_resized_one_by_one():
    with olympus.enable_x64(True):
        both = image.resize(ROOM, (3, 9, 2), "cubic")
        rows = image.resize(ROOM, (3, 6, 2), "cubic")
        np.testing.assert_allclose(both, image.resize(rows, (3, 9, 2), "cubic"))
        for k in range(2):
            alone = image.resize(ROOM[..., k], (3, 9), "bicubic")
            np.testing.assert_allclose(both[..., k], alone)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_constants_stay_and_a_size_that_stays_changes_nothing(method):
    flat = np.full((5, 7), 3.0, np.float32)
    np.testing.assert_allclose(image.resize(flat, (3, 11), method), 3, rtol=1e-5)
    np.testing.assert_array_equal(
        image.resize(ROOM, ROOM.shape, method), jnp.array(ROOM)
    )


def test_area_averages_blocks():
    blocks = ROOM.reshape(2, 2, 3, 2, 2).mean((1, 3))
    got = image.resize(ROOM.astype(np.float32), (2, 3, 2), image.ResizeMethod.AREA)
    np.testing.assert_allclose(got, blocks, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_a_shift_by_whole_samples_leaves_zeros():
    with olympus.enable_x64(True):
        one, two = np.ones(1), np.full(1, 2.0)
        got = image.scale_and_translate(LINE, (7,), (-1,), one, two, "lanczos5")
        np.testing.assert_allclose(got, [0, 0, *LINE], atol=1e-12)


@pytest.mark.slow
def test_dtypes():
    whole = np.arange(4, dtype=np.int32)
    assert image.resize(whole, (2,), "nearest").dtype == np.int32
    assert image.resize(whole, (2,), "linear").dtype == np.float32
    half = image.resize(jnp.arange(4, dtype="bfloat16"), (3,), "linear")
    assert half.dtype == jnp.bfloat16
    np.testing.assert_allclose(half.astype("float32"), [0.3, 1.5, 2.7], rtol=4e-3)
    turned = image.resize(np.complex64([0, 1j, 2j]), (2,), "linear")
    np.testing.assert_allclose(turned, [0.375j, 1.625j])
    assert image.resize(whole, (0,), "linear").shape == (0,)


def test_names_of_methods():
    of = image.ResizeMethod.from_string
    assert of("triangle") is of("bilinear") is image.ResizeMethod.LINEAR
    with pytest.raises(
        ValueError, match='Unknown resize method "foo"; take one of area'
    ):
        image.resize(LINE, (2,), "foo")


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS[1:])
def test_derivatives_by_image_scale_and_translation(method):
    def f(x, scale, shift):
        return image.scale_and_translate(x, (4, 3), (0, 1), scale, shift, method)

    with olympus.enable_x64(True):
        scale, shift = np.array([0.83, 1.37]), np.array([0.21, -0.33])
        check_grads(f, (ROOM[:, :3, 0], scale, shift), 1)


@pytest.mark.slow
def test_under_vmap_and_jit():
    def f(x, scale):
        return image.scale_and_translate(
            x, (3, 3), (0,), scale, np.zeros(1, np.float32), "linear"
        )

    x = np.float32(np.moveaxis(ROOM, -1, 0))[:, :, :3]
    scales = np.float32([[0.5], [0.9]])
    want = np.stack([f(a, s) for a, s in zip(x, scales, strict=True)])
    np.testing.assert_allclose(olympus.jit(olympus.vmap(f))(x, scales), want, rtol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        ((LINE, (2, 2), (0,), LINE[:1], LINE[:1], "linear"), ValueError, "every axis"),
        ((LINE, (2,), (0,), LINE[:1], LINE[:1], "nearest"), ValueError, "nearest"),
        (
            (LINE, (2,), (0,), LINE[:2], LINE[:1], "linear"),
            ValueError,
            "scale must have",
        ),
        ((LINE, (2,), (1,), LINE[:1], LINE[:1], "linear"), ValueError, "axis"),
        (
            (ROOM, (4, 6, 3), (0,), LINE[:1], LINE[:1], "linear"),
            ValueError,
            "add it to",
        ),
        (
            (ROOM, (4, 6, 2), (0, -3), LINE[:2], LINE[:2], "linear"),
            ValueError,
            "differ",
        ),
        (([1.0], (2,), (0,), LINE[:1], LINE[:1], "linear"), TypeError, "numpy.asarray"),
        (
            (LINE, (2,), (0,), 1.5, LINE[:1], "linear"),
            ValueError,
            "one number for each",
        ),
    ],
)
def test_errors_teach(arguments, kind, said):
    with pytest.raises(kind, match=said):
        image.scale_and_translate(*arguments)


def test_no_nearest_sample_among_none():
    with pytest.raises(ValueError, match="without samples"):
        image.resize(np.zeros(0), (2,), "nearest")


@pytest.mark.parametrize("antialias", [True, False])
def test_bicubic_pytorch_is_cubic_pytorch(antialias):
    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    got, want = (
        image.resize(x, (3, 7), method, antialias=antialias)
        for method in ("bicubic-pytorch", "cubic-pytorch")
    )
    np.testing.assert_array_equal(got, want)
    assert image.ResizeMethod.from_string("bicubic-pytorch").name == "CUBIC_PYTORCH"


@pytest.mark.parametrize("method", ["lanczos3", "lanczos5", "cubic", "linear"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_places_on_a_sample(method, dtype):
    """XLA rounds a place differently where it computes it again: 1e-17 and zero."""
    with olympus.enable_x64():
        samples = np.array([1.0, 5.0, 9.0], dtype)
        for factor in (3, 5, 7):
            out = image.resize(jnp.asarray(samples), (3 * factor,), method)
            np.testing.assert_allclose(out[factor // 2 :: factor], samples, rtol=1e-6)


def test_the_first_axis_is_resized_in_place():
    x = jnp.ones((128, 3, 5))
    text = olympus.jit(lambda x: image.resize(x, (64, 3, 5), "bilinear")).lower(x)
    assert "stablehlo.transpose" not in text.as_text()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_each_axis_alone(axis):
    x = np.random.default_rng(0).normal(size=(6, 8, 4)).astype(np.float32)
    shape = list(x.shape)
    shape[axis] *= 2
    got = image.resize(x, shape, "cubic")
    front = np.moveaxis(x, axis, -1)
    expected = image.resize(front, (*front.shape[:-1], shape[axis]), "cubic")
    np.testing.assert_allclose(got, np.moveaxis(expected, -1, axis), rtol=1e-5)
