import contextlib
class _S:
    def __init__(self, v): self.value = v
    @contextlib.contextmanager
    def __call__(self, v=True):
        old=self.value; self.value=v
        try: yield
        finally: self.value=old
enable_x64=_S(False); numpy_dtype_promotion=_S("standard")
default_device=_S(None)
def x64_enabled(): return enable_x64.value
def trace_context(): return enable_x64.value
def jit_disabled(): return False
def check_leaks(): return False
def explain_misses(): return False
def log_compiles_on(): return False
