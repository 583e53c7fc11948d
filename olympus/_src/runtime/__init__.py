"""The machine: the only package that imports jaxlib."""

from olympus._src.foundation.late_files import load_late

# Imported first, whichever file of the package is imported: see there.
from olympus._src.runtime import loading as loading

load_late(
    __name__,
    "callback coordination_service cuda_libraries dlpack dlpack_struct host_errors "
    "host_kernels mlir partitioners peers portable python_calls scipy_lapack waiting",
)
