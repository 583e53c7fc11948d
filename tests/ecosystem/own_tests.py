"""The tests that libraries ship, run on JAX and on olympus.

Where the installed package has its test files, they are those. Otherwise they come from
the source distribution of the installed version, which pip fetches into build/.
"""

import dataclasses
import pathlib
import subprocess
import tarfile
import tempfile
import xml.etree.ElementTree as ElementTree

from tests.ecosystem import figures, processes
from tests.ecosystem.libraries import LIBRARIES

TESTED = tuple(name for name, library in LIBRARIES.items() if library.ships_tests)

_SOURCES = processes.ROOT / "build" / "ecosystem"
_TIMEOUT_S = 3600

_PLUGIN = {processes.JAX: [], processes.OLYMPUS: ["-p", "olympus.compat.jax_pytest"]}


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The tests of a library, on JAX and on olympus.

    Attributes:
      shared: the names of the tests that pass on JAX.
      passed: those of them that pass on olympus.
      files: the number of test files that ran, and of all.
    """

    shared: set[str]
    passed: set[str]
    files: tuple[int, int]


def compare(python, name, workers="2"):
    """Runs the tests of a library on both; None where there are no test files."""
    every_file = _test_files(python, name)
    paths = every_file[:: LIBRARIES[name].every]
    if not paths:
        return None
    on_jax, on_olympus = (
        passed_tests(python, side, paths, workers)
        for side in (processes.JAX, processes.OLYMPUS)
    )
    return Comparison(on_jax, on_jax & on_olympus, (len(paths), len(every_file)))


def _test_files(python, name):
    """All test files of a library, in the order of their names."""
    library = LIBRARIES[name]
    if library.source_tests is not None:
        return sorted(_source(python, name).glob(library.source_tests))
    root = library.module.split(".")[0]
    code = "import importlib.util as util; "
    code += f"print(*util.find_spec({root!r}).submodule_search_locations)"
    done = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=True
    )
    folder = pathlib.Path(done.stdout.strip())
    return sorted(folder.glob(library.installed_tests))


def _source(python, name):
    """The folder of the source distribution of the installed version."""
    package = LIBRARIES[name].distribution
    requirement = f"{package}=={figures.version(python, name)}"
    folder = _SOURCES / requirement.replace("==", "-")
    if not folder.exists():
        with tempfile.TemporaryDirectory() as fetched:
            # The environment has no pip of its own.
            show = [python, "-c", "import sys; print(sys.base_prefix)"]
            base = subprocess.run(show, capture_output=True, text=True, check=True)
            pip = [f"{base.stdout.strip()}/bin/python3", "-m", "pip"]
            command = [*pip, "download", "--quiet", "--no-deps"]
            command += ["--no-binary", package, "-d", fetched]
            subprocess.run([*command, requirement], check=True)
            (archive,) = pathlib.Path(fetched).glob("*.tar.gz")
            with tarfile.open(archive) as file:
                file.extractall(folder, filter="data")
    (inner,) = folder.iterdir()
    return inner


def passed_tests(python, side, paths, workers):
    """The names of the tests that pass."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        command = [python, "-m", "pytest", *_PLUGIN[side], "-q", "--timeout", "120"]
        command += ["-p", "no:cacheprovider", "-n", workers, f"--junitxml={report}"]
        subprocess.run(
            [*command, *map(str, paths)],
            env=processes.environment(side),
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
            check=False,
        )
        return _passed(report) if report.exists() else set()


def _passed(report):
    return {
        f"{case.get('classname') or ''}::{case.get('name') or ''}"
        for case in ElementTree.parse(report).iter("testcase")
        if not any(part.tag in ("failure", "error", "skipped") for part in case)
    }
