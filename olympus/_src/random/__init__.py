"""Keys, bit generators and distributions."""
