"""Primitives that hold olympusprs: jit, cond, loops, callbacks."""
