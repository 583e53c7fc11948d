"""Sparse arrays: lists of elements with their positions, and programs over them."""
