"""LSTMs whose results are recorded from JAX."""

from __future__ import annotations

import importlib
from typing import Any

# (input size, hidden size, layers, both directions)
SIZES = [(2, 2, 1, False), (2, 3, 2, False), (3, 2, 2, True)]
LENGTHS = [1, 3, 4]


def run(library: str, sizes: tuple[Any, ...]) -> list[Any]:
    """Weights, results, and gradients of a sum of their squares."""
    top = importlib.import_module(library)
    jnp = importlib.import_module(f"{library}.numpy")
    rnn = importlib.import_module(f"{library}.experimental.rnn")
    random = importlib.import_module(f"{library}.random")
    inputs, hidden, layers, both = sizes
    weights = rnn.init_lstm_weight(random.key(0), *sizes)
    shape = (layers * (2 if both else 1), 3, hidden)
    x = random.normal(random.key(1), (3, 4, inputs))
    h, c = random.normal(random.key(2), (2, *shape))

    def call(x: Any, h: Any, c: Any, weights: Any) -> Any:
        tables = rnn.unpack_lstm_weights(weights, *sizes)
        return rnn.lstm_ref(
            x, h, c, *tables, jnp.array(LENGTHS), inputs, hidden, layers, 0.0, both
        )

    def loss(*args: Any) -> Any:
        return sum(jnp.sum(out**2) for out in call(*args))

    swapped = rnn.swap_lstm_gates(weights, *sizes)
    grads = top.grad(loss, (0, 3))(x, h, c, weights)
    return [weights[:8], swapped[:16], *call(x, h, c, weights), *grads]
