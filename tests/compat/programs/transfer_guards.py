"""Guards that refuse or allow moves between host and device."""

import jax
import jax.numpy as jnp
import numpy as np

x = jnp.arange(3.0)
f = jax.jit(lambda v: v * 2)
f(x), f(np.ones(3, np.float32))
for level in ("allow", "log", "disallow", "log_explicit", "disallow_explicit"):
    with jax.transfer_guard(level) if level not in ("log", "log_explicit") else jax.transfer_guard("allow"):
        results = []
        for run in [lambda: f(np.ones(3, np.float32)), lambda: jax.device_put(np.ones(2)), lambda: jnp.ones(2), lambda: f(x)]:
            try:
                run()
                results.append("ok")
            except Exception as error:
                results.append("refused" if "isallowed" in str(error) else str(error)[:60])
        print(level, results)
for guard in (jax.transfer_guard_host_to_device, jax.transfer_guard_device_to_device, jax.transfer_guard_device_to_host):
    with guard("disallow"):
        try:
            f(np.ones(3, np.float32))
            print("ok")
        except Exception as error:
            print("refused")
with jax.transfer_guard("disallow"):
    with jax.transfer_guard("allow"):
        print(f(np.ones(3, np.float32)))
print(jax.config.jax_transfer_guard)
try:
    with jax.transfer_guard("never"):
        print("entered")
except Exception as error:
    print(type(error).__name__)
print(jax.device_get({"a": x, "b": [x]}), type(jax.device_get(x)).__name__)
print(jax.device_put([1, np.ones(1)]), jax.device_put(x, jax.devices()[0]) is x, jax.device_put(1).weak_type)
print(jax.device_put(np.float64(2)).dtype, jax.device_put(x, donate=False) is x, jax.device_put(x, may_alias=True).shape)
copy = jnp.array(x, copy=True)
print(copy.unsafe_buffer_pointer() == x.unsafe_buffer_pointer(), jnp.asarray(x) is x, jnp.copy(x) is x)
