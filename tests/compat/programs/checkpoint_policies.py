"""Rematerialization: what is saved under each policy."""

import contextlib
import io

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name, print_saved_residuals


def layer(w, x):
    h = checkpoint_name(jnp.sin(w @ x), "hidden")
    return jnp.sin(checkpoint_name(h * 2.0, "scaled")).sum()


w, x = jnp.ones((3, 3)), jnp.arange(3.0)
plain = jax.grad(layer)(w, x)
cp = jax.checkpoint_policies
policies = {
    "none": None,
    "nothing": cp.nothing_saveable,
    "everything": cp.everything_saveable,
    "dots": cp.checkpoint_dots,
    "no batch": cp.dots_with_no_batch_dims_saveable,
    "names": cp.save_only_these_names("hidden"),
    "except": cp.save_anything_except_these_names("hidden"),
    "any names": cp.save_any_names_but_these("scaled"),
    "or": cp.save_from_both_policies(cp.checkpoint_dots, cp.save_only_these_names("scaled")),
}
for name, policy in policies.items():
    f = jax.checkpoint(layer, policy=policy)
    text = str(jax.make_jaxpr(lambda w: jax.vjp(f, w, x)[1](1.0))(w))
    print(name, jnp.allclose(jax.grad(f)(w, x), plain, atol=1e-6), text.count(" sin "), text.count(" cos "), text.count("dot_general["))
print(jax.make_jaxpr(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x))))(1.0).eqns[0].primitive)
print(jax.grad(jax.remat(lambda x: jnp.sin(jnp.sin(x))))(1.0))
print(jax.grad(jax.checkpoint(lambda n, x: x**n, static_argnums=0), 1)(3, 2.0))
print(jax.grad(jax.checkpoint(lambda x: jax.lax.scan(lambda c, _: (jnp.sin(c), None), x, length=4)[0]))(1.0))
print(jax.grad(lambda x: jax.lax.scan(jax.checkpoint(lambda c, _: (jnp.sin(c), None), prevent_cse=False), x, length=4)[0])(1.0))
print(jax.vmap(jax.grad(jax.checkpoint(jnp.tanh)))(jnp.arange(3.0)), jax.hessian(jax.checkpoint(jnp.tanh))(0.4))
shown = io.StringIO()
with contextlib.redirect_stdout(shown):
    print_saved_residuals(lambda x, y: jnp.sin(x) * jnp.cos(y), 1.0, jnp.ones(2))
print([line.split(" from ")[0] for line in sorted(shown.getvalue().splitlines())])
print(callable(cp.offload_dot_with_no_batch_dims("device", "pinned_host")))
try:
    jax.checkpoint(lambda n, x: x if n > 0 else -x)(jnp.array(1), 2.0)
    jax.grad(jax.checkpoint(lambda x: x if x > 0 else -x))(2.0)
except Exception as error:
    print(type(error).__name__)
