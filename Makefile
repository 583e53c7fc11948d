# Every command of the project. Only Python >= 3.11 with venv and pip is needed.
.PHONY: help demo test quick newest beside lint docs bench clean

help:
	@echo "make demo    train a classifier and show its programs"
	@echo "make quick   the tests that take under two minutes"
	@echo "make test    all tests, on the oldest and the newest jaxlib"
	@echo "make lint    format, lint, imports, types, sizes, names"
	@echo "make docs    the documentation, into docs/_build"
	@echo "make bench   the speed budgets"

test:
	tools/test all

quick:
	tools/test quick

newest:
	tools/test newest

beside:
	tools/test beside

lint:
	tools/check

demo bench docs:
	tools/$@

clean:
	rm -rf .venv .venv-new .venv-jax .venv-jax-new .venv-lint .venv-docs build docs/_build
