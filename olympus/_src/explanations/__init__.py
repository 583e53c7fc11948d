"""Why programs are traced and compiled again.

`snapshots`, `records` and `operations` note what was called, next to the caches, and
are all that runs where nobody asks. The other files compare, word and add up these
notes, and are loaded when somebody does.
"""
