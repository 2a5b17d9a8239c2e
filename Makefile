# The same commands for people and for continuous integration. Nothing is assumed but Python >= 3.11 and make.

VENV   ?= .venv
DATA   ?=
PYTEST ?=

PY      := $(VENV)/bin/python
RUNTIME := $(VENV)/runtime.installed
TOOLS   := $(VENV)/tools.installed
PIP     := $(PY) -m pip --disable-pip-version-check --quiet

# PYTHON=... chooses an interpreter; otherwise the first of these that is new enough and can make environments.
PYTHON ?=
CANDIDATES := $(if $(PYTHON),$(PYTHON),python3 python python3.13 python3.12 python3.11 python3.14)
SUITABLE   := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))

.DEFAULT_GOAL := help
.PHONY: help demo test lint format bench clean

help:
	@echo "make demo               a conversation and documents become linked memory, offline (DATA=<locomo10.json> for real input)"
	@echo "make test               lint, types, layers and all tests (PYTEST='-k name' to choose)"
	@echo "make lint | format      check the code | rewrite it in shape"
	@echo "make bench              measure the index and the dream"
	@echo "make clean              remove what the other targets made"

demo: $(RUNTIME)
	$(PY) examples/demo.py $(if $(DATA),--data "$(DATA)") $(if $(CONVERSATION),--conversation "$(CONVERSATION)") $(if $(KEEP),--keep)

test: lint
	$(PY) -m pytest $(PYTEST)

lint: $(TOOLS)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports

format: $(TOOLS)
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

bench: $(TOOLS)
	$(PY) benchmarks/index.py
	$(PY) benchmarks/dream.py

clean:
	rm -rf $(VENV) demo-workspace build dist .langgraph_api .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(PY):
	@for python in $(CANDIDATES); do \
	  if "$$python" -c "$(SUITABLE)" >/dev/null 2>&1; then \
	    echo "making $(VENV) with $$python"; exec "$$python" -m venv "$(VENV)"; \
	  fi; \
	done; echo "no Python >= 3.11 with venv among: $(CANDIDATES) (set PYTHON=...)" >&2; exit 1

$(RUNTIME): pyproject.toml constraints.txt | $(PY)
	$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(TOOLS): pyproject.toml constraints.txt | $(PY)
	$(PIP) install --constraint constraints.txt --editable '.[test]'
	@touch $(RUNTIME) $@
