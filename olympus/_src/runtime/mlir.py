from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo, chlo
from jaxlib.mlir._mlir_libs import _jax_mlir_ext as ext
def canonical_text(t,debug_info=False):
    reg=ir.DialectRegistry(); ext.register_dialects(reg)
    with ir.Context() as c:
        stablehlo.register_dialect(c); chlo.register_dialect(c); c.append_dialect_registry(reg); c.load_all_available_dialects(); c.allow_unregistered_dialects=True
        return ir.Module.parse(t).operation.get_asm(enable_debug_info=debug_info)
