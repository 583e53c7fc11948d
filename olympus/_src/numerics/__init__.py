"""Mathematical functions whose computation needs loops or composites."""
