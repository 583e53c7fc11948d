"""Processes of libraries, on JAX and on olympus."""

import json
import os
import pathlib
import resource
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = pathlib.Path(__file__).resolve().parent
RECORDED = ROOT / "tests" / "data" / "ecosystem"

JAX, OLYMPUS = "jax", "olympus"

# Options of Python that say what `import jax` gives.
_ENTRANCE = {JAX: [], OLYMPUS: ["-m", "olympus.compat.jax"]}

_TIMEOUT_S = 600
_BYTECODE = os.path.join(tempfile.gettempdir(), "olympus-ecosystem-bytecode")


def environment(side, cache=None):
    """Variables of a process, with JAX's own modules.

    Args:
      side: what runs it.
      cache: folder for compiled programs; None for none on disk.
    """
    variables = dict(os.environ)
    variables.pop("PYTHONPATH", None)
    # Bytecode is kept, as it is where packages are installed.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    variables.update(
        PYTHONPYCACHEPREFIX=_BYTECODE,
        KERAS_BACKEND="jax",
        JAX_PLATFORMS="cpu",
        OLYMPUS_ENABLE_COMPILATION_CACHE="0",
        PYTHONWARNINGS="ignore",
        # Libraries go through sets of names, and programs follow their order: another
        # process would not find all of its programs on disk.
        PYTHONHASHSEED="0",
    )
    if cache is not None:
        variables.update(
            OLYMPUS_ENABLE_COMPILATION_CACHE="1",
            OLYMPUS_CACHE_DIR=cache,
            JAX_COMPILATION_CACHE_DIR=cache,
            JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0",
        )
    if side == OLYMPUS:
        variables["PYTHONPATH"] = str(ROOT)
    return variables


def run_script(python, side, script, *words, cache=None, entrance=None):
    """Runs a script of this folder; gives the text of its error, or None."""
    entrance = _ENTRANCE[side] if entrance is None else entrance
    command = [python, *entrance, str(FOLDER / script), *map(str, words)]
    try:
        done = subprocess.run(
            command,
            env=environment(side, cache),
            cwd=tempfile.gettempdir(),
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no result after {_TIMEOUT_S} seconds"
    return None if done.returncode == 0 else done.stderr


def run_plain_json(python, script, name, cache=None):
    """What a script writes that starts olympus for `import jax` itself."""
    return run_json(python, OLYMPUS, script, name, cache, entrance=[])


def run_json(python, side, script, name, cache=None, entrance=None):
    """What a script of this folder writes for a library.

    Raises:
      RuntimeError: it wrote nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.json"
        error = run_script(
            python, side, script, name, out, cache=cache, entrance=entrance
        )
        if not out.exists():
            raise RuntimeError(f"{script} {name} on {side}: {error}")
        return json.loads(out.read_text(encoding="utf-8"))


def cpu_of_children(call):
    """Seconds of the processor that the processes of a call take."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
