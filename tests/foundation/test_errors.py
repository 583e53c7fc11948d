"""The error tree: bases, and that its drawing tells the truth."""

import re

import pytest

from olympus._src.foundation import errors

CLASSES = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
}


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("ConcretizationTypeError", TypeError),
        ("TracerBoolConversionError", errors.ConcretizationTypeError),
        ("TracerArrayConversionError", TypeError),
        ("TracerIntegerConversionError", TypeError),
        ("UnexpectedTracerError", TypeError),
        ("KeyReuseError", TypeError),
        ("NonConcreteBooleanIndexError", IndexError),
        ("InconclusiveDimensionOperation", ValueError),
        ("TypePromotionError", ValueError),
        ("OlympusprTypeError", TypeError),
        ("InternalError", RuntimeError),
        ("LeakError", RuntimeError),
    ],
)
def test_except_clauses_for_pythons_classes_catch(name, base):
    with pytest.raises(base, match=r"^what and why$"):
        raise CLASSES[name]("what and why")


def test_the_drawing_is_the_tree():
    drawn = {}
    path = []
    for line in errors.__doc__.splitlines():
        found = re.match(r"^    ([ │]*[├└]── )?(\w+)( |$)", line)
        if found is None:
            continue
        depth = len(found[1] or "") // 4
        path[depth:] = [found[2]]
        drawn[found[2]] = path[depth - 1] if depth else None
    for name, kind in CLASSES.items():
        assert drawn[name] == kind.__base__.__name__
    assert set(CLASSES) <= set(drawn)
