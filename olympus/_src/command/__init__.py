"""What `python -m olympus` does: one file for each sub-command."""
