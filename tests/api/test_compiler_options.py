"""The type of the options of a compilation."""

import olympus
from olympus.stages import CompilerOptions


def test_options_are_a_dictionary_by_name():
    options: CompilerOptions = {"tier": "quick"}
    assert isinstance(options, CompilerOptions.__origin__)
    assert olympus.jit(lambda x: x + 1).lower(1).compile(options)(1) == 2
