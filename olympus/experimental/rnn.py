"""Recurrent networks: LSTMs with cuDNN's layout of weights."""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.nn.lstm import (
    get_num_params_in_lstm,
    init_lstm_weight,
    lstm,
    lstm_bwd,
    lstm_fwd,
    lstm_ref,
    swap_lstm_gates,
    unpack_lstm_weights,
)

__all__ = [
    "get_num_params_in_lstm",
    "init_lstm_weight",
    "lstm",
    "lstm_bwd",
    "lstm_fwd",
    "lstm_ref",
    "swap_lstm_gates",
    "unpack_lstm_weights",
]

_claim(__name__)
