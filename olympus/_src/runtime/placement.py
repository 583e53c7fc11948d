from jaxlib import _jax
import numpy as np
from olympus._src.runtime.array import ArrayImpl
from olympus._src.runtime import client
class Sh(_jax.SingleDeviceSharding):
    pass
class _MS: pass
st=_jax.jax_jit.set_enable_x64_state if hasattr(_jax.jax_jit,'set_enable_x64_state') else None
_cfg=_jax.config.Config('enable_x64', True)
st(_cfg)
class Sh(_jax.SingleDeviceSharding):
    memory_kind='device'
    def __init__(s,d): super().__init__(d); s.d=d
    def _to_xla_hlo_sharding(s,n): 
        from jaxlib import xla_client; return xla_client.HloSharding.replicate()
    def devices_indices_map(s,shape): return {s.d:(slice(None),)*len(shape)}
    @property
    def _device_assignment(s): return (s.d,)
_sh={}
def sharding(d):
    s=_sh.get(d)
    if s is None: s=_sh[d]=Sh(d)
    return s
def put(x,aval,device=None):
    d=device or client.default_device()
    client.client()
    x=np.asarray(x,aval.dtype)
    b=d.client.buffer_from_pyval(np.array(x,order='C',copy=True),d) if hasattr(d.client,'buffer_from_pyval') else _jax.batched_device_put(aval,sharding(d),[x],[d],True)
    return ArrayImpl(b,aval)
