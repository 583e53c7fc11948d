from jaxlib import _jax
_r=_jax.pytree.PyTreeRegistry() if hasattr(_jax.pytree,'PyTreeRegistry') else _jax.pytree.default_registry()
def tree_flatten(x): return _r.flatten(x, None)
def tree_leaves(x): return _r.flatten(x,None)[0]
def treedef_is_leaf(t): return t.num_nodes==1 and t.num_leaves==1
def tree_flatten_with_path(x):
    l,t=_r.flatten(x,None)
    return [((i,),v) for i,v in enumerate(l)],t
def keystr(p): return "" 
