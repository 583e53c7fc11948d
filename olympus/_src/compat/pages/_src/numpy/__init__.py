"""Modules of functions on arrays; the names are in them."""
