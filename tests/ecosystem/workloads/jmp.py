"""jmp: policies of precision and scaled losses."""

import jax
import jax.numpy as jnp
import jmp


def policies():
    policy = jmp.get_policy("params=float32,compute=float16,output=bfloat16")
    tree = {"w": jnp.ones((2, 2)), "n": jnp.arange(2)}
    compute = policy.cast_to_compute(tree)
    return {
        "text": str(policy),
        "compute": {name: x.dtype.name for name, x in compute.items()},
        "output": policy.cast_to_output(tree)["w"].dtype.name,
        "params": policy.cast_to_param(compute)["w"].dtype.name,
        "half": jnp.dtype(jmp.half_dtype()).name,
        "changed": str(policy.with_output_dtype(jnp.float32)),
    }


def scaled_losses():
    scale = jmp.DynamicLossScale(jnp.asarray(2.0**10), period=2)

    def loss(w):
        return scale.scale(jnp.sum(w**2))

    grads = scale.unscale(jax.jit(jax.grad(loss))(jnp.arange(3.0)))
    good = jmp.all_finite(grads)
    bad = jmp.all_finite({"a": jnp.array([jnp.inf])})
    return {
        "grads": grads,
        "good": bool(good),
        "bad": bool(bad),
        "kept": scale.adjust(good).loss_scale,
        "grown": scale.adjust(good).adjust(good).loss_scale,
        "shrunk": jax.jit(lambda s: s.adjust(jnp.asarray(False)))(scale).loss_scale,
        "static": jmp.StaticLossScale(8.0).unscale(jnp.ones(2) * 16),
        "none": jmp.NoOpLossScale().scale(jnp.ones(2)),
    }


def selections():
    new, old = {"w": jnp.ones(2)}, {"w": jnp.zeros(2)}
    step = jax.jit(jmp.select_tree)
    return {
        "new": step(jnp.asarray(True), new, old)["w"],
        "old": step(jnp.asarray(False), new, old)["w"],
    }


def casts():
    tree = (jnp.ones(2), jnp.arange(2), "text")
    half = jmp.cast_to_half(tree[:2])
    return {
        "half": [x.dtype.name for x in half],
        "full": [x.dtype.name for x in jmp.cast_to_full(half)],
    }


def training():
    policy = jmp.get_policy("p=f32,c=f16,o=f32")

    @jax.jit
    def step(w, x, y, scale):
        def loss(w):
            w, inputs = policy.cast_to_compute((w, x))
            out = policy.cast_to_output(inputs @ w)
            return scale.scale(jnp.mean((out - y) ** 2))

        grads = scale.unscale(jax.grad(loss)(w))
        finite = jmp.all_finite(grads)
        scale = scale.adjust(finite)
        return jmp.select_tree(finite, w - 0.1 * grads, w), scale

    w, scale = jnp.zeros(3), jmp.DynamicLossScale(jnp.asarray(2.0**15))
    x, y = jnp.eye(3), jnp.arange(3.0)
    for _ in range(3):
        w, scale = step(w, x, y, scale)
    return {"w": w, "scale": scale.loss_scale, "dtype": w.dtype.name}


TOLERANCES = {"training": 2e-2}
