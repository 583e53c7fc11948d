"""Small StableHLO modules, written by hand, and what the tests of the runtime share."""

from __future__ import annotations

import numpy as np

from olympus._src.core.avals import ShapedArray
from olympus._src.runtime import executable, placement


def aval_of(x, weak_type=False):
    return ShapedArray(np.shape(x), np.asarray(x).dtype.newbyteorder("="), weak_type)


def put(x, device=None, weak_type=False):
    x = np.asarray(x)
    return placement.put(x, aval_of(x, weak_type), device)


def double(shape, element="f32", donate=False, operation="add"):
    """Module of `x + x`."""
    kind = "x".join([*map(str, shape), element])
    donated = " {tf.aliasing_output = 0 : i32}" if donate else ""
    return f"""
    module @double {{
      func.func public @main(%x: tensor<{kind}>{donated}) -> tensor<{kind}> {{
        %y = stablehlo.{operation} %x, %x : tensor<{kind}>
        return %y : tensor<{kind}>
      }}
    }}"""


def loop(n, body, steps=3):
    """Module that applies `body`, lines that give %y from %x, several times."""
    vector = f"tensor<{n}xf32>"
    return f"""
    module @loop {{
      func.func public @main(%arg: {vector}) -> {vector} {{
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %r:2 = stablehlo.while(%i = %zero, %x = %arg) : tensor<i32>, {vector}
        cond {{
          %n = stablehlo.constant dense<{steps}> : tensor<i32>
          %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        }} do {{
          %one = stablehlo.constant dense<1> : tensor<i32>
          %j = stablehlo.add %i, %one : tensor<i32>
          {body}
          stablehlo.return %j, %y : tensor<i32>, {vector}
        }}
        return %r#1 : {vector}
      }}
    }}"""


def load(text, *out_avals, callbacks=(), **options):
    loaded = executable.compile(text, host_callbacks=callbacks)
    return executable.Executable(loaded, out_avals, **options)


def call(program, *arrays):
    return program.execute([a._buffer for a in arrays])
