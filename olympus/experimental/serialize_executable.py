"""Compiled functions as bytes, for other processes on the same kind of machine."""

from olympus._src.export.executables import deserialize_and_load, serialize

__all__ = ["deserialize_and_load", "serialize"]
