"""Parts of programs."""
