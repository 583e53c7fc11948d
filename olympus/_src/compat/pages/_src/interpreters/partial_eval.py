"""The interpreter that records programs."""

from olympus._src.interpreters.partial_eval import (
    DynamicOlympusprTrace as DynamicJaxprTrace,
)

__all__ = ["DynamicJaxprTrace"]
