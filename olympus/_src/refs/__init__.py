"""Refs: making, reading and writing arrays that can be changed in place."""
