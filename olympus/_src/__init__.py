"""The packages of olympus; public modules re-export from here, nothing else does."""
