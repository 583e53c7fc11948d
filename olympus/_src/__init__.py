"""The rooms of olympus; public pages re-export from here and nothing else does."""
