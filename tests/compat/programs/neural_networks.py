"""jax.nn, initializers and a small network with minibatches."""

import jax
import jax.numpy as jnp
from jax import nn

x = jnp.array([-2.0, -0.5, 0.0, 1.5])
for name in ["relu", "relu6", "sigmoid", "softplus", "silu", "swish", "gelu", "elu", "celu", "selu", "leaky_relu", "hard_tanh", "hard_sigmoid", "hard_silu", "soft_sign", "log_sigmoid", "squareplus", "mish", "sparse_plus", "sparse_sigmoid", "identity"]:
    print(name, getattr(nn, name)(x), jax.vmap(jax.grad(getattr(nn, name)))(x))
print(nn.softmax(x), nn.log_softmax(x), nn.logsumexp(x), nn.standardize(x), nn.one_hot(jnp.array([0, 3]), 3))
print(nn.gelu(x, approximate=False), nn.glu(jnp.arange(4.0)), nn.softmax(x, where=x > -1, axis=0))
q = jax.random.normal(jax.random.key(0), (1, 4, 2, 8))
print(nn.dot_product_attention(q, q, q).shape, nn.dot_product_attention(q, q, q, is_causal=True)[0, 0, 0, :3])
key = jax.random.key(1)
for make in [nn.initializers.zeros, nn.initializers.glorot_uniform(), nn.initializers.he_normal(), nn.initializers.lecun_normal(), nn.initializers.orthogonal(), nn.initializers.variance_scaling(1.0, "fan_avg", "uniform"), nn.initializers.truncated_normal(0.5), nn.initializers.constant(2.0)]:
    w = make(key, (4, 3), jnp.float32)
    print(w.shape, w[0])
sizes = [2, 8, 1]
keys = jax.random.split(key, 2)
params = [{"w": nn.initializers.glorot_normal()(k, (a, b)), "b": jnp.zeros(b)} for k, a, b in zip(keys, sizes, sizes[1:])]


def forward(params, x):
    for layer in params[:-1]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return (x @ params[-1]["w"] + params[-1]["b"])[:, 0]


inputs = jnp.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
targets = jnp.array([0.0, 1.0, 1.0, 0.0])
loss = lambda p: jnp.mean((forward(p, inputs) - targets) ** 2)
step = jax.jit(lambda p: jax.tree.map(lambda a, g: a - 0.5 * g, p, jax.grad(loss)(p)))
before = loss(params)
for _ in range(300):
    params = step(params)
print(bool(loss(params) < before), bool(loss(params) < 0.05), jax.tree.structure(params))
print(jax.lax.conv_general_dilated(jnp.ones((1, 1, 4, 4)), jnp.ones((1, 1, 2, 2)), (1, 1), "VALID")[0, 0, 0])
print(jax.image.resize(jnp.arange(4.0).reshape(2, 2), (2, 4), "linear"))
