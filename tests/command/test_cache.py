"""The command that looks after the programs on disk."""

from __future__ import annotations

import os
import time

import pytest

from olympus._src.command.main import main
from olympus._src.foundation import compiler_settings as compiler
from olympus._src.runtime import private_folder
from olympus._src.runtime.disk_cache import DiskCache


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def cache(folder):
    """Four programs: two of one name, used a day after another."""
    cache = DiskCache(private_folder.prepare(str(folder)))
    now = time.time()
    for n, name in enumerate(("jit_f", "jit_f", "jit_train", "jit_\x1b[2Jodd")):
        key = f"{n:064x}"
        cache.write(key, {"name": name, "compile_s": 0.5 * (n + 1)}, bytes(5000 * n))
        os.utime(cache.path(key), (now - n * 86400 - 60,) * 2)
    return cache


def run(folder, *words):
    return main(["cache", *words[:1], "--dir", str(folder), *words[1:]])


def test_show_adds_up_by_name(cache, folder, capsys):
    assert run(folder, "show") == 0
    out = capsys.readouterr().out
    assert str(folder) in out
    assert "programs: 4 in " in out
    rows = {line.split()[-1]: line.split() for line in out.splitlines() if line}
    assert rows["f"][0] == "2"
    assert rows["f"][-2:] == ["ago", "f"]
    assert "1.500 s" in " ".join(rows["f"])
    assert "2 days ago" in " ".join(rows["train"])
    assert "\x1b" not in out


def test_show_is_what_it_does_unasked(cache, folder, capsys):
    assert main(["cache", "--dir", str(folder)]) == 0
    assert "programs: 4 in " in capsys.readouterr().out


def test_show_prints_as_many_rows_as_wanted(cache, folder, capsys):
    assert run(folder, "show", "--most", "1") == 0
    assert "and 2 more names" in capsys.readouterr().out


def test_the_folder_of_the_settings_is_shown(folder, capsys):
    with (
        compiler.enable_compilation_cache(False),
        compiler.compilation_cache_dir(str(folder)),
    ):
        assert main(["cache"]) == 0
    out = capsys.readouterr().out
    assert str(folder) in out
    assert "programs: none" in out
    assert "turn the cache off" in out


def test_check_finds_nothing_wrong(cache, folder, capsys):
    assert run(folder, "check") == 0
    assert "4 in " in capsys.readouterr().out


def test_check_names_what_is_bad_and_repairs_it(cache, folder, capsys):
    paths = [file.path for file in cache.files()]
    with open(paths[0], "r+b") as file:
        file.seek(100)
        file.write(b"\xff")
    os.chmod(paths[1], 0o666)
    stale = os.path.join(cache.folder, ".writing-1-a-0")
    open(stale, "wb").close()
    os.utime(stale, (1, 1))
    used = [file.used for file in cache.files()]
    assert run(folder, "check") == 1
    out = capsys.readouterr().out
    assert f"bad: {paths[0]}\n" in out
    assert "do not match their own digest" in out
    assert f"bad: {paths[1]}\n" in out
    assert "must be writable by you alone" in out
    assert "2 bad" in out
    assert "unfinished files of killed processes: 1" in out
    assert [file.used for file in cache.files()] == used
    assert run(folder, "check", "--repair") == 0
    assert "removed:  2 bad, 1 unfinished" in capsys.readouterr().out
    assert [file.path for file in cache.files()] == paths[2:]
    assert not os.path.exists(stale)
    assert run(folder, "check") == 0


def test_a_header_that_cannot_be_read_is_shown_as_such(cache, folder, capsys):
    path = cache.files()[0].path
    for data in (b"", b"nonsense", b"\x93OLYMP\r\n\5\0\0\0\0\0\0\0[1,2]"):
        with open(path, "wb") as file:
            file.write(data)
        assert run(folder, "show") == 0
        assert "(unreadable; see" in capsys.readouterr().out


def test_what_could_not_be_removed_is_said(cache, folder, capsys):
    path = cache.files()[0].path
    os.unlink(path)
    os.makedirs(os.path.join(path, "inside"))
    assert run(folder, "check", "--repair") == 1
    assert f"could not remove {path}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ((), [0, 1, 2, 3]),
        (("--older-than", "36h"), [0, 1]),
        (("--older-than", "2.5d"), [0, 1, 2]),
        (("--max-size", "13K"), [0, 1]),
        (("--max-size", "0"), []),
        (("--all",), []),
    ],
)
def test_prune(cache, folder, words, left, monkeypatch):
    # Files of a file system without blocks take what they hold.
    monkeypatch.setattr(
        "olympus._src.runtime.disk_cache._occupied_bytes", lambda s: s.st_size
    )
    assert run(folder, "prune", *words) == 0
    assert sorted(int(file.key, 16) for file in cache.files()) == left


def test_prune_keeps_to_the_limit_of_the_settings(cache, folder):
    with compiler.compilation_cache_max_size(1):
        assert run(folder, "prune") == 0
    assert cache.files() == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("prune", "--max-size", "much"), "must be a number of bytes as in 500M"),
        (("prune", "--older-than", "5"), "must be a time as in 30m, 12h or 30d"),
        (("burn",), "invalid choice"),
    ],
)
def test_wrong_use(folder, words, said, capsys):
    with pytest.raises(SystemExit) as done:
        run(folder, *words)
    assert done.value.code == 2
    assert said in capsys.readouterr().err


def test_a_folder_that_is_not_there(folder, capsys):
    assert run(folder, "show") == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"--dir must be an existing folder, got no such folder, '{folder}'" in (
        shown.err
    )
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("")
    assert run(folder, "show") == 2
    assert f"got a file, '{folder}'; leave it out" in capsys.readouterr().err


def test_a_folder_that_others_may_write_is_said_not_to_be_used(cache, folder, capsys):
    folder.chmod(0o777)
    assert run(folder, "show") == 1
    assert "not used: " in capsys.readouterr().out
