"""olympus: composable transformations of array programs."""
