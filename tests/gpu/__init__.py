"""What programs become for GPUs, of which no test needs one."""
