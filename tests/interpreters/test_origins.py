"""Instructions of compiled programs name the operations and lines that they serve."""

from __future__ import annotations

import re

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, nn, random
from tests import disk_caches

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = .*? ([\w\-]+)\(")


def rows(text):
    """Opcode, operation and line of each instruction."""
    found = []
    for line in text.splitlines():
        match = _INSTRUCTION.match(line)
        if match:
            name = re.search(r'op_name="([^"]*)"', line)
            place = re.search(r'source_file="([^"]*)" source_line=(\d+)', line)
            found.append(
                (
                    match[2],
                    name[1] if name else "",
                    (place[1], int(place[2])) if place else None,
                )
            )
    return found


def line_of(mark):
    with open(__file__) as file:
        return next(i for i, row in enumerate(file, 1) if row.rstrip().endswith(mark))


def compiled_text(f, *args):
    return olympus.jit(f).lower(*args).compile().as_text()


def loss(w, x):
    with olympus.named_scope("layer"):
        y = jnp.tanh(x @ w)  # <- layer
    return (y**2).mean()  # <- mean


def test_each_instruction_names_its_line_and_direction():
    found = rows(compiled_text(olympus.grad(loss), X.T @ X, X))
    names = {name for _, name, _ in found}
    assert "jit(loss)/jvp(layer)/tanh" in names
    assert "jit(loss)/transpose(jvp(layer))/dot_general" in names
    dots = [row for row in found if row[0] == "dot"]
    assert len(dots) == 2
    assert {place for _, _, place in dots} == {(__file__, line_of("# <- layer"))}
    assert all(place for opcode, _, place in found if opcode != "parameter")


def test_a_program_from_disk_names_them_too(tmp_path):
    texts = []
    for _ in range(2):
        olympus.clear_caches()
        with disk_caches.in_folder(tmp_path) as counts:
            texts.append(compiled_text(olympus.grad(loss), X.T @ X, X))
    assert counts.hits >= 1
    assert rows(texts[0]) == rows(texts[1])


def test_the_line_is_no_part_of_what_is_compiled(tmp_path):
    def one(x):
        return jnp.sin(x) * 2  # <- one

    def other(x):
        return jnp.sin(x) * 2  # <- other

    other.__name__ = "one"
    with disk_caches.in_folder(tmp_path) as counts:
        first = rows(compiled_text(one, X))
        olympus.clear_caches()
        second = rows(compiled_text(other, X))
    assert counts.hits >= 1
    assert {place[1] for _, _, place in first} == {line_of("# <- one")}
    assert {place[1] for _, _, place in second} == {line_of("# <- other")}


def mlp(w, x):
    for _ in range(3):
        x = nn.gelu(nn.standardize(x) @ w)
    return nn.logsumexp(x, axis=-1).sum()


def looped(x):
    def body(carry, row):
        return jnp.tanh(carry + row), carry.sum()

    carry, sums = lax.scan(body, jnp.zeros(4), x)
    return lax.cond(sums.sum() > 0, lambda: carry.sum(), lambda: jnp.sort(carry)[0])


PROGRAMS = {
    "gradient": (olympus.grad(mlp), np.eye(4, dtype=np.float32), X),
    "gradient of a loop": (olympus.grad(looped), X),
    "while": (lambda x: lax.while_loop(lambda c: c.sum() < 9, lambda c: c + 1, x), X),
    "random": (lambda k: random.normal(k, (7,)), random.key(0)),
    "solve": (lambda x: jnp.linalg.solve(x.T @ x + jnp.eye(4), x.T), X),
    "mapped": (olympus.vmap(olympus.jit(mlp), (None, 0)), np.eye(4, dtype="f"), X),
    "sort and gather": (lambda x: x[jnp.argsort(x[:, 0])].cumsum(0), X),
    "empty": (lambda x: x[:0].sum(), X),
    "constant": (lambda: jnp.arange(5)[::-1],),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_instructions_are_attributed(name):
    f, *args = PROGRAMS[name]
    found = [row for row in rows(compiled_text(f, *args)) if row[0] != "parameter"]
    known = [row for row in found if row[2] is not None]
    assert len(known) >= 0.99 * len(found), [r for r in found if r[2] is None]
    assert {place[0] for _, _, place in known} <= {__file__}


def test_a_function_that_two_call_keeps_its_own_lines():
    @olympus.jit
    def inner(x):
        return jnp.sort(x, 0)  # <- inner

    def outer(x):
        return inner(x) + inner(jnp.exp(x))

    found = rows(compiled_text(outer, X))
    sorts = [row for row in found if row[0] == "sort"]
    assert {name for _, name, _ in sorts} == {"jit(outer)/jit(inner)/sort"}
    assert {place[1] for _, _, place in sorts} == {line_of("# <- inner")}


def test_names_with_quotes_stay_one_text():
    def f(x):
        with olympus.named_scope('a"b\\c'):
            return jnp.sort(x, 0)

    text = compiled_text(f, X)
    assert '/a\\"b\\\\c/sort"' in text or "a\\22b" in text


def test_modules_with_callbacks_and_refs():
    def f(x):
        ref = olympus.new_ref(jnp.zeros(4))
        ref[...] = x.sum(0)
        olympus.debug.print("{}", x[0, 0])
        return jnp.cumsum(ref[...])  # <- cumsum

    found = rows(compiled_text(f, X))
    assert (__file__, line_of("# <- cumsum")) in {place for _, _, place in found}
