PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt

.PHONY: demo test check clean

demo: $(VENV)/.installed  ## annotate our own clip (or VIDEO=path FLAGS=--upright) into demo/NAME, and say where to look
	$(if $(VIDEO),$(BIN)/spatial-engine run "$(VIDEO)" -o demo/"$$(basename "$(VIDEO)")" $(FLAGS),$(BIN)/python -m examples.demo)

test: $(VENV)/.installed  ## everything but style: about ten minutes on two cores
	$(BIN)/python -m pytest

check: $(VENV)/.check  ## style, types, floors, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest

clean:  ## forget the environment and all results
	rm -rf $(VENV) demo .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "python 3.11 or newer is needed: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "the venv module is missing; on Debian and Ubuntu: apt install python3-venv"; exit 1; }
	$(PIP) -e ".[test]"
	@touch $@

$(VENV)/.check: $(VENV)/.installed
	$(PIP) -e ".[test,check]"
	@touch $@
