"""Runs of workloads: recorded on JAX, compared on olympus."""

import json

from tests.ecosystem import processes, values


def record(python, name):
    """Writes what a workload gives on JAX.

    Raises:
      RuntimeError: a part of the workload fails on JAX.
    """
    table = processes.run_json(python, processes.JAX, "run_workload.py", name)
    errors = table.get("errors") or table.get("import_error")
    if errors:
        raise RuntimeError(f"record {name}: it fails on JAX: {errors}")
    entries = {}
    for check, value in table["checks"].items():
        entries[check] = {"value": value}
        tolerance = _tolerance(table["tolerances"], check)
        if tolerance is not None:
            entries[check]["tolerance"] = tolerance
    path = processes.RECORDED / f"{name}.json"
    path.write_text(values.write(entries), encoding="utf-8")
    return len(entries)


def _tolerance(tolerances, check):
    return tolerances.get(check, tolerances.get(check.split("/")[0]))


def compare(python, name, side=processes.OLYMPUS):
    """Runs a workload, and compares.

    Returns:
      The number of checks, what is wrong by check, and whether the library imports.
    """
    path = processes.RECORDED / f"{name}.json"
    recorded = json.loads(path.read_text(encoding="utf-8"))
    try:
        table = processes.run_json(python, side, "run_workload.py", name)
    except RuntimeError as error:
        return len(recorded), {check: str(error) for check in recorded}, False
    if "import_error" in table:
        error = table["import_error"]
        return len(recorded), dict.fromkeys(recorded, error), False
    wrong = {}
    for check, entry in recorded.items():
        if check in table["checks"]:
            difference = values.difference(
                entry["value"], table["checks"][check], entry.get("tolerance")
            )
        else:
            function = check.split("/")[0]
            errors = table["errors"]
            difference = errors.get(check) or errors.get(function, "it is not there")
        if difference is not None:
            wrong[check] = difference
    return len(recorded), wrong, True
