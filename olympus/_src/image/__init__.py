"""Images as arrays: how they are resampled."""
