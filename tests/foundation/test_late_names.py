"""Threads that are the first to use names of public modules, at the same time."""

import pytest

from tests import fresh
from tests.structure import source

PAGES = (
    "lax.linalg numpy.linalg scipy.linalg extend.core.primitives random image "
    "scipy.special scipy.stats scipy.signal scipy.optimize nn lax numpy experimental"
)


@pytest.mark.parametrize("seed", range(3))
def test_names_are_loaded_by_many_threads(seed):
    out, _ = fresh.run(
        f"""
        import random, sys, threading
        import olympus, olympus.numpy
        sys.setswitchinterval(1e-5)
        pages = {PAGES.split()}
        barrier, failed = threading.Barrier(len(pages)), []
        def use(page, seed):
            barrier.wait()
            module = olympus
            try:
                for part in page.split("."):
                    module = getattr(module, part)
                names = dir(module)
                random.Random(seed).shuffle(names)
                for name in names:
                    if not name.startswith("_"):
                        getattr(module, name)
            except BaseException as error:
                failed.append((page, repr(error)))
        threads = [
            threading.Thread(target=use, args=(page, {seed} + i))
            for i, page in enumerate(pages)
        ]
        [t.start() for t in threads]
        [t.join() for t in threads]
        print(failed)
        """
    )
    assert out == "[]\n"


def test_the_package_and_its_modules_are_imported_by_threads_at_once():
    out, _ = fresh.run(
        """
        import sys, threading
        sys.setswitchinterval(1e-6)
        statements = [
            "import olympus; olympus.jit",
            "import olympus.numpy; olympus.numpy.ones(3)",
            "from olympus import numpy; numpy.sin(1.0)",
            "import olympus.scipy.special",
            "import olympus; olympus.grad",
        ]
        start, failed = threading.Barrier(len(statements)), []
        def run(statement):
            start.wait()
            try:
                exec(statement, {})
            except BaseException as error:
                failed.append((statement, repr(error)))
        threads = [threading.Thread(target=run, args=(s,)) for s in statements]
        [t.start() for t in threads]
        [t.join() for t in threads]
        print(failed)
        """
    )
    assert out == "[]\n"


def test_packages_that_load_late_import_none_of_their_files():
    """A thread may load a file of a package while another one loads the package.

    Python then loads both, and each may wait for the other: one gets half a module.
    """
    # Those that `import olympus` loads whole.
    early = {source.SOURCE / name for name in ("foundation", "runtime", "tree")}
    wrong = [
        f"{path} imports {name}"
        for path in source.source_files()
        if path.name == "__init__.py" and path.parent not in early
        for node, _, for_types in source.imports(path)
        if not for_types
        for name in source.imported_modules(node)
        if name.startswith(f"{source.module_name(path)}.")
    ]
    assert not wrong
