"""Trees of arrays in folders."""
