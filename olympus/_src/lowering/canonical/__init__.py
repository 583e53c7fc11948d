"""The text of a module as MLIR prints it, made from the text that olympus writes.

MLIR's own printer needs its parser, and both take several times as long as lowering
([decision 49](../../../../docs/decisions/049-canonical-text.md)).
"""
