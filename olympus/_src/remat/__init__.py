"""Rematerialization: programs whose derivatives compute values again."""
