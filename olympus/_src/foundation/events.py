def record_event_duration_secs(*a, **k): pass
