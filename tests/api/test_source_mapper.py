"""Source maps: the lines that JAX 0.10.2 gives, for each form of a function."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import olympus
import olympus.numpy as jnp
from olympus.experimental import source_mapper
from olympus.experimental.source_mapper import MappingsGenerator, SourceMap


def f(x):
    y = jnp.sin(x)
    return olympus.lax.fori_loop(0, 3, lambda i, c: c * 2, y).sum()


FIRST = f.__code__.co_firstlineno - 1  # from 0, as maps count


def dump_of(regex, function=f, **kwargs):
    (dump,) = source_mapper.generate_sourcemaps(
        function, source_mapper.filter_passes(regex), **kwargs
    )(jnp.ones(3))
    return dump


def absolute(source_map):
    """For each line, the file, line and column that it comes from."""
    found, last = [], [0, 0, 0]
    for group in source_map.mappings:
        for segment in group:
            last = [a + b for a, b in zip(last, segment[1:], strict=True)]
        place = (Path(source_map.sources[last[0]]).name, last[1] - FIRST, last[2])
        found.append(place if group else None)
    return found


def by_line(dump):
    rows = zip(dump.generated_code.split("\n"), absolute(dump.source_map), strict=True)
    return list(rows)


FILE = Path(__file__).name
SIN, LOOP, MUL, SUM = [(FILE, 1, 8), (FILE, 2, 11), (FILE, 2, 52), (FILE, 2, 11)]


def test_traced_program():
    dump = dump_of("olympuspr")
    assert dump.pass_name == "olympuspr"
    assert dump.generated_code == str(olympus.make_olympuspr(f)(jnp.ones(3)))
    rows = by_line(dump)
    assert rows[0][1] is None
    assert rows[1] == ("    b:f32[3] = sin a", SIN)
    assert rows[2][1] == LOOP
    expected = {"mul ": MUL, "in (f, g)": LOOP, "length": LOOP, "] 0": LOOP, "sum": SUM}
    for text, place in expected.items():
        assert [found for line, found in rows if text in line] == [place]
    assert rows[-1][1] is None
    columns = [group[0][0] for group in dump.source_map.mappings if group]
    assert columns[:4] == [4, 4, 6, 10]


def test_traced_program_is_found_by_both_names():
    assert source_mapper.filter_passes("jaxpr") == source_mapper.filter_passes("oly")


def test_one_line_program_comes_from_nowhere():
    dump = dump_of("olympuspr", jnp.sin)
    assert dump.source_map.mappings == [[]]


def test_stablehlo():
    rows = by_line(dump_of("hlo:stable"))
    expected = {"stablehlo.sine": SIN, "stablehlo.multiply": MUL, "reduce(": SUM}
    for text, place in expected.items():
        assert [found for line, found in rows if text in line] == [place]
    assert {found[0] for _, found in rows if found} == {FILE}
    assert not [line for line, found in rows if found and "func.func" in line]


def test_stablehlo_of_a_file_whose_name_is_escaped():
    text = (
        'module {\n  return loc(#loc2)\n}\n#loc1 = loc("a\\22\\C3\\A9\\\\.py":3:5)\n'
        '#loc2 = loc("f \\"x\\":1:1"(#loc1))'
    )
    source_map = source_mapper.create_mlir_sourcemap(text)
    assert source_map.sources == ['a"é\\.py']
    assert source_map.mappings == [[], [(2, 0, 2, 4)], [], [], []]


def test_stablehlo_of_locations_in_a_ring():
    text = "x loc(#loc1)\n#loc1 = loc(fused[#loc2])\n#loc2 = loc(fused[#loc1])"
    assert source_mapper.create_mlir_sourcemap(text).mappings == [[], [], []]


@pytest.mark.parametrize("regex", ["hlo:original", "hlo:optimized"])
def test_hlo(regex):
    rows = by_line(dump_of(regex))
    expected = {" sine(": 1, " multiply(": 2, " reduce(": 2}
    for text, line in expected.items():
        found = [place for row, place in rows if text in row]
        assert found == [(FILE, line, 0)]


def test_hlo_with_files_in_each_line():
    text = 'a metadata={op_name="}" source_file="f.py" source_line=3}\nb'
    source_map = source_mapper.hlo.parse_hlo_dump(text)
    assert (source_map.sources, source_map.mappings) == (["f.py"], [[(0, 0, 2, 0)], []])


def test_options_of_the_compiler():
    def product(x):
        return jnp.sin(x) * jnp.cos(x)

    plain = dump_of("hlo:optimized", product)
    options = {
        "xla_backend_optimization_level": 0,
        "xla_llvm_disable_expensive_passes": True,
    }
    assert dump_of("hlo:optimized", product, xla_compiler_flags=options).generated_code
    with pytest.raises(Exception, match="no_such_option"):
        dump_of("hlo:optimized", product, xla_compiler_flags={"no_such_option": 1})
    assert plain.pass_name == "hlo:optimized"


def test_all_passes():
    names = ["olympuspr", "hlo:stable-hlo", "hlo:original", "hlo:optimized"]
    assert [p.name for p in source_mapper.all_passes()][:4] == names
    dumps = source_mapper.generate_sourcemaps(f, source_mapper.all_passes()[:4])(
        x=jnp.ones(3)
    )
    assert [d.pass_name for d in dumps] == names
    assert not source_mapper.filter_passes("stable")


def test_pass_of_a_user():
    own = source_mapper.Pass(
        "own:names",
        lambda work_dir, f, f_args, f_kwargs, **_: (
            f.__name__,
            Path(work_dir).is_dir(),
        ),
        lambda result, **_: source_mapper.SourceMapDump(
            SourceMap(3, [], [], [], []), str(result), "own:names"
        ),
    )
    with pytest.raises(ValueError, match="Pass hlo:original already registered"):
        source_mapper.register_pass(own._replace(name="hlo:original"))
    dumps = source_mapper.generate_sourcemaps(f, [own])(jnp.ones(3))
    assert dumps[0].generated_code == "('f', True)"


def test_mappings_generator():
    generator = MappingsGenerator()
    with pytest.raises(RuntimeError, match="new_group"):
        generator.new_segment(1, 0, 2, 3)
    generator.new_group()
    generator.new_segment(1, 0, 2, 3)
    generator.new_segment(5, 1, 1, 1)
    generator.new_group()
    generator.new_segment(4, 0, 7, 2)
    generator.new_segment(1)
    generator.new_segment(9, 1, 2, 3, 4)
    assert generator.mappings() == [
        [(1, 0, 2, 3), (4, 1, -1, -2)],
        [(4, -1, 6, 1), (-3,), (8, 1, -5, 1, 4)],
    ]


def test_json_is_that_of_the_format():
    mappings = [
        [],
        [(4, 0, 11, 6)],
        [(4, 0, 1, 5)],
        [(6, 0, 0, 0)],
        [],
        [(10, 0, 0, 33)],
    ]
    text = SourceMap(3, ["f.py"], ["x"], [], mappings).to_json()
    assert json.loads(text) == {
        "version": 3,
        "sources": ["f.py"],
        "sourcesContent": ["x"],
        "names": [],
        "mappings": ";IAWM;IACK;MAAA;;UAAiC",
    }
    with pytest.raises(ValueError, match="base 64"):
        SourceMap.from_json(text.replace(";IAWM", ";IA!M"))


numbers = st.integers(-(2**40), 2**40)
segments = st.one_of(
    st.tuples(numbers), st.tuples(*[numbers] * 4), st.tuples(*[numbers] * 5)
)


@given(st.lists(st.lists(segments, max_size=3), min_size=1, max_size=5))
def test_json_gives_the_map_back(mappings):
    source_map = SourceMap(3, ["a", "b"], [], ["n"], mappings)
    assert SourceMap.from_json(source_map.to_json()) == source_map


def test_files_are_named_as_the_setting_says():
    name = "olympus_hlo_source_file_canonicalization_regex"
    olympus.config.update(name, ".*/")
    try:
        assert source_mapper.canonicalize_filename("/a/b.py") == "b.py"
        assert dump_of("olympuspr").source_map.sources == [FILE]
        assert dump_of("hlo:stable-hlo").source_map.sources == [FILE]
    finally:
        olympus.config.update(name, None)
    assert source_mapper.canonicalize_filename("/a/../b.py") == "/a/../b.py"


def test_compile_with_env():
    seen = []

    def g(x):
        seen.append(olympus.config.olympus_enable_x64)
        return x

    before = olympus.config.olympus_enable_x64
    flags = {"olympus_enable_x64": not before}
    assert source_mapper.compile_with_env(g, (1.0,), {}, flags, {}) is None
    assert seen == [not before]
    assert olympus.config.olympus_enable_x64 == before
    with pytest.raises(AttributeError, match="no_such"):
        source_mapper.compile_with_env(g, (1.0,), {}, {"no_such": 1}, {})
