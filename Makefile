# Two commands for a newcomer: `make demo` shows a verdict, `make test` proves it. Both need only Python with venv.
PYTHON ?= python3
export PYTHONDONTWRITEBYTECODE =  # each of hundreds of processes would compile the package anew
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test docs test-pythons bench check-python
demo: $(VENV)/.installed
	$(BIN)/diagnose fixtures/two-nodes-one-exception/logs --exit-zero -o report.html

test: $(VENV)/.installed-test
	$(BIN)/ruff check .
	@$(MAKE) --no-print-directory -j3 .types .rules .tests

# Side by side: each of the first two keeps one core busy for a minute or two.
.PHONY: .types .rules .tests
.types:
	$(BIN)/mypy
	$(BIN)/lint-imports
.rules:
	$(BIN)/diagnose rules test
.tests:
	$(BIN)/pytest -n auto --maxprocesses 8 --dist worksteal

docs: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[docs]'
	$(BIN)/mkdocs build --strict --quiet --site-dir site

# What differs between Python versions is how files are opened and read, and how the command starts. The version that
# `make test` uses is left out: there all tests run.
PYTHONS ?= python3.10 python3.11 python3.12 python3.13 python3.14
test-pythons:
	@for python in $(PYTHONS); do \
	  version=$$($$python -c 'import sys, venv, ensurepip; print(sys.version_info[:2])' 2>/dev/null) || continue; \
	  [ "$$version" != "$$($(BIN)/python -c 'import sys; print(sys.version_info[:2])' 2>/dev/null)" ] || continue; \
	  name=$(VENV)/$${python##*/}; echo "$$python" && $$python -m venv --clear $$name && \
	  $$name/bin/pip install --quiet --disable-pip-version-check -e '.[test]' && \
	  $$name/bin/pytest -p no:cacheprovider $(addprefix tests/test_,cli.py fixtures.py sources.py blocks.py \
	    recorder_reader.py stack_forms.py tracebacks.py timestamps.py) || exit 1; \
	done

bench: $(VENV)/.installed-test
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[fast,bench]'
	$(BIN)/python -m benchmarks.bench
	$(BIN)/python -m benchmarks.startup

check-python:
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "python3 with venv and pip is needed: install the package python3-venv (Debian, Ubuntu) or python3-pip (Fedora)"; exit 1; }

$(VENV)/.installed: pyproject.toml | check-python
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[zstd]'
	$(BIN)/python -m compileall -q diagnose
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@
