"""Factorizations of matrices: each kind is a file of its own."""
