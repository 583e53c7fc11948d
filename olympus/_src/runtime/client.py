from jaxlib import _jax
_c=None
def client():
    global _c
    if _c is None: _c=_jax.get_tfrt_cpu_client(asynchronous=True)
    return _c
def default_device(): return client().local_devices()[0]
def several_devices(): return False
def devices(p=None): return client().local_devices()
