class D:
    __slots__=("k","a","b")
    def __init__(s,k,a=None,b=None): s.k=k;s.a=a;s.b=b
def text(s): return D('t',s)
def concat(l): return D('c',list(l))
def nest(n,d): return D('n',n,d)
def group(d): return D('g',d)
def brk(s=" "): return D('b',s)
def join(sep,l):
    o=[]
    for i,x in enumerate(l):
        if i:o.append(sep)
        o.append(x)
    return concat(o)
def _fits(d,w):
    st=[d]
    while st:
        if w<0: return False
        d=st.pop()
        if d.k=='t' or d.k=='b': w-=len(d.a)
        elif d.k=='c': st.extend(reversed(d.a))
        elif d.k=='n': st.append(d.b)
        else: st.append(d.a)
    return w>=0
def render(d,width):
    out=[];k=0;st=[(0,False,d)]
    while st:
        i,flat,d=st.pop()
        if d.k=='t': out.append(d.a);k+=len(d.a)
        elif d.k=='c': st.extend((i,flat,x) for x in reversed(d.a))
        elif d.k=='n': st.append((i+d.a,flat,d.b))
        elif d.k=='g': st.append((i,flat or _fits(d.a,width-k),d.a))
        elif flat: out.append(d.a);k+=len(d.a)
        else: out.append("\n"+" "*i);k=i
    return "".join(out)
