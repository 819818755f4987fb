PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt

unexport PYTHONDONTWRITEBYTECODE  # or each process that a test starts compiles our modules anew

PARALLEL := -n auto --maxprocesses 4 --dist loadgroup

EXPERTS := .venv-experts
EXPERTS_PIP := $(EXPERTS)/bin/python -m pip install -q --disable-pip-version-check --no-compile -c constraints-experts.txt

LMMS := .venv-lmms
LMMS_PIP := $(LMMS)/bin/python -m pip install -q --disable-pip-version-check
VLMEVAL := .venv-vlmevalkit

LMMS_PINS := lmms-eval==0.7.3 torch==2.13.0 datasets==5.2.0

TRAINING := .venv-training
TRAINING_PINS := torch==2.13.0 trl==1.13.0 transformers==5.18.0 datasets==5.0.1
FACTORY := .venv-llamafactory
FACTORY_PIP := $(FACTORY)/bin/python -m pip install -q --disable-pip-version-check --no-compile

.PHONY: demo test test-long check test-experts accept-upstream accept-lmms accept-vlmevalkit accept-training trust gates calibrate site clean

demo: $(VENV)/.installed  ## annotate our own clip (or VIDEO=path FLAGS=--upright) into demo/NAME, and say where to look
	$(if $(VIDEO),$(BIN)/spatial-engine run "$(VIDEO)" -o demo/"$$(basename "$(VIDEO)")" $(FLAGS),$(BIN)/python -m examples.demo)
	@echo "to call the command by its name: . $(BIN)/activate   (or, for every folder: pipx install .   or: uv tool install .)"

test: $(VENV)/.installed  ## everything but style: seven minutes on two cores
	$(BIN)/python -m pytest $(PARALLEL)

check: $(VENV)/.check  ## style, types, floors, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest $(PARALLEL)

test-long: $(VENV)/.installed  ## what takes longer; goes on where it was stopped; SAMPLE=1: a fixed part
	$(BIN)/python -m pytest $(PARALLEL) --long $(if $(SAMPLE),sample,all)

test-experts: $(EXPERTS)/.installed  ## the real code of the models that a package index has, random weights, CPU
	$(EXPERTS)/bin/python -m pytest tests/upstream

