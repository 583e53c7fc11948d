"""The public pages: the names, parameters and examples that users know."""

import doctest
import importlib
import inspect

import pytest

PARAMETERS = {
    "tree": {
        "all": "(tree, *, is_leaf=)",
        "broadcast": "(prefix_tree, full_tree, is_leaf=)",
        "flatten": "(tree, is_leaf=)",
        "flatten_with_path": "(tree, is_leaf=, is_leaf_takes_path=)",
        "leaves": "(tree, is_leaf=)",
        "leaves_with_path": "(tree, is_leaf=, is_leaf_takes_path=)",
        "map": "(f, tree, *rest, is_leaf=)",
        "map_with_path": "(f, tree, *rest, is_leaf=, is_leaf_takes_path=)",
        "reduce": "(function, tree, initializer=, is_leaf=)",
        "reduce_associative": "(operation, tree, *, identity=, is_leaf=)",
        "static": "(**kwargs)",
        "structure": "(tree, is_leaf=)",
        "transpose": "(outer_treedef, inner_treedef, pytree_to_transpose)",
        "unflatten": "(treedef, leaves)",
    },
    "tree_util": {
        "all_leaves": "(iterable, is_leaf=)",
        "flatten_one_level": "(tree)",
        "flatten_one_level_with_keys": "(tree)",
        "is_tree_node": "(typ)",
        "keystr": "(keys, *, simple=, separator=)",
        "register_dataclass": "(nodetype, data_fields=, meta_fields=, drop_fields=)",
        "register_pytree_node": (
            "(nodetype, flatten_func, unflatten_func, flatten_with_keys_func=)"
        ),
        "register_pytree_node_class": "(cls)",
        "register_pytree_with_keys": (
            "(nodetype, flatten_with_keys, unflatten_func, flatten_func=)"
        ),
        "register_pytree_with_keys_class": "(cls)",
        "register_static": "(cls)",
        "tree_all": "(tree, *, is_leaf=)",
        "tree_reduce": "(function, tree, initializer=, is_leaf=)",
        "treedef_children": "(treedef)",
        "treedef_is_leaf": "(treedef)",
        "treedef_tuple": "(treedefs)",
        "Partial": "(func, *args, **kw)",
    },
    "monitoring": {
        "record_event": "(event, **kwargs)",
        "record_event_duration_secs": "(event, duration, **kwargs)",
        "record_event_time_span": "(event, start_time, end_time, **kwargs)",
        "record_scalar": "(event, value, **kwargs)",
        "register_event_listener": "(callback)",
        "unregister_event_duration_listener": "(callback)",
    },
}


def _parameters(function):
    shown, star = [], False
    for p in inspect.signature(function).parameters.values():
        star |= p.kind is p.VAR_POSITIONAL
        if p.kind is p.KEYWORD_ONLY and not star:
            shown.append("*")
            star = True
        prefix = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        shown.append(f"{prefix}{p.name}{'=' if p.default is not p.empty else ''}")
    return f"({', '.join(shown)})"


@pytest.mark.parametrize(
    ("page", "name"), [(page, name) for page in PARAMETERS for name in PARAMETERS[page]]
)
def test_parameters(page, name):
    function = getattr(importlib.import_module(f"olympus.{page}"), name)
    assert _parameters(function) == PARAMETERS[page][name]


@pytest.mark.parametrize("page", ["tree", "tree_util", "monitoring", "errors"])
def test_examples_run(page):
    module = importlib.import_module(f"olympus.{page}")
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    examples = 0
    for name in module.__all__:
        for test in finder.find(getattr(module, name), name, module=False, globs={}):
            examples += len(test.examples)
            runner.run(test)
    assert examples > 1
    assert runner.failures == 0


def test_errors_are_named_by_their_page():
    errors = importlib.import_module("olympus.errors")
    for name in errors.__all__:
        if name != "OlympusRuntimeError":  # the engine's own class
            assert getattr(errors, name).__module__ == "olympus.errors"
    assert issubclass(errors.OlympusRuntimeError, RuntimeError)
