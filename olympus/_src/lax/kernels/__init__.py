"""Other forms of operations, chosen where XLA's own kernels on the CPU are slow
or wrong.
"""
