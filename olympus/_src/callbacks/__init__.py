"""Python functions that compiled programs call: pure, io and debug callbacks."""
