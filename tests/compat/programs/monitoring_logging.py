"""Events and log records of compilations, as programs that count them read them."""

import logging

import jax
import jax.numpy as jnp

events, durations = [], []


def note_event(event, **labels):
    events.append(event)


def note_duration(event, seconds, **labels):
    durations.append((event, seconds >= 0, "fun_name" in labels))


jax.monitoring.register_event_listener(note_event)
jax.monitoring.register_event_duration_secs_listener(note_duration)


@jax.jit
def scale(x):
    return x * 3 + 7


x = jnp.arange(7.0)
durations.clear()
scale(x)
for row in sorted({row for row in durations if "/core/compile/" in row[0]}):
    print(row)
durations.clear()
scale(x)
print("second call", [row for row in durations if "/core/compile/" in row[0]])

jax.monitoring.record_event("/mine/started")
jax.monitoring.record_event_duration_secs("/mine/took", 1.5)
print("/mine/started" in events, ("/mine/took", True, False) in durations)
jax.monitoring.clear_event_listeners()
jax.monitoring.record_event("/mine/ended")
print("/mine/ended" in events)


class Records(logging.Handler):
    def emit(self, record):
        if "scale" in record.getMessage():
            names.append((record.name.split(".")[0], record.levelname))


names = []
handler = Records()
logger = logging.getLogger("jax")
logger.addHandler(handler)
with jax.log_compiles():
    scale(jnp.arange(9.0))
print(set(names))
logger.removeHandler(handler)
