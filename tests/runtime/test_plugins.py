"""Plug-ins: where they are found, what of them is registered."""

import sys
import types

import pytest

from olympus._src.foundation import config
from olympus._src.runtime import cpu_kernels, plugins, versions


@pytest.fixture
def found_anew():
    plugins.forget()
    yield
    plugins.forget()


def package(folder, name, *files):
    home = folder.joinpath(*name.split("."))
    home.mkdir(parents=True)
    for file in files:
        home.joinpath(file).write_bytes(b"")
    return home


@pytest.mark.usefixtures("found_anew")
def test_the_newer_generation_is_found(tmp_path, monkeypatch):
    package(tmp_path, "jax_plugins.xla_cuda12", "xla_cuda_plugin.so")
    newer = package(tmp_path, "jax_plugins.xla_cuda13", "xla_cuda_plugin.so")
    monkeypatch.syspath_prepend(tmp_path)
    plugin = plugins.installed_plugins()["cuda"]
    assert plugin.library == str(newer / "xla_cuda_plugin.so")
    assert plugin.kernels == "jax_cuda13_plugin"
    # Its module, which registers it with jax, was not imported for that.
    assert "jax_plugins.xla_cuda13" not in sys.modules


@pytest.mark.usefixtures("found_anew")
def test_packages_without_a_library_are_no_plugins(tmp_path, monkeypatch):
    package(tmp_path, "jax_plugins.xla_cuda13", "__init__.py")
    monkeypatch.syspath_prepend(tmp_path)
    if "jax_plugins" not in sys.modules:
        assert "cuda" not in plugins.installed_plugins()


@pytest.mark.usefixtures("found_anew")
def test_named_by_the_environment(monkeypatch):
    variable = "PJRT_NAMES_AND_LIBRARY_PATHS"
    monkeypatch.setenv(variable, "toy:/a/toy.so,abacus:/b/abacus.so")
    assert plugins.installed_plugins()["toy"].library == "/a/toy.so"
    assert plugins.installed_plugins()["abacus"].library == "/b/abacus.so"
    plugins.forget()
    monkeypatch.setenv(variable, "toy")
    with pytest.raises(ValueError, match="must be written 'name:path,name:path'"):
        plugins.installed_plugins()


def test_options_of_gpus(monkeypatch):
    monkeypatch.setenv("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.5")
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    with config.cuda_visible_devices("0,2"):
        options = plugins.options_of(plugins.Plugin("cuda", "x.so"))
    assert options == {
        "platform_name": "cuda",
        "allocator": "default",
        "memory_fraction": 0.5,
        "preallocate": False,
        "visible_devices": [0, 2],
    }


def test_options_of_several_gpus(monkeypatch):
    prefix = "XLA_PYTHON_CLIENT_"
    monkeypatch.setenv(f"{prefix}COLLECTIVE_MEM_SIZE_MB", "64")
    monkeypatch.setenv(f"{prefix}ABORT_COLLECTIVES_ON_FAILURE", "1")
    monkeypatch.setenv(f"{prefix}USE_TFRT_GPU_CLIENT", "0")
    assert plugins.options_of(plugins.Plugin("cuda", "x.so")) == {
        "platform_name": "cuda",
        "allocator": "default",
        "collective_memory_size": 64 * 2**20,
        "abort_collectives_on_failure": True,
        "use_tfrt_gpu_client": False,
    }


def test_one_fraction_of_memory_is_given(monkeypatch):
    monkeypatch.setenv("XLA_CLIENT_MEM_FRACTION", "0.5")
    assert plugins.options_of(CUDA)["memory_fraction"] == 0.5
    monkeypatch.setenv("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.7")
    with pytest.raises(ValueError, match=r"must not both be set.*; remove the second"):
        plugins.options_of(CUDA)


def test_unknown_allocators_are_refused(monkeypatch):
    monkeypatch.setenv("XLA_PYTHON_CLIENT_ALLOCATOR", "jemalloc")
    with pytest.raises(ValueError, match=r"must be one of 'default', .*'jemalloc'"):
        plugins.options_of(plugins.Plugin("cuda", "x.so"))


def distribution(folder, name, version):
    home = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    home.mkdir()
    home.joinpath("METADATA").write_text(f"Name: {name}\nVersion: {version}\n")


