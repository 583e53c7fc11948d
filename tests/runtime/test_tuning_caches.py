"""XLA's caches of what it measured on a GPU: the options that reach its compiler."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import disk_caches
import pytest

from olympus._src.foundation import compiler_settings as compiler
from olympus._src.runtime import cache_key, client, compile_cache, compiling

TUNING = "xla_gpu_per_fusion_autotune_cache_dir"
KERNELS = "xla_gpu_kernel_cache_file"
MODE = "xla_gpu_experimental_autotune_cache_mode"


class Device:
    """A GPU that stands in for one."""

    platform = "gpu"
    device_kind = "NVIDIA H200"


@pytest.fixture
def compiler_calls(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> Any:
    """What the compiler is called with, for a GPU, with a cache in a folder."""
    calls: list[dict[str, Any]] = []

    def load(code: Any, devices: Any, built: Any, *args: Any) -> Any:
        calls.append(dict(built.env_option_overrides))
        return object()

    monkeypatch.setattr(compiling, "load", load)
    monkeypatch.setattr(client, "platform_of", lambda device: "cuda")
    monkeypatch.setattr(compile_cache, "_fetch", lambda *args: None)
    monkeypatch.setattr(compile_cache, "_keep", lambda *args: 0)
    monkeypatch.setattr(cache_key, "_facts", lambda device: "")
    with disk_caches.in_folder(tmp_path / "programs"):
        yield calls


def run(**options: Any) -> Any:
    pairs = tuple(options.items())
    built = compiling.compile_options(pairs, [client.default_device()])
    before = built.SerializeAsString()
    compile_cache.load("module @m {}", [Device()], built, pairs)
    assert built.SerializeAsString() == before
    return built


def test_tuning_is_kept_beside_the_programs(
    compiler_calls: list[Any], tmp_path: pathlib.Path
) -> None:
    run()
    folder = os.path.join(os.path.realpath(tmp_path / "programs"), TUNING)
    assert compiler_calls == [{TUNING: folder, MODE: "AUTOTUNE_CACHE_MODE_UPDATE"}]


def test_one_process_of_several_writes(
    compiler_calls: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "process_index", lambda: 3)
    run()
    assert compiler_calls[0][MODE] == "AUTOTUNE_CACHE_MODE_READ"


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("all", {TUNING, KERNELS, MODE}),
        (KERNELS, {KERNELS}),
        (f"{KERNELS}, {TUNING}", {TUNING, KERNELS, MODE}),
        ("none", set()),
        (None, set()),
        ("", set()),
    ],
)
def test_the_setting_chooses(
    compiler_calls: list[Any], value: Any, names: set[str]
) -> None:
    with compiler.persistent_cache_enable_xla_caches(value):
        run()
    assert set(compiler_calls[0]) == names


def test_the_users_options_win(compiler_calls: list[Any]) -> None:
    run(**{TUNING: "/mine"})
    assert compiler_calls[0][TUNING] == "/mine"


def test_the_key_does_not_name_the_folder(
    compiler_calls: list[Any], tmp_path: pathlib.Path
) -> None:
    keys = [cache_key.key(b"module", run(), Device())]
    with compiler.compilation_cache_dir(str(tmp_path / "elsewhere")):
        keys.append(cache_key.key(b"module", run(), Device()))
    assert keys[0] == keys[1]
    assert compiler_calls[0][TUNING] != compiler_calls[1][TUNING]


def test_only_with_the_cache_and_on_cuda(
    compiler_calls: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with compiler.enable_compilation_cache(False):
        run()
    monkeypatch.setattr(client, "platform_of", lambda device: "rocm")
    run()
    monkeypatch.setattr(Device, "platform", "cpu")
    monkeypatch.setattr(client, "platform_of", lambda device: "cuda")
    run()
    assert compiler_calls == [{}, {}, {}]


def test_programs_with_callbacks_are_tuned_too(
    compiler_calls: list[Any],
) -> None:
    built = compiling.compile_options((), [client.default_device()])
    compile_cache.build(b"module @m {}", [Device()], built, (), [print])
    assert TUNING in compiler_calls[0]
