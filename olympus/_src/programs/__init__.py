"""Shared by primitives that hold programs: tracing, lowering, running them."""
