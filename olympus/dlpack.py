"""Exchange of arrays with other libraries, without a copy."""

from olympus._src.numpy.interchange import from_dlpack as from_dlpack

__all__ = ["from_dlpack"]
