"""The pretty-printer: laws of its layout, and that it stays linear and flat."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olympus._src.foundation import pretty as pp


def call(name, *args):
    inside = pp.concat([pp.brk(""), pp.join(pp.concat([",", pp.brk()]), args)])
    return pp.group(pp.concat([name, "(", pp.nest(2, inside), pp.brk(""), ")"]))


def test_a_group_that_fits_stays_on_its_line():
    doc = call("f", "alpha", call("g", "beta", "gamma"))
    assert pp.render(doc, 80) == "f(alpha, g(beta, gamma))"
    assert pp.render(doc, 24) == "f(alpha, g(beta, gamma))"


def test_outer_groups_break_before_inner_ones():
    doc = call("f", "alpha", call("g", "beta", "gamma"))
    assert pp.render(doc, 23) == "f(\n  alpha,\n  g(beta, gamma)\n)"
    assert pp.render(doc, 10) == "f(\n  alpha,\n  g(\n    beta,\n    gamma\n  )\n)"


def test_breaks_outside_of_groups_are_lines():
    assert pp.render(pp.concat(["a", pp.brk("; "), "b"])) == "a\nb"
    assert pp.render(pp.group(pp.concat(["a", pp.brk("; "), "b"]))) == "a; b"


def test_what_follows_a_group_does_not_break_it():
    doc = pp.concat([pp.group(pp.concat(["a", pp.brk(), "b"])), "x" * 50])
    assert pp.render(doc, 10) == "a b" + "x" * 50


documents = st.recursive(
    st.one_of(
        st.text("abc", max_size=6).map(pp.text),
        st.sampled_from([" ", "; ", ""]).map(pp.brk),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5).map(pp.concat),
        inner.map(pp.group),
        st.tuples(st.integers(0, 4), inner).map(lambda pair: pp.nest(*pair)),
    ),
    max_leaves=25,
)


def _flat(doc):
    if isinstance(doc, str):
        return doc
    if isinstance(doc, pp.Break):
        return doc.text
    if isinstance(doc, (list, tuple)):
        return "".join(map(_flat, doc))
    return _flat(doc.doc)


@given(documents)
def test_a_wide_group_is_its_flat_text(doc):
    assert pp.render(pp.group(doc), 10_000) == _flat(doc)


@given(documents, st.integers(1, 30))
def test_the_letters_do_not_depend_on_the_width(doc, width):
    keep = str.maketrans("", "", " ;\n")
    assert pp.render(doc, width).translate(keep) == _flat(doc).translate(keep)


@given(documents, st.integers(0, 30))
def test_a_group_is_flat_exactly_where_it_fits(doc, width):
    text = _flat(doc)
    shown = pp.render(pp.group(doc), width)
    if len(text) <= width:
        assert shown == text
    else:
        assert shown == pp.render(doc, width)


@pytest.mark.slow
def test_deep_documents_need_no_recursion():
    doc = pp.text("x")
    for _ in range(50_000):
        doc = pp.group(pp.concat(["(", pp.nest(1, doc), ")"]))
    assert len(pp.render(doc, 200_000)) == 100_001


def test_long_documents():
    line = call("add", *["operand"] * 20)
    doc = pp.group(pp.join(pp.brk("; "), [line] * 500))
    lines = pp.render(doc, 80).splitlines()
    assert (
        lines
        == [
            "add(",
            *["  operand,"] * 19,
            "  operand",
            ")",
        ]
        * 500
    )


def test_foreign_objects_are_named():
    with pytest.raises(TypeError, match="made by this module's functions, got int"):
        pp.render(pp.concat(["a", 3]))
