"""Einops: rearrangements, reductions and contractions of images and sequences."""

import einops
import jax
import jax.numpy as jnp
import pytest
from einops import pack, parse_shape, rearrange, reduce, repeat, unpack


def _images():
    return jnp.arange(2 * 4 * 6 * 3, dtype=jnp.float32).reshape(2, 4, 6, 3)


def rearrangements():
    x = _images()
    return {
        "patches": rearrange(x, "b (h p) (w q) c -> (b h w) (p q c)", p=2, q=3)[:3],
        "transpose": rearrange(x, "b h w c -> c b w h")[2, 1],
        "list": rearrange([x[0], x[1]], "b h w c -> (b h) (w c)")[:, 0],
        "depth_to_space": rearrange(x, "b h w (c s) -> b h (w s) c", s=3).shape,
        "heads": rearrange(x, "... (k d) c -> ... k d c", k=2).shape,
    }


def reductions():
    x = _images()
    return {
        "mean": reduce(x, "b h w c -> c", "mean"),
        "max_pool": reduce(x, "b (h p) (w q) c -> b h w c", "max", p=2, q=2)[0],
        "min": reduce(x, "b h w c -> b () () c", "min"),
        "sum": reduce(x, "b ... -> b", "sum"),
        "prod": reduce(x[:, :1, :2, :1] + 1, "b h w c -> b", "prod"),
        "any": reduce(x > 100, "b h w c -> b h", "any"),
        "callable": reduce(x, "b h w c -> b", jnp.var),
    }


def repetitions():
    x = jnp.arange(6.0).reshape(2, 3)
    return {
        "new_axis": repeat(x, "h w -> h w c", c=2),
        "upsample": repeat(x, "h w -> (h k) (w l)", k=2, l=2),
    }


def packing():
    x, y = jnp.ones((2, 3, 4)), jnp.zeros((2, 5))
    packed, shapes = pack([x, y], "b *")
    first, second = unpack(packed, shapes, "b *")
    return {"packed": packed[0], "shapes": shapes, "parts": [first.shape, second]}


def shapes():
    return parse_shape(_images(), "b _ w c")


def contractions():
    q = jnp.linspace(-1.0, 1.0, 24).reshape(2, 3, 4)
    scores = einops.einsum(q, q, "b i d, b j d -> b i j")
    return {"scores": scores, "trace": einops.einsum(scores, "b i i -> b")}


def under_transformations():
    def pooled(x):
        return reduce(x, "(h p) (w q) -> h w", "mean", p=2, q=3)

    x = jnp.sin(jnp.arange(24.0)).reshape(4, 6)
    batch = jnp.stack([x, 2 * x])
    return {
        "jit": jax.jit(pooled)(x),
        "gradient": jax.grad(lambda x: jnp.sum(pooled(x) ** 2))(x),
        "vmap": jax.vmap(pooled)(batch),
    }


def errors():
    with pytest.raises(einops.EinopsError) as caught:
        rearrange(jnp.ones((3, 4)), "(a b) c -> a b c", b=2)
    return "can't divide axis" in str(caught.value)
