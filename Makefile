# `make` lists the targets. Each makes .venv and installs what it needs if that is
# missing; the stamps in .venv/stamps remember what is there.

PYTHON ?= python3
BENCHMARKS ?= conll2000_crf conll2000_margin encoding mnist_multiclass ner_dual qp table1_ner_pos tagging_speed
RESULTS ?= build/benchmarks
MINUTES ?= 10
SOAK_MINUTES ?= 60
# `dummy` checks everything and writes nothing: most of the time goes into the pages'
# lists of all other pages.
BUILDER ?= html
FAST := architecture bad_input batch_solvers chain columns curvature_memory \
	attachment data_formats drawing dual_coordinate feature_dicts gibbs_scores guaranteed_steps \
	line_search loop losses metrics mira model_file multiclass pairing perceptron rows \
	solver_memory stochastic_dual templates trace treebank trees vectors working_sets

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
# Modules are compiled when they are first imported: most never are.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --no-compile \
	--disable-pip-version-check
# uv takes a sixth of pip's time. It does not read pip's settings: where they name an
# index that is needed, pip installs, and says what is wrong if something is.
INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python \
	--editable '.$(EXTRAS)' 2>/dev/null || $(PIP_INSTALL) --editable '.$(EXTRAS)'

# Without files of compiled modules every program that a test starts would compile all
# it imports anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Two installations at a time would damage each other.
.NOTPARALLEL:
.PHONY: help demo test test-thorough test-fast test-checked fuzz soak matrix lint docs wheel \
	bench-quick clean distclean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' \
		$(MAKEFILE_LIST)

demo: $(STAMPS)/base ## Train on a generated corpus and show the result
	$(BIN)/partwise demo

# The tests come last, so that their summary is the last thing on the screen.
test: $(STAMPS)/check ## Run everything: lint, documentation, all tests
	$(MAKE) --no-print-directory docs BUILDER=dummy & docs=$$!; \
		$(MAKE) --no-print-directory lint; lint=$$?; wait $$docs && exit $$lint
	$(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder

# Nightly: matrices of solvers, structures and losses whole, and more damaged files.
test-thorough: $(STAMPS)/check ## Run all tests in all combinations
	PARTWISE_THOROUGH=1 $(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder

# Without compiling, structures and solvers are quick to test on tiny problems.
test-fast: $(STAMPS)/test ## Run the quick tests (under a minute), for daily work
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -x -q -n 2 --dist loadfile \
		-m "not slow and not bench" $(foreach name,$(FAST),$(wildcard tests/test_$(name).py tests/*/test_$(name).py tests/*/*/test_$(name).py))

# Nightly: an index out of range raises instead of reading whatever is there. Tests that
# run kernels as plain Python have that from Python, every time.
test-checked: $(STAMPS)/test ## Run the laws with kernels that check their indices
	PARTWISE_CHECKED=1 $(BIN)/python -m pytest -q -n 2 --dist loadscope \
		-m "not slow and not bench" tests/structures tests/solvers tests/features \
		tests/losses tests/estimators tests/fuzz

fuzz: $(STAMPS)/fuzz ## Run all fuzzers (make fuzz MINUTES=10)
	$(BIN)/python -m fuzz --minutes $(MINUTES)

soak: $(STAMPS)/base ## Train, kill, resume, save and load for long (SOAK_MINUTES=60)
	$(BIN)/python -m fuzz.soak --minutes $(SOAK_MINUTES)

matrix: $(STAMPS)/matrix ## Test with all versions of Python that are installed
	$(BIN)/nox

lint: $(STAMPS)/lint ## Check style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(STAMPS)/docs ## Build the documentation, warnings as errors
	$(BIN)/sphinx-build -q -W --keep-going -b $(BUILDER) docs docs/_build/$(BUILDER)

wheel: $(STAMPS)/base ## Build a wheel with compiled kernels for this platform
	$(BIN)/python tools/build_wheel.py --out dist

bench-quick: $(STAMPS)/bench ## Run small versions of the benchmarks
	set -e; for name in $(BENCHMARKS); do \
		$(BIN)/python -m benchmarks run $$name --quick --out $(RESULTS); \
	done

clean: ## Remove what builds, tests and tools left behind
	rm -rf build dist docs/_build docs/generated
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src tests docs benchmarks -name __pycache__ -type d -prune \
		-exec rm -rf {} + 2>/dev/null || true

distclean: clean ## Remove the virtual environment as well
	rm -rf $(VENV)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Partwise needs Python 3.11 or newer; $(PYTHON) is older or missing." \
			"Try: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	-@$(PIP_INSTALL) uv 2>/dev/null

# One installation serves several stamps: `check` is what `make test` needs.
$(STAMPS)/base: EXTRAS :=
$(STAMPS)/base: pyproject.toml | $(BIN)/python
	@echo 'Installing partwise$(EXTRAS) and what it needs into $(VENV)'; $(INSTALL)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/check: EXTRAS := [test,lint,docs]
$(STAMPS)/check: pyproject.toml | $(BIN)/python
	@echo 'Installing partwise$(EXTRAS) and what it needs into $(VENV)'; $(INSTALL)
	@mkdir -p $(STAMPS) && cd $(STAMPS) && touch base test lint docs check

$(STAMPS)/%: EXTRAS = [$*]
$(STAMPS)/%: pyproject.toml | $(BIN)/python
	@echo 'Installing partwise$(EXTRAS) and what it needs into $(VENV)'; $(INSTALL)
	@mkdir -p $(STAMPS) && cd $(STAMPS) && touch base $*
