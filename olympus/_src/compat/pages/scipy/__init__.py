"""Modules of functions after SciPy's; the names are in them."""
