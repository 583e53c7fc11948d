"""Forked processes: small programs go on, what would hang is refused, both are said."""

from __future__ import annotations

import fresh

_PROGRAM = """
    import os, signal, sys, warnings
    import numpy as np
    import olympus
    import olympus.numpy as jnp

    def in_child(work):
        # Returns what a child prints; a child that hangs is killed.
        sys.stdout.flush()  # the child would write it again
        read, write = os.pipe()
        child = os.fork()
        if not child:
            signal.alarm(20)
            os.dup2(write, 1)
            try:
                print(work())
            except Exception as error:
                print(type(error).__name__, error)
            sys.stdout.flush()
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as text:
            answer = text.read().strip()
        return answer if os.waitpid(child, 0)[1] == 0 else "killed"

    warnings.simplefilter("error")
    print(in_child(lambda: "forked before use"))
    double = olympus.jit(lambda x: x * 2)
    product = olympus.jit(lambda x: x @ x)
    x, wide = jnp.arange(3), jnp.ones((700, 700))
    double(x), product(wide).block_until_ready()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        print(in_child(lambda: [double(x), np.asarray(jnp.asarray([1, 2]))]))
        print(in_child(lambda: np.asarray(product(wide))))
        print(in_child(lambda: product(wide).block_until_ready()))
        print(in_child(lambda: olympus.block_until_ready([product(wide)])))
        print(in_child(lambda: olympus.jit(lambda x: x + 1)(x)))
        print(in_child(lambda: jnp.sin(x)))
    # Python of 3.12 and later has a warning of its own.
    ours = [w for w in caught if w.category is RuntimeWarning]
    print({w.filename for w in ours}, ours[0].message)
"""


def test_a_forked_process():
    out, _ = fresh.run(_PROGRAM, OLYMPUS_ENABLE_COMPILATION_CACHE="0")
    before, small, *large, compiled, eager, warned = out.splitlines()
    assert before == "forked before use"
    assert small == "[Array([0, 2, 4], dtype=int32), array([1, 2], dtype=int32)]"
    for text in large:
        assert text.startswith("RuntimeError Array: the threads that compute"), text
        assert "spawn" in text
    for text in (compiled, eager):
        assert text.startswith("RuntimeError compile: the compiler's threads"), text
    assert warned.startswith("{'<string>'} os.fork() was called")


_EXIT = """
    import os, signal, sys, warnings
    import olympus, olympus.numpy as jnp

    warnings.simplefilter("ignore")
    x = olympus.jit(lambda x: x + 1)(jnp.ones(3)).block_until_ready()
    child = os.fork()
    if not child:
        signal.alarm(30)
        sys.exit(3)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_process_that_ends_as_usual():
    out, _ = fresh.run(_EXIT)
    assert out.split() == ["3"]
