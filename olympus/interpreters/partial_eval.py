"""Staging and passes over programs."""

from olympus._src.interpreters.partial_eval import (
    DynamicOlympusprTracer as DynamicOlympusprTracer,
)
from olympus._src.interpreters.partial_eval import dce_olympuspr as dce_olympuspr

__all__ = ["DynamicOlympusprTracer", "dce_olympuspr"]
