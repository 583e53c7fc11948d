"""Type checkers see a differentiated function with the parameters of the function."""

import pytest

SNIPPET = """
import olympus

def f(x: float, *, k: int = 1) -> float:
    return x * k

reveal_type(olympus.grad(f))
reveal_type(olympus.value_and_grad(f))
reveal_type(olympus.jacfwd(f))
reveal_type(olympus.jacrev(f))
reveal_type(olympus.hessian(f))
olympus.grad(f)("text")
"""

PARAMETERS = "def (x: float, *, k: int ="


@pytest.mark.slow
def test_parameters_and_their_types_survive(tmp_path):
    api = pytest.importorskip("mypy.api")
    path = tmp_path / "snippet.py"
    path.write_text(SNIPPET)
    out, _, _ = api.run([str(path), "--no-error-summary", "--follow-imports=silent"])
    lines = [line for line in out.splitlines() if "Revealed" in line]
    assert len(lines) == 5
    assert all(PARAMETERS in line for line in lines), out
    assert "tuple[float, Any]" in lines[1]
    assert 'expected "float"' in out
