"""Calls, traces and settings in several threads."""

import threading
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp

f = jax.jit(lambda x, n: jnp.sum(x * n))
with ThreadPoolExecutor(4) as pool:
    print(list(pool.map(lambda i: float(f(jnp.arange(3.0), i)), range(8))))
    print(list(pool.map(lambda i: float(jax.grad(lambda x: x**i)(2.0)), range(1, 5))))
    print([v.shape for v in pool.map(lambda i: jax.vmap(jnp.sin)(jnp.ones(i)), range(1, 4))])
seen = {}


def record(name):
    seen[name] = (jax.config.jax_enable_x64, str(jnp.ones(1).dtype))


with jax.enable_x64(True):
    record("main")
    thread = threading.Thread(target=record, args=("other",))
    thread.start()
    thread.join()
print(seen)
traces = []


@jax.jit
def g(x):
    traces.append(threading.current_thread().name != "MainThread")
    return x + 1


threads = [threading.Thread(target=lambda: g(1.0)) for _ in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(len(traces) >= 1, all(traces), g(2.0))
errors = []


def leak():
    try:
        jax.jit(lambda x: float(x))(1.0)
    except Exception as error:
        errors.append(type(error).__name__)


threads = [threading.Thread(target=leak) for _ in range(2)]
[t.start() for t in threads]
[t.join() for t in threads]
print(errors)


def outer(x):
    box = []
    t = threading.Thread(target=lambda: box.append(jnp.sin(2.0)))
    t.start()
    t.join()
    return x * box[0]


print(jax.jit(outer)(1.0))
with ThreadPoolExecutor(3) as pool:
    futures = [pool.submit(jax.random.normal, jax.random.key(i)) for i in range(3)]
    print(jnp.stack([t.result() for t in futures]))
