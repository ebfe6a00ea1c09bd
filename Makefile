# Two commands do everything on a fresh Debian or Ubuntu: `make bench` and `make test`.
SHELL := /bin/bash
VENV := .venv
PYTHON := $(VENV)/bin/python
STAMP := $(VENV)/.installed
# Boards and models of the main job; e.g. make bench BOARDS=mps3-an547 MODELS="ds_cnn resnet8" SCHEMES="int8 fp32"
BOARDS ?= emulated
MODELS ?= digits_cnn ds_cnn resnet8 mobilenet_v1_025 autoencoder linear
SCHEMES ?= int8
CXX_SOURCES = $(shell git ls-files '*.cpp' '*.hpp')

.PHONY: browser fuzzer fuzz nightly bench-nightly sanitize test-flips test-kills bench bench-kernels bench-size bench-flash bench-estimate bench-cost test check setup system format clean help

help: ## Say what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

bench: setup ## Set up what is missing, then run every model on every emulated board
	@$(PYTHON) -m pytest $(addprefix --board=,$(BOARDS)) $(addprefix --model=,$(MODELS)) $(addprefix --scheme=,$(SCHEMES))

bench-kernels: setup ## Count the instructions of every kernel at the shapes that models have
	@$(PYTHON) -m benchmarks.kernels

bench-flash: setup ## Time a run on a simulated device by what changed; FLASH=--device=NAME: on yours
	@$(PYTHON) -m benchmarks.flash $(FLASH)

bench-size: setup ## Compare images, memory, loading and instructions with upstream's own runtime, and what rewriting a .pte saves
	@$(PYTHON) -m benchmarks.size
	@$(PYTHON) -m bench.rewrite tests/data/upstream/*.pte

# What keeps time, the simulated devices, has the machine for itself; the rest shares its cores.
test: browser fuzzer setup ## Set up what is missing, then run every test
	@$(PYTHON) -m pytest -q --durations=10 --numprocesses=2 --dist=loadfile --ignore=tests/probe; shared=$$?; \
	$(PYTHON) -m pytest -q --durations=10 tests/probe && exit $$shared

bench-estimate: setup ## Show how far off estimated cycles are: the tables against manuals and real parts
	@$(PYTHON) -m bench.estimate
	@$(PYTHON) benchmarks/estimate_ratios.py

bench-cost: setup ## What measuring costs: instructions that windows add, wall time with and without the plugin
	@$(PYTHON) -m benchmarks.measuring_cost

check: setup ## Format, lint, types, layers, unit and contract tests, host runtime tests
	@$(VENV)/bin/ruff format --check --quiet . || { echo "run 'make format'"; exit 1; }
	@$(VENV)/bin/ruff check --quiet .
	@$(VENV)/bin/clang-format --dry-run --Werror $(CXX_SOURCES)
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports --no-logo
	@$(PYTHON) -m pytest -q tests/unit tests/contract tests/runtime
	@echo "check: all good"

nightly: setup ## Run the matrix and say what got worse; e.g. make nightly NIGHTLY="--policy=examples/nightly.toml --budget=2h"
	@$(VENV)/bin/bench nightly $(NIGHTLY)

bench-nightly: setup ## The figures of the change-point test: a seeded history, 1,000 nights of noise
	@$(PYTHON) -m tests.decide.history

fuzz: fuzzer setup ## Ten million changed programs for the runtime, under sanitizers: half an hour; e.g. make fuzz FUZZ="1000000 7"
	@$(PYTHON) -m tests.fuzz $(FUZZ)

sanitize: setup ## The host tests of runtime and kernels, under AddressSanitizer and UBSan
	@$(PYTHON) -m pytest -q tests/runtime tests/kernels

test-flips: setup ## Invert 109 bytes of each program in turn, load and run what comes of it
	@BENCH_FLIPS=all $(PYTHON) -m pytest -q -rP tests/runtime/test_damage.py -k inverted

test-kills: setup ## Kill a recording process 200 times: nothing damaged, nothing lost
	@BENCH_KILLS=200 $(PYTHON) -m pytest -q tests/decide/test_robust.py

format: setup ## Format Python and C++
	@$(VENV)/bin/ruff format --quiet .
	@$(VENV)/bin/ruff check --quiet --fix --exit-zero .
	@$(VENV)/bin/clang-format -i $(CXX_SOURCES)

setup: system $(STAMP) ## Install system packages (apt) and the Python environment; does nothing the second time

system:
	@tools/system_packages.sh

browser: # what the report is tested in
	@tools/system_packages.sh --browser

fuzzer: # clang, whose libFuzzer has no counterpart in GCC
	@tools/system_packages.sh --fuzzer

$(STAMP): pyproject.toml constraints.txt
	@echo "setup: Python environment in $(VENV) (torch and executorch: the first time takes a minute or more)"
	@test -x $(PYTHON) || python3 -m venv $(VENV)
	@set -o pipefail; $(PYTHON) -m pip install --disable-pip-version-check --constraint constraints.txt --editable '.[dev]' \
	  | sed -un -E 's/^ *(Downloading|Installing|Successfully) (.{0,100}).*/  \1 \2/p'
	@$(PYTHON) -m bench.schema
	@touch $@
	@echo "setup: done"

clean: ## Remove what can be made again (not records, not .venv)
	@rm -rf build .mypy_cache .ruff_cache .pytest_cache .hypothesis
