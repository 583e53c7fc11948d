"""A tour of olympus: a classifier of handwritten digits, seen at every stage."""
