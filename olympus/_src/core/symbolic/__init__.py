"""Symbolic dimensions: sizes that are expressions in named variables."""
