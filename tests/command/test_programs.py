"""The sub-commands `run` and `inspect` on files that hold programs."""

from __future__ import annotations

import io
import re
import zipfile

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import bundle, export
from olympus._src.command.main import main
from olympus._src.export import arrays, bundle_files
from olympus.experimental.serialize_executable import serialize


@olympus.jit
def predict(params, x):
    """Scores of rows."""
    return {"scores": x @ params["w"], "small": x.astype("bfloat16")}


PARAMS = {"w": np.float32([[1], [2]])}
X = np.float32([[1, 2], [3, 4]])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("programs")
    made = bundle.make(predict, vjp_order=1)(PARAMS, X)
    made.save(found / "a.bundle")
    (found / "a.exported").write_bytes(made.exported.serialize())
    compiled = predict.lower(PARAMS, X).compile()
    (found / "a.executable").write_bytes(serialize(compiled)[0])
    np.savez(found / "args.npz", **{"params/w": PARAMS["w"], "x": X.astype("float64")})
    contents = bundle_files.unpack((found / "a.bundle").read_bytes())
    wrong = [arrays.encode_array(x.array() + 1) for x in contents.sample.results]
    contents.sample = contents.sample._replace(results=wrong)
    (found / "wrong.bundle").write_bytes(bundle_files.pack(contents))
    (found / "garbage").write_bytes(b"garbage")
    return found


@pytest.fixture
def call(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)

    def run(*words):
        status = main(words)
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.mark.slow
def test_arrays_larger_than_the_memory_are_refused(call, tmp_path):
    bomb = io.BytesIO()
    shape = {"descr": "<f4", "fortran_order": False, "shape": (1 << 60,)}
    np.lib.format.write_array_header_1_0(bomb, shape)
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("x.npy", bomb.getvalue())
    status, _, err = call("run", "a.bundle", "--args", str(path))
    assert status == 2
    assert err.startswith(f"olympus run: {path}: must be a file of arrays by name")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("file", ["a.bundle", "a.exported"])
def test_run_computes_with_arrays_of_a_file(call, folder, file, tmp_path):
    names = {"a.bundle": "args.npz", "a.exported": str(tmp_path / "other.npz")}
    np.savez(names["a.exported"], PARAMS["w"], X)
    words = ("run", file, "--args", names[file], "--out", str(tmp_path / "out.npz"))
    status, out, err = call(*words)
    assert (status, err) == (0, "")
    assert re.search(r"result\['scores'\] +float32\[2,1\] +5 11", out)
    assert "result['small'] is written as float32, which holds bfloat16" in out
    found = np.load(tmp_path / "out.npz")
    np.testing.assert_array_equal(found["result['scores']"], [[5], [11]])
    np.testing.assert_array_equal(found["result['small']"], X)


def test_run_says_what_runs_and_how_long_it_takes(call):
    words = ("run", "a.bundle", "--example", "--repeat", "3")
    status, out, _ = call(*words)
    assert status == 0
    assert re.match(
        r"predict: machine code; load .* s, first call .* s\n3 more calls", out
    )
    status, out, _ = call(*words, "--portable")
    assert out.startswith("predict: compiled the portable program; load")


