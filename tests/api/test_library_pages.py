"""What `olympus.extend` and `olympus.interpreters` have of clients, places, jaxlib."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus.extend import backend, ifrt_programs, mlir, sharding, source_info_util
from olympus.interpreters import pxla, xla
from tests import fresh

# -- places and scopes -----------------------------------------------------------------


def test_names_of_scopes():
    stack = source_info_util.new_name_stack("q")
    assert str(stack) == "q"
    assert str(stack.extend("z").transform("vmap")) == "q/z/vmap()"
    assert str(stack + stack) == "q/q"
    assert source_info_util.current_name_stack() == source_info_util.NameStack()
    with olympus.named_scope("x"), source_info_util.extend_name_stack("y") as inner:
        assert str(inner) == "x/y" == str(source_info_util.current_name_stack())
        with source_info_util.transform_name_stack("jvp") as inner:
            assert str(inner) == "x/y/jvp()"
        with source_info_util.reset_name_stack():
            assert str(source_info_util.current_name_stack()) == ""
    with source_info_util.set_name_stack(stack):
        (eqn,) = olympus.make_olympuspr(onp.sin)(1.0).eqns
    assert str(source_info_util.current_name_stack()) == ""
    assert eqn.primitive is olympus.lax.sin_p


def test_frames_of_the_user():
    def find_place():
        return source_info_util.current()

    place = find_place().traceback
    inner, outer = list(source_info_util.user_frames(place))[:2]
    assert source_info_util.user_frame(place) == inner
    assert isinstance(inner, source_info_util.Frame)
    assert inner.file_name == outer.file_name == __file__
    assert inner.function_name.endswith("find_place")
    assert outer.start_line == outer.end_line == inner.start_line + 2
    # Columns count from 0.
    assert (inner.start_column, inner.end_column) == (15, 41)
    assert source_info_util.user_frame(None) is None


def test_scopes_of_recorded_operations():
    def f(x):
        with source_info_util.set_name_stack(source_info_util.new_name_stack("mine")):
            return onp.sin(x)

    assert "mine/sin" in olympus.jit(f).lower(1.0).as_text(debug_info=True)


def test_places():
    here = source_info_util.current()
    assert "test_library_pages.py:" in source_info_util.summarize(here)
    assert source_info_util.summarize(source_info_util.new_source_info()) == "unknown"

    def f(x):
        with source_info_util.user_context(here.traceback):
            return onp.sin(x)

    (eqn,) = olympus.make_olympuspr(f)(1.0).eqns
    assert source_info_util.summarize(eqn.source) == source_info_util.summarize(here)
    assert here.replace(traceback=None).name_stack == here.name_stack


# -- clients ---------------------------------------------------------------------------


class Cache:
    cleared = 0

    def cache_clear(self):
        self.cleared += 1


def test_clients():
    assert backend.get_backend() is backend.backends()["cpu"]
    assert backend.get_backend("cpu") is backend.get_backend(backend.get_backend())
    assert isinstance(backend.get_backend(), xla.Backend)
    assert backend.get_default_device() == olympus.devices()[0]
    assert backend.backend_xla_version() is None
    with pytest.raises(RuntimeError, match="foo"):
        backend.get_backend("foo")
    with pytest.raises(RuntimeError, match="before clients start"):
        backend.register_backend_factory("foo", lambda: None)


def test_caches_of_libraries():
    cache = Cache()
    backend.register_backend_cache(cache, "a library's cache")
    backend.clear_in_memory_compilation_cache()
    assert cache.cleared == 1
    del cache
    backend.clear_in_memory_compilation_cache()


def test_options_of_compilation():
    options = backend.get_compile_options(1, 1, env_options_overrides={"xla_x": "1"})
    assert (options.num_replicas, options.num_partitions) == (1, 1)
    assert ("xla_x", "1") in list(options.env_option_overrides)
    devices = np.array(olympus.devices()[:1])
    options = pxla.create_compile_options(
        None, True, [True], [False], None, devices, None
    )
    assert options.parameter_is_tupled_arguments
    build = options.executable_build_options
    assert list(build.allow_spmd_sharding_propagation_to_parameters) == [True]
    with pytest.raises(ValueError, match="2 devices are needed, got 1"):
        backend.get_compile_options(2, 1, [0])


@pytest.mark.slow
def test_platforms_of_libraries():
    fresh.run(
        """
        import olympus
        from olympus.extend import backend
        cpu = backend.get_backend('cpu')
        backend.clear_backends()
        backend.register_backend_factory('mine', lambda: cpu, priority=500)
        def fail(): raise RuntimeError('no hardware')
        backend.register_backend_factory('broken', fail)
        assert list(backend.backends()) == ['mine', 'cpu'], backend.backends()
        assert backend.get_backend() is cpu
        try:
            backend.get_backend('broken')
        except RuntimeError as error:
            assert 'no hardware' in str(error), error
        else:
            raise AssertionError
        """
    )


# -- values and operations -------------------------------------------------------------


class Holder:
    def __init__(self, value):
        self.value = value


def test_values_of_a_library():
    with pytest.raises(TypeError):
        onp.sin(Holder(1.0))
    xla.canonicalize_dtype_handlers[Holder] = lambda x: np.asarray(x.value, "float32")
    try:
        assert Holder in xla.canonicalize_dtype_handlers
        x = Holder([1.0, 2.0])
        expected = np.sin(np.float32([1.0, 2.0]))
        np.testing.assert_allclose(onp.sin(x), expected, rtol=1e-6)
        np.testing.assert_allclose(olympus.jit(onp.sin)(x), expected, rtol=1e-6)
    finally:
        del xla.canonicalize_dtype_handlers[Holder]
    assert Holder not in xla.canonicalize_dtype_handlers
    with pytest.raises(TypeError, match="must be a class of Python, got slice"):
        xla.canonicalize_dtype_handlers[slice] = lambda x: x


def test_one_operation():
    def f(x):
        return x + xla.apply_primitive(olympus.lax.add_p, 1.0, 2.0)

    (eqn,) = olympus.make_olympuspr(f)(1.0).eqns
    assert eqn.invars[1].val == 3.0


# -- jaxlib ----------------------------------------------------------------------------


def test_portable_artifacts():
    text = olympus.jit(lambda x: onp.sin(x) * 2).lower(np.float32(1)).as_text()
    data = mlir.serialize_portable_artifact(text, "1.0.0")
    assert "stablehlo.sine" in str(mlir.deserialize_portable_artifact(data))


def test_polymorphic_shapes_are_refined():
    text = """
    func.func @main(%x: tensor<3xf32>) -> tensor<?xf32> {
      %y = stablehlo.convert %x : (tensor<3xf32>) -> tensor<?xf32>
      %z = stablehlo.sine %y : tensor<?xf32>
      return %z : tensor<?xf32>
    }
    """
    data = mlir.refine_polymorphic_shapes(text)
    refined = mlir.serialize_portable_artifact(data, "1.0.0")
    assert "?" not in str(mlir.deserialize_portable_artifact(refined))


def test_shardings_as_bytes():
    mesh = olympus.make_mesh((1,), ("x",))
    hlo = olympus.NamedSharding(mesh, olympus.P("x"))._to_xla_hlo_sharding(1)
    data = sharding.get_serialized_proto_from_hlo_sharding(hlo)
    assert sharding.get_hlo_sharding_from_serialized_proto(data) == hlo
    proto = sharding.get_op_sharding_from_serialized_proto(data)
    assert proto.SerializeToString() == data


def test_programs_of_the_runtime_interface():
    module = olympus.jit(onp.sin).lower(np.float32(1)).as_text()
    program = ifrt_programs.ifrt_programs.make_hlo_program(module)
    assert isinstance(program, ifrt_programs.ifrt_programs.Program)
