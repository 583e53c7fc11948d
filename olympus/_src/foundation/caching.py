import functools, threading
def bounded_cache(maxsize, name): return functools.lru_cache(maxsize)
def register(f, name): pass
lock = threading.Lock
class Bounded(dict):
    def __init__(self, n, name): super().__init__()