def test_run_makes_arguments_up(call):
    first = call("run", "a.bundle", "--seed-args", "1")
    assert first[0] == 0
    results = [call("run", "a.bundle", "--seed-args", s)[1] for s in ("1", "2")]
    numbers = [text[text.index("Arguments") :] for text in (first[1], *results)]
    assert numbers[0] == numbers[1] != numbers[2]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": X}, r"takes the arguments \"params.* no value for \"params\['w'\]\""),
        ({"x": X, "params.w": X, "y": X}, r"'y', which it does not take"),
        (
            {"x": X, "params.w": X},
            r"must be of type float32\[2,1\], got shape \[2, 2\]",
        ),
        ({"x": X > 0, "params.w": PARAMS["w"]}, "'x' must be .* got dtype bool"),
        ({"x": np.array([{}]), "params.w": X}, "objects of Python are not read"),
    ],
)
def test_run_names_arguments_that_are_wrong(call, tmp_path, arrays, message):
    np.savez(tmp_path / "args.npz", **arrays)
    status, out, err = call("run", "a.bundle", "--args", str(tmp_path / "args.npz"))
    assert (status, out) == (2, "")
    assert re.search(rf"olympus run: .*{message}", err), err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "no file"], "No such file"),
        (["run", "garbage"], "garbage: container: must start with"),
        (["run", "args.npz"], "must start with"),
        (["run", "a.executable"], "must be a bundle or an exported program, got"),
        (["run", "a.bundle"], "takes 2 arguments, got none; give --args FILE"),
        (["run", "a.bundle", "--args", "no file"], "No such file"),
        (["run", "a.bundle", "--example", "--size", "n=3"], "with --seed-args"),
        (["run", "a.bundle", "--seed-args", "1", "--size", "n"], "must be NAME=N"),
        (["run", "a.exported", "--example"], "must have a self-test, got none"),
        (["run", "a.bundle", "--example", "--out", "no/folder"], "No such file"),
        (["inspect", "garbage"], "garbage: container: must start with"),
        (["inspect", "a.executable", "--text"], "portable program, got machine code"),
        (["inspect", "a.exported", "--test"], "must have a self-test, got none"),
    ],
)
def test_wrong_use_is_explained(call, words, message):
    status, _, err = call(*words)
    assert status == 2
    assert err.startswith(f"olympus {words[0]}: ")
    assert message in err
    assert "Traceback" not in err


def test_inspect_tells_what_a_bundle_is(call, folder):
    status, out, err = call("inspect", "a.bundle")
    assert (status, err) == (0, "")
    data = (folder / "a.bundle").read_bytes()
    for line in (
        r"a\.bundle: bundle of 'predict', [\d.]+ kB",
        f"  sha256 {bundle_files.digest(data)}",
        "  made by .*jaxlib .*, python .* on .*",
        r"  Scores of rows\.",
        r"  params\['w'\]  float32\[2,1\]",
        r"  result\['small'\] +bfloat16\[2,2\]",
        "Portable program: for cpu; [0-9.]+ kB; 1 reverse derivative",
        r"  0: cpu \(cpu\), jaxlib .*, \(f32\[2,1\], f32\[2,2\]\), [\d.]+ kB",
        "     runs here",
        "Self-test: 2 results, tolerance by dtype",
    ):
        assert re.search(f"^{line}$", out, re.MULTILINE), (line, out)


def test_inspect_runs_the_self_test(call):
    status, out, _ = call("inspect", "a.bundle", "--test")
    assert status == 0
    assert "Self-test of the machine code: passed" in out
    assert "Self-test of the portable program: passed" in out
    status, out, _ = call("inspect", "wrong.bundle", "--test")
    assert status == 1
    assert re.search("machine code: .*predict: fails its self-test: result", out)


def test_inspect_shows_programs_of_every_kind(call):
    status, out, _ = call("inspect", "a.exported", "--text")
    assert status == 0
    assert "exported program of 'predict'" in out
    assert "stablehlo.dot_general" in out
    assert "Reverse derivative: no" in out
    assert "stablehlo.dot_general" in call("inspect", "a.bundle", "--text")[1]
    status, out, _ = call("inspect", "a.executable")
    assert "compiled executable of 'predict'" in out
    assert "runs here" in out


def test_keys_are_given_by_their_words(call, tmp_path):
    split = olympus.jit(lambda key: olympus.random.split(key))
    bundle.make(split)(olympus.random.key(3)).save(tmp_path / "a")
    np.savez(tmp_path / "args.npz", key=np.uint32([0, 3]))
    out = str(tmp_path / "out.npz")
    status, text, _ = call(
        "run", str(tmp_path / "a"), "--args", str(tmp_path / "args.npz"), "--out", out
    )
    assert status == 0
    words = olympus.random.key_data(olympus.random.split(olympus.random.key(3)))
    np.testing.assert_array_equal(np.load(out)["result"], words)
    assert "result is written as uint32, which holds key<fry>" in text


def test_an_exported_program_of_sin_needs_a_file_of_one_array(call, tmp_path):
    exported = export.export(olympus.jit(jnp.sin))(0.0)
    (tmp_path / "sin").write_bytes(exported.serialize())
    np.savez(tmp_path / "args.npz", np.float32(0))
    status, out, _ = call(
        "run", str(tmp_path / "sin"), "--args", str(tmp_path / "args.npz")
    )
    assert status == 0
    assert re.search(r"args\[0\] +float32\[\] +0", out)
