"""Tests of what is said of NaNs and infinities."""
