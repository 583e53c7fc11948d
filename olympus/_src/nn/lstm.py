"""Long short-term memory: layers of recurrent cells, with cuDNN's layout of weights.

One vector holds all weights: for each layer and direction the matrices of the inputs
and of the state, and after all of them, in the same order, the two vectors that are
added. Each has four blocks of rows: the input, forget, cell and output gates.

Source: Hochreiter and Schmidhuber, Long short-term memory, 1997; Gers, Schmidhuber and
Cummins, Learning to forget, 2000.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from olympus._src.api.reverse_mode import vjp
from olympus._src.control_flow.scan import scan
from olympus._src.core import avals
from olympus._src.core.array_type import Array, KeyArray
from olympus._src.lax.precision import PrecisionLike
from olympus._src.nn.activations import sigmoid
from olympus._src.numpy import (
    contractions,
    creation,
    elementary,
    join_split,
    manipulation,
    selection,
)
from olympus._src.random.uniform import uniform

# The weights of each layer and direction, by its number.
Weights = dict[int, Array]

# A pytree: the derivative of a call.
Residuals = Any

_GATES = 4


def _layer_shapes(
    input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> Iterator[tuple[int, ...]]:
    """The shapes of all weights in their order."""
    directions = 2 if bidirectional else 1
    rows = _GATES * hidden_size
    for layer in range(num_layers):
        width = hidden_size * directions if layer else input_size
        for _ in range(directions):
            yield rows, width
            yield rows, hidden_size
    for _ in range(num_layers * directions * 2):
        yield (rows,)


def get_num_params_in_lstm(
    input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> int:
    """The number of weights of an LSTM.

    Args:
      input_size: features of each input.
      hidden_size: size of the state of each direction.
      num_layers: layers one above the other.
      bidirectional: whether each layer reads the sequence in both directions.

    Returns:
      An integer.

    Example:
      >>> from olympus.experimental import rnn
      >>> rnn.get_num_params_in_lstm(3, 4, num_layers=1, bidirectional=False)
      144
    """
    shapes = _layer_shapes(input_size, hidden_size, num_layers, bidirectional)
    return sum(int(np.prod(shape)) for shape in shapes)


def init_lstm_weight(
    rng: KeyArray,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    bidirectional: bool,
) -> Array:
    """Random weights of an LSTM, uniform up to `1 / sqrt(hidden_size)`.

    Args:
      rng: a key.
      input_size, hidden_size, num_layers, bidirectional: see `get_num_params_in_lstm`.

    Returns:
      A vector of all weights, float32.

    Example:
      >>> from olympus import random
      >>> from olympus.experimental import rnn
      >>> rnn.init_lstm_weight(random.key(0), 3, 4, 1, False).shape
      (144,)
    """
    count = get_num_params_in_lstm(input_size, hidden_size, num_layers, bidirectional)
    bound = np.float32(1 / np.sqrt(hidden_size))
    return uniform(rng, (count,), np.float32, -bound, bound)


def _cut_weights(weights: Any, *sizes: Any) -> list[Any]:
    shapes = list(_layer_shapes(*sizes))
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    shape = avals.aval_of(weights).shape
    if shape != (ends[-1],):
        raise ValueError(
            f"rnn: weights must be a vector of {ends[-1]} numbers, got the shape "
            f"{shape}; init_lstm_weight makes one"
        )
    parts = join_split.split(weights, ends[:-1].tolist())
    return [part.reshape(s) for part, s in zip(parts, shapes, strict=True)]


def unpack_lstm_weights(
    weights: Array,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    bidirectional: bool,
) -> tuple[Weights, Weights, Weights, Weights]:
    """The matrices and vectors in a vector of weights.

    Args:
      weights: all weights of an LSTM.
      input_size, hidden_size, num_layers, bidirectional: see `get_num_params_in_lstm`.

    Returns:
      Four dictionaries: the matrices of the inputs [4 h, inputs], those of the state
      [4 h, h], and the vectors [4 h] that are added to both products. Their keys number
      the layers, where there are two directions `2 * layer + direction`.

    Raises:
      ValueError: the vector has another length.

    Example:
      >>> from olympus.experimental import rnn
      >>> W_ih, W_hh, b_ih, b_hh = rnn.unpack_lstm_weights(
      ...     jnp.zeros(144), 3, 4, num_layers=1, bidirectional=False
      ... )
      >>> W_ih[0].shape, W_hh[0].shape, b_ih[0].shape
      ((16, 3), (16, 4), (16,))
    """
    sizes = (input_size, hidden_size, num_layers, bidirectional)
    parts = _cut_weights(weights, *sizes)
    half = len(parts) // 2
    matrices, vectors = parts[:half], parts[half:]
    tables = (matrices[0::2], matrices[1::2], vectors[0::2], vectors[1::2])
    W_ih, W_hh, b_ih, b_hh = (dict(enumerate(table)) for table in tables)
    return W_ih, W_hh, b_ih, b_hh


def swap_lstm_gates(
    weights: Array,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    bidirectional: bool,
) -> Array:
    """Weights with the blocks of the cell and output gates exchanged.

    Some libraries have these gates in the other order.

    Args:
      weights: all weights of an LSTM.
      input_size, hidden_size, num_layers, bidirectional: see `get_num_params_in_lstm`.

    Returns:
      A vector like `weights`.

    Raises:
      ValueError: the vector has another length.

    Example:
      >>> from olympus.experimental import rnn
      >>> print(rnn.swap_lstm_gates(jnp.arange(16), 1, 1, 1, False)[:4])
      [0 1 3 2]
    """
    parts = _cut_weights(weights, input_size, hidden_size, num_layers, bidirectional)
    swapped = []
    for part in parts:
        i, f, g, o = join_split.split(part, _GATES)
        swapped += [manipulation.ravel(block) for block in (i, f, o, g)]
    return join_split.concatenate(swapped)


# -- the network -----------------------------------------------------------------------


def lstm(
    x: Array,
    h_0: Array,
    c_0: Array,
    weights: Array,
    seq_lengths: Array,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
    precision: PrecisionLike = None,
) -> tuple[Array, Array, Array]:
    """An LSTM of several layers, of sequences of different lengths.

    It is compiled by XLA on all platforms, as `lstm_ref` is.

    Args:
      x: inputs [batch, time, input_size].
      h_0, c_0: first states and cells [layers * directions, batch, hidden_size].
      weights: all weights, see `unpack_lstm_weights`.
      seq_lengths: lengths of the sequences [batch], integers.
      input_size, hidden_size, num_layers, bidirectional: see `get_num_params_in_lstm`.
      dropout: must be 0.
      precision: of the products of matrices, see `lax.dot`.

    Returns:
      The states of the last layer [batch, time, directions * hidden_size], which are 0
      beyond the end of a sequence; last states and cells, like `h_0` and `c_0`.

    Raises:
      ValueError: the vector of weights has another length.
      NotImplementedError: `dropout` is not 0.

    Example:
      >>> from olympus import random
      >>> from olympus.experimental import rnn
      >>> weights = rnn.init_lstm_weight(random.key(0), 3, 4, 1, False)
      >>> x, zero = jnp.ones((2, 5, 3)), jnp.zeros((1, 2, 4))
      >>> y, h, c = rnn.lstm(
      ...     x, zero, zero, weights, jnp.array([2, 5]), 3, 4, 1, 0.0, False
      ... )
      >>> print(y.shape, y[0, 2])
      (2, 5, 4) [0. 0. 0. 0.]
    """
    sizes = (input_size, hidden_size, num_layers, bidirectional)
    tables = unpack_lstm_weights(weights, *sizes)
    _check_dropout("lstm", dropout)
    return _run_layers(
        x, h_0, c_0, tables, seq_lengths, num_layers, bidirectional, precision
    )


def lstm_fwd(
    x: Array,
    h_0: Array,
    c_0: Array,
    w: Array,
    seq_lengths: Array,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
    precision: PrecisionLike = None,
) -> tuple[tuple[Array, Array, Array], Residuals]:
    """What `lstm` returns, and what `lstm_bwd` needs of it; for a `custom_vjp`.

    Args:
      x, h_0, c_0, seq_lengths: as for `lstm`.
      w: the weights.
      input_size, hidden_size, num_layers, bidirectional: see `get_num_params_in_lstm`.
      dropout, precision: as for `lstm`.

    Example:
      >>> from olympus.experimental import rnn
      >>> x, zero, w = jnp.ones((1, 2, 1)), jnp.zeros((1, 1, 1)), jnp.ones(16)
      >>> sizes = 1, 1, 1, 0.0, False, None
      >>> outs, residuals = rnn.lstm_fwd(x, zero, zero, w, jnp.array([2]), *sizes)
      >>> x_ct, h_ct, c_ct, w_ct, _ = rnn.lstm_bwd(*sizes, residuals, outs)
      >>> x_ct.shape, w_ct.shape
      ((1, 2, 1), (16,))
    """
    sizes = (input_size, hidden_size, num_layers, dropout, bidirectional, precision)

    def run(x: Array, h_0: Array, c_0: Array, w: Array) -> tuple[Array, Array, Array]:
        return lstm(x, h_0, c_0, w, seq_lengths, *sizes)

    return vjp(run, x, h_0, c_0, w)


def lstm_bwd(
    input_size: int,
    hidden_size: int,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
    precision: PrecisionLike,
    residuals: Residuals,
    gradients: tuple[Array, Array, Array],
) -> tuple[Array, Array, Array, Array, None]:
    """Cotangents of the arguments of `lstm_fwd`; see there.

    Args:
      input_size, hidden_size, num_layers, dropout, bidirectional: have no effect: the
        residuals know them.
      precision: the same.
      residuals: what `lstm_fwd` returned.
      gradients: cotangents of the three results of `lstm`.

    Returns:
      Cotangents of `x`, `h_0`, `c_0` and `w`; None for the lengths.
    """
    del input_size, hidden_size, num_layers, dropout, bidirectional, precision
    x, h_0, c_0, w = residuals(gradients)
    return x, h_0, c_0, w, None


def lstm_ref(
    x: Array,
    h_0: Array,
    c_0: Array,
    W_ih: Weights,
    W_hh: Weights,
    b_ih: Weights,
    b_hh: Weights,
    seq_lengths: Array,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
) -> tuple[Array, Array, Array]:
    """An LSTM of unpacked weights; see `lstm`.

    Args:
      x: inputs [batch, time, input_size].
      h_0, c_0: first states and cells [layers * directions, batch, hidden_size].
      W_ih, W_hh, b_ih, b_hh: weights, see `unpack_lstm_weights`.
      seq_lengths: lengths of the sequences [batch], integers.
      input_size, hidden_size, num_layers, bidirectional: see `get_num_params_in_lstm`.
      dropout: must be 0.

    Returns:
      The states of the last layer [batch, time, directions * hidden_size], which are 0
      beyond the end of a sequence; last states and cells, like `h_0` and `c_0`.

    Raises:
      NotImplementedError: `dropout` is not 0.

    Example:
      >>> from olympus import random
      >>> from olympus.experimental import rnn
      >>> sizes = 3, 4, 1, False
      >>> weights = rnn.init_lstm_weight(random.key(0), *sizes)
      >>> x, zero = jnp.ones((2, 5, 3)), jnp.zeros((1, 2, 4))
      >>> y, h, c = rnn.lstm_ref(
      ...     x,
      ...     zero,
      ...     zero,
      ...     *rnn.unpack_lstm_weights(weights, *sizes),
      ...     jnp.array([2, 5]),
      ...     input_size=3,
      ...     hidden_size=4,
      ...     num_layers=1,
      ...     dropout=0.0,
      ...     bidirectional=False,
      ... )
      >>> y.shape, h.shape
      ((2, 5, 4), (1, 2, 4))
    """
    _check_dropout("lstm_ref", dropout)
    tables = (W_ih, W_hh, b_ih, b_hh)
    return _run_layers(
        x, h_0, c_0, tables, seq_lengths, num_layers, bidirectional, None
    )


def _check_dropout(name: str, dropout: float) -> None:
    if dropout != 0:
        raise NotImplementedError(
            f"rnn.{name}: dropout must be 0, got {dropout}; write one lstm for each "
            "layer, and set elements to zero between them"
        )


def _run_layers(
    x: Any,
    h_0: Any,
    c_0: Any,
    tables: Any,
    seq_lengths: Any,
    num_layers: int,
    bidirectional: bool,
    precision: Any,
) -> Any:
    directions = 2 if bidirectional else 1
    steps = creation.asarray(np.arange(avals.aval_of(x).shape[1]))
    mask = manipulation.expand_dims(steps, 1) < creation.asarray(seq_lengths)
    ys = manipulation.swapaxes(x, 0, 1)  # time first
    hs, cs = [], []
    for layer in range(num_layers):
        outputs = []
        for direction in range(directions):
            k = layer * directions + direction
            weights = [table[k] for table in tables]
            start = (h_0[k], c_0[k])
            last, out = _run_cell(ys, start, weights, mask, bool(direction), precision)
            outputs.append(out)
            hs.append(last[0])
            cs.append(last[1])
        ys = join_split.concatenate(outputs, axis=-1)
    return manipulation.swapaxes(ys, 0, 1), join_split.stack(hs), join_split.stack(cs)


def _run_cell(
    xs: Any, start: Any, weights: Any, mask: Any, reverse: bool, precision: Any
) -> Any:
    """One direction of one layer: the last state and cell, and the states [time, ...].

    Beyond the end of a sequence the state stays as it is: read backwards, it is still
    the first one when the end is reached.
    """
    W_ih, W_hh, b_ih, b_hh = weights
    # The products with all inputs are one product of matrices.
    inputs = contractions.matmul(xs, W_ih.T, precision=precision) + b_ih + b_hh

    def step(carry: Any, at: Any) -> Any:
        h, c = carry
        x, inside = at
        gates = x + contractions.matmul(h, W_hh.T, precision=precision)
        i, f, g, o = join_split.split(gates, _GATES, axis=-1)
        new_c = sigmoid(f) * c + sigmoid(i) * elementary.tanh(g)
        new_h = sigmoid(o) * elementary.tanh(new_c)
        row = manipulation.expand_dims(inside, -1)
        kept = selection.where(row, new_h, h), selection.where(row, new_c, c)
        return kept, selection.where(row, new_h, 0)

    return scan(step, start, (inputs, mask), reverse=reverse)
