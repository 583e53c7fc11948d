"""Programs that leave the process: executables, exported programs, bundles."""
