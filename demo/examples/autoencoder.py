"""A variational autoencoder of images: Kingma and Welling, 2014."""

import olympus.numpy as jnp
from demo.examples import data
from olympus import jit, lax, random, value_and_grad
from olympus.example_libraries import optimizers, stax

LATENT = 4

init_encoder, encode = stax.serial(
    stax.Dense(48),
    stax.Relu,
    stax.FanOut(2),
    stax.parallel(stax.Dense(LATENT), stax.serial(stax.Dense(LATENT), stax.Softplus)),
)
init_decoder, decode = stax.serial(stax.Dense(48), stax.Relu, stax.Dense(data.SIDE**2))


def divergence(mean, variance):
    """Of a normal distribution from the standard one."""
    return 0.5 * jnp.sum(mean**2 + variance - 1.0 - jnp.log(variance))


def log_bernoulli(logits, x):
    return -jnp.sum(jnp.logaddexp(0.0, jnp.where(x > 0.5, -1.0, 1.0) * logits))


def bound(key, params, images):
    """The evidence lower bound of a batch, per image."""
    encoder, decoder = params
    mean, variance = encode(encoder, images)
    z = mean + jnp.sqrt(variance) * random.normal(key, mean.shape)
    fit = log_bernoulli(decode(decoder, z), images)
    return (fit - divergence(mean, variance)) / len(images)


def image_grid(decoder, key, side=10):
    """Samples of the model, as one picture of `side` by `side` images."""
    z = random.normal(key, (side * side, LATENT))
    logits = decode(decoder, z)
    samples = random.bernoulli(
        random.fold_in(key, 1), jnp.exp(-jnp.logaddexp(0.0, -logits))
    )
    rows = iter(samples.reshape(side * side, data.SIDE, data.SIDE))
    return jnp.vstack(
        [jnp.hstack([next(rows) for _ in range(side)]) for _ in range(side)]
    )


def train(epochs=3, steps=10):
    """The bounds of each epoch, and the ink in a row of a picture of samples."""
    opt_init, opt_update, get_params = optimizers.momentum(0.002, mass=0.9)
    images = jnp.stack([x for x, _ in data.batches(steps, 32)])

    @jit
    def run_epoch(key, state):
        def body(i, carry):
            state, total = carry
            batch = lax.dynamic_index_in_dim(images, i, keepdims=False)

            def loss(params):
                return -bound(random.fold_in(key, i), params, batch)

            value, grads = value_and_grad(loss)(get_params(state))
            return opt_update(i, grads, state), total + value

        return lax.fori_loop(0, steps, body, (state, 0.0))

    keys = random.split(random.key(0), 3)
    _, encoder = init_encoder(keys[0], (-1, data.SIDE**2))
    _, decoder = init_decoder(keys[1], (-1, LATENT))
    state, values = opt_init((encoder, decoder)), []
    for epoch in range(epochs):
        state, total = run_epoch(random.fold_in(keys[2], epoch), state)
        values.append(float(total) / steps)
    picture = jit(image_grid)(get_params(state)[1], random.key(9))
    return [*values, *picture.sum(1)[: data.SIDE].tolist()]


if __name__ == "__main__":
    print(train())
