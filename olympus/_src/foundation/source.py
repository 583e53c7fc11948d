import sys, os
_root=os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_cache={}
def is_internal(fn):
    r=_cache.get(fn)
    if r is None: r=_cache[fn]=fn.startswith(_root+os.sep)
    return r
class Position:
    __slots__=("code","lasti")
    def __init__(s,c,l): s.code=c; s.lasti=l
    @property
    def line(s):
        for a,b,l in s.code.co_lines():
            if a<=s.lasti<b: return l
    @property
    def column(s): return 0
    @property
    def file(s): return s.code.co_filename
    def __str__(s): return f"{s.file}:{s.line} ({s.code.co_name})"
def capture():
    f=sys._getframe(2)
    while f is not None:
        fn=f.f_code.co_filename
        r=_cache.get(fn)
        if r is None: r=is_internal(fn)
        if not r: return Position(f.f_code,f.f_lasti)
        f=f.f_back
def function_name(f): return getattr(f,'__name__',None) or getattr(getattr(f,'func',None),'__name__',repr(f))
def function_location(f):
    c=getattr(f,'__code__',None)
    return f"{os.path.basename(c.co_filename)}:{c.co_firstlineno}" if c else ""
