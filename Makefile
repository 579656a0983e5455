# The whole developer interface. `make` alone prints it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# uv installs in less than half of pip's time, but reads none of pip's settings: it is handed the index and the certificates,
# and where it cannot reach the index all the same, pip does the work. Compiled once here, as pip does, and not by each process.
# PySpark comes as source, and is packed before it is unpacked: compressing its jars again would take twelve seconds.
PIP_INSTALL := $(BIN)/pip --disable-pip-version-check install --quiet --require-hashes
INSTALL = SSL_CERT_FILE="$${SSL_CERT_FILE:-$$PIP_CERT}" UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-$${PIP_INDEX_URL:-$$($(BIN)/pip config get global.index-url 2>/dev/null)}}" \
  $(BIN)/uv pip install --python $(BIN)/python --quiet --require-hashes --compile-bytecode \
  --config-settings-package pyspark:--build-option=--compression=stored
FRONTEND_SOURCES := $(shell find frontend -path frontend/node_modules -prune -o -path frontend/dist -prune -o -type f -print 2>/dev/null)
TESTS ?= tests
ACTION ?= fill
# The pages are built while Python's packages are installed.
MAKEFLAGS += --jobs=3

.DEFAULT_GOAL := help
.PHONY: help up demo setup test apache lint format bench lock clean

help: ## print this
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16
	@printf '\nSettings, from the environment:\n'
	@PYTHONPATH=. $(PYTHON) -m gateway.up.settings

up: $(VENV)/.runtime $(VENV)/.native frontend/dist/index.html ## set everything up, run it, stop it with Ctrl-C
	@exec $(BIN)/python -m gateway.up

demo: $(VENV)/.runtime $(VENV)/.native ## give every page of a running Gantry something to show; ACTION=clean removes it
	@exec $(BIN)/python -m gateway.demo $(ACTION)

setup: $(VENV)/.dev $(VENV)/.native $(VENV)/.archive frontend/dist/index.html ## set up what `make test` and `make lint` need, and run nothing

test: setup ## pass every test; TESTS=path narrows it
	@$(BIN)/python -m tests $(TESTS)

apache: setup ## pass the compat tests in full against Apache RocketMQ, and record that
	@$(BIN)/python -m tests.compat.passed

lint: setup ## ruff, mypy strict, import contracts, eslint, tsc
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy .
	@$(BIN)/lint-imports
	@$(BIN)/python -m gateway.up.frontend lint

format: $(VENV)/.dev ## let ruff put the Python files in order
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .

bench: setup ## measure; prints ratios of one run
	@$(BIN)/python -m tests.benchmarks

lock: $(VENV)/.dev ## resolve requirements/*.in again, with hashes and without addresses
	@for name in tools runtime connect dev; do $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header requirements/$$name.in -o requirements/$$name.txt; done

clean: ## remove what was built; messages and other data stay
	rm -rf $(VENV) broker_core/native/*.so frontend/node_modules frontend/dist .mypy_cache .ruff_cache .hypothesis build *.egg-info

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit("Gantry needs Python 3.11 or later; this is %d.%d. Name another with PYTHON=…" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.tools: requirements/tools.txt | $(VENV)/.python
	@$(PIP_INSTALL) -r $<
	@touch $@

$(VENV)/.runtime: requirements/runtime.txt | $(VENV)/.tools
	@echo "Installing what Gantry needs to run (once)"
	@$(INSTALL) -r $< || $(PIP_INSTALL) -r $<
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.runtime
	@echo "Installing what it takes to test (once)"
	@$(INSTALL) -r $< || $(PIP_INSTALL) -r $<
	@touch $@

$(VENV)/.native: $(wildcard broker_core/native/src/*) broker_core/native/build.py | $(VENV)/.runtime
	@$(BIN)/python -m broker_core.native.build
	@touch $@

$(VENV)/.archive: requirements/runtime.txt broker_core/spark/archive.py | $(VENV)/.runtime $(VENV)/.native
	@echo "Recording which classes Spark needs, so that jobs start faster (once)"
	@$(BIN)/python -m broker_core.spark.archive > $(VENV)/archive.log 2>&1 || { cat $(VENV)/archive.log; exit 1; }
	@grep '^Spark will start slowly' $(VENV)/archive.log || true
	@touch $@

frontend/dist/index.html: $(FRONTEND_SOURCES) | $(VENV)/.tools
	@echo "Building the console's pages"
	@$(BIN)/python -m gateway.up.frontend build
	@touch $@