CURRENT = ".".join(map(str, versions.JAXLIB_VERSION))
CUDA = plugins.Plugin("cuda", "x.so", "jax_cuda13_plugin")


@pytest.mark.parametrize("package", ["jax-cuda13-plugin", "jax-cuda13-pjrt"])
def test_plugins_of_another_version_are_refused(tmp_path, monkeypatch, package):
    distribution(tmp_path, package, "0.9.1")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RuntimeError) as info:
        plugins.start(CUDA)
    message = str(info.value)
    assert f"got {package} 0.9.1" in message
    assert (
        f"`pip install jax-cuda13-plugin=={CURRENT} jax-cuda13-pjrt=={CURRENT}`"
        in message
    )


@pytest.mark.parametrize("version", [CURRENT, f"{CURRENT}.dev1", f"{CURRENT}.1"])
def test_plugins_of_this_version_are_taken(tmp_path, monkeypatch, version):
    distribution(tmp_path, "jax-cuda13-plugin", version)
    monkeypatch.syspath_prepend(tmp_path)
    plugins.check_version(CUDA)
    monkeypatch.setattr(plugins, "_plugins", {"cuda": CUDA})
    assert plugins.version_of("cuda") == f"jax-cuda13-plugin=={version}"
    assert plugins.version_of("tpu") == ""


def test_other_plugins_have_versions_of_their_own(tmp_path, monkeypatch):
    distribution(tmp_path, "jax-rocm7-plugin", "0.1.0")
    monkeypatch.syspath_prepend(tmp_path)
    plugins.check_version(plugins.Plugin("rocm", "x.so", "jax_rocm7_plugin"))
    plugins.check_version(plugins.Plugin("toy", "x.so"))


def test_options_of_users():
    with config.pjrt_client_create_options("size:3;share:0.5;fast:true;name:x"):
        options = plugins.options_of(plugins.Plugin("toy", "x.so"))
    assert options == {"size": 3, "share": 0.5, "fast": True, "name": "x"}


def test_kernels_are_registered(monkeypatch):
    calls = []

    def module(name, **contents):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        for key, value in contents.items():
            setattr(sys.modules[name], key, value)

    module("toy_kernels")
    module(
        "toy_kernels.cuda_plugin_extension",
        ffi_types=lambda: {"Plan": 1},
        ffi_handlers=lambda: {"python": 2},
        register_custom_type=lambda *args: calls.append(args),
        register_custom_call_target=lambda *args: calls.append(args),
    )
    module("toy_kernels._solver", registrations=lambda: {"a_ffi": 3, "b": 4})
    module(
        "toy_kernels._hybrid",
        registrations=lambda: {"c": 5},
        initialize=lambda: calls.append("initialized"),
    )
    monkeypatch.setattr(plugins, "_registries", {})
    monkeypatch.setattr(plugins, "_waiting", {})
    plugins.register_target("cuda", "early", 6, 1)  # before there is the platform
    plugin = plugins.Plugin("cuda", "x.so", "toy_kernels")
    assert plugins.register_kernels(plugin, "api") == 4
    plugins.register_type("cuda", "Late", {"type_id": 7})
    assert calls == [
        ("api", "Plan", 1),
        ("api", "python", 2, "CUDA", 1),
        ("api", "a_ffi", 3, "CUDA", 1),
        ("api", "b", 4, "CUDA", 0),
        ("api", "c", 5, "CUDA", 1),
        ("api", "early", 6, "CUDA", 1),
        ("api", "Late", {"type_id": 7}),
    ]
    # The first program that calls those of the host has them know LAPACK.
    monkeypatch.setattr(plugins, "_plugins", {"cuda": plugin})
    monkeypatch.setattr(plugins, "_with_kernels", {"cuda"})
    monkeypatch.setattr(plugins, "_with_lapack", set())
    for code in (b"@cusolver_potrf_ffi", b"@cuhybrid_eig_real", b"@cuhybrid_eig_real"):
        cpu_kernels.prepare_for(code)
        calls.append(code)
    assert calls[7:9] == [b"@cusolver_potrf_ffi", "initialized"]
    assert calls.count("initialized") == 1


def test_a_platform_without_kernels():
    plugin = plugins.Plugin("cuda", "x.so", "no_such_package")
    assert plugins.register_kernels(plugin, "api") == 0
