"""The page that sets where compiled programs are kept."""

import disk_caches
import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus.experimental.compilation_cache import compilation_cache


@pytest.fixture
def folder(tmp_path):
    before = olympus.config.olympus_compilation_cache_dir
    yield tmp_path / "cache"
    olympus.config.update("olympus_compilation_cache_dir", before)


def test_programs_go_where_they_are_sent(folder):
    with disk_caches.in_folder(folder / "unused"):
        pass
    with olympus.config.states["olympus_enable_compilation_cache"](True):
        compilation_cache.set_cache_dir(folder)
        f = olympus.jit(lambda x: jnp.sin(x) * 3)
        np.testing.assert_allclose(f(jnp.float32(1)), 3 * np.sin(1), 1e-6)
    assert olympus.config.olympus_compilation_cache_dir == str(folder)
    assert len(list(folder.glob("*.program"))) == 1


def test_no_path():
    with pytest.raises(ValueError, match="must be a path or None, got 3"):
        compilation_cache.set_cache_dir(3)


def test_reset_tries_a_refused_folder_again(folder, caplog):
    folder.mkdir()
    folder.chmod(0o777)
    with disk_caches.in_folder(folder) as counts:
        olympus.jit(lambda x: x * 5)(1.0)
        assert not counts
        folder.chmod(0o700)
        olympus.jit(lambda x: x * 6)(1.0)
        assert not counts
        compilation_cache.reset_cache()
        olympus.jit(lambda x: x * 7)(1.0)
        assert counts.misses == 1
    assert len(caplog.messages) == 1
