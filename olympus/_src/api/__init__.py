"""What users call: jit, shapes, placement, stages, debug."""
