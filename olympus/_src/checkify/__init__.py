"""Checks that programs make while they run, as values in place of side effects."""