accept-upstream: $(EXPERTS)/.installed  ## ... and of those that are checkouts only: UPSTREAM=folder that holds them
	@[ -n "$(UPSTREAM)" ] && ls -d "$(UPSTREAM)"/*/ >/dev/null 2>&1 || sed -n 's/^    //p' tests/accept/README.md
	SPATIAL_ENGINE_UPSTREAM="$(abspath $(UPSTREAM))" $(EXPERTS)/bin/python -m pytest -rs tests/accept

accept-lmms: $(VENV)/.installed $(LMMS)/.installed  ## the real lmms-eval on our exported task: 2.5 GB, ten minutes the first time
	SPATIAL_ENGINE_LMMS="$(abspath $(LMMS))" $(BIN)/python -m pytest -rs -s tests/accept_lmms

accept-vlmevalkit: $(VENV)/.installed $(VLMEVAL)/.installed  ## scores compared with those of a checkout: VLMEVALKIT=folder
	@[ -d "$(VLMEVALKIT)/vlmeval" ] || sed -n 's/^    //p' tests/accept_vlmevalkit/README.md
	SPATIAL_ENGINE_VLMEVALKIT="$(if $(VLMEVALKIT),$(abspath $(VLMEVALKIT)))" SPATIAL_ENGINE_VLMEVALKIT_PYTHON="$(abspath $(VLMEVAL))/bin/python" $(BIN)/python -m pytest -rs -s tests/accept_vlmevalkit

accept-training: $(TRAINING)/.installed $(FACTORY)/.installed  ## trainers on our exports, tiny model, CPU: LLAVA=, LLAVA_NEXT=folders
	@[ -d "$(LLAVA)/llava" ] && [ -d "$(LLAVA_NEXT)/llava" ] || sed -n 's/^    //p' tests/accept_training/README.md
	SPATIAL_ENGINE_LLAVA="$(if $(LLAVA),$(abspath $(LLAVA)))" SPATIAL_ENGINE_LLAVA_NEXT="$(if $(LLAVA_NEXT),$(abspath $(LLAVA_NEXT)))" SPATIAL_ENGINE_LLAMAFACTORY="$(abspath $(FACTORY))" $(TRAINING)/bin/python -m pytest -W default -rs -s tests/accept_training

trust: $(VENV)/.installed  ## labels held against truth, into docs/trust.md: three hours on two cores, goes on where it was; QUICK=1: 3 minutes, no table
	$(BIN)/python -m benchmarks.trust "$(or $(OUT),trust$(if $(QUICK),/quick))" $(if $(QUICK),--quick,--date "$(or $(DATE),$$(date -u +%F))")

calibrate: $(VENV)/.installed  ## maps of sigma, fitted on the real sets and on rooms, and their table in docs/sigma_calibration.md: fifteen minutes
	$(BIN)/python -m benchmarks.trust.calibrate "$(or $(OUT),trust/calibrate)"

gates: $(VENV)/.installed  ## every gate turned off by itself, into docs/gates.md: after trust, some hours, goes on where it was; QUICK=1: no table
	$(BIN)/python -m benchmarks.trust.ablation "$(or $(OUT),trust$(if $(QUICK),/quick))" $(if $(QUICK),--quick)

site: $(VENV)/.docs  ## the pages of docs/ as a site, every link checked, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict -q

clean:  ## forget the environment and all results
	rm -rf $(VENV) $(EXPERTS) $(LMMS) $(VLMEVAL) $(TRAINING) $(FACTORY) demo every_leaf trust site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/bin/python $(EXPERTS)/bin/python $(LMMS)/bin/python $(VLMEVAL)/bin/python $(TRAINING)/bin/python $(FACTORY)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "python 3.11 or newer is needed: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(@:/bin/python=) || { echo "the venv module is missing; on Debian and Ubuntu: apt install python3-venv"; exit 1; }

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e ".[test]"
	@touch $@

# The models' packages: those of the index only. Without dependencies where requirements-experts.txt says why.
$(EXPERTS)/.installed: pyproject.toml constraints.txt constraints-experts.txt | $(EXPERTS)/bin/python
	$(EXPERTS_PIP) -c constraints.txt -e ".[test,experts]"
	$(EXPERTS_PIP) --no-deps depth-anything-3
	@touch $@

# torch first, or its largest build comes. torchvision off again: the wheel that pip picks does not fit a CPU's torch.
$(LMMS)/.installed: | $(LMMS)/bin/python
	$(LMMS_PIP) torch==2.13.0
	$(LMMS_PIP) $(LMMS_PINS) jaxtyping
	$(LMMS)/bin/python -m pip uninstall -q -y torchvision
	@touch $@

# What the scoring code of VLMEvalKit imports; its models are not needed.
$(VLMEVAL)/.installed: | $(VLMEVAL)/bin/python
	$(VLMEVAL)/bin/python -m pip install -q --disable-pip-version-check pandas==3.1.1 num2words==0.5.14
	@touch $@

# Our reward runs inside TRL's process: both in one environment, with TRL's own choice of other versions.
$(TRAINING)/.installed: pyproject.toml | $(TRAINING)/bin/python
	$(TRAINING)/bin/python -m pip install -q --disable-pip-version-check --no-compile -e ".[test]" $(TRAINING_PINS)
	@touch $@

# torchvision and torchaudio off again: the wheels that pip picks do not fit a CPU's torch, and the test does without.
$(FACTORY)/.installed: | $(FACTORY)/bin/python
	$(FACTORY_PIP) torch==2.13.0
	$(FACTORY_PIP) torch==2.13.0 llamafactory==0.9.5
	$(FACTORY)/bin/python -m pip uninstall -q -y torchvision torchaudio
	@touch $@

$(VENV)/.docs: $(VENV)/.installed
	$(PIP) -e ".[test,docs]"
	@touch $@

$(VENV)/.check: $(VENV)/.installed
	$(PIP) -e ".[test,check]"
	@touch $@
