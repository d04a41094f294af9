# `make` alone tells what there is. `make run` and `make test` do all their own set-up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOG := $(VENV)/install.log
ARGS ?=
WORKERS ?= 3

# Without it every process would compile our sources anew, which takes longer than most of them run.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup run up test test-all check docs reference bench chaos lock audit dist images-check assets browser

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: $(VENV)/.full ## everything into .venv; a browser too, if none is there and this machine allows it
	@$(BIN)/python -m crawler.adapters.browser.chromium --install || echo "Pages that need a browser will be stored as fetched."

run: $(VENV)/.base ## crawl URL=https://… (default: a small demo site) and show what was found; options in ARGS="…"
	@$(if $(URL),$(BIN)/crawler run "$$URL",$(BIN)/python -m crawler.demo) $(ARGS)

up: $(VENV)/.full ## service, workers, periodic work and Flower, until Ctrl-C
	@$(BIN)/crawler up $(ARGS)

PYTEST := -m pytest -n $(WORKERS) --durations 10
COVERED := COVERED_LINES=$(CURDIR)/.coverage-lines PYTHONPATH=$(CURDIR)/tests/covered/start

test: browser ## every rule against real servers, in minutes; some of them with ARGS="-k robots"
	@$(BIN)/python $(PYTEST) -m "not slow" $(ARGS)

test-all: browser ## those and the slow ones: whole stacks, kills, every browser case; with coverage
	@$(BIN)/python -m tests.covered begin
	@$(COVERED) $(BIN)/python $(PYTEST) --hypothesis-profile thorough $(ARGS)
	@$(BIN)/python -m tests.covered report

check: $(VENV)/.full ## style, types, import contract
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

docs: $(VENV)/.docs ## tutorial, how-to pages, reference and explanation as a site with search, in docs/_build/html
	@$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo "Built: docs/_build/html/index.html"

reference: $(VENV)/.full ## the tables in docs/reference, anew from the code
	@$(BIN)/python -m scripts.reference $(ARGS)

bench: browser ## measure, side by side with peers; one part with ARGS="--only polite"
	@$(BIN)/python -m benchmarks $(ARGS)

chaos: browser ## kill, freeze and cut everything during crawls, and compare with the truth; the longest tests before
	@$(if $(ARGS),,$(BIN)/python $(PYTEST) -m "long or hypothesis" --hypothesis-profile long)
	@$(BIN)/python -m tests.chaos $(ARGS)

lock: $(BIN)/python ## newest versions and their hashes into requirements/
	@$(BIN)/python -m pip install --quiet uv 2> $(LOG)
	@$(BIN)/python -m scripts.lock

audit: $(VENV)/.dist ## known weaknesses of the locked versions, where the data about them can be reached
	@$(BIN)/python -m scripts.audit

# What is delivered, without what only development needs.
DELIVERED := base notify render embed objects
CLEAN := $(VENV)/clean
# As pip, in a tenth of its time: CI does this, too.
UV := $(BIN)/python -m uv

dist: $(VENV)/.dist ## wheel and sdist in dist/, tried in a clean environment, with bill of materials and licences
	@rm -rf dist build $(CLEAN)
	@echo "Building, and trying it in $(CLEAN), which takes a minute (log: $(LOG)) …"
	@$(call logged,$(BIN)/python -m build --no-isolation --outdir dist,>)
	@$(call logged,$(UV) venv --python $(BIN)/python $(CLEAN),>>)
	@$(call logged,$(UV) pip install --python $(CLEAN) $(call locked,$(DELIVERED)),>>)
	@$(call logged,$(UV) pip install --python $(CLEAN) --no-deps --no-index --find-links dist crawl-watcher,>>)
	@$(BIN)/python -m scripts.try_install $(abspath $(CLEAN))/bin
	@env -u PYTHONPATH $(CLEAN)/bin/python scripts/licences.py > dist/licences.txt
	@$(call logged,$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
		--output-file dist/sbom.cdx.json $(CLEAN)/bin/python,>>)
	@rm -rf build $(CLEAN)
	@ls dist

images-check: $(VENV)/.full ## build the images, run docker-compose.yml, crawl with it; keep its work with ARGS="--keep DIR"
	@$(BIN)/python -m scripts.images_check $(ARGS)

assets: $(BIN)/python ## the dashboard's foreign files anew, from their npm packages (scripts/assets.json)
	@$(BIN)/python scripts/vendor_assets.py $(ARGS)

browser: $(VENV)/.full
	@$(BIN)/python -m crawler.adapters.browser.chromium --install

# pip can be very talkative: its output goes to a log, whose end is shown only when it fails.
logged = $(1) $(2) $(LOG) 2>&1 || { tail -n 20 $(LOG); echo "It failed; all of its output is in $(LOG)."; exit 1; } >&2

# Only files with the hashes we know, and no foreign code that runs to build them.
locked = --require-hashes --only-binary :all: $(foreach layer,$(1),-r requirements/$(layer).lock)
pip = python -m pip install --disable-pip-version-check $(locked)

define install
	@echo "Installing $(2) into $(VENV), which takes a minute or two (log: $(LOG)) …"
	@$(call logged,$(BIN)/$(call pip,$(1)),>)
	@$(call logged,$(BIN)/python -m pip install --disable-pip-version-check --no-deps --no-build-isolation -e .,>>)
endef

$(VENV)/.base: pyproject.toml requirements/base.lock | $(BIN)/python
	$(call install,base,what a crawl needs)
	@touch $@

$(VENV)/.full: pyproject.toml $(wildcard requirements/*.lock) | $(BIN)/python
	$(call install,base notify render embed objects dev,everything)
	@touch $(VENV)/.base $@

$(VENV)/.docs: pyproject.toml requirements/base.lock requirements/docs.lock | $(BIN)/python
	$(call install,base docs,what the docs need)
	@touch $(VENV)/.base $@

$(VENV)/.dist: pyproject.toml $(wildcard requirements/*.lock) | $(BIN)/python
	$(call install,base notify render embed objects dev dist,what a release needs)
	@touch $(VENV)/.base $(VENV)/.full $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; name one with make PYTHON=python3.12 …"; exit 1; } >&2
	@$(PYTHON) -m venv $(VENV) \
		|| { rm -rf $(VENV); echo "$(PYTHON) cannot make a virtual environment; on Debian: apt-get install python3-venv"; exit 1; } >&2
