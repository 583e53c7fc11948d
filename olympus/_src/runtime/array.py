import numpy as np
class ArrayImpl:
    __slots__=("_buffer","aval","_committed","_host","__weakref__")
    def __init__(s,b,aval,committed=False):
        s._buffer=b; s.aval=aval; s._committed=committed; s._host=None
    shape=property(lambda s:s.aval.shape)
    dtype=property(lambda s:s.aval.dtype)
    ndim=property(lambda s:s.aval.ndim)
    size=property(lambda s:s.aval.size)
    def is_deleted(s): return s._buffer.is_deleted()
    def __array__(s,dtype=None,copy=None):
        a=np.asarray(s._buffer); 
        return a.astype(dtype) if dtype else a
    def __repr__(s):
        w=", weak_type=True" if s.aval.weak_type else ""
        return f"Array({np.array2string(np.asarray(s),separator=', ',prefix='Array(')}, dtype={s.dtype}{w})"
    def __bool__(s): return bool(np.asarray(s))
    def __index__(s): return int(np.asarray(s))
    def block_until_ready(s): s._buffer.block_until_ready(); return s
