from jaxlib import _jax
from olympus._src.runtime.array import ArrayImpl
from olympus._src.runtime.placement import sharding
def compile(text,options,devices,host_callbacks):
    o=_jax.CompileOptions(); o.num_replicas=1; o.num_partitions=1
    import numpy as np
    o.device_assignment=_jax.DeviceAssignment.create(np.array([[devices[0].id]])) 
    c=devices[0].client
    return c.compile_and_load(text.encode(),_jax.DeviceList(tuple(devices)),o)
class Executable:
    def __init__(s,loaded,out_avals,device):
        s.loaded=loaded; s.avals=out_avals
        sh=s.sharding=sharding(device)
        s.h=[_jax.array_result_handler(a,sh,True,True) if True else 0 for a in out_avals]
    def execute(s,b):
        r=s.loaded.execute_sharded(b)
        r=r.consume_with_handlers(s.h,None) if False else r.consume_with_handlers(s.h)
        return [ArrayImpl(x,a) for x,a in zip(r,s.avals)]
    def cost_analysis(s): return s.loaded.cost_analysis()
def wait_for_side_effects(): pass
