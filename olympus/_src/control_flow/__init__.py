"""Loops and branches: `scan`, `while`, `cond`, and what is made of them."""
