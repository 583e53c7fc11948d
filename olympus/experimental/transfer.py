"""Arrays that processes fetch from one another."""

import olympus as _olympus  # noqa: F401
from olympus._src.api.transfer_servers import (
    TransferConnection,
    TransferServer,
    make_error_array,
    start_transfer_server,
)
from olympus._src.foundation.lazy_names import claim as _claim

__all__ = [
    "TransferConnection",
    "TransferServer",
    "make_error_array",
    "start_transfer_server",
]

_claim(__name__)
