"""NumPy semantics over lax."""
