"""A short tour: trace, differentiate, vectorise, compile."""

import olympus
import olympus.numpy as jnp


def predict(w, x):
    return jnp.tanh(x @ w)


def loss(w, x, y):
    return jnp.mean((predict(w, x) - y) ** 2)


def main():
    key = olympus.random.key(0)
    x = olympus.random.normal(key, (8, 3))
    w = jnp.ones(3)
    y = jnp.zeros(8)

    print("The program olympus sees:")
    print(olympus.make_olympuspr(loss)(w, x, y))

    print("\nIts gradient, compiled:")
    print(olympus.jit(olympus.grad(loss))(w, x, y))

    print("\nOne gradient per example:")
    print(olympus.vmap(olympus.grad(loss), in_axes=(None, 0, 0))(w, x, y).shape)

    step = olympus.jit(lambda w: w - 0.5 * olympus.grad(loss)(w, x, y))
    for _ in range(50):
        w = step(w)
    print("\nLoss after fifty steps:", loss(w, x, y))


if __name__ == "__main__":
    main()
