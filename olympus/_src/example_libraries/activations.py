"""Layers that apply an activation to each element, or to each last axis."""

from __future__ import annotations

from olympus._src.example_libraries.layers import elementwise
from olympus._src.nn import activations
from olympus._src.numpy import elementary, softmax_functions

Elu = elementwise(activations.elu)
Exp = elementwise(elementary.exp)
Gelu = elementwise(activations.gelu)
LeakyRelu = elementwise(activations.leaky_relu)
LogSoftmax = elementwise(softmax_functions.log_softmax, axis=-1)
Relu = elementwise(activations.relu)
Selu = elementwise(activations.selu)
Sigmoid = elementwise(activations.sigmoid)
Softmax = elementwise(softmax_functions.softmax, axis=-1)
Softplus = elementwise(activations.softplus)
Tanh = elementwise(elementary.tanh)
