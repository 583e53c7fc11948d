"""Interrupts: Ctrl-C at any moment is answered at once, and the process lives on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import fresh
import pytest

from olympus._src.runtime import compiling, interrupts
from tests.sampling import EVERYTHING, SEED

# Where tests run in the background of a shell, interrupts are ignored by inheritance.
HEED = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
_TRIAL = Path(__file__).with_name("interrupt_trial.py")
_INTERRUPTS = 25 if EVERYTHING else 12


def test_a_call_goes_on_where_no_signal_can_unwind_it():
    assert interrupts.run_uninterrupted(threading.get_ident) != threading.get_ident()
    assert interrupts.run_uninterrupted(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError) as caught:
        interrupts.run_uninterrupted(divmod, 7, 0)
    assert caught.value.__cause__ is None


def test_other_threads_have_no_need_of_another():
    idents = []
    thread = threading.Thread(
        target=lambda: idents.append(interrupts.run_uninterrupted(threading.get_ident))
    )
    thread.start()
    thread.join()
    assert idents == [thread.ident]


def test_where_no_thread_can_start_the_call_is_made_here(monkeypatch):
    def refuse(*args):
        raise RuntimeError("no more threads")

    monkeypatch.setattr(interrupts._thread, "start_new_thread", refuse)
    assert interrupts.run_uninterrupted(threading.get_ident) == threading.get_ident()


@pytest.mark.parametrize("name", ["load", "load_serialized", "serialize"])
def test_xla_is_called_so(name, monkeypatch):
    class Refused(Exception):
        pass

    def refuse(fun, *args):
        raise Refused

    class Anything:
        def __getattr__(self, name):
            return self

        def __getitem__(self, i):
            return self

        def __len__(self):
            return 1 << 20

    monkeypatch.setattr(interrupts, "run_uninterrupted", refuse)
    n = getattr(compiling, name).__code__.co_argcount
    n -= len(getattr(compiling, name).__defaults__ or ())
    with pytest.raises(Refused):
        getattr(compiling, name)(*[Anything()] * n)


def test_small_programs_are_loaded_in_this_thread(tmp_path):
    # An interrupt meanwhile is answered at its end: XLA looks for none in it.
    code = """
        import signal, threading
        import olympus
        import olympus.numpy as jnp
        from olympus._src.interpreters import compilation
        from olympus._src.runtime import compiling, executable, interrupts

        def fun(x):
            return jnp.sin(x) * 2

        x = jnp.ones(3)
        olympus.jit(fun)(x)
        olympus.clear_caches()
        in_thread = []
        load = interrupts.run_uninterrupted
        interrupts.run_uninterrupted = lambda *args: in_thread.append(1) or load(*args)
        print(float(olympus.jit(fun)(x)[0]) > 1, in_thread)
    """
    variables = {
        "OLYMPUS_ENABLE_COMPILATION_CACHE": "1",
        "OLYMPUS_CACHE_DIR": str(tmp_path / "cache"),
    }
    assert fresh.run(code, **variables)[0].strip() == "True []"


def test_an_interrupt_is_answered_while_the_call_goes_on():
    code = """
        import os, signal, threading, time
        from olympus._src.runtime import interrupts

        begun, go_on, ended = (threading.Event() for _ in range(3))

        def work():
            begun.set()
            go_on.wait()
            ended.set()

        def interrupt():
            begun.wait()
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        try:
            interrupts.run_uninterrupted(work)
        except KeyboardInterrupt:
            print("interrupted", ended.is_set())
        threading.Timer(0.1, go_on.set).start()
    """
    out, _ = fresh.run(HEED + textwrap.dedent(code))
    assert out == "interrupted False\n"


def test_leaving_waits_for_the_compiler_and_a_second_interrupt_does_not():
    code = """
        import os, signal, sys, threading, time
        from olympus._src.runtime import interrupts
        begun = threading.Event()

        def work():
            begun.set()
            time.sleep(float(sys.argv[1]))
            print("ended", flush=True)

        def interrupt(begun):
            begun.wait()
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt, args=(begun,)).start()
        try:
            interrupts.run_uninterrupted(work)
        except KeyboardInterrupt:
            pass
        if sys.argv[2] == "twice":
            def interrupt_again():
                while True:  # Python drops one that comes while it joins threads
                    time.sleep(0.3)
                    os.kill(os.getpid(), signal.SIGINT)

            threading.Thread(target=interrupt_again, daemon=True).start()
    """
    program = ["-c", HEED + textwrap.dedent(code)]
    cases = [("0.2", "once", 0, "ended\n"), ("99", "twice", 130, "")]
    for seconds, how, status, out in cases:
        done = _run(program, seconds, how)
        assert (done.returncode, done.stdout) == (status, out), done.stderr


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("seconds", [0.3, 0.5])
def test_an_abandoned_compilation_does_not_kill(seconds):
    code = f"""
        import os, signal, threading, time
        import olympus
        import olympus.numpy as jnp

        def f(x):
            for i in range(100):
                x = jnp.linalg.inv(jnp.sort(jnp.sin(x @ x), axis=i % 2))
                x = x + jnp.cumsum(x, axis=0)
            return x

        # Loads LAPACK. An interrupt in an `exec`, of which SciPy's imports have some,
        # is remembered by Python and becomes its exit status, caught or not.
        jnp.linalg.inv(jnp.eye(2))
        lowered = olympus.jit(f).lower(jnp.ones((40, 40)))
        interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)
        threading.Timer({seconds}, interrupt).start()
        try:
            lowered.compile()
        except KeyboardInterrupt:
            del lowered
            print(olympus.jit(lambda x: x + 1)(1))
    """
    code = HEED + textwrap.dedent(code)
    out, _ = fresh.run(code, OLYMPUS_ENABLE_COMPILATION_CACHE="0")
    assert out == "2\n"


@pytest.mark.slow
def test_interrupts_at_random_moments():
    done = _run([str(_TRIAL)], str(_INTERRUPTS), str(SEED))
    assert done.returncode == 0, done.stderr
    tally = json.loads(done.stdout)
    assert sum(tally["interrupts"].values()) >= _INTERRUPTS
    assert "compile or load" in tally["interrupts"]


def _run(program, *arguments):
    return subprocess.run(
        [sys.executable, *program, *arguments],
        capture_output=True,
        text=True,
        timeout=fresh.TIMEOUT_S,
        env=os.environ,
        check=False,
    )
