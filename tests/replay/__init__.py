"""Replay: the programs of another commit beside those of this tree.

For changes that move or rename things and must not change what they do. A fixed list of
functions is traced and lowered with both versions of the library; the printed programs
must be equal, but for the names of private functions, which are listed:

    python -m tests.replay --against COMMIT [--only numpy.median] [--show 3]

The list is this tree's, and uses public names only: the differential tables' functions
with their derivatives and batches, and programs by hand.
"""
