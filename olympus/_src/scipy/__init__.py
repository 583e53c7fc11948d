"""SciPy's pages, over arrays of olympus; SciPy itself is never imported."""
