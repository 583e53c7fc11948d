# Every command of the project. Only Python >= 3.11 with venv and pip is needed.
.PHONY: help demo test quick newest releases beside full lint docs bench ecosystem gpu-compile sanitize gpu clean

help:
	@echo "make demo    train a classifier and show its programs"
	@echo "make quick   a part of the tests, in under two minutes"
	@echo "make test    all tests, on the oldest and the newest jaxlib, a part of long lists"
	@echo "make full    every case of every list; takes hours"
	@echo "make lint    format, lint, imports, types, sizes, names, words"
	@echo "make docs    the documentation, into docs/_build"
	@echo "make bench   the speed budgets; AGAINST=REF compares with another commit"
	@echo "make sanitize    tests of the part in C with gcc's sanitizers"
	@echo "make gpu     the tests on an NVIDIA GPU that is here"
	@echo "make gpu-compile compile for an NVIDIA GPU that is not here"
	@echo "make ecosystem   libraries written for JAX, compared with JAX"

test:
	tools/test all

quick:
	tools/test quick

newest:
	tools/test newest

releases:
	tools/test releases

beside:
	tools/test beside

full:
	tools/test full

lint:
	tools/check

demo docs:
	tools/$@

# AGAINST=REF compares with another commit; GROUPS=quick takes a set of two minutes.
bench:
	tools/bench $(if $(AGAINST),--against $(AGAINST)) $(if $(GROUPS),--groups $(GROUPS))

# In an environment of its own, with the versions of tests/ecosystem/requirements.txt.
ecosystem:
	tools/test ecosystem

# Needs a GPU; OLYMPUS_TEST_PYTHON names an interpreter that has all packages.
gpu:
	tools/test gpu

# In an environment of its own with CUDA's compiler, 1.6 GB; no GPU is needed.
gpu-compile:
	tools/test gpu-compile

# Needs gcc, and .venv from the tests.
sanitize:
	tools/sanitize

clean:
	rm -rf .venv .venv-new .venv-tour-* .venv-jax .venv-jax-new .venv-lint .venv-docs .venv-ecosystem .venv-gpu .venv-on-gpu build docs/_build
