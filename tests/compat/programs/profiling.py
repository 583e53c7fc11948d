"""Traces, annotations and memory profiles."""

import os
import tempfile

import jax
import jax.numpy as jnp
from jax import profiler

f = jax.jit(lambda x: (x @ x).sum())
x = jnp.ones((32, 32))
with tempfile.TemporaryDirectory() as folder:
    with profiler.trace(folder):
        with profiler.TraceAnnotation("a part"):
            f(x).block_until_ready()
        with profiler.StepTraceAnnotation("step", step_num=1):
            f(x).block_until_ready()
    print(any(name.endswith(".xplane.pb") for _, _, names in os.walk(folder) for name in names))
    profiler.start_trace(folder)
    f(x).block_until_ready()
    try:
        profiler.start_trace(folder)
    except RuntimeError as error:
        print(type(error).__name__, "one" in str(error).lower() or "already" in str(error).lower())
    profiler.stop_trace()
    path = os.path.join(folder, "memory.prof")
    profiler.save_device_memory_profile(path)
    print(os.path.getsize(path) > 0, len(profiler.device_memory_profile()) > 0)
try:
    profiler.stop_trace()
except RuntimeError as error:
    print(type(error).__name__, "profile" in str(error).lower())


@profiler.annotate_function
def g(x):
    return x + 1


print(g(1), g.__name__)


@jax.profiler.annotate_function
def named(x):
    return x


print(named(2), jax.profiler.annotate_function(lambda x: x, name="other")(3))
options = profiler.ProfileOptions()
print(type(options).__name__, hasattr(options, "host_tracer_level"))
print(sorted(n for n in ("trace", "start_trace", "stop_trace", "start_server", "stop_server", "TraceAnnotation") if hasattr(profiler, n)))
compiled = f.lower(x).compile()
print(sorted(k for k in compiled.cost_analysis() if k in ("flops", "bytes accessed")), compiled.memory_analysis().temp_size_in_bytes >= 0)
events = []
jax.monitoring.register_event_listener(lambda name, **k: events.append(name))
jax.monitoring.record_event("/own/event")
jax.monitoring.register_event_duration_secs_listener(lambda name, secs, **k: events.append((name, secs)))
jax.monitoring.record_event_duration_secs("/own/time", 1.5)
print("/own/event" in events, ("/own/time", 1.5) in events)
print(jax.devices()[0].memory_stats() is None, isinstance(jax.live_arrays(), list))
