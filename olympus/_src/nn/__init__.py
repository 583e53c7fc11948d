"""Neural-network functions: activations, initializers."""

from olympus._src.foundation.late_files import load_late

load_late(__name__, "cudnn_attention")
