"""Keras on its JAX backend: layers, training, saving, operations, losses."""

import os
import pathlib
import tempfile

os.environ["KERAS_BACKEND"] = "jax"

import jax
import jax.numpy as jnp
import keras
import numpy as np
from keras import layers, ops

TOLERANCES = {"training": 1e-2, "custom_training": 1e-2}


def _data():
    x = np.sin(np.arange(96.0)).reshape(32, 3).astype("float32")
    return x, (x[:, :1] * x[:, 1:2]).astype("float32")


def training():
    keras.utils.set_random_seed(0)
    x, y = _data()
    model = keras.Sequential(
        [layers.Input((3,)), layers.Dense(8, "tanh"), layers.Dense(1)]
    )
    model.compile("adam", "mse", metrics=["mae"])
    history = model.fit(x, y, batch_size=8, epochs=3, shuffle=False, verbose=0)
    evaluated = model.evaluate(x, y, verbose=0)
    return {
        "losses": history.history["loss"],
        "metrics": history.history["mae"],
        "evaluated": list(map(float, evaluated)),
        "predicted": model.predict(x[:3], verbose=0),
        "parameters": model.count_params(),
    }


def saving():
    keras.utils.set_random_seed(1)
    inputs = keras.Input((4,))
    hidden = layers.Dense(3, "relu", name="hidden")(inputs)
    joined = layers.Concatenate()([hidden, inputs])
    model = keras.Model(inputs, layers.Dense(2)(joined))
    x = np.ones((2, 4), "float32")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.keras"
        model.save(path)
        again = keras.saving.load_model(path)
        model.save_weights(pathlib.Path(folder) / "w.weights.h5")
    same = np.allclose(model(x), again(x))
    return {"same": bool(same), "names": [layer.name for layer in again.layers][1:2]}


def networks():
    keras.utils.set_random_seed(2)
    image = np.cos(np.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3).astype("float32")
    sequence = np.sin(np.arange(24.0)).reshape(2, 3, 4).astype("float32")
    table = {
        "conv": (layers.Conv2D(2, 3, strides=2), image),
        "pool": (layers.GlobalAveragePooling2D(), image),
        "norm": (layers.BatchNormalization(), image[:1, :2, :2]),
        "layer_norm": (layers.LayerNormalization(), sequence),
        "lstm": (layers.LSTM(3), sequence),
        "gru": (layers.Bidirectional(layers.GRU(2)), sequence),
        "embedding": (layers.Embedding(5, 2), np.array([[1, 4]])),
        "einsum": (layers.EinsumDense("abc,cd->abd", (None, 2)), sequence),
        "upsampled": (layers.UpSampling2D(2), image[:1, :2, :2]),
    }
    values = {name: np.asarray(layer(x)) for name, (layer, x) in table.items()}
    attention = layers.MultiHeadAttention(2, 4)
    values["attention"] = np.asarray(attention(sequence, sequence))
    return values


def operations():
    x = ops.reshape(ops.arange(6, dtype="float32"), (2, 3))
    return {
        "softmax": np.asarray(ops.softmax(x)),
        "one_hot": np.asarray(ops.one_hot(np.array([0, 2]), 3)),
        "topk": np.asarray(ops.top_k(x, 2)[1]),
        "segment": np.asarray(ops.segment_sum(np.ones(4), np.array([0, 0, 1, 1]), 2)),
        "scan": np.asarray(ops.scan(lambda c, v: (c + v, c), 0.0, np.arange(3.0))[1]),
        "while": int(
            ops.while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x + i), (0, 0))[1]
        ),
        "cond": float(ops.cond(True, lambda: 1.0, lambda: 2.0)),
        "vectorized": np.asarray(ops.vectorized_map(lambda v: v * 2, x)),
        "norm": float(ops.norm(x)),
        "random": np.asarray(keras.random.normal((2,), seed=3)),
        "kind": isinstance(x, jax.Array),
    }


def custom_training():
    keras.utils.set_random_seed(4)
    x, y = _data()
    model = keras.Sequential([layers.Input((3,)), layers.Dense(1)])
    optimizer = keras.optimizers.SGD(0.1, momentum=0.9)
    optimizer.build(model.trainable_variables)

    def loss(trainable, fixed):
        out, fixed = model.stateless_call(trainable, fixed, x)
        return jnp.mean((out - y) ** 2), fixed

    @jax.jit
    def step(trainable, fixed, state):
        (value, fixed), grads = jax.value_and_grad(loss, has_aux=True)(trainable, fixed)
        trainable, state = optimizer.stateless_apply(state, grads, trainable)
        return trainable, fixed, state, value

    trainable = [v.value for v in model.trainable_variables]
    fixed = [v.value for v in model.non_trainable_variables]
    state = [v.value for v in optimizer.variables]
    losses = []
    for _ in range(5):
        trainable, fixed, state, value = step(trainable, fixed, state)
        losses.append(value)
    return jnp.stack(losses)


def losses():
    y, p = np.eye(3, dtype="float32"), np.full((3, 3), 1 / 3, "float32")
    return {
        "crossentropy": float(keras.losses.CategoricalCrossentropy()(y, p)),
        "huber": float(keras.losses.Huber()(y, p)),
        "accuracy": float(
            keras.metrics.sparse_categorical_accuracy(np.array([0, 1, 2]), y)[0]
        ),
        "policy": keras.mixed_precision.dtype_policy().name,
    }
