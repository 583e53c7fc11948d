"""The language: dtypes, avals, primitives, traces, the olympuspr."""

from olympus._src.foundation.late_files import load_late

load_late(__name__, "checker printer program_equality provenance")
