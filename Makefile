# Everything a fresh machine needs: Python 3.11 to 3.14, make and a package registry.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test lint bench clean

run: $(VENV)/.installed
	@exec $(BIN)/kokoro-live serve $(ARGS)

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder $(ARGS)

bench: $(VENV)/.installed-dev
	@$(BIN)/kokoro-live bench $(ARGS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(VENV)/.installed: pyproject.toml constraints.txt
	@echo "setting up $(VENV)" >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python deploy/install.py '.[model]' .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt $(VENV)/.installed
	@$(BIN)/python deploy/install.py '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) dist kokoro_live/bundled
