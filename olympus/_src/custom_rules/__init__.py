"""Functions with rules that users write: derivatives, batching, roots, solves."""
