"""Versions of CUDA's libraries, with modules that stand in for the plug-in's."""

from __future__ import annotations

import pathlib
import sys
import types
from typing import Any

import pytest

from olympus._src.foundation import config
from olympus._src.runtime import client, cuda_libraries, plugins

BUILT = {
    "cuda_runtime": 13000,
    "cudnn": 91200,
    "cufft": 12000,
    "cupti": 130000,
    "cublas": 130000,
    "cusparse": 12602,
}
FOUND = BUILT | {"cuda_runtime": 13050, "cublas": 130200}
KERNELS = "jax_cuda13_plugin"


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes the plug-in's module, with versions of what is installed."""

    def install(gpus: int = 1, ability: int = 90, **found: int | None) -> None:
        module = types.ModuleType(f"{KERNELS}._versions")

        def teller(number: int | None) -> Any:
            def tell() -> int:
                if number is None:
                    raise RuntimeError("not found.")
                return number

            return tell

        for key, number in BUILT.items():
            now = found.get(key, FOUND[key])
            setattr(module, f"{key}_get_version", teller(now))
            setattr(module, f"{key}_build_version", teller(number))
        module.cuda_device_count = teller(gpus)  # type: ignore[attr-defined]
        module.cuda_compute_capability = lambda i: ability  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, KERNELS, types.ModuleType(KERNELS))
        monkeypatch.setitem(sys.modules, module.__name__, module)

    return install


def test_libraries_that_fit_are_taken(libraries: Any) -> None:
    libraries()
    cuda_libraries.check(KERNELS)
    assert cuda_libraries.version(KERNELS, "cudnn") == 91200
    libraries(cudnn=91100 + 101)  # a later one, and another patch
    cuda_libraries.check(KERNELS)


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        ({"cudnn": None}, "cuDNN is not found"),
        ({"cudnn": 91002}, "cuDNN must have version 91200 or later, got 91002"),
        ({"cuda_runtime": 12000}, "the CUDA runtime must have version 12010 or later"),
        ({"cublas": 120000}, "cuBLAS must have version 120100 or later, got 120000"),
        ({"cusparse": None, "cufft": 11400}, "cuFFT must .* 12000 .*; cuSPARSE is not"),
        ({"cudnn": 91000, "gpus": 2}, r"cuDNN 9\.10\.0 takes other numbers"),
        (
            {"cudnn": 90900, "gpus": 2},
            "wrong products on several GPUs with cuBLAS 12.9",
        ),
    ],
)
def test_others_are_refused(
    libraries: Any, found: dict[str, Any], problem: str
) -> None:
    libraries(**found)
    with pytest.raises(RuntimeError, match=problem) as info:
        cuda_libraries.check(KERNELS)
    assert "`pip install --upgrade olympus[cuda13]`" in str(info.value)
    with config.skip_cuda_constraints_check(True):
        cuda_libraries.check(KERNELS)


def test_one_gpu_of_several_may_be_used(libraries: Any) -> None:
    libraries(cudnn=90900, gpus=2)
    with pytest.raises(RuntimeError) as info:
        cuda_libraries.check(KERNELS, "1")
    assert "several" not in str(info.value)


def test_what_cublas_spoils_is_said(
    libraries: Any, caplog: pytest.LogCaptureFixture
) -> None:
    libraries(cublas=130100, ability=100)
    cuda_libraries.check(KERNELS)
    assert "cuBLAS before 13.2 (130100 is here)" in caplog.text
    caplog.clear()
    libraries(cublas=130100, ability=90)
    cuda_libraries.check(KERNELS)
    assert caplog.text == ""


def test_nothing_is_asked_without_a_gpu(libraries: Any) -> None:
    libraries(gpus=None, cudnn=None)
    cuda_libraries.check(KERNELS)
    libraries(gpus=0, cudnn=None)
    cuda_libraries.check(KERNELS)
    cuda_libraries.check(None)
    cuda_libraries.check("no_such_package")
    assert cuda_libraries.version("no_such_package", "cudnn") is None
    assert cuda_libraries.version(None, "cudnn") is None


def test_the_platform_does_not_start_with_others(
    libraries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    libraries(cudnn=91002)
    plugin = plugins.Plugin("cuda", "x.so", KERNELS)
    with pytest.raises(RuntimeError, match="cuDNN must have version 91200"):
        plugins.start(plugin)
    with pytest.raises(RuntimeError, match=r"client did not start: .*cuDNN must have"):
        client._start_plugin(plugin)
    monkeypatch.setattr(plugins, "_plugins", {"cuda": plugin})
    assert plugins.library_version("cudnn") == 91002
    monkeypatch.setattr(plugins, "_plugins", {})
    assert plugins.library_version("cudnn") is None


def test_libraries_of_packages_are_loaded(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package, name in (("cu13", "libcudart.so.13"), ("cudnn", "libcudnn.so.9")):
        folder = tmp_path / "nvidia" / package / "lib"
        folder.mkdir(parents=True)
        (folder / name).write_bytes(b"")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "nvidia", raising=False)
    paths: list[str] = []

    def load(path: str) -> None:
        paths.append(path)
        if "cudnn" in path:
            raise OSError("libcublas.so.13: cannot open shared object file")

    monkeypatch.setattr(cuda_libraries.ctypes, "CDLL", load)
    assert cuda_libraries.load_installed() == ["libcudart.so.13"]
    assert [pathlib.Path(p).name for p in paths] == ["libcudart.so.13", "libcudnn.so.9"]
