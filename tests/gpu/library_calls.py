"""Calls that XLA gives to cuDNN or expands by itself, as texts for olympus and JAX.

The arrays they name are in `SHAPES`. Where what is written differs from JAX's on
purpose, `DIFFERENT` says why; where JAX refuses a call that olympus takes, `WIDER`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

SHAPES = {
    # Attention: positions, heads and features; 'h' is float16, 'g' has eight heads.
    "q": ((2, 64, 4, 32), "bfloat16"),
    "k": ((2, 32, 4, 32), "bfloat16"),
    "g": ((2, 64, 8, 32), "bfloat16"),
    "o": ((2, 33, 4, 32), "bfloat16"),
    "s": ((64, 4, 32), "bfloat16"),
    "h": ((2, 64, 4, 128), "float16"),
    "w": ((2, 64, 4, 136), "bfloat16"),
    "r": ((2, 64, 4, 12), "bfloat16"),
    "f": ((2, 64, 4, 32), "float32"),
    "Q": ((3, 2, 64, 4, 32), "bfloat16"),
    "B": ((2, 4, 64, 64), "bfloat16"),
    "C": ((1, 4, 64, 64), "bfloat16"),
    "D": ((3, 2, 4, 64, 64), "bfloat16"),
    "H": ((2, 1, 64, 64), "float16"),
    "V": ((1, 1, 1, 64), "bfloat16"),
    "M": ((2, 1, 64, 64), "bool"),
    "N": ((1, 4, 64, 64), "bool"),
    "O": ((64, 64), "bool"),
    "P": ((2, 1, 1, 64), "bool"),
    "l": ((2,), "int32"),
    "m": ((2,), "int32"),
    "L": ((3, 2), "int32"),
    # Blocks with scales: numbers and scales of 'mxfp8' and 'nvfp4', and others.
    "a": ((3, 96, 64), "float8_e4m3fn"),
    "b": ((3, 32, 64), "float8_e4m3fn"),
    "c": ((3, 96, 2), "float8_e8m0fnu"),
    "d": ((3, 32, 2), "float8_e8m0fnu"),
    "A": ((3, 96, 64), "float4_e2m1fn"),
    "E": ((3, 96, 4), "float8_e4m3fn"),
    "F": ((3, 32, 64), "float4_e2m1fn"),
    "G": ((3, 32, 4), "float8_e4m3fn"),
    "S": ((2, 3, 96, 64), "float8_e4m3fn"),
    "T": ((2, 3, 96, 2), "float8_e8m0fnu"),
    "x": ((96, 64), "float32"),
    "y": ((128, 64), "float32"),
    "z": ((96, 64), "bfloat16"),
    "u": ((128, 64), "bfloat16"),
    "X": ((2, 96, 64), "float32"),
    "Y": ((2, 128, 64), "float32"),
}

_ATTENTION = """
att(q, q, q)|att(h, h, h)|att(g, q, q)|att(q, k, k)|att(s, s, s)|att(o, o, o)
att(w, w, w)|att(r, r, r)|att(f, f, f)|att(q, q, q, scale=0.3)
att(q, q, q, is_causal=True)|att(q, k, k, is_causal=True)
att(q, q, q, B)|att(q, q, q, C)|att(h, h, h, H)|att(s, s, s, C)|att(q, q, q, V)
att(q, q, q, mask=M)|att(q, q, q, mask=N)|att(h, h, h, mask=M)|att(q, q, q, mask=O)
att(q, q, q, mask=P)|att(q, q, q, B, N)|att(q, q, q, C, M)|att(q, q, q, B, M)
att(q, q, q, mask=M, is_causal=True)
att(q, q, q, query_seq_lengths=l)|att(q, q, q, key_value_seq_lengths=l)
att(q, k, k, query_seq_lengths=l, key_value_seq_lengths=m)
att(q, q, q, key_value_seq_lengths=l, is_causal=True)
att(q, q, q, B, query_seq_lengths=l)|att(q, q, q, mask=M, key_value_seq_lengths=l)
att(q, q, q, local_window_size=8)|att(q, q, q, local_window_size=(8, 2))
att(q, q, q, local_window_size=8, is_causal=True)
att(q, q, q, local_window_size=(8, 0))|att(q, q, q, local_window_size=(0, 0))
att(q, q, q, local_window_size=(8, 0), is_causal=True)
att(q, q, q, local_window_size=(8, 0), key_value_seq_lengths=l)
att(q, q, q, return_residual=True)|att(g, q, q, B[:, :1], return_residual=True)
att(s, s, s, return_residual=True)
slopes(att)(q, q, q)|slopes(att)(h, h, h)|slopes(att)(g, q, q)|slopes(att)(q, k, k)
slopes(att)(o, o, o)|slopes(att, 4)(q, q, q, B)|slopes(att, 4)(q, q, q, C)
slopes(att)(q, q, q, B)|slopes(lambda *o: att(*o, is_causal=True))(q, q, q)
slopes(lambda *o: att(*o, mask=M))(q, q, q)
slopes(lambda *o: att(*o, N), 4)(q, q, q, B)
slopes(lambda *o: att(*o, query_seq_lengths=l, key_value_seq_lengths=m))(q, q, q)
slopes(lambda *o: att(*o, key_value_seq_lengths=l, is_causal=True))(q, q, q)
slopes(lambda *o: att(*o, local_window_size=4, is_causal=True))(q, q, q)
slopes(lambda *o: att(*o, return_residual=True)[0])(q, q, q)
slopes(att)(s, s, s)
vmap(att)(Q, Q, Q)|vmap(att, (0, None, None))(Q, q, q)|vmap(att)(q, q, q)
vmap(att, (0, 0, 0, None))(Q, Q, Q, B)|vmap(att, (0, 0, 0, None))(Q, Q, Q, C)
vmap(att)(Q, Q, Q, D)|vmap(att)(Q, Q, Q, D[:, :1])
vmap(att, (2, 0, 0))(Q.transpose(1, 2, 0, 3, 4), Q, Q)
vmap(lambda *o: att(*o[:3], key_value_seq_lengths=o[3]))(Q, Q, Q, L)
vmap(slopes(att))(Q, Q, Q)|vmap(slopes(att, 4), (0, 0, 0, None))(Q, Q, Q, C)
vmap(slopes(att), (0, None, None))(Q, q, q)
vmap(vmap(att))(Q, Q, Q)
"""

_SCALED = """
scaled(a, b, c, d)|scaled(a, b, c, d, 'bfloat16')|scaled(a, b, c, d, 'float16')
scaled(A, F, E, G)|scaled(a, a, c, c)
scaled(x[None], y[None], x[None, :, ::4], y[None, :, ::4])
scaled(x[None], y[None], x[None], y[None])|scaled(a, F, c, G)
scaled(a[:0], b[:0], c[:0], d[:0])|scaled(a[:, :0], b, c[:, :0], d)
vmap(scaled)(S, S, T, T)|vmap(scaled, (0, None, 0, None))(S, b, T, d)
vmap(scaled, (0, None, None, None))(S, b, c, d)
vmap(scaled, (None, 0, None, 0))(b, S, d, T)
quantized('mxfp8')(x, y)|quantized('mxfp4')(x, y)|quantized('nvfp4')(x, y)
quantized('mxfp8', 'bfloat16')(z, u)|quantized('nvfp4', 'bfloat16')(z, u)
quantized('mxfp4', 'float16')(x, y)
slopes(quantized('mxfp8'), 2)(x, y)|slopes(quantized('mxfp4'), 2)(x, y)
slopes(quantized('nvfp4'), 2)(x, y)|slopes(quantized('mxfp8', 'bfloat16'), 2)(z, u)
vmap(quantized('mxfp8'))(X, Y)|vmap(quantized('mxfp8'), (0, None))(X, y)
vmap(slopes(quantized('mxfp8'), 2))(X, Y)
"""


def _lines(text: str) -> list[str]:
    return [c for line in text.strip().splitlines() for c in line.split("|")]


CALLS = [*_lines(_ATTENTION), *_lines(_SCALED)]

_CAUSAL = "a window without keys to the right is causal, which JAX does not write"
DIFFERENT = {
    "att(q, q, q, local_window_size=(8, 0))": _CAUSAL,
    "att(q, q, q, local_window_size=(0, 0))": _CAUSAL,
    "att(q, q, q, local_window_size=(8, 0), key_value_seq_lengths=l)": _CAUSAL,
    "scaled(a[:0], b[:0], c[:0], d[:0])": "nothing is called where nothing is computed",
    "scaled(a[:, :0], b, c[:, :0], d)": "nothing is called where nothing is computed",
    "vmap(scaled, (0, None, 0, None))(S, b, T, d)": "mapped rows are more rows",
    "vmap(scaled, (0, None, None, None))(S, b, c, d)": "mapped rows are more rows",
    "vmap(scaled, (None, 0, None, 0))(b, S, d, T)": "mapped rows are more rows",
    "vmap(quantized('mxfp8'), (0, None))(X, y)": "mapped rows are more rows",
    "vmap(slopes(quantized('mxfp8'), 2))(X, Y)": "the cotangent is not mapped",
}
WIDER = {
    "att(q, q, q, V)": "a bias is repeated along positions",
    "att(q, q, q, mask=P)": "a mask is repeated along positions",
    "vmap(att)(Q, Q, Q, D[:, :1])": "the bias of all the batch is repeated",
    "vmap(att, (2, 0, 0))(Q.transpose(1, 2, 0, 3, 4), Q, Q)": "any axis is mapped",
    "scaled(a, F, c, G)": "the sides may have blocks of different sizes",
}


def names_for(library: Any) -> dict[str, Any]:
    """What the calls name, of a library: functions, and how derivatives are taken."""
    nn, jnp = library.nn, library.numpy

    def att(*operands: Any, **options: Any) -> Any:
        return nn.dot_product_attention(*operands, **options, implementation="cudnn")

    def quantized(mode: str, dtype: str = "float32") -> Any:
        configs = [nn.get_scaled_dot_general_config(mode)] * 3
        axes = (((1,), (1,)), ((), ()))
        return lambda x, y: nn.scaled_dot_general(
            x, y, axes, configs=configs, preferred_element_type=jnp.dtype(dtype)
        )

    def slopes(function: Any, count: int = 3) -> Any:
        def total(*operands: Any) -> Any:
            return function(*operands).astype("float32").sum()

        return library.grad(total, tuple(range(count)))

    return {
        "att": att,
        "scaled": nn.scaled_matmul,
        "quantized": quantized,
        "slopes": slopes,
        "vmap": library.vmap,
    }


def library_calls(module: str) -> list[dict[str, Any]]:
    """The calls in a module, in order: all that the compiler is told of each."""
    lines = [x for x in module.splitlines() if "custom_call @__" in x]
    return [_describe(line) for line in lines]


def _describe(line: str) -> dict[str, Any]:
    target = re.search(r"custom_call\s*@([\w$.]+)", line)
    config = re.search(r' backend_config = "((?:[^"\\]|\\..)*)"', line)
    kinds = line.rpartition(" : ")[2]
    orders = [
        re.findall(r"dense<(\[[^>]*\]|\d+)>", part)
        for part in re.findall(r"_layouts = \[((?:dense<[^>]*>[^,\]]*,? ?)*)\]", line)
    ]
    return {
        "target": target[1],
        "config": json.loads(config[1].replace("\\22", '"')),
        "types": kinds.strip(),
        "layouts": orders,
    }


def struct_arguments(call: str, struct: Any, dtypes: Any) -> tuple[Sequence[str], Any]:
    """The names of a call's arrays, and their shapes and dtypes."""
    used = sorted(set(re.findall(r"\b[a-zA-Z]\b", call)) & set(SHAPES))
    return used, [
        struct(shape, getattr(dtypes, "bool_" if dtype == "bool" else dtype))
        for shape, dtype in (SHAPES[name] for name in used)
    ]


REFUSED = "refused"


def record(
    library: Any, lower: Any, describe: Any = library_calls
) -> Mapping[str, Any]:
    """For each call what it lowers to for CUDA, or that it is refused."""
    rows: dict[str, Any] = {}
    names = names_for(library)
    for call in CALLS:
        used, arguments = struct_arguments(
            call, library.ShapeDtypeStruct, library.numpy
        )
        function = eval(f"lambda {', '.join(used)}: {call}", dict(names))
        try:
            text = lower(function, arguments)
        except (NotImplementedError, ValueError, TypeError) as error:
            rows[call] = f"{REFUSED}: {type(error).__name__}"
        else:
            rows[call] = describe(text)
    return rows
