"""Runs a workload and writes the values of its checks:

    python tests/ecosystem/run_workload.py NAME OUT.json
    python -m olympus.compat.jax tests/ecosystem/run_workload.py NAME OUT.json

Each public function of a workload gives one check, or a dictionary of checks. Those of
a function that raises are not there; the error is.
"""

import importlib
import inspect
import json
import sys
import time
import traceback


def results(workload):
    """The values of all checks of a workload, by name, and the errors, by function."""
    values, errors = {}, {}
    for name, function in list(vars(workload).items()):
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        if function.__module__ != workload.__name__:
            continue
        try:
            value = function()
        except KeyboardInterrupt:
            raise
        except BaseException:  # pytest's failures are no exceptions of the usual kind
            errors[name] = traceback.format_exc()
            continue
        if isinstance(value, dict):
            values.update({f"{name}/{key}": part for key, part in value.items()})
        else:
            values[name] = value
    return values, errors


def main():
    name, out = sys.argv[1:]
    start = time.process_time()
    import values as codec

    try:
        workload = importlib.import_module(f"workloads.{name}")
    except Exception:
        table = {"import_error": traceback.format_exc()}
    else:
        checks, errors = results(workload)
        encoded = {}
        for check, value in checks.items():
            try:
                encoded[check] = codec.encode(value)
            except Exception:
                errors[check] = traceback.format_exc()
        tolerances = getattr(workload, "TOLERANCES", {})
        table = {"checks": encoded, "errors": errors, "tolerances": tolerances}
    table["cpu_s"] = time.process_time() - start
    with open(out, "w", encoding="utf-8") as file:
        json.dump(table, file)


if __name__ == "__main__":
    main()
