"""Linear algebra by SciPy's names."""
