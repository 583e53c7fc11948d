"""A look at a program from Python down to XLA's own, line by line."""
