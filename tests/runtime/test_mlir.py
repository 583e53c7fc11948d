"""Other forms of a module's text."""

import fresh
import pytest
from programs import double

from olympus._src.runtime import mlir

CANONICAL = """\
module @double {
  func.func public @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
"""


def test_canonical_text():
    assert mlir.canonical_text(double((3,))) == CANONICAL
    assert mlir.canonical_text(CANONICAL) == CANONICAL


def test_positions_are_printed_where_wanted():
    end = "%x, %x : tensor<3xf32>"
    text = double((3,)).replace(end, f'{end} loc("f.py":7:3)')
    assert 'loc("f.py":7:3)' in mlir.canonical_text(text, debug_info=True)
    assert "loc" not in mlir.canonical_text(text)


def test_parse():
    assert "stablehlo.add" in str(mlir.parse(double((3,))))
    with pytest.raises(
        ValueError, match=r"(?s)must be a StableHLO module; .*'nonsense'"
    ):
        mlir.parse("nonsense")


def test_hlo():
    text = mlir.hlo_text(double((3,)))
    assert text.startswith("HloModule double")
    assert "f32[3]" in text
    assert mlir.cost_analysis(double((3,)))["flops"] == 3


def test_portable_artifacts_come_back():
    data = mlir.stablehlo_portable(double((3,)))
    assert mlir.from_portable(data) == CANONICAL


def test_portable_artifacts_of_impossible_versions(capfd):
    with pytest.raises(ValueError, match=r"must exist in StableHLO 0\.0\.1"):
        mlir.stablehlo_portable(double((3,)), "0.0.1")
    with pytest.raises(ValueError, match="must be a StableHLO artifact"):
        mlir.from_portable(b"nonsense")
    capfd.readouterr()


def test_bytecode_is_read():
    assert mlir.canonical_text(mlir.bytecode(double((3,)))) == CANONICAL


def test_dynamic_shapes_are_refined():
    text = """
    module @m {
      func.func public @main(%x: tensor<3xf32>) -> tensor<?xf32> {
        %y = func.call @f(%x) : (tensor<3xf32>) -> tensor<?xf32>
        return %y : tensor<?xf32>
      }
      func.func private @f(%x: tensor<3xf32>) -> tensor<?xf32> {
        %z = stablehlo.convert %x : (tensor<3xf32>) -> tensor<?xf32>
        return %z : tensor<?xf32>
      }
    }"""
    refined = mlir.canonical_text(mlir.refine_shapes(text))
    assert "?" not in refined


def test_the_bindings_wait():
    out, _ = fresh.run("""
        import sys
        sys.path.insert(0, "tests")
        import numpy as np, programs
        x = programs.put(np.ones(3, np.float32))
        program = programs.load(programs.double((3,)), x.aval)
        print('jaxlib.mlir' in sys.modules)
    """)
    assert out.strip() == "False"
