"""What a process of the command does for garbage, and as it ends: as Python does."""

import os
import subprocess
import sys

import pytest

from tests import fresh

WRITER = """
class Writer:
    def __init__(self, name, is_cyclic=True):
        self.name = name
        self.itself = self if is_cyclic else None
        self.file = open(name, "w")
        self.file.write(name)

    def __del__(self):
        print("deleted", self.name, os.path.basename(__name__))
"""

# What a program does; the modules that it has beside it are `WRITER`'s.
PROGRAMS = {
    "files in names": "f = open('a', 'w'); f.write('text')",
    "files in cycles": "w = Writer('a'); v = Writer('b', False)",
    "garbage": "Writer('a', False); Writer('b')",
    "files of its modules": "import own; own.w = own.Writer('a'); own.v = own.w",
    "held by libraries": """
import copyreg, logging, string
string.held = Writer('a')  # whose class leads to all names
copyreg.held = open('b', 'w')
copyreg.held.write('text')
""",
    "classes held by libraries": """
import string
string.kind = Writer
w = Writer('a')
f = open('b', 'w')
f.write('text')
""",
    "at exit": """
import atexit
@atexit.register
def leave():
    global late
    late = Writer('late')
    print('leaves', sorted(globals())[-1])
w = Writer('a')
""",
    "generators": """
def numbers():
    try:
        yield 1
    finally:
        print('finally', os.getpid() > 0)
n = numbers()
next(n)
""",
    "classes of odd classes": """
class Odd(type):
    def __getattribute__(cls, name):
        raise RuntimeError(name)
class Thing(metaclass=Odd): pass
t = Thing()
kept = [[] for _ in range(5000)]
import colorsys
w = Writer('a')
""",
    "callbacks of weak references": """
import weakref
class Thing: pass
def told(reference): print('told', os.getpid() > 0)
t, u = Thing(), Thing()
r, q = weakref.ref(t, told), weakref.finalize(u, print, 'finalized')
""",
    "no objects of the collector": """
class Number(int):
    __slots__ = ()
    def __del__(self): print('deleted')
n = Number(3)
class Holder: pass
h = Holder()
h.itself, h.n = h, Number(4)
""",
    "temporary files": """
import tempfile
t = tempfile.NamedTemporaryFile(dir='.')
d = tempfile.TemporaryDirectory(dir='.')
print(len(os.listdir()))
""",
    "other streams": """
class Twice:
    def __init__(self, stream):
        self.stream, self.itself = stream, self
    def write(self, text):
        self.stream.write(text + os.linesep)
    def flush(self):
        self.stream.flush(), os.getpid()
sys.stdout = Twice(sys.stdout)
print('text')
""",
    "exit": "w = Writer('a'); sys.exit(3)",
    "errors": "w = Writer('a')\ndef f():\n    v = Writer('b'); 1 / 0\nf()",
    "callbacks of the collector": """
import gc
counts = []
gc.callbacks.append(lambda *words: counts.append(os.getpid()))
w = Writer('a')
""",
    "frozen by the program": """
import gc
w = Writer('a')
gc.freeze()
""",
    "threads": """
import threading, time
w = Writer('a')
threading.Thread(target=lambda: (time.sleep(0.2), print(w.name))).start()
""",
    "forks": """
w = Writer('a')
pid = os.fork()
if pid:
    os.waitpid(pid, 0)
print('ends', pid == 0)
""",
    "no collector": "import gc; gc.disable(); w = Writer('a')",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_end_as_they_do_on_python(name, tmp_path):
    program = f"import os, sys\n{WRITER}\n{PROGRAMS[name]}\n"
    seen = []
    for command in ([], ["-m", "olympus.compat.jax"]):
        folder = tmp_path / f"run{len(seen)}"
        folder.mkdir()
        (folder / "main.py").write_text(program)
        (folder / "own.py").write_text(f"import os\n{WRITER}")
        seen.append(run(command, folder))
    assert seen[1] == seen[0]


def run(command, folder):
    """The status, the sorted lines and the files of a run of `main.py`."""
    done = subprocess.run(
        [sys.executable, *command, "main.py"],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=fresh.TIMEOUT_S,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    assert "ignored" not in done.stderr
    texts = {path.name: path.read_text() for path in folder.iterdir()}
    return done.returncode, sorted(done.stdout.splitlines()), texts


def test_what_imports_make_is_frozen_until_a_full_collection(tmp_path):
    (tmp_path / "main.py").write_text(
        """
import gc

def is_frozen():
    return not any(value is kept for value in gc.get_objects())

gc.collect(1)
kept = [[] for _ in range(gc.get_threshold()[0] * 3 // 4)]
import colorsys
assert is_frozen()
gc.collect(1)
assert is_frozen()
gc.collect()
assert not is_frozen() and gc.get_freeze_count() < 1000
"""
    )
    assert run(["-m", "olympus.compat.jax"], tmp_path)[0] == 0


def test_what_the_program_freezes_stays_frozen(tmp_path):
    (tmp_path / "main.py").write_text(
        """
import gc
gc.freeze()
count = gc.get_freeze_count()
gc.collect()
assert gc.get_freeze_count() > count - 1000
"""
    )
    assert run(["-m", "olympus.compat.jax"], tmp_path)[0] == 0


def test_objects_of_the_program_are_not_frozen_by_imports(tmp_path):
    (tmp_path / "main.py").write_text(
        """
import gc

class Thing:
    pass

thing = Thing()
kept = [[] for _ in range(gc.get_threshold()[0] * 3 // 4)]
import colorsys
assert any(value is thing for value in gc.get_objects())
"""
    )
    assert run(["-m", "olympus.compat.jax"], tmp_path)[0] == 0


ENDS = {
    "nothing to finalize": ("import jax, string; string.held = [object()]", True),
    "files in names": ("f = open('a', 'w')", True),
    "files in cycles": ("w = Writer('a')", True),
    "files held by libraries": ("import string; string.f = open('a', 'w')", False),
    "errors": ("1 / 0", False),
    "no collector": ("gc.disable()", False),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDS)
def test_the_end_is_short_unless_finalizers_are_left(name, tmp_path):
    program, is_short = ENDS[name]
    (tmp_path / "main.py").write_text(
        f"""
import functools, gc, os
{WRITER}
gc.freeze = functools.partial(os.write, 1, b"frozen" + os.linesep.encode())
{program}
"""
    )
    out = run(["-m", "olympus.compat.jax"], tmp_path)[1]
    assert ("frozen" in out) is is_short
