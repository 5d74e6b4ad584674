# Two commands for a newcomer: `make demo` shows a verdict, `make test` proves it. Both need only Python with venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test bench check-python
demo: $(VENV)/.installed
	$(BIN)/diagnose fixtures/two-nodes-one-exception/logs --exit-zero -o report.html

test: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/diagnose rules test
	$(BIN)/pytest

SCRATCH ?= $(or $(TMPDIR),/tmp)/diagnose-bench
bench: $(VENV)/.installed-test
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[fast]'
	$(BIN)/python -m benchmarks.bench --scratch $(SCRATCH)

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
