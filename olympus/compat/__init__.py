"""Ways for programs written for other systems to run on olympus."""

__all__: list[str] = []
